"""What was measured of the models: by digits, by lie, after a training with wrong results."""

import plotly.graph_objects as go

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.tools import words
from llmviz.course.lessons.reasoning.tools.params import TASKS
from llmviz.course.lessons.reasoning.tools.tool_loop import (
    COPIED,
    DECLINED,
    HONEST,
    LIES,
    NONE,
    OFF,
    ORDER,
    OTHER,
    RIGHT,
    SIGN,
)
from llmviz.course.lessons.reasoning.tools.tool_record import (
    DIGITS,
    IN_CALL,
    IN_COPY,
    TESTS,
    Measured,
    recorded,
)
from llmviz.course.lessons.reasoning.tools.tool_texts import (
    DIRECT,
    DOUBT,
    OPEN,
    SECOND,
    TOOL,
    TRAINED,
    UPDATES,
    WRONG,
)
from llmviz.course.ui import kit
from llmviz.training.measures import Share

KEY = "reasoning.tools"
WAYS = (DIRECT, TOOL)


def together(shares: list[Share]) -> Share:
    """Return the share of several models together."""
    return Share(sum(share.right for share in shares), sum(share.count for share in shares))


def right(way: str, task: str, digits: int) -> Share:
    """Return the right answers of the models of a way together."""
    return together([model.right[task][digits] for model in recorded()[way]])


def counted(models: list[Measured], lie: str, *kinds: str) -> Share:
    """Return how many answers to a lie, or to the honest tool, are of some kinds."""
    return together([share_of(model.told[lie], *kinds) for model in models])


def share_of(answers: dict[str, int], *kinds: str) -> Share:
    """Return how many answers are of some kinds."""
    return Share(sum(answers.get(kind, 0) for kind in kinds), sum(answers.values()))


def every(shares: list[Share]) -> str:
    """Return the shares of models, one after the other."""
    return ", ".join(kit.percent(share.share) for share in shares)


def draw_digits(state: kit.PageState) -> None:
    """Show right answers by digits."""
    kit.section(words.digits, tests=TESTS, trained=TRAINED, updates=UPDATES)
    kit.choose(state, "tooltask", words.task, {name: words.tasks[name] for name in TASKS})
    task = state["tooltask"]
    kit.prose(words.task_text[task].format(second=SECOND))
    kit.chart(figure(task, kit.theme()), f"{KEY}.digits", bar=False)
    kit.prose(digits_read(task))
    kit.rows_table(digit_rows(task), words.digit_columns)
    kit.prose(words.causes_text)
    shares = [model.right[task][TRAINED].share for model in recorded()[TOOL]]
    kit.show_code(
        [Measured],
        "from llmviz.course.lessons.reasoning.tools.tool_record import recorded\n\n"
        f"print([one.right[{task!r}][{TRAINED}].share for one in recorded()[{TOOL!r}]])",
        str(shares),
    )


@kit.kept(8)
def figure(task: str, mode: kit.Mode) -> go.Figure:
    """Return right answers by digits, a line for each way."""
    drawn = []
    for at, way in enumerate(WAYS):
        shares = [right(way, task, digits) for digits in DIGITS]
        ends = [share.interval for share in shares]
        drawn.append(
            Line(
                words.example_ways[way],
                DIGITS,
                [share.share for share in shares],
                at,
                errors=[high - share.share for share, (_, high) in zip(shares, ends, strict=True)],
                below=[share.share - low for share, (low, _) in zip(shares, ends, strict=True)],
            )
        )
    axes = (words.digits_axis, words.right_axis)
    return lines(drawn, axes, mode, hover="%{y:.1%}", ticks=DIGITS)


def causes(task: str, digits: int) -> dict[str, int]:
    """Return where wrong answers with calls come from, of the three models together."""
    found: dict[str, int] = {}
    for model in recorded()[TOOL]:
        for cause, number in model.causes[task][digits].items():
            found[cause] = found.get(cause, 0) + number
    return found


def digits_read(task: str) -> str:
    """Return what becomes of calls with more digits than were trained."""
    inside, outside = right(TOOL, task, TRAINED), right(TOOL, task, DIGITS[-1])
    # The intervals tell them apart, or they do not.
    kind = "falls" if outside.interval[1] < inside.interval[0] else "holds"
    found = causes(task, DIGITS[-1])
    return words.digits_read[kind].format(
        trained=TRAINED,
        most=DIGITS[-1],
        inside=kit.percent(inside.share),
        outside=kit.percent(outside.share),
        wrong=outside.count - outside.right,
        call=found.get(IN_CALL, 0),
        copy=found.get(IN_COPY, 0),
    )


