"""Chapter "Steering": a direction is added while the model writes, or taken out."""

import contextlib
import re
from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.grammar_likelihood import kept_characters
from llmviz.corpus.states import RULES
from llmviz.course.components import TokenRow
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.discoveries.features import words as feature_words
from llmviz.course.lessons.discoveries.features_record import MODEL, weights_of
from llmviz.course.lessons.discoveries.features_record import bundle as features_bundle
from llmviz.course.lessons.discoveries.steering import MOST_OF_PROMPT, model, words
from llmviz.course.ui import engine, kit

KEY = "discoveries.steering"
GUESS = f"{KEY}.kept"
KNOWN = 3  # doses that are told before the question
TARGET = "names"
BROKEN = -0.35  # on a scale to −1: how strongly what stands behind a mistake is coloured
job_of = kit.job_of("llmviz.course.lessons.discoveries.steering.model:steer", "choice", "prompt")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what is written at each dose and the guess about it, then what is taken out."""
    there = kit.is_here(words.missing, model.COMMAND, model.recorded, lambda: features_bundle(0))
    if not there or not kit.models_here(MODEL):
        return
    if model.recorded().weights != weights_of(engine.folder_of(MODEL)):
        st.info(words.other_weights, icon=":material/download:")
        st.code(model.COMMAND, language=None)
        return
    kit.prose(words.hook)
    head = state["steerhead"] if state["steerkind"] == model.HEAD else 0
    choice = model.Choice(state["steerkind"], state["steertarget"], state["steerlayer"], head)
    prompt = kit.readable(state["steerprompt"], MOST_OF_PROMPT, words.empty, "")
    known = model.recorded().by_choice.get(choice)
    first = choice == model.Choice() and prompt == model.PROMPT
    guess = kit.Guess(GUESS, question() if first else None)
    opened = guess.open
    with kit.stage("steering"):
        if known is not None and prompt == known.prompt:
            _picture(known, guess)
        elif prompt is not None:
            kit.live(
                state,
                "steerrun",
                job_of,
                (choice, prompt),
                _of_job,
                start=words.start,
                share=lambda job: job.results[-1].done if job.results else 0.0,
            )
        if opened:
            _controls(state)
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks", **summary())
    kit.section(words.intro)
    kit.prose(turned(choice) if opened else words.sources)
    if opened:
        kit.prose(words.sources)
        _removed(state)
        kit.seen(words.end, **end_numbers())


def label_of(target: str) -> str:
    """Return a label as a sentence names it."""
    return feature_words.label_names[target]


def kind_of(target: str) -> str:
    """Return what a label is about, as a sentence says it."""
    return words.said_kinds[target]


def question() -> kit.Question:
    """Return the question how much of the story holds at the doses that are not told yet.

    The wrong answers are those of somebody to whom a direction only adds its idea, and to whom each
    bit of a dose costs the same, until nothing holds at the last one.
    """
    steered = model.recorded().by_choice[model.Choice()]
    kept, doses = steered.of("kept").mean(0), np.array(steered.doses)
    zero, later = float(kept[steered.doses.index(0.0)]), doses[KNOWN:]
    values = {
        "same": [zero] * len(later),
        "even": [zero * float(1 - dose / doses[-1]) for dose in later],
        "right": [float(share) for share in kept[KNOWN:]],
    }
    return kit.Question.named(
        words.ask.format(target=kind_of(steered.choice.target)),
        words.ask_reasons,
        values,
        lambda line: words.answer.format(
            doses=[dose_text(x) for x in later], kept=[kit.whole_percent(x) for x in line]
        ),
    )


def dose_text(dose: float) -> str:
    """Return a dose as it is written.

    >>> dose_text(-1.0), dose_text(0.25)
    ('−1', '0.25')
    """
    return f"{dose:g}".replace("-", "−")


def _picture(steered: model.Steered, guess: kit.Guess) -> None:
    """Show what is written at each dose, and how much of it holds and is of the kind."""
    revealed = guess.open
    left, right = st.columns([1, 1], gap="medium")
    with left:
        count = len(steered.doses) if revealed else KNOWN
        rows = [row_of(steered, at) for at in range(count)]
        kit.value_strip(rows, f"{KEY}.texts", words.value, low=-1.0)
    with right:
        doses, top = list(steered.doses), max(steered.doses)
        share = kit.Drawn(words.share_line, doses, steered.of("share").mean(0), "value")
        kept = kit.Drawn(words.kept_line, doses, steered.of("kept").mean(0))
        if steered.known:
            guess.line(
                [share] if revealed else [],
                kept,
                kit.Scale(min(doses), top, words.dose_axis),
                kit.Scale(0, 1.02, words.share_axis),
                known=KNOWN,
                picture=f"{KEY}.lines",
                form="percent",
            )
    if revealed:
        kit.prose(read_out(steered))


@kit.cached(64)
def row_of(steered: model.Steered, at: int) -> TokenRow:
    """Return what is written at a dose: 1 for words of the kind, −1 behind the first mistake."""
    tokenizer, text = engine.load(MODEL).tokenizer, steered.texts[at].strip()
    tokens = tokenizer.tokens(f" {text}")
    holds = kept_characters(f"{steered.prompt} {text}") - len(steered.prompt)
    spans = [found.span() for found in re.finditer(r"\w+", f" {text}")]
    wanted = model.words_of(steered.choice.target)
    lit = [(a, b) for a, b in spans if f" {text}"[a:b] in wanted]
    values = []
    for token in tokens:
        inside = any(token.char_start < b and a < token.char_end for a, b in lit)
        broken = steered.known and token.char_end > holds
        values.append(1.0 if inside else BROKEN if broken else 0.0)
    kept = float(steered.of("kept").mean(0)[at])
    note = words.holds.format(texts=model.COPIES * model.SETS, kept=kept) if steered.known else ""
    return TokenRow(words.at_dose.format(dose=dose_text(steered.doses[at])), tokens, note, values)


def _of_job(job: kit.Job) -> None:
    if job.results and job.results[-1].steered is not None:
        _picture(job.results[-1].steered, kit.Guess(GUESS, None))


def _controls(state: kit.PageState) -> None:
    anew = state.setter(steerrun=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kinds = {kind: words.kinds[kind] for kind in model.KINDS}
        kit.choose(state, "steerkind", words.kind, kinds, anew)
        names = {target: label_of(target) for target in model.TARGETS}
        st.selectbox(words.target, width=260, **state.named("steertarget", names, anew))
        st.number_input(words.layer, step=1, width=110, **state.ranged("steerlayer", then=anew))
        if state["steerkind"] == model.HEAD:
            st.number_input(words.head, step=1, width=110, **state.ranged("steerhead", then=anew))
    kit.text_area(state, "steerprompt", words.prompt, anew, height=80)


def turned(choice: model.Choice) -> str:
    direction = choice.push.direction
    length = 0.0 if direction is None else float(np.linalg.norm(direction))
    slots = {"choice": choice, "target": kind_of(choice.target), "length": length}
    return words.turned[choice.kind].format(**slots)


def most_frequent(steered: model.Steered, at: int) -> tuple[str, float]:
    """Return the word that is most frequent in a set at a dose, and its share there."""
    best = max((row[at] for row in steered.written), key=lambda written: written.most_share)
    return best.most, best.most_share


def best_dose(steered: model.Steered) -> int | None:
    """Return the place of the dose with the most words of the kind; None: not in every set more.

    All sets must have more of them than they have without a dose.
    """
    share, zero = steered.of("share"), steered.doses.index(0.0)
    at = int(share.mean(0).argmax())
    return at if (share[:, at] > share[:, zero]).all() else None


def read_out(steered: model.Steered) -> str:
    """Return what the doses did, in sentences."""
    if not steered.of("words").any():
        return words.no_words
    zero, best = steered.doses.index(0.0), best_dose(steered)
    at = len(steered.doses) - 1 if best is None else best
    share, kept = (steered.of(name).mean(0) for name in ("share", "kept"))
    most, often = most_frequent(steered, at)
    kind = "tie" if best is None else "more"
    slots = {"target": kind_of(steered.choice.target), "dose": dose_text(steered.doses[at])}
    none = kit.percent(float(share[zero])) if share[zero] else words.none
    slots |= {"none": none, "share": kit.percent(float(share[at]))}
    said = [words.read[kind].format(**slots)]
    if steered.known:
        kept_text = {"kept": float(kept[at]), "kept_none": float(kept[zero])}
        said.append(words.kept.format(**kept_text))
    else:
        said.append(words.unknown)
    said.append(words.damage.format(word=most, often=often))
    return " ".join(said)


def summary() -> dict[str, Any]:
    """Return what the looks name: shares of the last doses of other choices."""
    she, animals = (model.Choice(model.MEANS, name) for name in ("rule pronouns", "word animals"))
    head = model.recorded().by_choice[model.Choice(model.HEAD, "rule places", 0, 1)]
    at = int(head.of("share").mean(0).argmax())
    each = {"she": model.recorded().by_choice[she], "animals": model.recorded().by_choice[animals]}
    shares = {name: steered.of("share").mean(0) for name, steered in each.items()}
    word, often = most_frequent(head, at)
    slots = {"dose": dose_text(head.doses[at]), "word": word, "often": often}
    none = shares["animals"][each["animals"].doses.index(0.0)]
    return slots | {"she": shares["she"][-1], "none": none, "animals": shares["animals"][-1]}


def changed(value: float) -> str:
    """Return a change with two digits; what is rounded to 0 has no sign.

    >>> changed(-0.001), changed(-0.25)
    ('0.00', '−0.25')
    """
    return kit.signed(float(value))


def rises_of(how: str) -> np.ndarray:
    """Return the rises (S, R + 1, R + 1) with two means or features taken out, and by chance."""
    found = model.recorded().removals
    own = found.by_feature if how == model.FEATURE else found.rises
    return np.concatenate((own, found.random.mean(1, keepdims=True)), 1)


def cell_of(link: str) -> tuple[int, int]:
    """Return the cell of a link; the first rule's own where it names none."""
    row = column = RULES.index(TARGET)
    with contextlib.suppress(ValueError):
        row, column = map(int, link.split("."))
    inside = 0 <= row <= len(RULES) and 0 <= column <= len(RULES)
    return (row, column) if inside else (RULES.index(TARGET),) * 2


