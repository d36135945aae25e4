"""Chapter "What the loss is": every step of the cross-entropy of a sentence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared import cell_operations as ops
from llmviz.course.components.matrix_view.view import Matrix, Window, matrix_view
from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.lessons.training import model_picker as readers
from llmviz.course.lessons.training.loss import MOST, NONE, frames, words
from llmviz.course.ui import engine, kit
from llmviz.evaluation.text_loss import LossSettings, loss_steps, torch_loss

if TYPE_CHECKING:
    from llmviz.nn.loss import LossSteps


SEEN = 12  # rows, and columns, that are drawn at once


def draw_picture(
    reading: kit.Read, logits: np.ndarray, plain: Any, steps: Any, settings: LossSettings, key: str
) -> None:
    """Show `plain` (the mean of all positions) and `steps` (as the controls stand) as matrices."""
    matrices, steps_shown = build(reading, logits, plain, steps, settings)
    windowed, windows = through_windows(matrices)
    # Another text has other windows: they begin at its start.
    key += "".join(f".{name}{window.size}" for name, window in windows.items())
    matrix_view(windowed, key=key, steps=steps_shown, numbers=True, windows=windows)


def through_windows(matrices: list[Matrix]) -> tuple[list[Matrix], dict[str, Window]]:
    """Return the matrices with windows on what is too long to be drawn, and these windows.

    All have a row for each position; the first ones have a column for each token.
    """
    rows, columns = matrices[0].values.shape
    windows = {
        name: Window(size, SEEN)
        for name, size in (("position", rows), ("token", columns))
        if size > SEEN
    }
    windowed = []
    for matrix in matrices:
        high, wide = matrix.values.shape
        names = (
            "position" if high == rows and "position" in windows else "",
            "token" if wide == columns and "token" in windows else "",
        )
        windowed.append(replace(matrix, windows=names))
    return windowed, windows


def build(
    reading: kit.Read, logits: np.ndarray, plain: Any, steps: Any, settings: LossSettings
) -> tuple[list[Matrix], list[tuple[list[str], str]]]:
    """Return the matrices and the steps in which they appear."""
    small, columns, labels = visible_columns(reading, logits)
    others = logits.shape[1] - len(set(reading.targets))
    rows = {"row_labels": reading.tokens[:-1], "notes": _notes(reading, plain, settings)}
    wide = {**rows, "col_labels": labels, "row_axis": words.position}
    targets: dict[str, Any] = {**rows, "row_labels": reading.target_tokens}
    exact = np.exp(small - np.logaddexp.reduce(small, axis=1, keepdims=True))
    matrices: list[Matrix] = []

    def add(name: str, values: Any, op: ops.Op | None = None, **more: Any) -> None:
        weighted = name == "spread" and settings.token is not None
        label, formula = words.labels["spread weighted" if weighted else name]
        cells = np.asarray(values, dtype=np.float64)
        if cells.ndim < 2:
            cells = cells.reshape(-1, 1)
        matrices.append(Matrix(name, cells, label, formula, op=op, **more))

    add("logits", small, **wide)
    add("probabilities", exact, ops.softmax_rows("logits"), role="weights", limit=1.0, **wide)
    p = plain.target_probability
    add("p", p, ops.picked("probabilities", columns), role="weights", limit=1.0, **targets)
    add("ln", plain.log_probability, ops.function("p", "ln"), **targets)
    add(
        "nats",
        plain.nats,
        ops.scaled("ln", -1, "× (−1)"),
        role="loss",
        scale="sequential",
        **targets,
    )
    add("w", steps.weights, role="residual", scale="sequential", **targets)
    parts = ops.multiply("w", "nats")
    names = ["w"]
    if settings.smoothing:
        eps = settings.smoothing
        weighted = steps.weights * plain.nats
        add("weighted", weighted, parts, **targets)
        add(
            "hard",
            (1 - eps) * weighted,
            ops.scaled("weighted", 1 - eps, f"× {1 - eps:g}"),
            **targets,
        )
        add("spread", steps.spread, **targets)
        add("soft", eps * steps.spread, ops.scaled("spread", eps, f"× {eps:g}"), **targets)
        parts = ops.add("hard", "soft")
        names += ["weighted", "hard", "spread", "soft"]
    add("parts", steps.parts, parts, role="loss", scale="sequential", **targets)
    ends = []
    if settings.reduction != "none":
        add("total", steps.total, ops.summed("parts"), scale="sequential")
        ends.append("total")
    if settings.reduction == "mean":
        add("divisor", steps.divisor, ops.summed("w"), scale="sequential")
        add("loss", steps.loss, ops.divided("total", "divisor"), role="loss", scale="sequential")
        ends += ["divisor", "loss"]
    order = ["logits", "probabilities", "p", "ln", "nats"]
    captions = [([name], words.steps[name].format(rest=_rest(others))) for name in order]
    captions += [(names, words.steps["w"]), (["parts"], words.steps["parts"])]
    if ends:
        captions.append((ends, words.steps[f"loss {settings.reduction}"]))
    else:
        captions[-1] = (["parts"], words.steps["loss none"])
    return matrices, captions


def visible_columns(
    reading: kit.Read, logits: np.ndarray
) -> tuple[np.ndarray, list[int], list[str]]:
    """Return logits (T, K + 1), the column of each target, and the columns' names.

    The tokens of the text have a column each. The last column holds ln Σ exp of all the others'
    logits: with it, the softmax of these few columns is that of the whole vocabulary.
    """
    ids = list(dict.fromkeys(reading.targets))
    rest = np.ones(logits.shape[1], dtype=bool)
    rest[ids] = False
    names = dict(zip(reading.targets, reading.target_tokens, strict=True))
    labels, cells = [names[token] for token in ids], logits[:, ids]
    if rest.any():
        others = np.logaddexp.reduce(logits[:, rest], axis=1, keepdims=True)
        cells = np.concatenate([cells, others], axis=1)
        count = int(rest.sum())
        labels.append(words.other if count == 1 else words.others.format(count=count))
    return cells, [ids.index(token) for token in reading.targets], labels


def _rest(others: int) -> str:
    """What the last column stands for, where the text does not have every token."""
    if not others:
        return ""
    return words.step_other if others == 1 else words.step_others.format(count=others)


def _notes(reading: kit.Read, plain: Any, settings: LossSettings) -> list[str]:
    return [
        (words.note_skipped if i in settings.skipped else words.note).format(
            token=name, p=kit.percent(p), nats=nats
        )
        for i, (name, p, nats) in enumerate(
            zip(
                reading.target_tokens,
                plain.target_probability.tolist(),
                plain.nats.tolist(),
                strict=True,
            )
        )
    ]


KEY, GUESS = "training.loss", "training.loss.cost"
DRAWN = 16  # tokens that have a bar
LEAST = 0.0005  # as a percentage a smaller probability has hardly a digit left
CLEAR = 0.4  # nats between the answers about a cost, so that they are told apart on the picture
USUAL = 2.4  # how many times likelier the token is, at best, from which one reckons
MIXED = "Fergus called an innkeeper there Once ancient was Thistleworth."


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what each token costs, the guess about one and the looks, then what goes deeper."""
    kit.prose(words.hook)
    picture, asked = kit.stage("loss"), st.container()
    with st.expander(kit.furniture.source, icon=":material/edit_note:"):
        bundled = _text_box(state)
    if bundled is None:
        return
    reading = readers.read(bundled, state["sentence"], MOST)
    if reading is None:
        return
    logits = readers.logits(reading)
    plain = steps_of(reading, LossSettings())
    nats = plain.nats.tolist()
    found = cost(nats[:DRAWN], reading.target_tokens)
    asked_for, place = found or (None, -1)
    guess = kit.Guess(GUESS, asked_for)
    shown = guess.open
    with picture:
        blind = math.log(logits.shape[1])
        _bars(reading, nats, blind, guess, place)
        kit.prose(
            words.caption["above" if shown else "veiled"],
            mean=float(np.mean(nats)),
            vocabulary=logits.shape[1],
            blind=blind,
        )
        if len(nats) > DRAWN:
            st.caption(words.drawn.format(drawn=DRAWN, n=kit.count(len(nats), "token")))
    with asked:
        guess.ask()
    if shown:
        _deeper(state, reading, logits, blind)
    frames.draw(state, reading.tokens)
    if shown:
        kit.seen(words.end, **end(reading, plain.nats.numpy(), logits.shape[1]))