@kit.kept(8)
def digit_rows(task: str) -> list[tuple[str, ...]]:
    """Return a row for each number of digits: right answers, and where wrong ones come from."""
    rows = []
    for digits in DIGITS:
        found = causes(task, digits)
        first, second = found.get(IN_CALL, 0), found.get(IN_COPY, 0)
        low, high = right(TOOL, task, digits).interval
        rows.append(
            (
                str(digits),
                *(every([model.right[task][digits] for model in recorded()[way]]) for way in WAYS),
                f"{kit.percent(low)} – {kit.percent(high)}",
                str(first),
                str(second),
                str(sum(found.values()) - first - second),
            )
        )
    return rows


def draw_told() -> None:
    """Show what models with calls make of each lie."""
    kit.section(words.told, texts=2 * TESTS)
    kit.rows_table(told_rows(), words.told_columns)
    copied, none = (counted(recorded()[TOOL], ORDER, kind) for kind in (COPIED, NONE))
    kit.prose(words.told_read, copied=copied.right, texts=copied.count, none=none.right)


@kit.kept(1)
def told_rows() -> list[tuple[str, ...]]:
    """Return a row for each lie: what the models with calls answer."""
    models, kinds = recorded()[TOOL], ((COPIED,), (RIGHT,), (OTHER, DECLINED), (NONE,))
    return [
        (
            words.told_lies[lie],
            *(every([share_of(model.told[lie], *some) for model in models]) for some in kinds),
        )
        for lie in LIES
    ]


def draw_doubt() -> None:
    """Show what models make of lies that had wrong results in their training."""
    kit.section(words.doubt, share=kit.percent(WRONG))
    kit.rows_table(doubt_rows(), words.doubt_columns)
    kit.prose(doubt_read())
    kit.prose(words.doubt_sign, sign=kit.percent(counted(recorded()[DOUBT], SIGN, DECLINED).share))


def doubt_rows() -> list[tuple[str, ...]]:
    """Return a row for the honest tool and each lie: what the models that may doubt answer."""
    rows = []
    for lie in (HONEST, *LIES):
        found = [model.told[lie] for model in recorded()[DOUBT]]
        name = words.doubt_honest if lie == HONEST else words.told_lies[lie]
        kinds = (DECLINED, COPIED, RIGHT)
        rows.append((name, *(every([share_of(said, kind) for said in found]) for kind in kinds)))
    return rows


def doubt_read() -> str:
    """Return whether the models that may doubt tell a result with one more from an honest one."""
    off, honest = (counted(recorded()[DOUBT], lie, DECLINED) for lie in (OFF, HONEST))
    kind = "sees" if off.interval[0] > honest.interval[1] else "blind"
    return words.doubt_read[kind].format(
        off=kit.percent(off.share), honest=kit.percent(honest.share)
    )


def draw_mask() -> None:
    """Show what a loss on results does."""
    kit.section(words.mask)
    kit.rows_table(mask_rows(), words.mask_columns)
    hits, numbers = (together(shares) for shares in own_results(OPEN))
    plain, learned = (
        together([share_of(model.asked, RIGHT) for model in recorded()[way]])
        for way in (TOOL, OPEN)
    )
    kit.prose(
        words.mask_read,
        plain=kit.percent(plain.share),
        open=kit.percent(learned.share),
        numbers=kit.percent(numbers.share),
        right=kit.percent(hits.share),
    )


def own_results(way: str) -> tuple[list[Share], list[Share]]:
    """Return, model by model, how many results of their own are right, and how many are numbers."""
    found = [(model.invented, model.numbers) for model in recorded()[way] if model.invented]
    return [share for share, _ in found], [Share(count, share.count) for share, count in found]


def mask_rows() -> list[tuple[str, ...]]:
    """Return a row without and one with a loss on results."""
    rows = []
    for way in (TOOL, OPEN):
        hits, numbers = own_results(way)
        kinds = ([share_of(model.asked, RIGHT) for model in recorded()[way]], numbers, hits)
        rows.append((words.mask_names[way], *map(every, kinds)))
    return rows
