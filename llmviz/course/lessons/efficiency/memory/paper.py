"""The memory of training any model, on paper, and whether it fits."""

import streamlit as st

from llmviz.course.figures.losses import compared
from llmviz.course.lessons.efficiency.memory import words
from llmviz.course.lessons.efficiency.memory.chosen import KEY
from llmviz.course.ui import kit
from llmviz.models.arithmetic import PRESET_NAMES, PRESET_SOURCES, PRESETS, TrainingMemory, count
from llmviz.models.room import byte_unit, spoken_bytes
from llmviz.models.settings import GPTConfig
from llmviz.models.training_bytes import paper_memory

SIZES = {
    "paperlayers": "n_layer",
    "paperheads": "n_head",
    "paperwidth": "n_embd",
    "papervocab": "vocab_size",
}
# What a published shape has of its own only with a size of its own: else the default for the size.
FOLLOWS = {"n_head": "n_kv_head", "n_embd": "hidden_size"}
GB = 1e9


def draw(state: kit.PageState) -> None:
    """Show the controls, the shares and the verdict."""
    kit.section(words.paper_section)

    def take() -> None:
        for key, field in SIZES.items():
            state[key] = PRESETS[state["papershape"]][field]

    st.pills(
        words.shape,
        required=True,
        help=PRESET_SOURCES,
        **state.named("papershape", PRESET_NAMES, then=take),
    )
    keys = list(words.paper)
    for part in (keys[:4], keys[4:]):
        for place, key in zip(st.columns(4), part, strict=True):
            more = {"help": words.recompute_help} if key == "paperrecompute" else {}
            place.number_input(words.paper[key], **more, **state.ranged(key))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(words.dtype, width=330, **state.named("paperdtype", words.dtype_names))
        st.selectbox(words.optimizer, width=200, **state.named("paperoptimizer", words.optimizers))
        st.number_input(words.gb, width=200, **state.ranged("papergb"))
    kit.choose(state, "paperattention", words.attention, words.attentions)
    try:
        config, given = asked(state)
        memory = paper_memory(config, state["paperrows"], state["papertokens"], **given)
    except ValueError as rule:
        kit.refuse(rule)
        return
    kit.chart(bars(memory, kit.theme()), f"{KEY}.paper")
    tokens = state["paperrows"] * state["papertokens"]
    kit.prose(report(memory, count(config), tokens, state["papergb"]))
    form = words.form.format(hidden=config.feed_forward_size, kv_heads=config.kv_heads)
    st.caption(f"{form} {words.paper_sources}")
    _code(state, config, given, memory)


def asked(state: kit.PageState) -> tuple[GPTConfig, dict]:
    """Return the settings that the controls stand for. Raises ValueError naming a broken rule."""
    sizes = {field: state[key] for key, field in SIZES.items()}
    shape = dict(PRESETS[state["papershape"]])
    for field, follows in FOLLOWS.items():
        if sizes[field] != shape[field]:
            shape.pop(follows, None)
    shape["context_length"] = max(shape["context_length"], state["papertokens"])
    config = GPTConfig.from_dict(shape | sizes)
    return config, {
        "dtype": state["paperdtype"],
        "optimizer": state["paperoptimizer"],
        "recompute": state["paperrecompute"],
        "pieces": state["paperpieces"],
        "explicit": state["paperattention"] == "explicit",
    }


@kit.kept(64)
def bars(memory: TrainingMemory, mode: kit.Mode) -> kit.Figure:
    """Return how many bytes each kind takes, in the unit that fits the largest."""
    size, unit = byte_unit(max(memory))
    values = [getattr(memory, name) / size for name in words.paper_kinds]
    most = values.index(max(values))
    return compared(list(words.paper_kinds.values()), values, most, unit, mode, digits=2)


def report(memory: TrainingMemory, parameters: int, tokens: int, gb: float) -> str:
    """Return the sum, its shares, and whether it fits into so many gigabytes."""
    shares = [
        words.share.format(name=name, share=kit.percent(getattr(memory, kind) / memory.total))
        for kind, name in words.paper_kinds.items()
        if getattr(memory, kind)
    ]
    room = gb * GB - memory.total
    template = words.fits if room >= 0 else words.fits_not
    size = spoken_bytes(round(abs(room)))
    verdict = template.format(gb=f"{gb:,.3f}".rstrip("0").rstrip(".") + " GB", left=size, over=size)
    return words.paper_read.format(
        parameters=parameters,
        tokens=tokens,
        total=spoken_bytes(round(memory.total)),
        shares=", ".join(shares),
        verdict=verdict,
    )


def _code(state: kit.PageState, config: GPTConfig, given: dict, memory: TrainingMemory) -> None:
    settings = {
        field: getattr(config, field)
        for field in PRESETS[state["papershape"]] | {"n_kv_head": None, "hidden_size": None}
    }
    written = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    more = ", ".join(f"{key}={value!r}" for key, value in given.items())
    kit.show_code(
        [paper_memory],
        words.snippet_paper.format(
            written=written,
            paperrows=state["paperrows"],
            papertokens=state["papertokens"],
            more=more,
        ),
        f"{memory}\n{memory.total}",
    )
