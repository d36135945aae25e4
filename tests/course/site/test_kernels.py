"""The kernels of the real model's page are what their text says."""

from __future__ import annotations

import base64
import re

from llmviz.course.site.live import HERE
from tests.course.site.wat import assembled


def test_the_bytes_are_those_of_the_text():
    (letters,) = re.findall(r'"([\w+/=]+)";', (HERE / "blocks_simd.js").read_text("utf-8"))
    assert base64.b64decode(letters) == assembled((HERE / "blocks.wat").read_text("utf-8"))
