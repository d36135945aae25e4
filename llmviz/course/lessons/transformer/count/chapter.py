"""Chapter "Parameters": where the numbers of a model sit, and what its shape costs."""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from llmviz.course.figures.finetuning import areas
from llmviz.course.lessons.transformer.count import words
from llmviz.course.lessons.transformer.count.model import (
    FIELDS,
    config_of,
    settings_of,
    shape_costs,
)
from llmviz.course.ui import kit
from llmviz.course.ui.guess_drawn import words as hand_words
from llmviz.course.ui.sizes import size
from llmviz.models import costs
from llmviz.models.settings import ACTIVATIONS, NORM_KINDS, POSITIONS, GPTConfig
from llmviz.models.translator_settings import Seq2SeqConfig

KEY = "transformer.count"
GUESS = f"{KEY}.share"
APART = 0.06  # between the answers of the question
NUMBERS = ("layers", "heads", "width", "vocab", "context", "kv", "hidden", "experts")
CHOICES = {"positions": POSITIONS, "norm": NORM_KINDS, "activation": tuple(ACTIVATIONS)}
SWITCHES = ("tied", "qkvbias", "bias")
STATES = {"attention": "attention", "mlp": "mlp"}  # parts with a colour of their own
# A translator whose decoder is small enough to count by hand.
SMALL = Seq2SeqConfig(vocab_size=12, n_layer=1, n_head=8, n_embd=32, hidden_size=128)
OF_LAYERS = ("attention", "mlp", "router", "norm")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the numbers as areas and ask for attention's share; then shapes, bytes and tensors."""
    kit.prose(words.hook)
    with kit.stage("count"):
        picture = st.container()
        st.pills(
            words.shape,
            required=True,
            help=costs.PRESET_SOURCES,
            **state.named("shape", costs.PRESET_NAMES, then=lambda: _take(state)),
        )
    config = kit.or_refused(config_of, {name: state[name] for name in FIELDS})
    if config is None:
        _controls(state)
        return
    guess = kit.Guess(GUESS, question(config))
    shown = guess.open
    with picture:
        kit.plot(f"{KEY}.areas", areas_of, config, shown)
        kit.prose(caption(config, shown=shown))
    guess.ask()
    if shown:
        gpt2, ours, gpt3 = (
            costs.count_by_part(config_of(settings_of(name))) for name in ("GPT-2", "ours", "GPT-3")
        )
        shares = {"ours": ours["token"] / sum(ours.values())}
        shares["gpt3"] = gpt3["token"] / sum(gpt3.values())
        kit.looks(state, words.looks, f"{KEY}.looks", head=rounded(gpt2["token"]), **shares)
    kit.section(words.own)
    _controls(state)
    _costs(state, config)
    if shown:
        _tensors(config)
        st.page_link("pages/models.py", label=words.models, icon=":material/deployed_code:")
        kit.seen(words.end, told=caption(config))


def _take(state: kit.PageState) -> None:
    for name, value in settings_of(state["shape"]).items():
        state[name] = value


def _controls(state: kit.PageState) -> None:
    columns = st.columns(4)
    for at, name in enumerate(NUMBERS):
        columns[at % 4].number_input(words.labels[name], **state.ranged(name))
    for place, name in zip(st.columns(3), CHOICES, strict=True):
        place.selectbox(words.labels[name], CHOICES[name], **state.bind(name))
    for place, name in zip(st.columns(3), SWITCHES, strict=True):
        place.toggle(words.labels[name], **state.bind(name))


def rounded(number: float) -> str:
    """Return a count as it is said, with three digits.

    >>> rounded(7), rounded(4608), rounded(124_439_808), rounded(1.7536e12)
    ('7', '4,610', '124 million', '1,750 billion')
    """
    number = float(f"{number:.3g}")
    for unit, text in ((10**9, words.billion), (10**6, words.million)):
        if number >= unit:
            return text.format(number=f"{number / unit:,g}")
    return f"{number:,g}"


@kit.cached(64)
def areas_of(config: GPTConfig, shown: bool, mode: kit.Mode) -> kit.Figure:
    """Return all numbers as areas; not shown: those of the layers are not told apart."""
    parts = costs.count_by_part(config)
    layers = words.layers.format(layers=kit.count(config.n_layer, "layer"))
    rows = [
        (
            layers if part in OF_LAYERS else words.tables,
            words.parts[part],
            numbers,
            STATES.get(part, "rest"),
        )
        for part, numbers in parts.items()
        if numbers and (shown or part not in OF_LAYERS)
    ]
    if not shown:
        rows.append((layers, words.veiled, sum(parts.get(part, 0) for part in OF_LAYERS), "rest"))
    return areas(rows, words.states, words.whole, words.unit, mode)


