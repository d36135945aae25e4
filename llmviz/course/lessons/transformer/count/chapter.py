"""Chapter "Counting": every tensor of any shape, and what the shape costs."""

import streamlit as st

from llmviz.course.figures.bars import named_bars
from llmviz.course.figures.theme import POLES
from llmviz.course.lessons.transformer.count import words
from llmviz.course.lessons.transformer.count.optimizer_bytes import OptimizerBytes, optimizer_bytes
from llmviz.course.lessons.transformer.count.shapes import (
    FIELDS,
    SHAPE_NAMES,
    SHAPE_SOURCES,
    TensorRow,
    config_of,
    settings_of,
    tensor_rows,
)
from llmviz.course.lessons.transformer.sizes import size
from llmviz.course.lessons.transformer.small_decoder import SMALL
from llmviz.course.ui import kit
from llmviz.models.arithmetic import (
    BYTES,
    activations_per_token,
    cache_bytes,
    count,
    count_by_part,
    count_used,
    different_tensors,
    flops_per_token,
    training_memory,
    translator_tensors,
    weight_bytes,
)
from llmviz.models.settings import ACTIVATIONS, NORM_KINDS, POSITIONS, GPTConfig

FIRST_ROW = ("layers", "heads", "width", "vocab", "context")
NUMBERS = ("kv", "hidden", "experts")
CHOICES = {"positions": POSITIONS, "norm": NORM_KINDS, "activation": tuple(ACTIVATIONS)}
SWITCHES = ("tied", "qkvbias", "bias")
ROOM = 96  # pixels for the number of a bar
MEASURED = "ours"  # the shape whose training is tried: small enough for a moment's work


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    _controls(state)
    config = kit.or_refused(config_of, {name: state[name] for name in FIELDS})
    if config is None:
        return
    parts = count_by_part(config)
    _total(config, parts)
    question = head_question(config)
    # the embedding's share, its bar, its row and the snippet tell what the question asks for
    opened = question is None or kit.predict(question, "transformer.count.head", covers=True)
    if opened:
        _parts(config, parts)
    _costs(state, config)
    _small()
    if opened:
        _code(config)
        kit.seen(
            words.end,
            total=sum(parts.values()),
            largest=largest_line(parts),
            weights=size(weight_bytes(config, "bfloat16")),
            texts=kit.count(state["batch"], "text"),
            train=size(training_memory(config, state["batch"] * config.context_length).total),
        )


def _controls(state: kit.PageState) -> None:
    def take() -> None:
        for name, value in settings_of(state["shape"]).items():
            state[name] = value

    st.pills(
        words.shape,
        required=True,
        help=SHAPE_SOURCES,
        **state.named("shape", SHAPE_NAMES, then=take),
    )
    for place, name in zip(st.columns(len(FIRST_ROW)), FIRST_ROW, strict=True):
        place.number_input(words.labels[name], **state.ranged(name))
    with st.expander(words.more, icon=":material/tune:"):
        for place, name in zip(st.columns(len(NUMBERS)), NUMBERS, strict=True):
            place.number_input(words.labels[name], **state.ranged(name))
        for place, name in zip(st.columns(len(CHOICES)), CHOICES, strict=True):
            place.selectbox(words.labels[name], CHOICES[name], **state.bind(name))
        for place, name in zip(st.columns(len(SWITCHES)), SWITCHES, strict=True):
            place.toggle(words.labels[name], **state.bind(name))


def _total(config: GPTConfig, parts: dict[str, int]) -> None:
    total = sum(parts.values())
    used = ""
    if config.n_expert > 1:
        sent = min(config.experts_per_token, config.n_expert)
        used = words.used.format(used=count_used(config), sent=sent, experts=config.n_expert)
    kit.prose(words.total, total=total, used=used)


def _parts(config: GPTConfig, parts: dict[str, int]) -> None:
    kit.prose(largest_line(parts))
    kit.chart(parts_bars(config, kit.theme()), "transformer.count.parts")
    st.caption(words.table)
    _table(tensor_rows(config), config.n_layer)


def largest_line(parts: dict[str, int]) -> str:
    """Return the sentence about the part, or the parts, with the most parameters."""
    most = max(parts.values())
    names = [words.parts[part] for part, numbers in parts.items() if numbers == most]
    line = words.largest_tied if len(names) > 1 else words.largest
    return line.format(part=" and ".join(names), share=kit.percent(most / sum(parts.values())))


