"""Chapter "Think first": parity answered at once, after dots, or after steps that are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.matrix_view import view as lv
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.chain_of_thought import model as tasks
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
    AT_ONCE,
    COMMAND,
    LAYERS,
    LENGTHS,
    SHOWN,
    STEPS,
    TESTS,
    WRITES,
    Share,
    Written,
    bundled,
    multiplications,
    recorded,
    write,
    write_at_once,
)
from llmviz.course.ui import kit

KEY = "reasoning.chain_of_thought"
GUESS = f"{KEY}.flipped"
Bits = tuple[int, ...]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a model's notes and what follows a flipped one, then what notes are good for."""
    kit.prose(words.hook)
    if not kit.is_here(words.missing, COMMAND, recorded, bundled, lambda: bundled(AT_ONCE)):
        return
    if not kit.is_here(words.missing, tasks.COMMAND, tasks.recorded):
        return
    bits, guess = bits_of(state["thinkbits"]), kit.Guess(GUESS, None)
    with kit.stage("think"):
        if bits:
            kit.keep(state, "thinkstep", list(range(len(bits) + 1)))
            guess = kit.Guess(GUESS, question(bits, state["thinkstep"]))
            _notes(bits, state["thinkstep"], guess)
        else:
            st.info(words.bad_bits, icon=":material/edit:")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.text_input(state, "thinkbits", words.bits.format(most=SLOTS), width=280)
            if bits:
                names = {0: words.no_step} | {at: str(at) for at in range(1, len(bits) + 1)}
                st.select_slider(words.step, width=320, **state.named("thinkstep", names))
    opened = guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    _lengths(state)
    _work()
    if opened:
        _shown()
    _tasks()
    if opened:
        follows = together([model.changed.follows for model in recorded()[WRITES] if model.changed])
        best = {way: kit.percent(right(MIXED, way).value) for way in (DIRECT, PATH)}
        how = words.end_follows["all" if follows.hits == follows.of else "some"]
        line = how.format(share=kit.percent(follows.value))
        kit.seen(words.end, trained=TRAINED, follows=line, **best)


def bits_of(text: str) -> Bits:
    """Return the bits of a text, without its spaces; none where it has anything else."""
    typed = "".join(text.split())
    return tuple(map(int, typed)) if set(typed) <= {"0", "1"} else ()


@kit.cached(256)
def written_for(bits: Bits, change: int | None) -> Written:
    """Return what the bundled model writes."""
    return write(bundled(), bits, change)


def turned(bits: Bits, step: int) -> list[int]:
    """Return the places, from 1, of what comes out otherwise once a note is flipped.

    The place behind the last note is that of the answer.
    """
    rows = (
        [*note.path, note.answer] for note in (written_for(bits, at) for at in (None, step - 1))
    )
    return [at for at, pair in enumerate(zip(*rows, strict=True), 1) if pair[0] != pair[1]]


def question(bits: Bits, step: int) -> kit.Question | None:
    """Return the question which is the last thing that turns; None where the answers run together.

    The wrong answers are of somebody to whom the model sets the note right again, and of one to
    whom only the next note looks at it.
    """
    if not step:
        return None
    reasons = {step: words.ask_repaired, step + 1: words.ask_next, len(bits) + 1: words.ask_right}
    last = max(turned(bits, step), default=0)
    if len(reasons) < 3 or last != len(bits) + 1:
        return None
    behind = len(bits) - step
    numbers: dict[str, Any] = {"step": step, "behind": kit.count(behind, "note")}
    return kit.Question.among(words.ask, reasons, last, lambda at: place(at, bits), **numbers)


def place(at: float, bits: Bits) -> str:
    """Return the name of a place among the notes."""
    return words.answer_name if at > len(bits) else words.note_place.format(at=round(at))


def _notes(bits: Bits, step: int, guess: kit.Guess) -> None:
    true = sum(bits) % 2
    plain, at_once = written_for(bits, None), write_at_once(bundled(AT_ONCE), bits)
    rows = [[*bits, true], [*plain.path, plain.answer]]
    if step:
        flipped = written_for(bits, step - 1)
        rows.append([*flipped.path, flipped.answer])
    names = [name.format(step=step) for name in words.rows][: len(rows)]
    columns = [*map(str, range(1, len(bits) + 1)), words.answer_place]
    revealed = guess.open
    picture = lv.Matrix(
        "notes",
        np.array(rows, dtype=float),
        row_labels=names,
        col_labels=columns,
        label=words.notes_label,
        role="weights",
        scale="sequential",
        digits=0,
        hidden=[] if revealed else [(2, at) for at in range(step, len(bits) + 1)],
    )
    look: dict[str, Any] = {
        "row": 2,
        "picture": f"{KEY}.notes",
        "number": lambda column: float(column + 1),
    }
    guess.cell(picture, **look)
    kit.prose(caption(plain))
    if step and revealed:
        changed = [at for at in turned(bits, step) if step < at <= len(bits)]
        kind = "stays" if flipped.answer == true else "turns"
        notes = notes_turned(len(changed), len(bits) - step)
        kit.prose(words.flipped[kind].format(step=step, notes=notes, answer=flipped.answer))
    if revealed:
        kind = "right" if at_once.is_right else "wrong"
        kit.prose(words.at_once[kind].format(answer=at_once.answer))


