"""Chapter "Think first": parity answered at once, after dots, or after steps that are written."""

from __future__ import annotations

import streamlit as st

from llmviz.course.lessons.reasoning.chain_of_thought import lengths, tasks, words
from llmviz.course.lessons.reasoning.chain_of_thought import model as think_tasks
from llmviz.course.lessons.reasoning.chain_of_thought.lengths import (
    KEY,
    each,
    right,
    shares,
    together,
)
from llmviz.course.lessons.reasoning.parity_texts import (
    BATCH,
    DIRECT,
    GROWING,
    MIXED,
    PATH,
    SHORT_FIRST,
    SLOTS,
    TOKENS,
    TRAINED,
    WAYS,
    path_of,
)
from llmviz.course.lessons.reasoning.think_first import (
    AT_ONCE,
    COMMAND,
    LAYERS,
    SHOWN,
    STEPS,
    WIDTH,
    WRITES,
    Share,
    Written,
    bundled,
    recorded,
    write,
    write_at_once,
)
from llmviz.course.ui import kit

EXAMPLE = (1, 0, 1)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, layers=LAYERS, width=WIDTH, trained=TRAINED, texts=BATCH * STEPS)
    if not kit.is_here(words.missing, COMMAND, recorded, bundled, lambda: bundled(AT_ONCE)):
        return
    if not kit.is_here(words.missing, think_tasks.COMMAND, think_tasks.recorded):
        return
    kit.prose(words.examples, slots=SLOTS)
    kit.rows_table(examples(), words.example_columns)
    opened = kit.predict(question(), f"{KEY}.direct", covers=True)
    if opened:
        lengths.draw_mixed()
        one_bit = kit.percent(right(MIXED, DIRECT, 1).value)
        kit.section(words.order, trained=TRAINED, growing=kit.whole_percent(GROWING), one=one_bit)
        opened = kit.predict(lengths.order_question(), f"{KEY}.order", covers=True)
    if opened:
        lengths.draw_short_first()
        kit.section(words.faithful)
        opened = kit.predict(changed_question(), f"{KEY}.changed", covers=True)
    if opened:
        _live(state)
        _shown()
        opened = tasks.draw(state)
    if opened:
        kit.seen(words.end, **end())


def examples() -> list[tuple[str, ...]]:
    """Return one text in each way: what is given, and what is learned."""
    given = "".join(map(str, EXAMPLE)) + "="
    rows = []
    for way in WAYS:
        behind = "".join(TOKENS[token] for token in path_of(EXAMPLE, way))
        rows.append((words.ways[way], given, f"{behind}:{sum(EXAMPLE) % 2}"))
    return rows


def question() -> kit.Question:
    """Return the question how often an answer at once is right."""
    direct = right(MIXED, DIRECT)
    numbers = {"texts": direct.of, "each": each(shares(MIXED, DIRECT))}
    return kit.share_question(
        words.ask_direct.format(path=kit.percent(right(MIXED, PATH).value), trained=TRAINED),
        direct.value,
        [reason.format(**numbers) for reason in words.ask_direct_reasons],
        kit.percent,
    )


def after_change() -> tuple[Share, Share]:
    """Return how often answers follow a changed step, and how often they stay right."""
    found = [model.changed for model in recorded()[WRITES] if model.changed]
    return together([texts.follows for texts in found]), together([texts.right for texts in found])


def changed_question() -> kit.Question:
    """Return the question what happens after a changed step."""
    follows, stays = after_change()
    place = 0 if follows.value > 0.6 else 1 if stays.value > 0.6 else 2
    numbers = {"follows": follows.hits, "right": stays.hits, "texts": follows.of}
    return kit.Question.of(words.ask_changed, place, trained=TRAINED, **numbers)


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
    kit.prose(at_once_read(at_once_for(bits)))
    change = f", change={step - 1}" if step else ""
    kit.show_code(
        [write],
        "from llmviz.course.lessons.reasoning.think_first import bundled, write\n\n"
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


@kit.kept(256)
def at_once_for(bits: tuple[int, ...]) -> Written:
    """Return what the bundled model that writes no step answers."""
    return write_at_once(bundled(AT_ONCE), bits)


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


def at_once_read(written: Written) -> str:
    """Return what the model that writes no step answers."""
    return words.live_at_once["right" if written.is_right else "wrong"].format(
        answer=written.answer, sure=kit.percent(written.sure)
    )


def _shown() -> None:
    kit.section(words.shown, trained=TRAINED)
    rows = [
        (words.shown_kinds[kind], each([model.shown[kind] for model in recorded()[WRITES]]))
        for kind in SHOWN
    ]
    kit.rows_table(rows, words.shown_columns)
    kit.prose(words.shown_read)


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    follows, _ = after_change()
    mixed = {way: kit.percent(right(MIXED, way).value) for way in WAYS}
    short = {f"short_{way}": kit.percent(right(SHORT_FIRST, way).value) for way in WAYS}
    return {"trained": TRAINED, "follows": follows.hits, "texts": follows.of, **mixed, **short}
