"""What a rerun does, counted: nothing is computed twice, little is sent when nothing changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from torch.nn.modules.module import register_module_forward_pre_hook

from llmviz.ui.kept import Kept
from tests.pages.harness import OPENED, open_part, parts

LESSONS = ("home", "embeddings", "attention", "transformer")
CHAPTERS = [(name, part, {}) for name in LESSONS for part in parts(name)] + [
    ("attention", part, {"source": "model"}) for part in ("steps", "masks", "heads")
]
CHAPTERS += [("embeddings", "positions", {"way": way}) for way in ("learned", "rotary")]
MOST_ELEMENTS = 70
MOST_BYTES = 220_000  # of the numbers of all components; a table of a model is 1.3 million


@pytest.fixture
def work(monkeypatch) -> Iterator[Counter]:
    """Counts forward passes of models, and results that were not kept yet, both by name."""
    done: Counter[str] = Counter()
    fill = Kept._fill

    def counted(self, key, own):
        done[self.__name__] += 1
        return fill(self, key, own)

    def pass_begins(module, given) -> None:
        if type(module).__module__.startswith("llmviz.models"):
            done[type(module).__name__] += 1

    monkeypatch.setattr(Kept, "_fill", counted)
    hook = register_module_forward_pre_hook(pass_begins)
    yield done
    hook.remove()


def elements(block) -> int:
    """How many elements stand in a block and in those inside it."""
    inside = block.children.values()
    return sum(1 + (elements(one) if hasattr(one, "children") else 0) for one in inside)


@pytest.mark.parametrize(("name", "part", "link"), CHAPTERS)
def test_a_rerun_and_a_second_visitor_compute_nothing_again(name, part, link, work):
    app = open_part(name, part, **link)
    work.clear()
    app.run()
    assert not work
    open_part(name, part, **link)
    assert not work


@pytest.mark.parametrize(("name", "part", "link"), CHAPTERS)
def test_a_chapter_is_few_elements_and_few_bytes(name, part, link):
    app = open_part(name, part, **link)
    app.session_state[OPENED] = False  # as a visitor finds it: code is folded
    app.run()
    assert elements(app.main) <= MOST_ELEMENTS
    sent = [len(one.proto.bytes) for one in app.get("bidi_component")]
    assert sum(sent) <= MOST_BYTES
    for chart in app.get("plotly_chart"):  # the library's own template has styles for 3-D and maps
        assert "histogram2dcontour" not in chart.proto.spec


def test_a_new_text_is_one_pass_of_the_model(work):
    open_part("home", "")
    work.clear()
    open_part("home", "", text="Once Mila found a key. Then")
    assert work["GPT"] == 1
    link = {"source": "cat", "text": "Once Mila found a key. Then"}
    open_part("attention", "heads", **link | {"text": "Once Mila met"})
    work.clear()
    open_part("attention", "heads", **link)
    assert work["GPT"] == 2  # as it is, and with each head off in a batch