def _deeper(state: kit.PageState, reading: kit.Read, logits: np.ndarray, blind: float) -> None:
    """Show the looks, and every step from the scores to the loss."""
    bundled, plain = reading.bundled, steps_of(reading, LossSettings())
    most = min(MOST, bundled.model.context_length) + 1
    mixed = tuple(bundled.tokenizer.encode_from_start(MIXED)[:most])
    shuffled = float(_steps(bundled, mixed, LossSettings()).nats.mean())
    kit.looks(state, words.looks, f"{KEY}.looks", blind=blind, mixed=shuffled)
    kit.real_look(state, words.real, f"{KEY}.real")
    kit.section(words.intro)
    settings = _controls(state, reading)
    try:
        steps = steps_of(reading, settings)
    except ValueError:
        st.info(words.bad_mean, icon=":material/block:")
        return
    draw_picture(reading, logits, plain, steps, settings, f"{KEY}.matrices")
    _result(reading, logits, steps, settings)
    counted = [i for i in range(len(reading.targets)) if i not in settings.skipped]
    if counted:
        mean = float(plain.nats[counted].mean())
        kit.prose(perplexity_told(mean, logits.shape[1]))
    _code(reading, steps, settings)


def cost(nats: Sequence[float], names: Sequence[str]) -> tuple[kit.Question, int] | None:
    """Ask what one of the tokens with these losses costs, beside a likelier one; give its place.

    The wrong answers are those of somebody to whom the missing probability is the price, and of
    one who pays as many times more as the token is less likely. None where no pair has answers
    that are clearly apart.
    """
    probabilities = [math.exp(-loss) for loss in nats]
    pairs = [
        (abs(math.log(p / q / USUAL)), at, q, by, p)
        for by, p in enumerate(probabilities)
        for at, q in enumerate(probabilities)
        if LEAST <= q < p < 0.5
        and min(abs(a - b) for a, b in itertools.combinations(_costs(p, q), 2)) >= CLEAR
    ]
    if not pairs:
        return None
    _, at, q, by, p = min(pairs)
    right, missing, times = _costs(p, q)
    known = -math.log(p)
    reasons = {
        right: words.ask_cost_right,
        missing: words.ask_cost_missing,
        times: words.ask_cost_times,
    }
    asked = kit.Question.among(
        words.ask_cost,
        reasons,
        right,
        lambda nats: words.nats.format(nats=nats),
        reference=kit.quote(names[by]),
        reference_p=kit.percent(p),
        cost=words.nats.format(nats=known),
        token=kit.quote(names[at]),
        p=kit.percent(q),
        times=p / q,
        more=round(right, 2) - round(known, 2),  # what is read adds up
    )
    return asked, at


