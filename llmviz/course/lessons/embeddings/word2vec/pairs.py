"""Part of the chapter "Word2vec": the pairs on the text, and what one of them costs.

C numbers in a vector, K random words.
"""

import json

import numpy as np

from llmviz.course import components as lv
from llmviz.course.components.pairs_view.view import pairs_view
from llmviz.course.lessons.embeddings.word2vec import plan as plans
from llmviz.course.lessons.embeddings.word2vec import run as runs
from llmviz.course.lessons.embeddings.word2vec import words
from llmviz.course.lessons.embeddings.word2vec.model import pair_cost
from llmviz.course.ui import engine, kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.models.word2vec import SkipGramConfig
from llmviz.models.word2vec_training import Reading, first_reading
from llmviz.training.word_vectors import Text, WordVectorPlan

KEY = "embeddings.word2vec.pairs"
DRAWN_TEXT = 90  # words of the text that are drawn


def draw(state: kit.PageState, plan: WordVectorPlan, own: str | None, text: Text) -> Reading:
    """Show the first pairs that a training with these settings makes.

    Raises ValueError: the text is too short for a pair, or shorter than the window.
    """
    reading = _reading(json.dumps(plan.to_dict()), own)
    end = min(len(reading.kept), int(reading.pairs.max(initial=0)) + 1, DRAWN_TEXT)
    flat = _beginning(text, end)
    names = [_name(text, i) for i in flat]
    inside = reading.pairs[(reading.pairs < end).all(axis=1)]
    centers = [int(c) for c in reading.centers if c < end]
    at = pairs_view(
        names,
        reading.kept[:end],
        centers,
        inside,
        [_name(text, i) for i in reading.negatives],
        key=KEY,
        words=words.pairs,
        step=state["center"],
        on_step=kit.bound(state, KEY, step=("center", kit.or_first)),
    )
    share = float(reading.kept.mean())
    said = words.reach["one" if plan.model_options["window"] == 1 else "drawn"].format(
        word=kit.quote(names[centers[at]]),
        reach=kit.count(_reach(reading, centers[at]), "word"),
        window=plan.model_options["window"],
    )
    kit.prose(said if share == 1 else f"{said} {words.reach_kept.format(kept=kit.percent(share))}")
    return reading


@kit.cached(16)
def _reading(settings: str, own: str | None) -> Reading:
    """Return the first pairs of a plan, given as JSON, and of the learner's text if it needs it."""
    plan = WordVectorPlan.from_dict(json.loads(settings))
    text = plans.text_of(plan, own)
    options = {**plan.model_options, "vocab_size": text.tokenizer.vocab_size}
    return first_reading(SkipGramConfig.from_dict(options), text.documents, plan.train)


def _beginning(text: Text, end: int) -> list[int]:
    flat: list[int] = []
    for document in text.documents:
        flat += document
        if len(flat) >= end:
            break
    return flat[:end]


def _name(text: Text, i: int) -> str:
    return text.tokenizer.token_bytes(int(i)).decode("utf-8", "replace")


def _reach(reading: Reading, center: int) -> int:
    """How many words to either side make pairs with a center; thinned-out ones do not count."""
    mine = reading.pairs[reading.pairs[:, 0] == center, 1]
    return max(int((mine < center).sum()), int((mine > center).sum()))


def loss_of_a_pair(
    state: kit.PageState,
    plan: WordVectorPlan,
    text: Text,
    reading: Reading,
    run: runs.OwnRun | None,
) -> None:
    """Show what one pair costs with the trained vectors, every cell open."""
    tables = _tables(run)
    at = reading.pairs[:, 0] == reading.centers[min(state["center"], len(reading.centers) - 1)]
    if tables is None or not at.any():
        return
    word, neighbour = tables
    flat = _beginning(text, int(reading.pairs.max()) + 1)
    center, near = (flat[place] for place in reading.pairs[at][-1])
    k = plan.model_options["negatives"]
    others = [int(i) for i in reading.negatives[:k]]
    rows = neighbour[[near, *others]].astype(np.float64)
    w = word[[center]].astype(np.float64)
    cost = pair_cost(w, rows)
    own, *names = (_name(text, i) for i in (center, near, *others))
    kit.prose(
        words.loss_text,
        word=kit.quote(own),
        near=kit.quote(names[0]),
        k=kit.count(k, "random word"),
        total=cost.costs.sum(),
    )
    numbers = [str(j) for j in range(w.shape[1])]

    parts = [
        ("scores", cost.scores, "neutral", lv.matmul("n", "w", transpose_b=True)),
        ("sign", cost.sign, "neutral", None),
        ("signed", cost.sign * cost.scores, "neutral", lv.multiply("scores", "sign")),
        ("sure", cost.probability, "weights", lv.function("signed", "σ")),
        ("costs", cost.costs, "accent", lv.function("sure", "−ln")),
    ]
    cells.show(
        state,
        [
            lv.Matrix("w", w, words.loss["w"], row_labels=[own], col_labels=numbers, role="query"),
            lv.Matrix("n", rows, words.loss["n"], row_labels=names, col_labels=numbers, role="key"),
            *(
                lv.Matrix(part, values, words.loss[part], row_labels=names, role=role, op=op)
                for part, values, role, op in parts
            ),
        ],
        [["w"] * 5, ["n"] * 5, [part for part, *_ in parts]],
        key="embeddings.word2vec.loss",
        control="product",
        first="scores.0.0",
        narrow=1,
    )
    kit.prose(words.loss_means)


def _tables(run: runs.OwnRun | None) -> tuple[np.ndarray, np.ndarray] | None:
    """The trained tables (V, C) of words and of neighbours; None while there are none."""
    if run is not None:
        return None if run.end is None else (run.end.word, run.end.neighbour)
    if runs.BUNDLED not in engine.names():
        return None
    model = engine.load(runs.BUNDLED).model
    return model.vectors(), model.neighbour.weight.detach().numpy()
