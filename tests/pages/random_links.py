"""Links that nobody would write: any chapter, some of its controls, values right and wrong."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from unittest import mock

from streamlit.testing.v1 import AppTest

from benchmarks.limits import packed, texts
from llmviz.course.ui.codec import Param
from llmviz.course.ui.state import PageState
from tests.pages.harness import ODD_TEXTS, PAGES, open_part, parts

ODD = ("", "-1", "1e9", "nan", "9" * 4_400, "1,2,3", "../x", "run:x@" + "9" * 4_400, "~abc")
ODD += ("http://evil.example", "![x](http://evil.example)", "<b>", "\x00", "__a__", "½", "{0}", ",")
MOST_CONTROLS = 8  # of a link
HUGE = 999_000  # characters that a small link may hold, packed


@functools.cache
def controls(page: str, part: str) -> tuple[Param, ...]:
    """The controls that a chapter declares for its links."""
    found: dict[str, Param] = {}
    original = PageState.__init__

    def noted(self: PageState, name: str, params: Sequence[Param]) -> None:
        found.update({param.key: param for param in params})
        original(self, name, params)

    with mock.patch.object(PageState, "__init__", noted):
        open_part(page, part)
    return tuple(found[key] for key in sorted(found) if key != "part")


def random_link(seed: int, runs: Sequence[str] = ()) -> tuple[str, str, dict[str, str]]:
    """A page, a chapter and what its link says; the pages in turn.

    runs: names of runs that a control of text may ask for.
    """
    chance = random.Random(seed)
    page = PAGES[seed % len(PAGES)]
    part = chance.choice(parts(page))
    known = controls(page, part)
    some = chance.sample(known, chance.randint(0, min(MOST_CONTROLS, len(known))))
    return page, part, {one.key: value_of(one, chance, runs) for one in some}


def value_of(control: Param, chance: random.Random, runs: Sequence[str]) -> str:
    """A value for a control, as often one that it takes as one that it may refuse."""
    if chance.random() < 0.4:
        return chance.choice(ODD)
    if control.low is not None and control.high is not None:
        span = control.high - control.low
        value = chance.choice([control.low, control.high, control.low + span * chance.random()])
        return control.write(int(value) if isinstance(control.default, int) else value) or ""
    if control.options:
        return chance.choice(control.options)
    if control.most is not None and chance.random() < 0.5:
        length = chance.choice([control.most // 2, control.most, control.most + 1])
        text = "a" * HUGE if chance.random() < 0.2 else chance.choice(list(texts(length).values()))
        return packed(text)
    some = [*ODD_TEXTS.values(), *(f"run:{name}" for name in runs), str(control.default)]
    return control.write(chance.choice(some)) or ""


def alive(app: AppTest) -> list[str]:
    """What the page says with an address of the links in it that a browser would make a link."""
    spoken = [*app.error, *app.info, *app.warning, *app.markdown, *app.caption]
    texts = [one.proto.body.replace("\\", "") for one in spoken]
    return [text for text in texts if "http://evil" in text]
