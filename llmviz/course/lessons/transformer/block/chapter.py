"""Chapter "One block, opened": a layer stage by stage, and all layers as a stack.

T tokens, C width, L layers.
"""

import math

import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.transformer.block import code, words
from llmviz.course.lessons.transformer.block.drawing import PARTS, stage_names
from llmviz.course.lessons.transformer.block.picture import picture_of, steps_of
from llmviz.course.lessons.transformer.subject import (
    DRAWN,
    SMALL,
    Subject,
    blocks_of,
    choose_subject,
)
from llmviz.course.ui import kit
from llmviz.course.ui.matrix_picture import read_windows
from llmviz.interpretability.block import ORDERS, STAGES, Sizes, Steps, parameters_of, sizes
from llmviz.models.settings import GPTConfig

KEY = "transformer.block"
# Which stage opens for a column of the stack.
OPENS = {"input": "x", "attn": "qkv", "mlp": "up"}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    subject = choose_subject(state, lambda config: _controls(state, config))
    if subject is None:
        return
    own = subject.model.config.norm
    norm = own if own == "none" or state["order"] == "own" else state["order"]
    head = min(state["head"], subject.model.config.n_head - 1)
    if own == "none" and state["order"] != "own":
        kit.inform(words.no_norms, ":material/info:")
    steps = steps_of(subject, norm)
    stage = _picture(state, subject, head, norm)
    code.draw(subject, steps, stage, norm, head)
    if own != "none":
        kit.prose(changes(subject, norm))
    # always about one layer: a click in the stack must neither ask anew nor grade anew
    quiz = question(steps_of(subject.at(0), own), subject.tokens[-1])
    # the sizes of the stack tell which part adds more
    opened = quiz is None or kit.predict(quiz, f"{KEY}.ask", covers=True)
    if opened:
        kit.section(words.stack)
        _stack(state, subject, stage)
    kit.predict(count_question(subject.model.config), f"{KEY}.count")
    if opened:
        kit.seen(
            words.end, layer=subject.layer, token=kit.quote(subject.tokens[-1]), **end(steps, norm)
        )


def _controls(state: kit.PageState, config: GPTConfig) -> None:
    """Show what else can be chosen."""
    if config.n_head > 1:
        st.number_input(words.head, width=120, **state.ranged("head", most=config.n_head - 1))
    if config.norm != "none":
        kit.choose(state, "order", words.order, words.orders)


def _picture(state: kit.PageState, subject: Subject, head: int, norm: str) -> str:
    """Draw the layer; return the stage that is open."""
    picture, names = picture_of(subject, head, norm), stage_names(norm)
    stage = state["stage"] if state["stage"] in names else names[0]
    key = f"{KEY}.matrices"

    lv.stage_view(
        picture,
        key=key,
        step=names.index(stage),
        pinned=lv.cell_of(state["cell"], picture.shapes),
        windows=read_windows(state["seen"], picture.windows),
        narrow=DRAWN,
        on_change=kit.bound(
            state,
            key,
            step=("stage", kit.one_of(names)),
            pinned=("cell", kit.link_of),
            window=("seen", kit.windows_link),
        ),
    )
    return stage


def changes(subject: Subject, norm: str) -> str:
    """Return what norms before and behind do to the size of the stream, and whose weights ran."""
    steps = {order: steps_of(subject, order) for order in ORDERS}
    post = steps["post"]["norm2"].square().mean(-1).sqrt()
    single = words.changes_single.format(low=float(post.min()), high=float(post.max()))
    line = words.changes.format(
        x=_size(steps["pre"]["input"]),
        pre=_size(steps["pre"]["sum2"]),
        post=_size(steps["post"]["norm2"]),
        single=single if len(post) > 1 else "",
    )
    own = subject.model.config.norm
    if norm != own:
        swapped = words.swapped_small if subject.name == SMALL else words.swapped
        line += "\n\n" + swapped.format(own=words.where[own], now=words.where[norm])
    return line


def _size(x) -> float:
    return float(x.square().mean().sqrt())


def question(steps: Steps, token: str) -> kit.Question | None:
    """Return which part changes the last token's vector more; None where both read the same."""
    lengths = {part: float(steps[part][-1].norm()) for part in words.parts}
    if len({f"{length:.2f}" for length in lengths.values()}) < 2:
        return None
    best = max(lengths, key=lengths.__getitem__)
    reasons = {
        words.parts[part]: (words.ask_right if part == best else words.ask_wrong).format(
            part=words.parts[part], length=length
        )
        for part, length in lengths.items()
    }
    return kit.Question.among(words.ask, reasons, words.parts[best], token=kit.quote(token))


def count_question(config: GPTConfig) -> kit.Question:
    """Return how many numbers the feed-forward network of a layer has learned."""
    parts = parameters_of(config)
    numbers = {part: sum(map(math.prod, tensors.values())) for part, tensors in parts.items()}
    gated = config.activation == "swiglu"
    names = words.tensors | (words.gated_tensors if gated else {})
    mlp = numbers["up"] + numbers["down"]
    counts = {"mlp": mlp, "up": numbers["up"], "qkv": numbers["qkv"]}
    if counts["qkv"] in (mlp, numbers["up"]):
        del counts["qkv"]
    reasons = {
        "mlp": words.counted["mlp"].format(
            tensors=kit.listed([names[name] for name in (*parts["up"], *parts["down"])]),
            mlp=mlp,
            share=kit.percent(mlp / sum(numbers.values())),
        ),
        "up": words.counted["up_gated" if gated else "up"].format(
            c=config.n_embd, f=config.feed_forward_size, down=numbers["down"]
        ),
        "qkv": words.counted["qkv"],
    }
    offered = {count: reasons[name] for name, count in counts.items()}
    return kit.Question.among(words.count, offered, mlp, all=sum(numbers.values()))


def end(steps: Steps, norm: str) -> dict[str, float | str]:
    """Return how long the last token's vector is, what is added to it and what comes out."""
    x, attn, mlp, out = (
        float(steps[step][-1].norm()) for step in ("input", "attn", "mlp", STAGES[norm][-1])
    )
    return {"x": x, "attn": attn, "mlp": mlp, "out": words.end_out[norm].format(out=out)}


@kit.kept(32, key=lambda subject: subject.text)
def stack_of(subject: Subject) -> Sizes:
    """Return how large the numbers are at each stage of each layer."""
    return sizes(blocks_of(subject), subject.model.config.norm)


def _stack(state: kit.PageState, subject: Subject, stage: str) -> None:
    """Draw all layers; a click opens a stage of one."""
    stack, key = stack_of(subject), f"{KEY}.stack"
    part = next((part for part, stages in PARTS.items() if stage in stages), stage)

    def opened() -> None:
        cell = st.session_state[key].get("chosen")
        if cell is None:
            return
        state["layer"], chosen = cell[0], stack.stages[cell[1]]
        if stage not in PARTS.get(chosen, (chosen,)):
            state["stage"] = OPENS.get(chosen, chosen)

    values = stack.sizes.tolist()
    cell_grid(
        stack.sizes.numpy(),
        key=key,
        row_names=[words.stack_row.format(layer=layer) for layer in range(len(values))],
        column_names=[words.stack_columns[column] for column in stack.stages],
        texts=[[f"{value:.2f}" for value in row] for row in values],
        notes=[[words.stack_note.format(size=value) for value in row] for row in values],
        role="residual",
        scale=("0", f"{max(map(max, values)):.2f}"),
        label=words.stack_label,
        chosen=(subject.layer, stack.stages.index(part)) if part in stack.stages else None,
        on_change=opened,
    )
