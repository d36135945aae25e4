"""Chapter "Watermark": a key colours the words, and who has it counts the green ones."""

import math
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components import TokenRow
from llmviz.course.components.histogram.view import histogram
from llmviz.course.lessons.next.watermark import MOST_OF_PROMPT, model, words
from llmviz.course.lessons.next.watermark.model import ALARM, LONGEST, PUSH, Cell, recorded
from llmviz.course.ui import engine, kit
from llmviz.sampling.watermark import Evidence, Watermark, evidence, first_below, write
from llmviz.tokenizers import in_line
from llmviz.training.measures import Share

KEY = "next.watermark"
KNOWN = 6  # tokens whose evidence is told before the guess
KEYS = 1000  # other keys that count the same text
ONE_IN = round(1 / ALARM)
OWN = ("markpush", "markshare", "markheat", "markkey", "markread", "markdraw")
evidence_of = kit.cached(64)(evidence)
other_counts = kit.cached(16)(model.greens_under_other_keys)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the text, its evidence and the guess, then looks and what goes deeper."""
    if not kit.is_here(words.missing, model.COMMAND, recorded):
        return
    kit.prose(words.hook)
    bundled, both = kit.load(model.MODEL), kit.or_refused(marks, state)
    if bundled is None or both is None:
        _controls(state)
        return
    mark, reader = both
    text, found = read(bundled, state)
    first = {name: state.params[name].default for name in OWN}
    moved = any(state[name] != value for name, value in first.items())
    asked = read(bundled, first)[1]  # it stays the question, whatever is looked at later
    guess = kit.Guess(f"{KEY}.alarm", question(asked), moved)
    with kit.stage("watermark"):
        left, right = st.columns([6, 5], gap="medium")
        with left:  # on a phone it is the first, and the handle in sight
            _evidence(asked, found if moved else None, guess)
        with right:
            kit.value_strip([row_of(text.pieces, found, text.entropies)], f"{KEY}.text", words.ends)
        if guess.open:
            kit.prose(f"{counted(found)} {alarm_read(found, mark, reader)}")
        _controls(state)
    guess.ask()
    if not guess.open:
        return
    priced = {"kept": share_kept(8.0), "plain": share_kept(0.0)}
    kit.looks(state, words.looks, f"{KEY}.looks", **priced)
    _code(state, mark, reader, found)
    _keys(text.ids, mark)
    _innocent()
    _needed()
    _changed()
    _without()
    _real(state)
    kit.section(words.known)
    kit.seen(words.end, **numbers(evidence_of(tuple(text.ids), mark)))


def marks(state: Any) -> tuple[Watermark, Watermark]:
    """Return the marks of the writer and of the detector; ValueError names a broken rule."""
    share, push, key = state["markshare"], state["markpush"], key_of(state["markkey"])
    reads = key_of(state["markread"]) if state["markread"].strip() else key
    return Watermark(key, share, push), Watermark(reads, share, push)


def read(bundled: engine.Bundled, given: Any) -> tuple[model.Text, Evidence]:
    """Return the text that the model writes with given settings, by name, and its evidence."""
    mark, reader = marks(given)
    text = written(bundled, (), mark, float(given["markheat"]), given["markdraw"], model.TOKENS)
    return text, evidence_of(tuple(text.ids), reader)


def key_of(typed: str) -> Any:
    """Return what was typed as a whole number; else the text, which a watermark refuses."""
    try:
        return int(typed)
    except ValueError:
        return typed


@kit.cached(64)
def written(
    bundled: engine.Bundled, prompt: tuple[int, ...], mark: Watermark, heat: float, *dice: int
) -> model.Text:
    """Return a text behind a prompt; dice: the seed, how many tokens, what ends it."""
    start = prompt or tuple(bundled.tokenizer.start)
    return model.text_of(bundled.model, bundled.tokenizer, start, mark, heat, *dice)


def question(found: Evidence) -> kit.Question | None:
    """Return the question how the evidence goes on; None where no alarm rings after what is told.

    The wrong answers are those of somebody who counts the green tokens alone, and of one to whom
    a small push shows nowhere.
    """
    hits = model.only_hits(found.green, found.share)
    rings, early = found.rings(ALARM), first_below(hits, ALARM)
    if rings is None or early is None or not KNOWN < early < rings:
        return None
    lines = {"right": found.chance, "hits": hits, "flat": [found.chance[KNOWN - 1]] * len(hits)}
    answers = [words.answers["rings"].format(token=token) for token in (rings, early)]
    return kit.Question(
        words.ask.format(alarm=ONE_IN),
        [*answers, words.answers["never"]],
        0,
        [words.ask_reasons[name].format(token=rings) for name in lines],
        values=[heights(line, found)[KNOWN:] for line in lines.values()],
    )


def top_of(found: Evidence) -> float:
    """Return the power of ten at which the picture of the evidence ends, at most a billion."""
    least = float(found.chance.min(initial=1.0))
    return 10.0 ** min(9, max(4, math.ceil(math.log10(model.odds(least)))))


def heights(chance: Any, found: Evidence) -> tuple[float, ...]:
    """Return chances as one honest text in how many, up to the top of the picture."""
    return tuple(min(model.odds(float(p)), top_of(found)) for p in chance)


def _evidence(asked: Evidence, now: Evidence | None, guess: kit.Guess) -> None:
    """Draw the evidence of the text that is asked about, and of another that is read now."""

    def drawn(label: str, found: Evidence, role: str) -> kit.Drawn:
        places = list(range(1, len(found.green) + 1))
        return kit.Drawn(label, places, heights(found.chance, found), role)

    whole = drawn(words.curve, asked, "value")
    if now is not None:
        whole = drawn(words.curve_first, asked, "residual")
    tops = [top_of(found) for found in (asked, now) if found is not None]
    guess.line(
        [] if now is None else [drawn(words.curve, now, "value")],
        whole,
        kit.Scale(1, model.TOKENS, words.axis),
        kit.Scale(1, max(tops), words.odds_axis, log=True),
        known=KNOWN,
        picture=f"{KEY}.evidence",
        levels=[(ONE_IN, words.alarm.format(count=ONE_IN))],
    )


def row_of(
    pieces: list[bytes], found: Any, entropies: list[float] | None = None, name: str = ""
) -> TokenRow:
    """Return pieces of a text as chips: what is green and counts is coloured."""
    lit = [float(green and fresh) for green, fresh in zip(found.green, found.fresh, strict=True)]
    details = [{words.choice: f"{nats:.2f}"} for nats in entropies] if entropies else None
    return TokenRow(name, in_line(pieces), "", lit, details, role="value")


def counted(found: Evidence) -> str:
    """Say how many tokens are green, of those that count."""
    how = "some" if found.pairs else "nothing"
    if found.pairs and found.count in (0, found.pairs):
        how = "all" if found.count else "none"
    return words.counted[how].format(**numbers(found))


def _code(state: kit.PageState, mark: Watermark, reader: Watermark, found: Evidence) -> None:
    both = {"mark": arguments(mark), "reader": arguments(reader)}
    heat, seed = float(state["markheat"]), state["markdraw"]
    snippet = words.snippet.format(name=model.MODEL, heat=heat, seed=seed, alarm=ALARM, **both)
    prints = f"{found.count} {found.pairs} {found.rings(ALARM)}"
    kit.show_code([write, evidence], snippet, prints)


def arguments(mark: Watermark) -> str:
    """Return what a watermark is made of, as one writes it in Python."""
    return f"{mark.key!r}, {mark.share!r}, {mark.push!r}"


def numbers(found: Evidence) -> dict[str, Any]:
    """Return what sentences say of a text's tokens."""
    return {"green": found.count, "pairs": kit.count(found.pairs, "token")}


