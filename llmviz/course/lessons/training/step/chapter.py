"""Chapter "One step of training": a batch, one weight and its step, then all that is between."""

import dataclasses
import inspect

import numpy as np
import streamlit as st

from llmviz.course.components.matrix_view.view import Window, cell_of, matrix_view
from llmviz.course.lessons.training.step import pictures, step_calls, words
from llmviz.course.lessons.training.step.one_step import (
    READ,
    STEPS,
    OneStep,
    StepChoice,
    one_step,
    prepared,
    update,
)
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.sampling.steps import softmax

KEY = "training.step"
GUESS = "training.step.weight"
REACH = 1.15  # of the axis, in lengths of the farthest answer from the old weight
APART = 0.03  # of the axis, between the answers of the question


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a batch and one weight up to its step, then every matrix between them."""
    if not engine_ready():
        return
    head, stage, below = st.container(), kit.stage("step"), st.container()
    with below, st.expander(words.settings, icon=":material/edit_note:"):
        kit.text_box(state)
        _settings(state)
    text = kit.learner_text(state)
    if text is None:
        return
    if len(text) > READ:
        st.caption(words.too_long.format(limit=READ))
    choice = StepChoice(
        text[:READ],
        state["batch_rows"],
        state["batch_width"],
        state["batch_step"],
        state["batch_opt"],
        state["batch_clip"],
        state["batch_seed"],
    )
    step = kit.or_refused(_computed, choice)
    if step is None:
        return
    names = [pictures.step_name(step, token) for token in range(len(step.names))]
    with head:
        sample = kit.quote(step.untrained or words.nothing_written, 24)
        kit.prose(words.hook, parameters=_weights(choice), sample=sample)
    guess = kit.Guess(GUESS, question(step, choice, names))
    with stage:
        _guesses(step, names)
        shown = guess.open
        _weight(step, guess, names)
        guess.ask()
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            st.slider(words.step, width=320, **state.ranged("batch_step"))
            kit.choose(state, "batch_opt", words.optimizer, words.optimizers)
        kit.prose(words.caption, step=choice.step, loss=step.loss, rate=step.rate)
        if shown:
            kit.prose(loss_after(step))
    with below:
        kit.looks(state, words.looks, f"{KEY}.looks")
    _forward(state, step, choice, names)
    if shown:
        _update(state, step, choice, names)
    _calls(choice)
    _modes(choice)
    _resume(state, choice)
    _code(choice, step)
    if shown:
        kit.seen(
            words.end,
            step=choice.step,
            positions=kit.count(step.ids.size, "position"),
            before=step.loss,
            after=step.loss_after,
            parameters=_weights(choice),
        )


_computed = kit.cached(64)(one_step)
_followed = kit.cached(64)(step_calls.calls)
_measured = kit.cached(64)(step_calls.modes)
_compared = kit.cached(16)(step_calls.resumed)


def _settings(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.number_input(words.rows, width=140, **state.ranged("batch_rows"))
        st.number_input(words.width, width=140, **state.ranged("batch_width"))
        st.number_input(
            words.clip, step=0.1, width=145, help=words.clip_help, **state.ranged("batch_clip")
        )
        st.number_input(words.seed, width=110, **state.ranged("batch_seed"))


def steepest(step: OneStep) -> tuple[int, int]:
    """Return row and column of the head's weight with the largest slope."""
    token = int(np.abs(step.gradient).max(axis=1).argmax())
    return token, int(np.abs(step.gradient[token]).argmax())


def question(step: OneStep, choice: StepChoice, names: list[str]) -> kit.Question | None:
    """Ask where the step puts the weight with the largest slope.

    The wrong answers are those of somebody who goes along the slope, and of one who forgets the
    learning rate. None where the answers are nearly the same, as with a rate near 0, and where what
    AdamW remembers outweighs this batch's slope.
    """
    at = steepest(step)
    before, after, slope = (float(v[at]) for v in (step.head, step.after, step.gradient))
    clipped = slope * min(1.0, step.factor)
    move = after - before
    values = {after: "right", before - move: "along", before - clipped: "whole"}
    reach = 2 * REACH * max(abs(value - before) for value in values)
    gaps = np.diff(sorted(values))
    if move * slope >= 0 or len(values) < 3 or gaps.min() < APART * reach:
        return None
    numbers = {
        "token": kit.quote(names[at[0]]),
        "column": at[1],
        "before": _written(before),
        "slope": _written(slope),
        "shortened": words.shortened.format(clipped=_written(clipped)) if step.factor < 1 else "",
        "changes": words.changes[slope > 0],
        "rate": f"{step.rate:.4g}",
    }
    reasons = {
        value: words.reasons[name].format(**numbers)
        if name in words.reasons
        else one_weight(step, choice, *at, numbers["token"])
        for value, name in values.items()
    }
    return kit.Question.among(words.ask.format(**numbers), reasons, after, _written)