def notes_turned(changed: int, behind: int) -> str:
    """Return how many of the notes behind a flipped one turned as well, as it is said."""
    kind = "all" if behind > 1 else "one" if behind else "last"
    if changed < behind:
        kind = "some" if changed else "none"
    return words.notes_turned[kind].format(changed=changed, behind=behind)


def caption(written: Written) -> str:
    """Return what the model answers, and which notes do not follow."""
    slips = ", ".join(str(at + 1) for at in written.slips)
    said = words.caption["right" if written.is_right else "wrong"].format(answer=written.answer)
    return said + (words.slips.format(slips=slips) if slips else "")


def together(shares: Sequence[Share]) -> Share:
    return Share(sum(share.hits for share in shares), sum(share.of for share in shares))


def right(order: str, way: str, bits: int = TRAINED) -> Share:
    """Return the right answers of the models of an order and a way together."""
    return together([model.right[bits] for model in recorded()[order, way]])


def _lengths(state: kit.PageState) -> None:
    """Show right answers by length, for the order of texts that is chosen."""
    kit.section(words.lengths, layers=LAYERS)
    order = state["thinkorder"]
    kit.chart(figure(order, kit.theme()), f"{KEY}.lengths", bar=False)
    kit.choose(state, "thinkorder", words.order, words.orders)
    kit.prose(f"{words.lengths_read} {order_read()}", trained=TRAINED)
    kit.measured(words.how_lengths, tests=TESTS, trained=TRAINED, steps=STEPS)
    kit.show_code(
        [recorded],
        words.snippet.format(order=order, way=DIRECT, trained=TRAINED),
        str([model.right[TRAINED].value for model in recorded()[order, DIRECT]]),
    )


@kit.cached(4)
def figure(order: str, mode: kit.Mode) -> kit.Figure:
    """Return right answers by number of bits: a line a way, bars from the lowest model on."""
    drawn = []
    for at, way in enumerate(WAYS):
        found = [[model.right[n].value for model in recorded()[order, way]] for n in LENGTHS]
        means = [right(order, way, n).value for n in LENGTHS]
        above = [max(own) - mean for own, mean in zip(found, means, strict=True)]
        below = [mean - min(own) for own, mean in zip(found, means, strict=True)]
        # Dots may lie upon answers at once: through a dashed line both are seen.
        name, dashed = words.ways[way], way == DOTS
        drawn.append(Line(name, LENGTHS, means, at, dashed, errors=above, below=below))
    picture = lines(
        drawn,
        (words.length_axis, words.right_axis),
        mode,
        hover="%{y:.1%}",
        level=(0.5, words.guess),
        ticks=[n for n in LENGTHS if n not in (1, 17)],
    )
    return picture.update_yaxes(range=[0, 1.05])  # the same for both orders


def order_read() -> str:
    """Return whether short texts first help answers at once, by the lowest and highest model."""
    mixed, short = (
        [model.right[TRAINED].value for model in recorded()[order, DIRECT]]
        for order in (MIXED, SHORT_FIRST)
    )
    kind = "more" if min(short) > max(mixed) else "fewer" if max(short) < min(mixed) else "same"
    shares = {"mixed": right(MIXED, DIRECT), "short": right(SHORT_FIRST, DIRECT)}
    said = {name: kit.percent(share.value) for name, share in shares.items()}
    return words.order_read[kind].format(trained=TRAINED, **said)


def _work() -> None:
    """Say why notes help: work, depth, and what the training teaches."""
    kit.section(words.work)
    cost = [multiplications(SLOTS + 2 + steps) for steps in (0, TRAINED, TRAINED)]
    cases = [
        kit.Case(words.cost.format(way=words.ways[way], cost=paid / 1e6), right(MIXED, way).value)
        for way, paid in zip(WAYS, cost, strict=True)
    ]
    axis, level = kit.Axis(0, 1, words.work_axis.format(trained=TRAINED)), [(0.5, words.guess)]
    kit.case_rows(cases, axis, key=f"{KEY}.work", levels=level)
    deep = LAYERS * (TRAINED + 1)
    kit.prose(words.work_read, trained=TRAINED, layers=LAYERS, deep=deep, labels=TRAINED + 1)


def _shown() -> None:
    """Show what the models answer behind something else than their notes."""
    kit.section(words.shown, trained=TRAINED)
    cases = []
    for kind in SHOWN:
        found = [model.shown[kind] for model in recorded()[WRITES]]
        dots = [share.value for share in found]
        cases.append(kit.Case(words.shown_kinds[kind], together(found).value, dots=dots))
    axis, level = kit.Axis(0, 1, words.right_axis), [(0.5, words.guess)]
    kit.case_rows(cases, axis, key=f"{KEY}.shown", levels=level)
    kit.prose(words.shown_read)


def _tasks() -> None:
    """Show two more tasks, each answered in the three ways."""
    kit.section(words.tasks, trained=tasks.TRAINED)
    cases = []
    for task in tasks.TASKS:
        for way in WAYS:
            found = [model.right[tasks.TRAINED] for model in tasks.recorded()[task, way]]
            label = words.task_row.format(task=words.task_names[task], way=words.ways[way])
            dots, role = [share.value for share in found], "value" if way == PATH else "query"
            cases.append(kit.Case(label, together(found).value, dots=dots, role=role))
    kit.case_rows(cases, kit.Axis(0, 1, words.right_axis), key=f"{KEY}.tasks")
    kit.prose(words.tasks_read)