@kit.kept(64)
def parts_bars(config: GPTConfig, mode: kit.Mode) -> kit.Figure:
    """Return the parameters of each part as bars, all of one colour."""
    parts = count_by_part(config)
    return named_bars(
        [words.parts[part] for part in parts],
        list(parts.values()),
        [f"{numbers:,}" for numbers in parts.values()],
        POLES[mode]["neutral"][1],
        {"title": {"text": words.bars_axis, "standoff": 8}},
        mode,
        room=ROOM,
    )


def _table(rows: list[TensorRow], layers: int) -> None:
    cells = [
        (
            row.name,
            words.parts[row.part],
            " × ".join(f"{size:,}" for size in row.shape),
            f"{row.times:,}" if ".N." in row.name else words.once,
            row.count,
        )
        for row in rows
    ]
    formats = {words.columns[-1]: st.column_config.NumberColumn(format="localized")}
    kit.rows_table(cells, words.columns, column_config=formats)


def costs(config: GPTConfig, batch: int, stored: str) -> dict[str, str]:
    """Return what a shape takes to run and to train, as text, by the names in `words.costs`."""
    tokens = batch * config.context_length
    return {
        **{name: size(weight_bytes(config, name)) for name in BYTES},
        "train32": size(training_memory(config, tokens).total),
        "train16": size(training_memory(config, tokens, "bfloat16").total),
        "activations": f"{activations_per_token(config):,}",
        "flops": f"{flops_per_token(config, config.context_length):,}",
        "token": size(cache_bytes(config, 1, stored)),
        "cache": size(cache_bytes(config, config.context_length, stored)),
    }


def _costs(state: kit.PageState, config: GPTConfig) -> None:
    kit.section(words.cost)
    with st.container(horizontal=True, gap="medium"):
        st.number_input(words.batch, width=340, **state.ranged("batch"))
        st.selectbox(words.stored, list(BYTES), width=220, **state.bind("stored"))
    given = {"batch": f"{state['batch']:,}", "stored": state["stored"]}
    rows = [
        (words.costs[name].format(**given), value)
        for name, value in costs(config, state["batch"], state["stored"]).items()
    ]
    kit.rows_table(rows, words.cost_columns, width=720)
    st.caption(words.note)
    kit.prose(held_line(held_by(MEASURED)))


@kit.kept(1)
def held_by(shape: str) -> OptimizerBytes:
    """Return what one step of AdamW left behind, counted on a model of a published shape."""
    return optimizer_bytes(config_of(settings_of(shape)))


def held_line(held: OptimizerBytes) -> str:
    """Return the sentence about what AdamW holds."""
    n = held.parameters
    return words.held.format(
        shape=SHAPE_NAMES[MEASURED],
        parameters=n,
        averages=held.averages,
        each=held.averages / n,
        all=(held.weights + held.gradients + held.averages) / n,
    )


def head_question(config: GPTConfig) -> kit.Question | None:
    """Return what tying the head saves, as a question; None where two answers would be equal."""
    block = sum(t.count for t, _ in different_tensors(config) if t.name.startswith("blocks."))
    right = config.vocab_size * config.n_embd
    numbers = {
        "right": right,
        "block": block,
        "context": config.context_length * config.n_embd,
        "square": config.n_embd**2,
    }
    if len(set(numbers.values())) < len(numbers):
        return None
    known = {"right": right, "vocab": config.vocab_size, "width": config.n_embd}
    texts = {"right": words.right, **words.wrong}
    reasons = {numbers[name]: texts[name] for name in sorted(numbers, key=numbers.__getitem__)}
    state = words.tied if config.tied_head else words.untied
    return kit.Question.among(words.question, reasons, right, state=state, **known)


def _small() -> None:
    with st.expander(words.small_title, icon=":material/calculate:"):
        own = [t for t in translator_tensors(SMALL) if not t.name.startswith("encoder.")]
        kit.prose(words.small_text, total=sum(t.count for t in own))
        rows = [TensorRow(t.name, t.part, t.shape, 1, t.count) for t in own]
        _table(rows, 1)


def _code(config: GPTConfig) -> None:
    given = ", ".join(
        f"{field}={getattr(config, field)!r}"
        for field in FIELDS.values()
        if getattr(config, field) != getattr(GPTConfig(), field)
    )
    kit.show_code(
        [different_tensors, count, count_by_part],
        words.snippet.format(given=given),
        f"{count(config)}\n{count_by_part(config)}",
    )