def _costs(p: float, q: float) -> tuple[float, float, float]:
    """What a token of probability q costs beside one of p: really, by what is missing, by times."""
    nats = -math.log(p)
    return -math.log(q), nats * (1 - q) / (1 - p), nats * p / q


def _bars(reading: kit.Read, nats: list[float], blind: float, guess: kit.Guess, place: int) -> None:
    """Show a bar for each of the first tokens, as long as its loss; `place` is asked for."""
    cases = [
        kit.Case(
            [(name, True), (f"  {_chance(cost)}", False)],
            max(0.0, cost),
            note=f"{cost:.2f}",
            role="loss",
        )
        for name, cost in zip(reading.target_tokens, nats[:DRAWN], strict=False)
    ]
    guesses = [] if guess.question is None else [nats for (nats,) in guess.question.values]
    high = 1.05 * max(blind, *guesses, *(case.value or 0.0 for case in cases))
    guess.cases(
        cases,
        kit.Axis(0, high, words.axis),
        veiled=[place] if guess.question is not None else [],
        picture=f"{KEY}.bars",
        form="figure",
        levels=[(blind, words.blind_line)],
    )


def end(reading: kit.Read, nats: np.ndarray, vocabulary: int) -> dict[str, str | float]:
    """Return the numbers that the chapter ends with: of the losses (N,) of all positions."""
    hard = int(np.argmax(nats))
    return {
        "n": kit.count(len(nats), "token"),
        "mean": float(nats.mean()),
        "hard": kit.quote(reading.target_tokens[hard]),
        "hard_nats": float(nats[hard]),
        "vocabulary": kit.count(vocabulary, "token"),
        "blind": math.log(vocabulary),
    }


def perplexity_told(mean: float, vocabulary: int) -> str:
    """Say what a mean loss in nats is as a perplexity, beside the number of tokens there are."""
    from llmviz.training.measures import perplexity

    value = perplexity(mean)
    text = words.perplexity["above" if round(value, 1) > vocabulary else "below"]
    return text.format(plain=mean, value=value, vocabulary=vocabulary)


def steps_of(reading: kit.Read, settings: LossSettings) -> LossSteps:
    """Return every step of the loss of a text; ValueError where its mean is of nothing."""
    return _steps(reading.bundled, reading.ids, settings)


@kit.cached(32)  # up to 1 MB each
def _steps(bundled: engine.Bundled, ids: tuple[int, ...], settings: LossSettings) -> LossSteps:
    return loss_steps(readers.logits_of(bundled, ids), ids[1:], settings)