def _written(value: float) -> str:
    return kit.signed(value, 4)


def _weight(step: OneStep, guess: kit.Guess, names: list[str]) -> None:
    """The weight with the largest slope on its axis, before the step and after it."""
    at = steepest(step)
    before, after = float(step.head[at]), float(step.after[at])
    values = [value for (value,) in guess.question.values] if guess.question else [after]
    reach = REACH * max(*(abs(value - before) for value in values), 1e-3)
    guess.cases(
        [
            kit.Case(words.old, before, role="residual"),
            kit.Case(words.new.format(step=len(step.losses)), after),
        ],
        kit.Axis(before - reach, before + reach, words.weight_axis.format(token=names[at[0]])),
        veiled=[1],
        picture=f"{KEY}.line",
        form="figure",
        mark="dot",
    )


def _guesses(step: OneStep, names: list[str]) -> None:
    """What the model gave to each letter that came next in its batch."""
    cases = []
    for ids, targets, logits in zip(step.ids, step.targets, step.logits, strict=True):
        for at, target in enumerate(targets):
            p = softmax(logits[at].astype(np.float64))
            read = "".join(names[token] for token in ids[: at + 1])
            label = [(f"{read} → ", False), (names[target], True)]
            cases.append(kit.Case(label, float(p[target]), role="weights"))
    blind = 1 / len(names)
    high = min(1.0, 1.3 * max(blind, *(case.value or 0 for case in cases)))
    kit.case_rows(
        cases,
        kit.Axis(0, high, words.guess_axis),
        key=f"{KEY}.guesses",
        form="chance",
        levels=[(blind, words.blind)],
    )


def _forward(state: kit.PageState, step: OneStep, choice: StepChoice, names: list[str]) -> None:
    rows, width = step.ids.shape
    kit.section(words.forward, rows=kit.count(rows, "piece"))
    picture = pictures.forward(step, names)
    windows = pictures.windows_of(step)
    _matrices(state, picture, "forward", windows)
    upstream = next(matrix.values for matrix in picture.matrices if matrix.name == "upstream")
    by_hand = np.asarray(upstream).T @ step.hidden.reshape(upstream.shape[0], -1)
    apart = float(np.abs(by_hand - step.gradient).max())
    text = kit.power_of_ten(apart, 1) if apart else words.zero
    kit.measured(
        words.batch,
        vocabulary=len(names),
        step=choice.step,
        rows_number=rows,
        width=width,
        positions=rows * width,
        channels=step.head.shape[1],
        untrained=step.untrained_loss,
        blind=step.blind,
        apart=text,
    )


def _matrices(
    state: kit.PageState,
    picture: pictures.Picture,
    name: str,
    windows: dict[str, Window] | None = None,
) -> None:
    """Draw a picture; the kept cell and the caption at which it stands are in the link."""
    key = f"{KEY}.{name}" + "".join(f".{axis}{size.size}" for axis, size in (windows or {}).items())
    shapes = {matrix.name: np.shape(matrix.values) for matrix in picture.matrices}
    last = len(picture.steps) - 1
    at = state[f"{name}_at"]

    matrix_view(
        picture.matrices,
        key=key,
        layout=picture.layout,
        steps=picture.steps,
        step=last if at < 0 else min(at, last),
        pinned=cell_of(state[f"{name}_cell"], shapes),
        numbers=True,
        windows=windows,
        on_change=kit.bound(
            state,
            key,
            pinned=(f"{name}_cell", kit.link_of),
            step=(f"{name}_at", kit.one_of([*range(last), -1])),
        ),
    )


def _update(state: kit.PageState, step: OneStep, choice: StepChoice, names: list[str]) -> None:
    kit.section(words.update, parameters=_weights(choice))
    most = steepest(step)[0]
    token = state["batch_token"] if 0 <= state["batch_token"] < len(names) else most
    if state["batch_token"] != -1 and token != state["batch_token"]:
        state["batch_token"] = -1

    def label(number: int) -> str:
        return words.steepest.format(token=names[most]) if number < 0 else names[number]

    st.selectbox(
        words.token,
        [-1, *range(len(names))],
        format_func=label,
        width=280,
        **state.bind("batch_token"),
    )
    _matrices(state, pictures.update(step, choice, token), "update")
    config = choice.config()
    column = int(np.abs(step.gradient[token]).argmax())
    lines = [
        words.schedule.format(
            top=config.learning_rate,
            warmup=config.warmup_steps,
            steps=STEPS,
            step=choice.step,
            rate=step.rate,
        ),
        one_weight(step, choice, token, column, kit.quote(names[token])),
    ]
    kit.prose("\n\n".join(lines))