def alarm_read(found: Evidence, mark: Watermark, reader: Watermark) -> str:
    """Say when the alarm rings, and whether it should have."""
    rings, last = found.rings(ALARM), float([1.0, *found.chance][-1])
    how = "usual" if last > 1 / 2 else "never"
    if rings is not None:
        how = "rings" if mark.push and reader.key == mark.key else "false"
    odds = model.rounded(model.odds(last))
    return words.alarm_read[how].format(token=rings, alarm=ONE_IN, odds=odds)


def _controls(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.push, step=0.5, width=150, **state.ranged("markpush"))
        st.slider(words.share, step=0.05, width=150, **state.ranged("markshare"))
        heats = {heat: heat for heat in model.HEATS}
        st.select_slider(words.heat, width=150, **state.named("markheat", heats))
        kit.text_input(state, "markkey", words.key, width=130)
        kit.text_input(state, "markread", words.reads, width=130)
        kit.another(state, "markdraw", words.draw)


def _keys(ids: list[int], mark: Watermark) -> None:
    kit.section(words.keys, keys=KEYS)
    counts, own = other_counts(tuple(ids), mark, KEYS), evidence_of(tuple(ids), mark)
    if not kit.Guess(f"{KEY}.keys", key_question(own)).ask():
        return
    said = {"name": words.keys_axis, "marks": words.own_count, "bar": words.keys_bar}
    axes = words.keys_axis, words.keys_count
    histogram(counts, [own.count], axes=axes, key=f"{KEY}.counts", words=said)
    kit.prose(words.keys_read, middle=int(np.median(counts)), most=int(counts.max()))


