"""Chapter "One step of training": a batch, its loss, the gradients, the update, the code."""

import numpy as np
import streamlit as st

from llmviz.course.components.matrix_view.view import Window, cell_of, matrix_view
from llmviz.course.components.token_strip.view import TokenRow, token_strip
from llmviz.course.lessons.training.step import calls as step_calls
from llmviz.course.lessons.training.step import pictures, questions, words
from llmviz.course.lessons.training.step.one_step import READ, STEPS, Asked, OneStep, one_step
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready

KEY = "training.step"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, width=8)
    kit.text_box(state)
    _controls(state)
    text = kit.learner_text(state)
    if text is None or not engine_ready():
        return
    if len(text) > READ:
        st.caption(words.too_long.format(limit=READ))
    choice = Asked(
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
    _batch(step, choice, names)
    _forward(state, step, names)
    _update(state, step, choice, names)
    step_calls.draw(state, choice)
    _code(choice, step)
    kit.seen(
        words.end,
        step=choice.step,
        positions=kit.count(step.ids.size, "position"),
        before=step.loss,
        after=step.loss_after,
        parameters=_weights(choice),
    )


_computed = kit.kept(64)(one_step)


def _controls(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.number_input(words.rows, width=140, **state.ranged("batch_rows"))
        st.number_input(words.width, width=140, **state.ranged("batch_width"))
        st.slider(words.step, width=180, **state.ranged("batch_step"))
        st.segmented_control(
            words.optimizer,
            required=True,
            **state.named("batch_opt", words.optimizers),
        )
        st.number_input(
            words.clip, step=0.1, width=145, help=words.clip_help, **state.ranged("batch_clip")
        )
        st.number_input(words.seed, width=110, **state.ranged("batch_seed"))


def _batch(step: OneStep, choice: Asked, names: list[str]) -> None:
    """The batch as rows of tokens, and what the model was before any step."""
    rows, width = step.ids.shape
    kit.section(
        words.batch,
        vocabulary=len(names),
        step=choice.step,
        rows=kit.count(rows, "piece"),
        rows_number=rows,
        width=width,
        positions=rows * width,
    )
    strips = []
    for row in range(rows):
        for title, ids in ((words.input, step.ids[row]), (words.target, step.targets[row])):
            strips.append(TokenRow(title.format(row=row + 1), _tokens(ids, names)))
    token_strip(strips, key=f"{KEY}.batch")
    kit.prose(
        words.untrained,
        sample=kit.quote(step.untrained or words.nothing_written, 60),
        loss=step.untrained_loss,
        vocabulary=len(names),
        blind=step.blind,
    )


def _tokens(ids: np.ndarray, names: list[str]) -> list:
    from llmviz.tokenizers import Token

    tokens, at = [], 0
    for token in ids.tolist():
        data = names[token].encode("utf-8")
        tokens.append(Token(token, data, at, at + len(data), at, at + len(data)))
        at += len(data)
    return tokens


def _forward(state: kit.PageState, step: OneStep, names: list[str]) -> None:
    kit.section(words.forward)
    picture = pictures.forward(step, names)
    windows = pictures.windows_of(step)
    _matrices(state, picture, "forward", windows)
    upstream = next(matrix.values for matrix in picture.matrices if matrix.name == "upstream")
    by_hand = np.asarray(upstream).T @ step.hidden.reshape(upstream.shape[0], -1)
    apart = float(np.abs(by_hand - step.gradient).max())
    text = kit.power_of_ten(apart, 1) if apart else words.zero
    kit.prose(words.agrees, loss=step.loss, apart=text)


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


def _update(state: kit.PageState, step: OneStep, choice: Asked, names: list[str]) -> None:
    kit.section(words.update, parameters=_weights(choice))
    question = questions.clipping(step.norm, choice.clip)
    shown = question is None or kit.predict(question, f"{KEY}.clip", covers=True)
    steepest = int(np.abs(step.gradient).max(axis=1).argmax())
    token = state["batch_token"] if 0 <= state["batch_token"] < len(names) else steepest
    if state["batch_token"] != -1 and token != state["batch_token"]:
        state["batch_token"] = -1

    def label(number: int) -> str:
        return words.steepest.format(token=names[steepest]) if number < 0 else names[number]

    st.selectbox(
        words.token,
        [-1, *range(len(names))],
        format_func=label,
        width=280,
        **state.bind("batch_token"),
    )
    if not shown:
        return
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
        loss_after(step),
    ]
    kit.prose("\n\n".join(lines))


def one_weight(step: OneStep, choice: Asked, token: int, column: int, name: str) -> str:
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


def _weights(choice: Asked) -> int:
    """The number of weights of the model."""
    return int(sum(np.prod(shape) for shape in _shapes(choice).values()))


@kit.kept(32)
def _shapes(choice: Asked) -> dict[str, tuple[int, ...]]:
    from llmviz.course.lessons.training.step.one_step import prepared

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


def _code(choice: Asked, step: OneStep) -> None:
    from llmviz.course.lessons.training.step.one_step import update
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