def one_weight(step: OneStep, choice: StepChoice, token: int, column: int, name: str) -> str:
    """Say how one weight of the head got its new value, with numbers that fit."""

    def digits(values: np.ndarray) -> str:
        return kit.signed(values[token, column], 6)

    gradient, factor = digits(step.gradient), min(1.0, step.factor)
    clipped = digits(step.gradient * factor)
    more = words.weight_clipped.format(clipped=clipped) if factor < 1 else ""
    new = words.weight_new[choice.optimizer].format(
        before=digits(step.head),
        rate=f"{step.rate:.6g}",
        clipped=kit.operand(clipped),
        decay=kit.operand(digits(step.update["decay"])) if "decay" in step.update else "",
        step=kit.operand(digits(step.update["step"])),
        after=digits(step.after),
    )
    return (
        f"{words.weight.format(token=name, column=column, gradient=gradient, clipped=more)} {new}"
    )


def _weights(choice: StepChoice) -> int:
    return int(sum(np.prod(shape) for shape in _shapes(choice).values()))


@kit.cached(32)
def _shapes(choice: StepChoice) -> dict[str, tuple[int, ...]]:
    return {name: tuple(weight.shape) for name, weight in prepared(choice)[2].named_parameters()}


def loss_after(step: OneStep) -> str:
    """Say what became of the batch's loss."""
    kind = "no rate"
    if step.rate:
        kind = (
            "lower"
            if step.loss_after < step.loss
            else "higher"
            if step.loss_after > step.loss
            else "equal"
        )
    return words.loss_after[kind].format(before=step.loss, after=step.loss_after)


def _calls(choice: StepChoice) -> None:
    """How long the gradient is after each call of a step, with a second `backward` in between."""
    kit.section(words.calls_section)
    followed = _followed(choice)
    kit.case_rows(
        [
            kit.Case([(words.calls[call.name], False)], call.norm, role="weights")
            for call in followed
        ],
        kit.Axis(0, 1.05 * max(1e-6, *(call.norm for call in followed)), words.calls_axis),
        key=f"{KEY}.calls",
        form="figure",
    )
    kit.prose(words.calls_read)
    st.code(inspect.getsource(update), language="python")


def _modes(choice: StepChoice) -> None:
    kit.section(words.modes_section)
    found = _measured(choice)
    losses = {mode: getattr(found, mode) for mode in words.modes}
    low, high = (edge(map(edge, losses.values())) for edge in (min, max))
    kit.case_rows(
        [
            kit.Case(words.modes[mode], first, dots=[first, second], role="value")
            for mode, (first, second) in losses.items()
        ],
        kit.Axis(low - 0.05, high + 0.05, words.modes_axis),
        key=f"{KEY}.modes",
        form="figure",
        mark="dot",
    )
    kit.measured(words.how_dropout, dropout=step_calls.DROPOUT)
    kit.programmers(words.modes_read)


def _resume(state: kit.PageState, choice: StepChoice) -> None:
    kit.section(words.resume, steps=STEPS, middle=STEPS // 2)
    begin = state.setter(batch_resume=True)
    if not state["batch_resume"]:
        st.button(words.resume_button, icon=":material/save:", on_click=begin)
        return
    found = _compared(dataclasses.replace(choice, step=1))  # the whole run: no step is looked at
    files = ", ".join(f"{kit.quote(name)} ({size:,} bytes)" for name, size in found.files.items())
    apart = words.resume_apart.format(apart=found.resumed_apart)
    lines = [
        words.resume_files.format(files=files),
        apart if found.resumed_apart else words.resume_equal,
        words.resume_memory[found.weights_only_apart == 0],
        words.resume_losses.format(
            whole=found.loss, again=found.resumed_loss, alone=found.weights_only_loss
        ),
    ]
    kit.prose(" ".join(lines))


def _code(choice: StepChoice, step: OneStep) -> None:
    from llmviz.training.loop import _Run

    if choice.text != choice.text[: kit.IN_SNIPPET]:
        return
    given = (
        f"{choice.text!r}, rows={choice.rows}, width={choice.width}, step={choice.step}, "
        f"optimizer={choice.optimizer!r}, clip={choice.clip!r}, seed={choice.seed}"
    )
    kit.show_code(
        [update, one_step, _Run._update],
        words.snippet.format(given=given),
        f"{step.loss:.4f} {step.norm:.4f} {step.factor:.4f} {step.loss_after:.4f}",
        label=words.code,
    )