def key_question(own: Evidence) -> kit.Question | None:
    """Return the question what another key finds; None where its answers are not apart."""
    expected = round(own.share * own.pairs)
    answers = (expected, own.count, 0)
    if len(set(answers)) < len(answers):
        return None
    reasons = dict(zip(answers, words.ask_key_reasons, strict=True))
    share = kit.whole_percent(own.share)
    return kit.Question.among(words.ask_key, reasons, expected, share=share, **numbers(own))


def _innocent() -> None:
    """Show how often honest texts are called marked."""
    kit.section(words.innocent, honest=recorded().honest)
    cases = []
    for alarms in recorded().alarms:
        for name, role in (("at_end", "query"), ("on_the_way", "key")):
            share = Share(getattr(alarms, name), recorded().honest)
            label = words.alarm_rows[name].format(count=round(1 / alarms.promised))
            note = kit.percent(share.share)
            cases.append(kit.Case(label, share.share, share.interval, note=note, role=role))
    axis = kit.Axis(1e-4, 1, words.innocent_axis, log=True)
    kit.case_rows(cases, axis, key=f"{KEY}.innocent", form="chance", mark="dot")
    last = recorded().alarms[-1]
    kit.prose(words.innocent_read, promised=ALARM, way=last.on_the_way / recorded().honest)
    kit.measured(words.how_innocent, alarm=ONE_IN, exact=last.exact)


def _needed() -> None:
    """Show after how many tokens the alarm rings, by choice and by push, and what a push costs."""
    kit.section(words.needed)
    cells = [recorded().cell(float(heat), PUSH) for heat in model.HEATS]
    kit.case_rows(
        [needed_case(cell, words.heat_row.format(cell=cell)) for cell in cells],
        kit.Axis(0, LONGEST, words.needed_axis),
        key=f"{KEY}.heats",
        form="count",
    )
    kit.prose(words.choice_read)
    left, right = st.columns(2, gap="large")
    with left:
        pushes = recorded().by_push
        cases = [needed_case(cell, words.push_row.format(cell=cell)) for cell in pushes]
        axis = kit.Axis(0, LONGEST, words.needed_axis)
        kit.case_rows(cases, axis, key=f"{KEY}.pushes", form="count")
    with right:
        cases = [kit.Case.mean(words.push_row.format(cell=cell), cell.kept) for cell in pushes]
        kit.case_rows(cases, kit.Axis(0, 1, words.kept_axis), key=f"{KEY}.kept")
    loss = [float(np.mean(cell.loss)) for cell in recorded().by_push]
    kit.prose(words.price_read)
    kit.measured(words.how_needed, longest=LONGEST, plain=loss[0], most=loss[-1])


