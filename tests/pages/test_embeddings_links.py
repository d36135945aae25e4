"""Every control of the lesson on embeddings is in its links: set, open again, the same view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llmviz.course.components import unpack
from llmviz.course.lessons.embeddings import LESSON
from tests.pages.harness import fine, fine_page
from tests.pages.test_embeddings_maps import at_once  # noqa: F401

pytestmark = pytest.mark.usefixtures("ready")

WIDGETS = (
    "text_input",
    "number_input",
    "slider",
    "select_slider",
    "selectbox",
    "toggle",
    "button_group",
)
# What a component said itself does not travel again, so it differs from what a link sends.
OWN = {"step", "pinned", "window", "selected", "place"}
TABLE = {"model": "tiny-world-word2vec"}

# The view that a link opens; widgets that are then set, in order; what only components set.
VIEWS: dict[str, tuple[dict[str, str], dict[str, Any], dict[str, str]]] = {
    "lookup": (
        {"part": "lookup"},
        {"word": "dog", "column": 3, "beside": "mouse", "model": "tiny-world-word2vec"},
        {"cell": "embedding.0.2", "deal": "5"},
    ),
    "two words": (
        {"part": "similarity", **TABLE},
        {"word": "dog", "other": "mouse"},
        {"term": "A × B.0.5", "kept": "cosine.0.0"},
    ),
    "sentences": (
        {"part": "similarity", **TABLE},
        {"kind": "sentences", "s1": "the king saw a cat", "s2": "the queen saw a dog"},
        {},
    ),
    "typed": (
        {"part": "similarity", "kind": "numbers"},
        {"v1": "1, 2", "v2": "2, 1", "v3": "0, 3", "pair": "13"},
        {"open": "cosine.0.2"},
    ),
    "look": ({"part": "similarity", **TABLE}, {"look": "neighbours"}, {}),
    "list": (
        {"part": "similarity", **TABLE},
        {"list": "king, queen, cat"},
        {"listed": "cosine.0.1"},
    ),
    "neighbours": (
        {"part": "similarity", "look": "neighbours", **TABLE},
        {"word": "dog", "metric": "dot", "k": 4},
        {},
    ),
    "analogy": (
        {"part": "similarity", **TABLE},
        {"relation": "capitals", "plus": "Rome", "minus": "Italy", "add": "Chile", "inputs": True},
        {},
    ),
    "word2vec": (
        {"part": "word2vec"},
        {
            "corpus": "story",
            "window": 3,
            "dim": 2,
            "negatives": 3,
            "rate": 0.1,
            "epochs": 5,
            "seed": 7,
            "also": "the",
        },
        {"center": "3", "frame": "4", "watch": "king,cat", "kinds": "0,1", "product": "n.0.0"},
    ),
    "maps": (
        {"part": "maps"},
        {
            "near": 5,
            "by": "euclidean",
            "points": 100,
            "shade": "cluster",
            "clusters": 5,
            "map": "tsne",
            "perplexity": 5,
            "mapseed": 3,
            "space": "3",
            "of": "tiny-world-gpt",
        },
        {"spots": "king,cat"},
    ),
    "before training": (
        {"part": "maps", "of": "tiny-world-gpt", "points": "100"},
        {"untrained": True},
        {},
    ),
    "clusters": (
        {"part": "maps", "map": "umap", "shade": "cluster", "points": "100"},
        {"graph": 5},
        {"off": "1"},
    ),
    "waves": (
        {"part": "ways"},
        {
            "length": 16,
            "width": 32,
            "base": 100,
            "sat": "a cat and a cat",
            "from": 5,
        },
        {"position": "3", "number": "5", "sum": "input.1.1"},
    ),
    "shuffled": (
        {"part": "positions"},
        {"prompt": "She thought the door was open, but it was"},
        {"order": "4"},
    ),
    "learned": ({"part": "ways"}, {"placing": "learned", "placed": "tiny-world-char"}, {}),
    "rotary": (
        {"part": "ways", "placing": "rotary"},
        {"asks": "dog", "answers": "king", "m": 3, "n": 2, "shift": 7},
        {"turn": "score.0.0"},
    ),
}


def plain(value: Any) -> Any:
    """A payload as values that compare."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def widgets(app) -> dict[str, Any]:
    """The widgets that stand for controls, by the control's key."""
    found = {}
    for kind in WIDGETS:
        for one in getattr(app, kind):
            name = str(one.key)
            if name.startswith("_embeddings.") and "@embeddings" in name:
                found[name.removeprefix("_embeddings.").partition("@")[0]] = one
    return found


def view(app, without: set[str]) -> list[Any]:
    """All that stands on the page but for those entries of what components were sent."""
    parts = [
        (part.proto.component_name, plain({k: v for k, v in sent.items() if k not in without}))
        for part in app.get("bidi_component")
        if part.proto.bytes and isinstance(sent := unpack(part.proto.bytes), dict)
    ]
    prose = [block.proto.body for block in app.get("html")]
    charts = [chart.proto.spec for chart in app.get("plotly_chart")]
    values = {key: one.value for key, one in widgets(app).items()}
    return [parts, prose, charts, values, [one.value for one in app.caption]]


def address(app) -> dict[str, str]:
    """What the address holds."""
    return {
        key: value if isinstance(value, str) else value[0]
        for key, value in dict(app.query_params).items()
    }


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", list(VIEWS))
def test_every_control_is_in_the_link_and_the_link_gives_the_same_view(name):
    base, controls, said = VIEWS[name]
    app = fine_page("embeddings", **base)
    for key, value in controls.items():
        fine(widgets(app)[key].set_value(value).run())
        assert key in address(app), f"{key} is not in the address"
    before = view(app, OWN)
    again = fine_page("embeddings", **address(app))
    assert address(again) == address(app)
    for mine, theirs in zip(before, view(again, OWN), strict=True):
        assert mine == theirs
    plainly = fine_page("embeddings", **base) if said else None
    for key, value in said.items():
        linked = fine_page("embeddings", **base, **{key: value})
        assert address(linked)[key] == value
        assert view(linked, set()) != view(plainly, set()), f"{key} changes nothing"


def test_no_control_is_forgotten_here():
    known = {"part", "trained", "text", "show", "lang", "course", "more"}  # with tests of their own
    for base, controls, said in VIEWS.values():
        known |= base.keys() | controls.keys() | said.keys()
    assert {param.key for param in LESSON.params()} <= known