def _text_box(state: kit.PageState):
    with st.container(gap=None):
        kit.text_area(state, "sentence", words.sentence_label, height=68)
        text_guard(kit.furniture.half_character)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bundled = readers.choose(state, kit.Picker("reader", kit.continues), "sentence")
        take = state.taker("sentence")
        own = state[kit.LEARNER_TEXT.key]
        st.button(words.use_my_text, icon=":material/edit_note:", on_click=take, args=(own,))
        if state["sentence"] != words.sentence:
            st.button(words.use_own, icon=":material/undo:", on_click=take, args=(words.sentence,))
    return bundled


def _chance(nats: float) -> str:
    """A probability in words; what is almost sure, or almost never, is not rounded to that."""
    p = math.exp(-nats)
    return "< 0.01 %" if p < 0.00005 else "> 99.9 %" if 0.9995 <= p < 1 else kit.percent(p)


def _controls(state: kit.PageState, reading: kit.Read) -> LossSettings:
    positions = range(len(reading.targets))
    if not set(state["skip"]) <= set(positions):
        state["skip"] = [i for i in state["skip"] if i in positions]
    known = {
        token: name for token, name in zip(reading.targets, reading.target_tokens, strict=True)
    }
    if state["weighs"] not in (NONE, *known):
        state["weighs"] = NONE
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "reduction", words.reduction, words.reductions)
        st.selectbox(
            words.class_text,
            [NONE, *known],
            format_func=lambda token: words.class_none if token == NONE else known[token],
            width=230,
            **state.bind("weighs"),
        )
        if state["weighs"] != NONE:
            st.slider(words.class_weight, step=0.5, width=160, **state.ranged("weight"))
        st.slider(words.smoothing, step=0.05, width=200, **state.ranged("smooth"))
    st.pills(
        words.skip,
        list(positions),
        selection_mode="multi",
        format_func=lambda i: kit.escape_markdown(reading.target_tokens[i]),
        wrap=True,
        **state.bind("skip"),
    )
    return LossSettings(
        state["reduction"],
        tuple(sorted(state["skip"])),
        None if state["weighs"] == NONE else state["weighs"],
        state["weight"],
        state["smooth"],
    )


def _result(reading: kit.Read, logits: np.ndarray, steps, settings: LossSettings) -> None:
    counted = len(reading.targets) - len(settings.skipped)
    theirs = torch_loss(logits, reading.targets, settings)
    ours = steps.loss.numpy()
    number = float(ours) if ours.ndim == 0 else math.nan
    apart = float(np.abs(ours - theirs).max())
    weighs = settings.token is not None and settings.weight != 1
    weighted = weighs and settings.reduction == "mean"
    kind = "weighted mean" if weighted else settings.reduction
    lines = [
        words.result[kind].format(
            loss=number,
            counted=kit.count(counted, "token"),
            positions=kit.count(len(reading.targets), "token"),
        ),
    ]
    if weighted:
        lines.append(
            words.weighted.format(
                token=kit.quote(reading.target_tokens[reading.targets.index(settings.token)]),
                weight=settings.weight,
                divisor=float(steps.divisor),
            )
        )
    if settings.smoothing:
        share, vocabulary = kit.percent(settings.smoothing), logits.shape[1]
        line = words.smoothed.format(eps=settings.smoothing, share=share, vocabulary=vocabulary)
        lines.append(line)
    kit.prose("\n\n".join(lines))
    kit.programmers(
        words.agrees,
        torch=f"{float(theirs):.4f}" if theirs.ndim == 0 else words.same_list,
        apart=kit.power_of_ten(apart, 1) if apart else words.no_difference,
    )


def _code(reading: kit.Read, steps, settings: LossSettings) -> None:
    from llmviz.nn.loss import cross_entropy_steps

    name, text = reading.bundled.name, reading.text
    more, given = "", f"reduction={settings.reduction!r}, label_smoothing={settings.smoothing!r}"
    if settings.skipped:
        more = f"targets[{list(settings.skipped)}] = -1  # no loss there\n"
    if settings.token is not None:
        more += "weights = torch.ones(logits.shape[1])\n"
        more += f"weights[{settings.token}] = {settings.weight!r}\n"
        given += ", class_weights=weights"
    if reading.bundled.tokenizer.encode(text) != list(reading.targets):
        return  # unknown characters: the text cannot be quoted back
    prints = str([f"{loss:.3f}" for loss in steps.loss.view(-1).tolist()])
    code = words.snippet.format(name=name, text=text, more=more, given=given)
    kit.show_code([cross_entropy_steps], code, prints)
