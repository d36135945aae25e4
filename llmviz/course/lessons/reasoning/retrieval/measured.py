"""What three models did with right, wrong, no and disagreeing passages, orders, and searches."""

from __future__ import annotations

import numpy as np

from llmviz.corpus.facts_in_passages import KINDS, values
from llmviz.course.lessons.reasoning.retrieval import passage_recall, words
from llmviz.course.lessons.reasoning.retrieval.passage_recall import AMONG, STORY, WAYS, WORLD
from llmviz.course.lessons.reasoning.retrieval.passage_record import (
    DECLINED,
    ELSE,
    FEWER,
    FIRST,
    FORCED,
    LAST,
    MORE,
    RIGHT,
    TESTS,
    TOLD,
    recorded,
)
from llmviz.course.ui import kit


def shares(case: str, name: str) -> str:
    """Return a share of a case for each model."""
    return ", ".join(kit.percent(model.share(case, name)) for model in recorded())


def sourced() -> str:
    """Return for each model which share of its right answers names the right passage."""
    return ", ".join(kit.percent(model.sourced) for model in recorded())


def mean(case: str, name: str) -> float:
    """Return the mean of a share over the models."""
    return float(np.mean([model.share(case, name) for model in recorded()]))


def rows_of(names: dict[str, str], *kinds: str) -> list[tuple[str, ...]]:
    """Return a row for each case: its name, and the shares of some kinds of answers."""
    return [(name, *(shares(case, kind) for kind in kinds)) for case, name in names.items()]


def right_and_wrong() -> None:
    """Show what becomes of right, wrong and no passages, and the guess without one."""
    kit.rows_table(rows_of(words.measured_rows, RIGHT, DECLINED, ELSE), words.measured_columns)
    values = [model.share("right", RIGHT) for model in recorded()]
    kit.prose(words.seeds, points=f"{100 * (max(values) - min(values)):.1f}")
    kit.prose(words.sourced, shares=sourced())
    kit.prose(words.closed, forced=shares("none", FORCED), chance=kit.percent(chance()))
    kit.show_code(
        [recorded],
        "from llmviz.course.lessons.reasoning.retrieval.passage_record import recorded\n\n"
        'print([one.cases["right"] for one in recorded()])',
        str([model.cases["right"] for model in recorded()]),
    )


def chance() -> float:
    """Return how often a guess among all words of the kind is right, each kind equally often."""
    return float(np.mean([1 / len(values(kind)) for kind in KINDS]))


def two_question() -> kit.Question:
    """Return the question which of two passages that disagree is repeated."""
    models = recorded()
    place = next(
        (
            at
            for at, (name, other) in enumerate(((FIRST, LAST), (LAST, FIRST)))
            if all(model.share("two", name) > model.share("two", other) for model in models)
        ),
        2,
    )
    reason = words.ask_two_reason.format(first=shares("two", FIRST), last=shares("two", LAST))
    return kit.Question.of(words.ask_two, place, tests=TESTS, reason=reason)


def disagreeing() -> None:
    """Show what becomes of passages that disagree, two and three."""
    kit.rows_table(rows_of({"two": words.two_row}, FIRST, LAST, DECLINED, ELSE), words.two_columns)
    kit.rows_table(rows_of(words.three_rows, MORE, FEWER, DECLINED, ELSE), words.three_columns)
    kit.prose(words.two_read)


def ordered() -> None:
    """Show how often an order in a passage is followed."""
    kit.section(words.told)
    kit.rows_table(rows_of(words.told_rows, TOLD, RIGHT, DECLINED, ELSE), words.told_columns)
    kit.prose(
        words.told_read,
        fits=shares("told_alone", TOLD),
        nobody=shares("told_nobody_alone", TOLD),
        without=kit.percent(1 - mean("wrong", DECLINED)),
        lucky=kit.percent(float(np.mean(lucky()))),
        told=words.told_beyond["more" if beyond_luck() else "mixed"],
    )


def lucky() -> list[float]:
    """Return for each model how often it would say the ordered word, were no order there.

    What it says where no passage has the answer is taken as picked blindly among words of a kind.
    """
    return [(1 - model.share("wrong", DECLINED)) * chance() for model in recorded()]


def beyond_luck() -> bool:
    """Return whether each model says the ordered word more often than blindly, by two errors."""
    return all(
        model.share("told_alone", TOLD) - blind > 2 * (blind * (1 - blind) / TESTS) ** 0.5
        for model, blind in zip(recorded(), lucky(), strict=True)
    )


def recall() -> None:
    """Show how often each way of ranking finds the passage."""
    found = passage_recall.recorded()
    questions = {name: sum(part.questions for part in those) for name, those in found.items()}
    kit.section(words.recall, world=questions[WORLD], story=questions[STORY])
    rows = [
        (
            words.recall_texts[name],
            words.recall_ways[way],
            *(kit.percent(passage_recall.share(name, way, k)) for k in AMONG),
        )
        for name in (WORLD, STORY)
        for way in WAYS
    ]
    first, second, each = words.recall_columns
    kit.rows_table(rows, [first, second, *(each.format(k=k) for k in AMONG)])
    k = AMONG[2]
    by_way = {way: kit.percent(passage_recall.share(STORY, way, k)) for way in ("bm25", "vectors")}
    kit.prose(words.recall_read, k=k, **by_way)