def caption(config: GPTConfig, *, shown: bool = True) -> str:
    """Return the sentence about the part, or the parts, with the most numbers."""
    parts = costs.count_by_part(config)
    total, most = sum(parts.values()), max(parts.values())
    if not shown:
        share = sum(parts.get(part, 0) for part in OF_LAYERS) / total
        layers = kit.count(config.n_layer, "layer")
        return words.caption.format(total=rounded(total), layers=layers, share=share)
    names = [words.parts[part] for part, numbers in parts.items() if numbers == most]
    line = words.largest_tied if len(names) > 1 else words.largest
    line = line.format(part=kit.listed(names), total=rounded(total), most=most / total)
    if config.n_expert > 1:
        sent = min(config.experts_per_token, config.n_expert)
        line += " " + words.used.format(
            used=rounded(costs.count_used(config)), sent=sent, experts=config.n_expert
        )
    return line


def question(config: GPTConfig) -> kit.Question | None:
    """Ask which share of attention and feed-forward is attention; None where it is near a half.

    The wrong answers are those of somebody who goes by the title of the transformer's paper, of one
    who shares evenly, and of one who only sees that the other tables are four times as large.
    """
    parts = costs.count_by_part(config)
    right = parts["attention"] / (parts["attention"] + parts["mlp"])
    if right > 0.5 - APART:
        return None
    usual = config.n_kv_head in (None, config.n_head) and config.n_expert == 1
    usual &= config.feed_forward_size == 4 * config.n_embd and config.activation != "swiglu"
    reasons = {
        right: words.right["usual" if usual else "other"],
        1 - right: words.wrong["title"],
        0.5: words.wrong["half"],
    }
    if usual:
        reasons[0.2] = words.wrong["fifth"]
    slots = {"attention": rounded(parts["attention"]), "mlp": rounded(parts["mlp"])}
    asked = kit.Question.among(words.ask, reasons, right, kit.percent, scale=True, **slots)
    return replace(asked, share=True)


def _costs(state: kit.PageState, config: GPTConfig) -> None:
    kit.section(words.cost)
    found = shape_costs(config, state["batch"], state["stored"])
    given = {"batch": kit.count(state["batch"], "text"), "stored": state["stored"]}
    low, high = min(found.values()), max(found.values())
    kit.case_rows(
        [
            kit.Case(words.costs[name].format(**given), number, note=size(number))
            for name, number in found.items()
        ],
        kit.Axis(low / 3, 3 * high, words.cost_axis, log=True),
        key=f"{KEY}.costs",
        words=hand_words.bars,
        form="figure",
        mark="dot",
    )
    with st.container(horizontal=True, gap="medium"):
        st.number_input(words.batch, width=340, **state.ranged("batch"))
        st.selectbox(words.stored, list(costs.BYTES), width=220, **state.bind("stored"))
    kit.prose(
        words.cost_read,
        each=found["float32"] * 4 / costs.count(config),
        kept=rounded(costs.activations_per_token(config)),
        flops=rounded(costs.flops_per_token(config, config.context_length)),
    )


def _tensors(config: GPTConfig) -> None:
    """Show every tensor, and those of a model that can be counted by hand, one click away."""
    with st.expander(words.table, icon=":material/table_rows:"):
        _table(costs.different_tensors(config))
    own = [t for t in costs.translator_tensors(SMALL) if not t.name.startswith("encoder.")]
    with st.expander(words.small_title, icon=":material/calculate:"):
        kit.prose(words.small_text, total=sum(t.count for t in own))
        _table((tensor, 1) for tensor in own)
    given = ", ".join(
        f"{field}={getattr(config, field)!r}"
        for field in FIELDS.values()
        if getattr(config, field) != getattr(GPTConfig(), field)
    )
    kit.show_code(
        [costs.different_tensors, costs.count, costs.count_by_part],
        words.snippet.format(given=given),
        f"{costs.count(config)}\n{costs.count_by_part(config)}",
    )


def _table(tensors: Iterable[tuple[costs.TensorShape, int]]) -> None:
    rows = [
        (t.name, words.parts[t.part], " × ".join(f"{n:,}" for n in t.shape), times, times * t.count)
        for t, times in tensors
    ]
    formats = {words.columns[-1]: st.column_config.NumberColumn(format="localized")}
    kit.rows_table(rows, words.columns, column_config=formats)
