"""Chapter "One block, opened": how much a layer adds to a word, and a layer stage by stage."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.transformer import TEXT
from llmviz.course.lessons.transformer.block import words
from llmviz.course.lessons.transformer.block.drawing import Drawing, stage_names
from llmviz.course.lessons.transformer.page import WITH_PARTS
from llmviz.course.lessons.transformer.subject import DRAWN, Subject, choose_subject
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import read_windows
from llmviz.interpretability.block import STAGES, all_blocks, block_steps, require_block
from llmviz.models.gpt import GPT, Block
from llmviz.nn.attention import attention
from llmviz.nn.attention.multihead import MultiHeadAttention
from llmviz.nn.layers import FeedForward, layer_norm_steps, rms_norm_steps


@kit.cached(8, key=lambda subject: subject.in_model)  # 28 MB each at the shape of GPT-2
def weights_of(subject: Subject) -> lv.Weights:
    """Return the matrices of a layer that no head has for itself."""
    return layer_weights(subject.model.blocks[subject.layer])


def layer_weights(block: Block) -> lv.Weights:
    """Take the matrices out of a layer that no head has for itself."""
    mlp = block.feed_forward
    linears = {"W_O": block.attn.projection, "W_up": mlp.hidden, "W_down": mlp.output}
    if mlp.up is not None:
        linears |= {"W_gate": mlp.hidden, "W_up": mlp.up}
    return lv.Weights.of({key: linear.weight.T.numpy() for key, linear in linears.items()})


@kit.cached(32, key=lambda subject, head: (subject.in_model, head))
def head_weights_of(subject: Subject, head: int) -> lv.Weights:
    """Return W_Q, W_K, W_V of a head."""
    return head_weights(subject.model.blocks[subject.layer], head)


def head_weights(block: Block, head: int) -> lv.Weights:
    """Take W_Q, W_K, W_V of a head out of a layer."""
    parts = block.attn.projections(head)
    return lv.Weights.of(
        {f"W_{letter}": part.numpy() for letter, part in zip("QKV", parts, strict=True)}
    )


@kit.cached(32)
def picture_of(subject: Subject, head: int) -> lv.StagePicture:
    drawn = Drawing(subject.model, subject.steps, subject.ids, subject.tokens, subject.layer, head)
    weights = [weights_of(subject), head_weights_of(subject, head)]
    return staged(drawn, weights)


def staged(drawn: Drawing, weights: list[lv.Weights]) -> lv.StagePicture:
    stages = drawn.stages()
    return lv.stage_picture(drawn.picture.matrices, stages, drawn.picture.windows, weights)


# Which step of the trace a stage ends with, and what norms before the parts read.
RESULTS = {
    "x": "input",
    "qkv": "attn.q",
    "scores": "attn.scaled",
    "weights": "attn.output",
    "join": "attn",
    "sum1": "sum1",
    "up": "mlp.hidden",
    "act": "mlp.act",
    "down": "mlp",
    "sum2": "sum2",
}
NORMED = {"norm1": "input", "norm2": "sum1"}
PRINTED = 4  # numbers of the last token's row


def draw_code(subject: Subject, stage: str, head: int) -> None:
    """Show the functions that ran in a stage, and what the last token has after it."""
    config = subject.model.config
    kind = layer_norm_steps if config.norm_kind == "layer" else rms_norm_steps
    calls: dict[str, list[Any]] = {
        "x": [all_blocks],
        "norm1": [kind],
        "norm2": [kind],
        "qkv": [MultiHeadAttention.queries_keys_values],
        "scores": [attention],
        "weights": [attention],
        "join": [MultiHeadAttention.forward],
        "sum1": [Block.forward],
        "sum2": [Block.forward],
    }
    line, result = computed(subject.model, stage, head)
    imports = words.code_import
    if stage in NORMED:
        imports = f"{words.norm_import.format(name=kind.__name__)}\n{imports}"
    snippet = subject.opening(imports) + words.snippet.format(
        ids=list(subject.ids),
        layer=subject.layer,
        computed=line,
        printed=PRINTED,
    )
    numbers = subject.steps[result]
    numbers = numbers[head] if numbers.dim() == 3 else numbers
    prints = str([f"{x:.3f}" for x in numbers[-1, :PRINTED].tolist()])
    ran = calls.get(stage, [FeedForward])
    kit.show_code([*ran, block_steps], snippet, prints, label=words.code)


def computed(model: GPT, stage: str, head: int) -> tuple[str, str]:
    """Return the lines that compute a stage from `steps` and `block`, and which step it is."""
    attn, config = model.blocks[0].attn, model.config
    norm = config.norm
    between = "norm1" if norm == "post" else "sum1"  # what the second + adds to
    before = {"norm1": "sum1", "norm2": "sum2"} if norm == "post" else NORMED
    gated = stage == "act" and config.activation == "swiglu"
    line = words.computed["gated" if gated else config.norm_kind if stage in NORMED else stage]
    slots = {
        "first": {"pre": "norm1"}.get(norm, "input"),  # what attention reads
        "second": {"pre": "norm2"}.get(norm, between),  # and the feed-forward network
        "between": between,
        "before": before.get(stage),
        "head": head,
        "group": head * attn.n_kv_head // attn.n_head,
    }
    return line.format(stage=stage, **slots), RESULTS.get(stage, stage)


KEY = "transformer.block"
GUESS = f"{KEY}.survives"
APART = 0.1  # between the answers of the question
TOUCHED, ALIKE = 0.9, 1 / 3  # if a layer only touched a word up; if all three were alike
ROW_ROLES = {"x": "residual", "attn": "weights", "mlp": "value"}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how much of a word survives a layer, the guess and the looks, then every number."""
    opened = kit.load_and_read(state, WITH_PARTS.name(state), DRAWN, require_block)
    shown = True
    if opened is not None:
        bundled, read = opened
        token = kit.spoken(read.ids[-1], bundled.tokenizer)
        layers = bundled.model.config.n_layer
        layer = min(state["layer"], layers - 1)
        subject = Subject(*bundled.kept_as, bundled.model, read.ids, read.tokens, layer)
        added = lengths(subject)
        parts = shares(added)
        # another layer is there to be seen
        guess = kit.Guess(GUESS, question(parts["x"]) if layer == 0 else None)
        shown = guess.open
        kit.prose(words.hook)
        with kit.stage("block"):
            _rows(parts, guess, shown=shown)
            if layers > 1:
                st.number_input(words.layer, width=140, **state.ranged("layer", most=layers - 1))
            case = "told" if shown else "asked"
            kit.prose(words.caption[case], token=token, layer=layer, **added)
        guess.ask()
    kit.source(state, opened=opened is None)
    # what the looks say was measured on one model and one text
    measured = opened is not None and kit.bundled_models()[:1] == [bundled.name]
    if measured and shown and state["text"] == TEXT:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_look(state, words.real, f"{KEY}.real")
    _cells(state, opened)
    if opened is not None and shown:
        kit.seen(words.end, layer=layer, token=token, share=kit.whole_percent(parts["x"]))