def needed_case(cell: Cell, label: str) -> kit.Case:
    """Return after how many tokens half of the texts are found; a note where it is never."""
    median = float(np.median(np.concatenate(cell.rings)))
    note = words.not_found.format(longest=LONGEST) if median > LONGEST else f"{median:.0f}"
    dots = [min(LONGEST, each) for each in cell.medians]
    return kit.Case(label, min(LONGEST, median), dots=dots, note=note)


def share_kept(push: float) -> float:
    """Return how much of a text stands before its first mistake."""
    return float(np.mean(recorded().cell(1.0, push).kept))


def _changed() -> None:
    """Show how many texts are found after words were exchanged."""
    kit.section(words.changed)
    rows = recorded().changed
    cases = [kit.Case.mean(words.changed_row.format(row=row), row.found) for row in rows]
    kit.case_rows(cases, kit.Axis(0, 1, words.changed_axis), key=f"{KEY}.changed")
    kit.prose(words.changed_read, left=float(np.mean(rows[-1].found)))
    kit.measured(words.how_changed, tokens=rows[-1].tokens)


def _without() -> None:
    """Ask how often a detector without a key errs, and show three judges."""
    kit.section(words.without)
    errors = {name: float(np.mean(each)) for name, each in recorded().errors.items()}
    asked = errors["likelihood"]
    reasons = [words.ask_without_reasons[name] for name in ("right", "more", "less")]
    if not kit.Guess(
        f"{KEY}.without",
        kit.share_question(words.ask_without, asked, reasons, kit.whole_percent),
    ).ask():
        return
    cases = [
        kit.Case(
            words.judges[name], error, dots=recorded().errors[name], note=kit.whole_percent(error)
        )
        for name, error in errors.items()
    ]
    level = [(0.5, words.coin)]
    axis = kit.Axis(0, 0.6, words.errors_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.errors", levels=level)
    kit.prose(words.without_read, **errors)
    kit.measured(words.how_without)


def _real(state: kit.PageState) -> None:
    """Show recorded texts of the real model, and one behind the learner's own words."""
    kit.section(words.real)
    samples = recorded().real
    rows = [
        row_of([piece.encode() for piece in sample.pieces], sample, name=words.real_rows[name])
        for name, sample in samples.items()
    ]
    kit.value_strip(rows, f"{KEY}.real", words.ends)
    free, forced = (samples[name] for name in (model.FREE, model.FORCED))
    how = "one" if free.rings and not forced.rings else "other"
    kit.prose(words.real_read[how], free=free, forced=forced)
    if kit.REAL not in engine.obtained():
        kit.offer_real_model(f"{KEY}.get")
        return
    kit.text_input(state, "markprompt", words.prompt, state.setter(markrun=False))
    st.button(words.run, key=f"{KEY}.run", on_click=state.setter(markrun=True))
    prompt = kit.readable(state["markprompt"], MOST_OF_PROMPT, words.no_prompt, "")
    bundled = kit.load(kit.REAL) if state["markrun"] and prompt else None
    if bundled is None or prompt is None:
        return
    mark = Watermark(7, model.SHARE, model.REAL_PUSH)
    with st.spinner(words.writing):
        ids = tuple(bundled.tokenizer.encode_from_start(prompt))
        text = written(bundled, ids, mark, model.REAL_HEAT, 0, 60, bundled.tokenizer.end)
    found = evidence_of(tuple(text.ids), mark)
    kit.value_strip([row_of(text.pieces, found, text.entropies)], f"{KEY}.own", words.ends)
    kit.prose(f"{counted(found)} {alarm_read(found, mark, mark)}")
