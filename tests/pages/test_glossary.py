"""The links of the glossary: each opens a chapter in a state that the chapter takes."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from llmviz.course.glossary import seen
from tests.pages.harness import fine, open_part

pytestmark = pytest.mark.usefixtures("ready")


@pytest.mark.slow  # a hundred links
@pytest.mark.parametrize("place", sorted({place for place in seen().values() if "?" in place}))
def test_a_link_opens_its_chapter_in_its_state(place):
    chapter, _, state = place.partition("?")
    page = open_part(*chapter.split("/"), **dict(parse_qsl(state, keep_blank_values=True)))
    fine(page)
    assert not page.error and not page.warning
