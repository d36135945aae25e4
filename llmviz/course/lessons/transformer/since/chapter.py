"""Chapter "What changed since 2017": each change drawn where it differs, and what it did here."""

import pandas as pd
import streamlit as st

from llmviz.course.lessons.transformer.since import pictures, times, words
from llmviz.course.lessons.transformer.since.model import (
    CHANGES,
    FAMILY,
    READINGS,
    Measured,
    checkpoint,
    config_of,
    measured,
    switched,
)
from llmviz.course.ui import kit

DRAWN = 24  # tokens of the text that are read
NEAR = 0.01  # nats; less says little where each model was trained once
BORDER = 0.001  # nats around that: nobody could tell which answer is meant
ROUNDED = 3  # digits of the losses


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    cards = {name: kit.card_of(checkpoint(name)) for name in FAMILY}
    missing = [name for name, card in cards.items() if card is None]
    if missing:
        name = checkpoint(missing[0])
        kit.section(words.intro.title)
        st.info(words.missing.format(name=name), icon=":material/download:")
        st.code(words.command.format(name=name), language=None)
        return
    sizes = [card["parameters"] for card in cards.values()]
    apart = kit.percent(max(sizes) / min(sizes) - 1)
    kit.section(words.intro, tokens=cards[FAMILY[0]]["tokens"], apart=apart)
    results = {name: measured(name, card) for name, card in cards.items()}
    kit.text_box(state, height=80)
    kit.choose(state, "change", words.change, words.changes, parts=True)
    change = state["change"]
    kit.prose(f"{words.about[change]} {code_switches(change)}")
    quiz = question(change, results)
    open_now = quiz is None or kit.predict(quiz, f"{pictures.KEY}.ask", covers=True)
    model_and_text = kit.load_and_read(state, pictures.names_in(change)[0], DRAWN)
    if model_and_text is not None:
        read = model_and_text[1]
        pictures.draw(change, read.ids)
        _code(change, pictures.read_ids(change, read.ids))
    if open_now:
        kit.prose(f"{effects_of(change, results)}\n\n{words.one_run}")
        floor = cards[FAMILY[0]]["floor"]["nats_per_token"]
        kit.section(words.table, floor=floor)
        _table(results)
        st.caption(words.table_note.format(tokens=config_of(FAMILY[0]).context_length))
    times.draw(change)
    if open_now:
        sides, (before, *_, after) = words.sides[change], (results[run] for run in CHANGES[change])
        by = written(difference(after, before))
        slots = {"after": sides[-1], "before": sides[0], "over": after.over}
        kit.seen(words.end, difference=by, apart=apart, **slots)


def code_switches(change: str) -> str:
    """Return the sentence about the settings in which the models of a change differ."""
    before, *after = CHANGES[change]
    sides = [switched(name, before) for name in after]
    new = " or ".join(kit.quote(settings(side, 1)) for side in sides)
    return words.switch.format(switches=new, before=kit.quote(settings(sides[0], 0)))


def settings(differing: dict[str, tuple[object, object]], side: int) -> str:
    """Return settings as Python writes them; side 0 before, 1 after.

    >>> settings({"norm": ("post", "pre")}, 1)
    "norm='pre'"
    """
    return ", ".join(f"{key}={values[side]!r}" for key, values in differing.items())


def difference(after: Measured, before: Measured) -> float:
    """Return by how many nats a model's loss is higher than another's, as it is shown."""
    return round(round(after.over, ROUNDED) - round(before.over, ROUNDED), ROUNDED)


def verdict(by: float) -> int:
    """Return 0 for a loss that is lower, 1 for about the same, 2 for a higher one."""
    return 1 if abs(by) <= NEAR else 0 if by < 0 else 2


def written(by: float) -> str:
    """Return a difference in words."""
    if not by:
        return words.equal
    return (words.less if by < 0 else words.more).format(by=abs(by))


def in_digits(by: float) -> str:
    """Return a difference with its sign.

    >>> in_digits(-0.015), in_digits(0.0)
    ('−0.015', '0.000')
    """
    return f"{by:+.{ROUNDED}f}".replace("-", "−") if by else f"{0:.{ROUNDED}f}"


def question(change: str, results: dict[str, Measured]) -> kit.Question | None:
    """Ask what the last model of a change did to the loss; None on the border of two answers."""
    before, after = results[CHANGES[change][0]], results[CHANGES[change][-1]]
    by = difference(after, before)
    if abs(abs(by) - NEAR) < BORDER:
        return None
    line = {"before": before.over, "after": after.over, "difference": written(by)}
    sides = {"before": words.sides[change][0], "after": words.sides[change][-1]}
    reason = words.ask_reason.format(**line)
    return kit.Question(
        words.ask.format(**sides),
        words.answers,
        verdict(by),
        [reason] * len(words.answers),
        scale=True,
    )


def effects_of(change: str, results: dict[str, Measured]) -> str:
    """Return what a change did, model by model."""
    names, sides = CHANGES[change], words.sides[change]
    first, lines = results[names[0]], []
    for name, side in zip(names[1:], sides[1:], strict=True):
        result = results[name]
        by = difference(result, first)
        line = words.result.format(
            after=side[0].upper() + side[1:],
            over=result.over,
            before=f"{sides[0]} ({first.over:.3f})",
            difference=written(by),
            verdict=words.verdicts[verdict(by)],
        )
        if result.whole < first.whole:
            part = f"1/{round(first.whole / result.whole)}"
            line += " " + words.cache_less.format(part=part, tokens=config_of(name).context_length)
        lines.append(line)
    return "\n\n".join(lines)


def table_rows(results: dict[str, Measured]) -> list[tuple[object, ...]]:
    """Return the table: a row for each model, in the order in which the changes are shown."""
    first = FAMILY[0]
    begun = switched(first, FAMILY[-1])
    own = {key: values[::-1] for key, values in begun.items() if key in ("positions", "norm")}
    rows = [(first, "", settings(own, 0))]
    rows += [
        (name, names[0], settings(switched(name, names[0]), 1))
        for names in CHANGES.values()
        for name in names[1:]
    ]
    return [
        (
            words.models[name],
            words.models.get(before, ""),
            switches,
            round(results[name].over, ROUNDED),
            in_digits(difference(results[name], results[before])) if before else "",
            results[name].parameters,
            results[name].per_token,
            int(results[name].whole),
        )
        for name, before, switches in rows
    ]


@kit.kept(4)
def table_of(results: tuple[Measured, ...]) -> pd.DataFrame:
    """Return the table with its column names."""
    return pd.DataFrame(table_rows({run.name: run for run in results}), columns=column_names())


def column_names() -> list[str]:
    """Return the names of the table's columns."""
    tokens = config_of(FAMILY[0]).context_length
    return [name.format(tokens=tokens) for name in words.columns]


def _table(results: dict[str, Measured]) -> None:
    columns = column_names()
    whole = st.column_config.NumberColumn(format="localized")
    formats = dict.fromkeys(columns[5:], whole)
    formats[columns[3]] = st.column_config.NumberColumn(format="%.3f")
    table = table_of(tuple(results.values()))
    st.dataframe(table, hide_index=True, column_config=formats)


def _code(change: str, ids: tuple[int, ...]) -> None:
    function, names = READINGS[change], pictures.names_in(change)

    def prints() -> str:
        return "\n".join(
            f"{name} {tuple(values.shape)} {values.mean():.3f}"
            for name, values in zip(names, pictures.readings(change, ids), strict=True)
        )

    kit.show_code(
        [function],
        words.snippet.format(__name__=function.__name__, names=names, ids=list(ids)),
        prints,
    )
