"""What the models of both orders answer by length, and what a path costs."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.chain_of_thought import words
from llmviz.course.lessons.reasoning.parity_texts import (
    DIRECT,
    DOTS,
    MIXED,
    PATH,
    SHORT_FIRST,
    SLOTS,
    TRAINED,
    WAYS,
)
from llmviz.course.lessons.reasoning.think_first import (
    LAYERS,
    LENGTHS,
    STEPS,
    TESTS,
    Share,
    multiplications,
    recorded,
)
from llmviz.course.ui import kit

KEY = "reasoning.chain_of_thought"
BEYOND = [n for n in LENGTHS if n > TRAINED]


def together(shares: list[Share]) -> Share:
    """Return the share of several models together."""
    return Share(sum(share.hits for share in shares), sum(share.of for share in shares))


def shares(order: str, way: str, bits: int = TRAINED) -> list[Share]:
    """Return the right answers of the models of an order and a way, one after the other."""
    return [model.right[bits] for model in recorded()[order, way]]


def right(order: str, way: str, bits: int = TRAINED) -> Share:
    """Return the right answers of the models of an order and a way together."""
    return together(shares(order, way, bits))


def each(found: list[Share]) -> str:
    """Return the shares of models, one after the other."""
    return ", ".join(kit.percent(share.value) for share in found)


def draw_mixed() -> None:
    """Show the models that met all lengths from the start, and what their answers cost."""
    kit.section(words.lengths, tests=TESTS, trained=TRAINED, steps=STEPS)
    _draw(MIXED)
    kit.show_code([recorded], *_code(MIXED, PATH))
    few, many = (multiplications(SLOTS + 2 + steps) for steps in (0, TRAINED))
    kit.section(words.work, trained=TRAINED, few=few, many=many)
    found = {way: each(shares(MIXED, way)) for way in (DOTS, PATH)}
    kit.prose(words.work_read, trained=TRAINED, **found)
    kit.prose(words.work_depth, trained=TRAINED, layers=LAYERS, deep=LAYERS * (TRAINED + 1))
    kit.prose(words.work_labels, trained=TRAINED, labels=TRAINED + 1)


def draw_short_first() -> None:
    """Show the models that met short texts first, beside the others."""
    _draw(SHORT_FIRST)
    kit.show_code([recorded], *_code(SHORT_FIRST, DIRECT))
    kit.prose(order_read())


def _draw(order: str) -> None:
    kit.chart(figure(order, kit.theme()), f"{KEY}.lengths.{order}", bar=False)
    kit.prose(beyond(order))
    kit.rows_table(length_rows(order), words.length_columns)


def _code(order: str, way: str) -> tuple[str, str]:
    """Return lines that read what models of a kind answer, and what they print."""
    return (
        "from llmviz.course.lessons.reasoning.think_first import recorded\n\n"
        f"models = recorded()[{order!r}, {way!r}]\n"
        f"print([one.right[{TRAINED}].value for one in models])",
        str([share.value for share in shares(order, way)]),
    )


@kit.kept(4)
def figure(order: str, mode: kit.Mode) -> go.Figure:
    """Return right answers by number of bits."""
    found = {way: [shares(order, way, n) for n in LENGTHS] for way in WAYS}
    ticks = [n for n in LENGTHS if n not in (1, 17)]
    level = (0.5, words.guess)
    return chart(found, LENGTHS, words.length_axis, mode, level=level, ticks=ticks)


def chart(
    found: dict[str, list[list[Share]]],
    lengths: Sequence[int],
    axis: str,
    mode: kit.Mode,
    **more: Any,
) -> go.Figure:
    """Return right answers by length: a line for each way, and bars over its models.

    found: by way and length, the share of each model. more: see `lines`.
    """
    drawn = []
    for at, (way, by_length) in enumerate(found.items()):
        means = [together(own).value for own in by_length]
        models = [[share.value for share in own] for own in by_length]
        above = [max(own) - mean for own, mean in zip(models, means, strict=True)]
        below = [mean - min(own) for own, mean in zip(models, means, strict=True)]
        # Dots may lie upon answers at once: through a dashed line both are seen.
        line = Line(words.ways[way], lengths, means, at, way == DOTS, errors=above, below=below)
        drawn.append(line)
    axes = (axis, words.right_axis)
    picture = lines(drawn, axes, mode, hover="%{y:.1%}", **more)
    return picture.update_yaxes(range=[0, 1.05])  # the same wherever two are compared


def error(share: Share) -> float:
    """Return three standard errors of a guess that is asked as often."""
    return 3 * (0.25 / share.of) ** 0.5


def beyond(order: str) -> str:
    """Return what becomes of each way beyond the trained length."""
    said = []
    for way in WAYS:
        found = [right(order, way, n) for n in LENGTHS]
        outside = {n: right(order, way, n) for n in BEYOND}
        under = [n for n, share in outside.items() if share.value < 0.5 - error(share)]
        whole = all(share.hits == share.of for share in found)
        said.append(
            words.beyond["all" if whole else "under" if under else "some"].format(
                way=words.beyond_ways[way],
                most=LENGTHS[-1],
                trained=TRAINED,
                inside=kit.percent(right(order, way).value),
                lengths=kit.listed([*map(str, BEYOND)]),
                outside=each(list(outside.values())),
                low=kit.listed([*map(str, under)]),
            )
        )
    return "\n\n".join(said)


@kit.kept(2)
def length_rows(order: str) -> list[tuple[str, ...]]:
    """Return a row for each length: right answers model by model, and whole paths."""
    return [
        (
            str(n),
            *(each(shares(order, way, n)) for way in WAYS),
            each([model.steps_right[n] for model in recorded()[order, PATH]]),
        )
        for n in LENGTHS
    ]


def order_question() -> kit.Question:
    """Return the question what answers at once are with short texts first."""
    found = {"each": each(shares(SHORT_FIRST, DIRECT)), "mixed_each": each(shares(MIXED, DIRECT))}
    return kit.share_question(
        words.ask_order.format(
            steps=STEPS, trained=TRAINED, mixed=kit.percent(right(MIXED, DIRECT).value)
        ),
        right(SHORT_FIRST, DIRECT).value,
        [reason.format(**found) for reason in words.ask_order_reasons],
        kit.percent,
    )


def order_read() -> str:
    """Return what the order of the texts does at once and after dots, and what follows."""
    mixed, short = (shares(order, DIRECT) for order in (MIXED, SHORT_FIRST))
    values = [[share.value for share in found] for found in (mixed, short)]
    more, fewer = min(values[1]) > max(values[0]), max(values[1]) < min(values[0])
    best_mixed, best = (max(found, key=lambda share: share.value) for found in (mixed, short))
    clear_mixed, clear = (share.value > 0.5 + error(share) for share in (best_mixed, best))
    kind = "enough" if clear and not clear_mixed else "either" if clear_mixed else "unknown"
    blocks = words.blocks[kind].format(
        best=kit.percent(best.value),
        best_mixed=kit.percent(best_mixed.value),
        layers=LAYERS,
        trained=TRAINED,
        steps=STEPS,
    )
    read = words.order_read["more" if more else "fewer" if fewer else "same"].format(blocks=blocks)
    dots = words.dots_read.format(
        short=each(shares(SHORT_FIRST, DOTS)), mixed=each(shares(MIXED, DOTS)), trained=TRAINED
    )
    return f"{read}\n\n{dots}"
