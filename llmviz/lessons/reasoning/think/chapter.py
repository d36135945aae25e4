"""Chapter "Think first": parity answered at once, after dots, or after steps that are written."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from llmviz.figures.lines import Line, lines
from llmviz.lessons.reasoning.think import words
from llmviz.study.think_first import (
    BATCH,
    COMMAND,
    DIRECT,
    DOTS,
    LAYERS,
    LENGTHS,
    PATH,
    SHOWN,
    SLOTS,
    STEPS,
    TESTS,
    TOKENS,
    TRAINED,
    WAYS,
    WIDTH,
    Share,
    Written,
    bundled,
    multiplications,
    path_of,
    recorded,
    write,
)
from llmviz.ui import kit

KEY = "reasoning.think"
EXAMPLE = (1, 0, 1)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, layers=LAYERS, width=WIDTH, trained=TRAINED, texts=BATCH * STEPS)
    if not kit.is_here(words.missing, COMMAND, recorded, bundled):
        return
    kit.prose(words.examples, slots=SLOTS)
    kit.rows_table(examples(), words.example_columns)
    opened, changed = kit.predict(question(), f"{KEY}.direct", covers=True), False
    if opened:
        _lengths()
        _work()
        kit.section(words.faithful)
        changed = kit.predict(changed_question(), f"{KEY}.changed", covers=True)
        if changed:
            _live(state)
            _shown()
            kit.seen(words.end, **end())


def examples() -> list[tuple[str, ...]]:
    """Return one text in each way: what is given, and what is learned."""
    given = "".join(map(str, EXAMPLE)) + "="
    rows = []
    for way in WAYS:
        behind = "".join(TOKENS[one] for one in path_of(EXAMPLE, way))
        rows.append((words.ways[way], given, f"{behind}:{sum(EXAMPLE) % 2}"))
    return rows


def together(shares: list[Share]) -> Share:
    """Return the share of several models together."""
    return Share(sum(one.hits for one in shares), sum(one.of for one in shares))


def right(way: str, bits: int = TRAINED) -> Share:
    """Return the right answers of the models of a way together."""
    return together([one.right[bits] for one in recorded()[way]])


def every(shares: list[Share]) -> str:
    """Return the shares of models, one after the other."""
    return ", ".join(kit.percent(one.value) for one in shares)


def question() -> kit.Question:
    """Return the question how often an answer at once is right."""
    direct = right(DIRECT)
    numbers = {"layers": LAYERS, "texts": direct.of}
    return kit.share_question(
        words.ask_direct.format(path=kit.percent(right(PATH).value), trained=TRAINED),
        direct.value,
        [one.format(**numbers) for one in words.ask_direct_reasons],
        kit.percent,
    )


def after_change() -> tuple[Share, Share]:
    """Return how often answers follow a changed step, and how often they stay right."""
    found = [one.changed for one in recorded()[PATH] if one.changed]
    return together([one.follows for one in found]), together([one.right for one in found])


def changed_question() -> kit.Question:
    """Return the question what happens after a changed step."""
    follows, stays = after_change()
    place = 0 if follows.value > 0.6 else 1 if stays.value > 0.6 else 2
    numbers = {"follows": follows.hits, "right": stays.hits, "texts": follows.of}
    return kit.Question.of(words.ask_changed, place, trained=TRAINED, **numbers)


def _lengths() -> None:
    kit.section(words.lengths, tests=TESTS, trained=TRAINED, steps=STEPS)
    st.plotly_chart(
        figure(kit.theme()), key=f"{KEY}.lengths", theme=None, config={"displayModeBar": False}
    )
    kit.prose(beyond())
    kit.rows_table(length_rows(), words.length_columns)
    path = recorded()[PATH]
    kit.show_code(
        [recorded],
        "from llmviz.study.think_first import recorded\n\n"
        f"print([one.right[{TRAINED}].value for one in recorded()[{PATH!r}]])",
        str([one.right[TRAINED].value for one in path]),
    )


@kit.kept(2)
def figure(mode: kit.Mode) -> go.Figure:
    """Return right answers by length, a line for each way."""
    drawn = [
        Line(words.ways[way], LENGTHS, [right(way, n).value for n in LENGTHS], at)
        for at, way in enumerate(WAYS)
    ]
    axes = (words.length_axis, words.right_axis)
    ticks = [n for n in LENGTHS if n not in (1, 17)]
    return lines(drawn, axes, mode, level=(0.5, words.guess), hover="%{y:.1%}", ticks=ticks)


def beyond() -> str:
    """Return what becomes of the models that write steps beyond the trained length."""
    inside, outside = right(PATH), right(PATH, LENGTHS[-1])
    whole = all(right(PATH, n).hits == right(PATH, n).of for n in LENGTHS)
    shares = {"inside": kit.percent(inside.value), "outside": kit.percent(outside.value)}
    return words.beyond["all" if whole else "falls"].format(
        most=LENGTHS[-1], trained=TRAINED, **shares
    )


@kit.kept(1)
def length_rows() -> list[tuple[str, ...]]:
    """Return a row for each length: right answers model by model, and whole paths."""
    known = recorded()
    return [
        (
            str(n),
            *(every([one.right[n] for one in known[way]]) for way in WAYS),
            every([one.steps_right[n] for one in known[PATH]]),
        )
        for n in LENGTHS
    ]


def _work() -> None:
    few, many = (multiplications(SLOTS + 2 + steps) for steps in (0, TRAINED))
    kit.section(words.work, trained=TRAINED, few=few, many=many)
    shares = {way: every([one.right[TRAINED] for one in recorded()[way]]) for way in (DOTS, PATH)}
    kit.prose(words.work_read, trained=TRAINED, **shares)


def _live(state: kit.PageState) -> None:
    kit.section(words.live)
    bits = bits_of(state["thinkbits"])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "thinkbits", words.bits.format(most=SLOTS), width=280)
        if bits:
            names = {0: words.no_step} | {at: str(at) for at in range(1, len(bits) + 1)}
            kit.keep(state, "thinkstep", list(names))
            st.select_slider(words.step, width=320, **state.named("thinkstep", names))
    if not bits:
        st.info(words.bad_bits, icon=":material/edit:")
        return
    step = state["thinkstep"]
    written = written_for(bits, step - 1 if step else None)
    kit.rows_table(live_rows(written), words.live_columns)
    kit.prose(live_read(written))
    change = f", change={step - 1}" if step else ""
    kit.show_code(
        [write],
        "from llmviz.study.think_first import bundled, write\n\n"
        f"written = write(bundled(), {list(bits)}{change})\n"
        "print(written.path, written.answer)",
        f"{written.path} {written.answer}",
    )


def bits_of(text: str) -> tuple[int, ...]:
    """Return the bits of a text, without its spaces; none where it has anything else."""
    typed = "".join(text.split())
    return tuple(map(int, typed)) if set(typed) <= {"0", "1"} else ()


@kit.kept(256)
def written_for(bits: tuple[int, ...], change: int | None) -> Written:
    """Return what the bundled model writes."""
    return write(bundled(), bits, change)


def live_rows(written: Written) -> list[tuple[str, ...]]:
    """Return a row for each step."""
    rows, true, slips = [], 0, set(written.slips)
    for at, (bit, step) in enumerate(zip(written.bits, written.steps, strict=True)):
        true ^= bit
        note = words.by_you if step.changed else words.slip if at in slips else ""
        rows.append(
            (str(at + 1), str(bit), str(true), str(step.token), kit.percent(step.chance), note)
        )
    return rows


def live_read(written: Written) -> str:
    """Return what the model answers, and which steps do not follow."""
    kind = "right" if written.is_right else "wrong"
    slips = ", ".join(str(at + 1) for at in written.slips)
    said = words.live_read[kind].format(
        answer=written.answer, true=sum(written.bits) % 2, sure=kit.percent(written.sure)
    )
    return f"{said} {words.live_slips['some' if slips else 'none'].format(slips=slips)}"


def _shown() -> None:
    kit.section(words.shown, trained=TRAINED)
    rows = [
        (words.shown_kinds[kind], every([one.shown[kind] for one in recorded()[PATH]]))
        for kind in SHOWN
    ]
    kit.rows_table(rows, words.shown_columns)
    kit.prose(words.shown_read)


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    follows, _ = after_change()
    shares = {way: kit.percent(right(way).value) for way in WAYS}
    return {"trained": TRAINED, "follows": follows.hits, "texts": follows.of, **shares}