def lengths(subject: Subject) -> dict[str, float]:
    """Return how long the last token's vector is, what is added to it and what comes out."""
    out = STAGES[subject.model.config.norm][-1]
    steps = {"x": "input", "attn": "attn", "mlp": "mlp", "out": out}
    return {name: float(subject.steps[step][-1].norm()) for name, step in steps.items()}


def shares(added: Mapping[str, float]) -> dict[str, float]:
    """Return of the length of all that is put together what each has; at least one is not 0.

    In hundredths, which add up to 1 as they are printed.

    >>> shares({"x": 71.6, "attn": 13.9, "mlp": 14.5})
    {'x': 0.72, 'attn': 0.14, 'mlp': 0.14}
    """
    total = sum(added[name] for name in ROW_ROLES)
    exact = {name: 100 * added[name] / total for name in ROW_ROLES}
    whole = {name: int(share) for name, share in exact.items()}
    for name in sorted(exact, key=lambda name: whole[name] - exact[name])[
        : 100 - sum(whole.values())
    ]:
        whole[name] += 1
    return {name: share / 100 for name, share in whole.items()}


def question(survives: float) -> kit.Question | None:
    """Ask how much of all is the word that came in; None where it does not drown."""
    if survives > ALIKE - APART:
        return None
    share, told = kit.whole_percent, words.reasons
    reasons = {survives: told["right"], ALIKE: told["alike"], TOUCHED: told["touch"]}
    return kit.Question.among(words.ask, reasons, survives, share, share=share(survives))


def _rows(parts: Mapping[str, float], guess: kit.Guess, *, shown: bool) -> None:
    cases = [
        kit.Case(
            words.rows[name],
            value if shown or name == "x" else None,
            role=ROW_ROLES[name],
            note="" if shown or name == "x" else "?",
        )
        for name, value in parts.items()
    ]
    axis = kit.Axis(0.0, 1.0, words.axis)
    guess.cases(cases, axis, veiled=[0], picture=f"{KEY}.rows")


def _cells(state: kit.PageState, opened: tuple[engine.Bundled, kit.Read] | None) -> None:
    kit.section(words.intro)
    subject = choose_subject(state, opened)
    if subject is None:
        return
    heads = subject.model.config.n_head
    if heads > 1:
        st.number_input(words.head, width=120, **state.ranged("head", most=heads - 1))
    head = min(state["head"], heads - 1)
    picture = kit.or_refused(picture_of, subject, head)
    if picture is not None:
        draw_code(subject, _picture(state, subject, picture), head)


def _picture(state: kit.PageState, subject: Subject, picture: lv.StagePicture) -> str:
    names = stage_names(subject.model.config.norm)
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
