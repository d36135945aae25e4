"""What a rerun does, counted: nothing is computed twice, nothing is sent anew, little is on a page.

Every chapter is opened once for all of this, and once more by a second visitor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import plotly.graph_objects as go
import pytest
from torch.nn.modules.module import register_module_forward_pre_hook

from llmviz.course.lessons import LESSONS as ALL_LESSONS
from llmviz.course.ui.cached import Cached
from llmviz.files.paths import CHECKPOINTS
from tests.pages.harness import OPENED, fine, open_part, parts

pytestmark = pytest.mark.usefixtures("ready")

# Lessons in which no visitor's own results are computed: a second one finds all of them there.
SHARED = (
    "home",
    "embeddings",
    "attention",
    "transformer",
    "history",
    "sampling",
    "language",
    "glossary",
)
LESSONS = [lesson.key for lesson in ALL_LESSONS]
CHAPTERS = [(name, part, {}) for name in LESSONS for part in parts(name)]
CHAPTERS += [("attention", part, {"source": "model"}) for part in ("steps", "masks", "heads")]
CHAPTERS += [("embeddings", "ways", {"placing": way}) for way in ("learned", "rotary")]
CHAPTERS += [("history", "counting", {"count": look}) for look in ("network", "longer")]
CHAPTERS += [("history", "all", {"all": "axes"}), ("history", "where", {"ring": "ai"})]
# Enough draws for a curve over them.
CHAPTERS += [("sampling", part, {"draw": "50"}) for part in parts("sampling")]
BUSY = ("training", "runs")  # it says how busy the machine is
MOST_ELEMENTS = 80
MOST_BYTES = 220_000  # of the numbers of all components; a table of a model is 1.3 million


@pytest.fixture
def work(monkeypatch) -> Iterator[Counter]:
    """Counts forward passes of models, results that were not kept yet, and figures, by name."""
    done: Counter[str] = Counter()
    fill = Cached._fill

    def counted(self, *given):
        done[self.__name__] += 1
        return fill(self, *given)

    def pass_begins(module, given) -> None:
        if type(module).__module__.startswith("llmviz.models"):
            done[type(module).__name__] += 1

    built = go.Figure.__init__

    def figure(self, *given, **more):
        done["figure"] += 1
        built(self, *given, **more)

    to_dict = go.Figure.to_dict

    def written(self):
        done["figure written out"] += 1
        return to_dict(self)

    monkeypatch.setattr(go.Figure, "__init__", figure)
    monkeypatch.setattr(go.Figure, "to_dict", written)
    monkeypatch.setattr(Cached, "_fill", counted)
    hook = register_module_forward_pre_hook(pass_begins)
    yield done
    hook.remove()


def elements(block) -> int:
    """How many elements stand in a block and in those inside it."""
    inside = block.children.values()
    return sum(1 + (elements(one) if hasattr(one, "children") else 0) for one in inside)


def computed(work: Counter) -> dict[str, int]:
    """Return what of the work is more than building a figure."""
    return {name: times for name, times in work.items() if not name.startswith("figure")}


def drawn(app) -> list[bytes]:
    """What the page's pictures were sent, in order: components and charts."""
    components = [part.proto.bytes for part in app.get("bidi_component")]
    return components + [part.proto.spec.encode() for part in app.get("plotly_chart")]


MODEL_FILES = ("card.json", "model.safetensors", "tokenizer.json", "frames.safetensors")


@pytest.fixture
def looked_at(monkeypatch) -> Iterator[Counter]:
    """Counts how often a page asks the system for what a model is made of, by the file's path."""
    looked: Counter[str] = Counter()
    stat = Path.stat

    def counted(self, **more):
        if self.parent.parent == CHECKPOINTS and self.name in MODEL_FILES:
            looked[f"{self.parent.name}/{self.name}"] += 1
        return stat(self, **more)

    monkeypatch.setattr(Path, "stat", counted)
    return looked


@pytest.mark.parametrize(("name", "part", "link"), CHAPTERS)
def test_a_rerun_in_which_nothing_changed(name, part, link, work, looked_at, covers):
    app = open_part(name, part, **link)
    fine(app)
    work.clear()
    looked_at.clear()
    app.run()
    fine(app)
    # A model is looked up once in a rerun.
    assert {path: times for path, times in looked_at.items() if times > 1} == {}
    assert work["figure"] == 0
    if name in SHARED:
        assert computed(work) == {}
    before = drawn(app)
    work.clear()
    app.run()
    fine(app)
    if (name, part) != BUSY:
        assert drawn(app) == before
    assert work["figure"] == 0 and work["figure written out"] == 0
    app.session_state[OPENED] = False  # as a visitor finds it: code is folded
    app.run()
    assert elements(app.main) <= MOST_ELEMENTS
    if name not in SHARED:
        return

    assert sum(len(one.proto.bytes) for one in app.get("bidi_component")) <= MOST_BYTES
    for chart in app.get("plotly_chart"):  # the library's own template has styles for 3-D and maps
        assert "histogram2dcontour" not in chart.proto.spec

    work.clear()
    open_part(name, part, **link)
    assert computed(work) == {}  # for a second visitor


def test_a_new_text_is_one_pass_of_the_model(work, covers):
    open_part("home", "")
    work.clear()
    open_part("home", "", text="Once Mila found a key. Then")
    assert work["GPT"] == 1
    link = {"who": "own", "text": "Once Mila found a key. Then"}
    open_part("attention", "heads", **link | {"text": "Once Mila met"})
    work.clear()
    open_part("attention", "heads", **link)
    # Twice for the heads of the stage, and as it is and with each head off in a batch.
    assert work["GPT"] == 4


def test_what_every_chapter_needs_to_open_is_kept_for_the_next_visitor(work):
    """All of it together: no chapter's results go because a class has opened the others."""
    chapters = [(name, part) for name in LESSONS for part in parts(name)]
    for name, part in chapters:
        open_part(name, part)
    anew = {}
    for name, part in chapters:
        work.clear()
        open_part(name, part)
        if name in SHARED and (found := computed(work)):
            anew[name, part] = found
    assert anew == {}
