"""A run whose weights are no numbers is one line in every chapter that can choose it."""

from __future__ import annotations

import pytest

from llmviz.course.ui.codec import MOST_OF_A_NAME
from tests.pages.harness import PAGES, boxes, fine, open_part, parts
from tests.pages.random_links import controls
from tests.pages.test_loading_notes import PICKERS
from tests.training.tampered import healthy, says, spoil_weights

WRONG_TENSOR = "token.weight holds NaN: 1 of its 88 values are not finite"
# Every chapter as it opens, and those whose models are picked behind another control.
CHAPTERS = [(page, part, {}) for page in PAGES for part in parts(page)]
CHAPTERS += [(page, part, more) for page, part, _, more in PICKERS if more]
OF_CURVES = ("runs", "curves")  # their menus are of curves, which such a run has
# Where a picker is known to be, so that a test that finds none fails.
PICKED = {(page, part): {} for page, part in (("home", ""), ("training", "loss"))}
PICKED |= {("sampling", part): {} for part in parts("sampling")}
PICKED |= {("attention", part): {} for part in ("heads", "trained")}
PICKED |= {("transformer", part): {} for part in ("units", "stream", "patching", "context")}
PICKED |= {("efficiency", part): {} for part in ("memory", "cache", "flash")}
PICKED |= {("embeddings", part): {} for part in ("lookup", "similarity", "maps")}
PICKED |= {("finetuning", "classifier"): {}, ("language", "probing"): {}}
PICKED |= {("training", "backprop"): {"how": "trained"}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = healthy(tmp_path_factory.mktemp("runs") / "mine")
    says("data", "corpus", value="tiny-world")(folder)
    for place in (folder, *(folder / "checkpoints").iterdir()):
        spoil_weights(place, "token.weight", float("nan"))
    return folder


@pytest.fixture
def run(made, ready, monkeypatch):
    """A kept run that pickers of models offer: a small GPT on tiny-world, one weight of it NaN."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(made.parent))
    return "run:mine"


def choices(page, part):
    """The controls of a chapter that may hold the name of a model."""
    return [one.key for one in controls(page, part) if one.most == MOST_OF_A_NAME]


@pytest.mark.slow  # every chapter with a damaged model
@pytest.mark.parametrize(("page", "part", "more"), CHAPTERS)
def test_weights_that_are_no_numbers_are_one_line_where_a_chapter_can_choose_them(
    run, page, part, more
):
    app = open_part(page, part, **dict.fromkeys(choices(page, part), run) | more)
    fine(app)
    told = WRONG_TENSOR in boxes(app)
    assert told or part in OF_CURVES or run not in [one.value for one in app.selectbox]
    assert told or (page, part) not in PICKED or more != PICKED[page, part]
    assert "/runs/" not in boxes(app)  # where the server keeps its runs is nobody's business