def _removed(state: kit.PageState) -> None:
    found, how, key = model.recorded().removals, state["steerout"], f"{KEY}.grid"
    kit.section(words.removed)
    mean, (row, column) = rises_of(how).mean(0), cell_of(state["steercell"])
    rules = [words.rule_names[rule] for rule in RULES]
    cell_grid(
        mean.astype(np.float32),
        key=key,
        row_names=[*rules, words.chance],
        column_names=[*rules, words.no_rule],
        texts=[[changed(value) for value in line] for line in mean],
        role="weights",
        label=words.rise_label,
        chosen=(row, column),
        on_change=kit.bound(state, key, chosen=("steercell", kit.chosen_link)),
    )
    kit.choose(
        state, "steerout", words.out, {out: words.outs[out] for out in (model.MEANS, model.FEATURE)}
    )
    kit.prose(removed_read(how, row, column))
    sets = {"stories": model.REMOVED_IN, "random": model.RANDOM}
    kit.measured(words.how_removed, layer=found.layer, **sets)


def removed_read(how: str, row: int, column: int) -> str:
    """Return a cell, and what the whole grid says, in sentences."""
    found = model.recorded().removals
    names = [kind_of(f"rule {rule}") for rule in RULES]
    rise = changed(rises_of(how)[:, row, column].mean())
    case = "rule" if column < len(names) else "no_rule"
    where = {"row": [*names, words.chance_read][row], "column": [*names, ""][column]}
    said = [words.removed_read[case].format(**where, rise=rise)]
    own = rises_of(how).mean(0)[: len(RULES)].argmax(1) == np.arange(len(RULES))
    more = words.removed_more["all" if own.all() else "some"]
    said.append(more.format(count=int(own.sum()), rules=len(RULES)))
    most = float(np.abs(found.random.mean(0)).max())
    return " ".join((*said, words.removed_chance.format(most=most)))


def end_numbers() -> dict[str, Any]:
    steered, found = model.recorded().by_choice[model.Choice()], model.recorded().removals
    share, kept = (steered.of(name).mean(0) for name in ("share", "kept"))
    row, last = RULES.index(TARGET), len(steered.doses) - 1
    return {
        "target": label_of(steered.choice.target),
        "dose": dose_text(steered.doses[last]),
        "share": float(share[last]),
        "kept": float(kept[last]),
        "own": float(found.rises[:, row, row].mean()),
    }
