"""Chapter "Step by step": the variants from dot products to several heads, every cell open.

Its last parts are where X comes from, and the code behind the variant in force.
"""

from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from llmviz.course import components as lv
from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.inputs import examples, opening, sources
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import words as inputs_words
from llmviz.course.lessons.attention.matrices import linked_matrices as linked
from llmviz.course.lessons.attention.steps import drawn_variant, query_row, scale, words
from llmviz.course.lessons.attention.steps.drawn_variant import Variant
from llmviz.course.ui import engine, kit, matrix_picture, model_on_text
from llmviz.interpretability.heads_on_text import read_by
from llmviz.nn.attention import attention, variants
from llmviz.nn.attention.steps import AttentionSteps

RAN = {"simple": variants.simplified, "heads": variants.multi_head}
SHOWN = ("scores", "scaled", "masked", "weights", "dropped", "output")  # of the last token
OF_MODEL = 4  # numbers that are printed of a model's wide rows


def draw_code(state: kit.PageState, drawn: Variant) -> None:
    """Show the code, and what the last token has at every step."""
    names, several = _names(state["rung"], drawn), state["rung"] == "heads"
    digits, cut = (2, f"[:{OF_MODEL}]") if drawn.inputs.name else (3, "")
    at = "[0, -1]" if several else "[-1]"
    text = (_of_model if drawn.inputs.name else _of_example)(state, drawn)
    shown = words.snippet_prints.format(names=names, at=at, cut=cut, digits=digits)
    prints = []
    for name in names:
        part = getattr(drawn.steps, name)
        row = (part[0] if several else part)[-1].tolist()
        row = row[:OF_MODEL] if drawn.inputs.name else row
        prints.append(f"{name} {[f'{x:.{digits}f}' for x in row]}")
    label = words.code_heads if several else words.code
    ran: list[Any] = [RAN.get(state["rung"], variants.single_head), attention]
    kit.show_code(ran, f"{text}\n{shown}", "\n".join(prints), label=label)


def _names(variant: str, drawn: Variant) -> tuple[str, ...]:
    """The steps that a variant has: those that change nothing are left out."""
    steps: AttentionSteps = drawn.steps
    without = {"dropped"} if drawn.kept is None else set()
    if variant == "simple":
        without |= {"scaled", "masked"}
    elif bool((steps.masked == steps.scaled).all()):
        without.add("masked")
    return tuple(name for name in SHOWN if name not in without)


def _seeded(state: kit.PageState, drawn: Variant) -> tuple[str, str]:
    """What dropout adds to code: a line, and what is handed over."""
    if drawn.kept is None:
        return "", ""
    return words.seeded.format(seed=state["seed"]), f", {state['p']}, generator"


def _of_example(state: kit.PageState, drawn: Variant) -> str:
    variant, inputs, (seeded, dropout) = state["rung"], drawn.inputs, _seeded(state, drawn)
    matrices = {"x": inputs.x}
    if variant != "simple":
        matrices |= dict(zip(("w_q", "w_k", "w_v"), inputs.w, strict=True))
    if variant == "heads" and inputs.projection is not None:
        matrices["w_o"] = inputs.projection[0]
    lines = (
        f"{name} = torch.tensor({part.tolist()}, dtype=torch.float64)"
        for name, part in matrices.items()
    )
    call = words.example_calls[variant].format(heads=state["n"], dropout=dropout)
    call += "" if variant == "simple" else ".attention"
    return words.snippet_example.format(matrices="\n".join(lines), seeded=seeded, call=call)


def _of_model(state: kit.PageState, drawn: Variant) -> str:
    inputs, variant, (layer, head) = drawn.inputs, state["rung"], drawn.place
    text = f"{words.snippet_model.format(name=inputs.name, ids=list(inputs.ids))}\n"
    if variant == "simple":
        tap = read_by(engine.load(inputs.name).model, layer)
        return text + words.snippet_simple.format(tap=tap)
    seeded, more = _seeded(state, drawn)
    if inputs.before:
        more += f", softmax_before_mask={inputs.before!r}"
    masked = variant != "qkv" and inputs.allowed is not None
    return text + words.snippet_steps.format(
        seeded=seeded,
        layer=layer,
        which="[0]" if variant == "heads" else f"[0, {head}]",
        mask="model.visible(ids)[0]" if masked else "None",
        more=more,
    )


ORIGIN_KEY = "attention.origin"


def draw_origin(state: kit.PageState) -> None:
    """Show the sum of the example with three words; say where X of the others comes from."""
    kit.section(words.origin)
    kit.prose(words.origin_text[state["source"]])
    if state["source"] != "cat":
        return
    lv.matrix_view(matrices(), layout=[["token", "position", "X"]], key=ORIGIN_KEY)
    if state["x"]:
        kit.prose(words.origin_edited)


def matrices() -> list[lv.Matrix]:
    """Return the vectors of tokens and of positions, and X, their sum, each (T, C)."""
    tokens = inputs_words.cat.split()
    parts = {"token": sources.CAT_TOKENS, "position": sources.CAT_POSITIONS}
    labels = {"token": tokens, "position": [str(place) for place in range(len(tokens))]}
    summands = [
        lv.Matrix(
            name,
            sources.tensor(written).numpy(),
            words.origin_labels[name],
            row_labels=labels[name],
            role="residual",
        )
        for name, written in parts.items()
    ]
    x = sources.tensor(sources.CAT["x"]).numpy()
    more = {"row_labels": tokens, "role": "residual", "op": lv.add("token", "position")}
    return [*summands, lv.Matrix("X", x, "X", words.origin_formula, **more)]


KEY = "attention.ladder"
MOSTLY = 0.9  # of the weight: it lies on the token itself
# Rungs that are not of one head of a model, and what is said of them.
ALL_HEADS = {"simple": words.real_simple, "heads": words.real_heads}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a word's scores and shares, the guess and the looks, then every cell behind them."""
    hook, stage, under = st.container(), kit.stage("steps"), st.container()
    kit.source(state)
    looks, title, head, notes, place = (st.container() for _ in range(5))
    try:
        variant = (_model if state["source"] == "model" else _example)(state, head, notes)
    except ValueError as error:
        kit.refuse(error)
        return
    if variant is None:
        return
    row = query_row.row_of(variant, state["asking"])
    with hook:
        kit.prose(words.hook, asking=kit.quote(variant.inputs.tokens[row.at]))
    with stage:
        query_row.draw(state, variant, row)
    with under:
        revealed = query_row.ask(variant, row)
    with looks:
        kit.looks(state, words.looks, f"{KEY}.looks")
    with title:
        kit.section(words.intro)
    with place:
        linked.show(state, query_row.covered(variant, row), KEY)
    if revealed:
        _say(variant)
    if variant.kept is not None:
        _say_dropped(variant, state["p"])
    _reasons(state, variant)
    draw_code(state, variant)
    draw_origin(state)
    scale.draw(state)
    if revealed:
        kit.seen(words.end, **end(variant))


def _controls(state: kit.PageState) -> None:
    to_the_end = examples.to_the_end(state)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        examples.choose_source(state, to_the_end)
        kit.choose(state, "rung", words.variant_label, words.variants, to_the_end, parts=True)
    kit.prose(words.variant_texts[state["rung"]])


def _example(state: kit.PageState, head: DeltaGenerator, notes: DeltaGenerator) -> Variant:
    with head:
        _controls(state)
    with notes:  # among them the tables to edit, which the picture follows
        return drawn_variant.of_example(state)


def _model(state: kit.PageState, head: DeltaGenerator, notes: DeltaGenerator) -> Variant | None:
    with head:
        _controls(state)
    with notes:
        name = real.LOOKED_INTO.name(state)
        bundled = None if name is None else kit.load(name)
        if bundled is None:
            return None
        place_of_head = opening.head_of(state, bundled)
        reading = model_on_text.read_text(state, bundled, params.DRAWN)
        if reading is None:
            return None
    with head:
        _model_controls(state, bundled, place_of_head)
    variant = drawn_variant.of_model(state, bundled, reading, place_of_head)
    with notes:
        _about(state, bundled, variant)
    return variant


def _model_controls(
    state: kit.PageState, bundled: engine.Bundled, place_of_head: tuple[int, int]
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        real.LOOKED_INTO.menu(state)
        opening.head_menu(state, bundled, place_of_head, heads=state["rung"] not in ALL_HEADS)
    if state["rung"] == "dropout":
        drawn_variant.dropout_controls(state)


def _about(state: kit.PageState, bundled: engine.Bundled, variant: Variant) -> None:
    config = bundled.model.config
    about = {
        "name": kit.label(bundled.name),
        "layer": variant.place[0],
        "head": variant.place[1],
        "size": config.head_size,
        "heads": config.n_head,
        "width": config.n_embd,
        "norm": words.norm_before if config.norm == "pre" else "",
    }
    lines = [ALL_HEADS.get(state["rung"], words.real_note)]
    if variant.picture.windows:
        lines.append(words.windows)
    if state["rung"] != "simple":
        lines.append(kit.placed(config.positions))
    kit.prose(" ".join(lines), **about)


def _reasons(state: kit.PageState, variant: Variant) -> None:
    """Say why this model and this head are the first that are shown."""
    if not variant.inputs.name:
        return
    bundled = engine.load(variant.inputs.name)
    lines = [opening.why_model(bundled.name)]
    if state["rung"] not in ALL_HEADS:
        lines.insert(0, opening.why(bundled, variant.place))
    if any(lines):
        kit.prose(" ".join(filter(None, lines)))


def _say(variant: Variant) -> None:
    weights, tokens = variant.steps.weights.numpy(), variant.inputs.tokens
    if len(tokens) == 1:
        kit.prose(words.one_token)
        return
    looked = weights.reshape(-1, *weights.shape[-2:]).copy()  # (H, T, T)
    looked[:, 0] = -1  # a first token has no choice under a causal mask
    line = words.largest
    if variant.inputs.name and len(tokens) > 2:
        looked[:, :, 0] = -1  # the start token, which often has most of the weight
        looked[:, np.arange(len(tokens)), np.arange(len(tokens))] = -1
        line = words.largest_other
    if looked.max() < 0.005:
        kit.prose(_only_itself(weights))
        return
    _, row, column = np.unravel_index(looked.argmax(), looked.shape)
    takes = matrix_picture.TAKES_SELF if row == column else matrix_picture.TAKES
    asking, asked, share = kit.quote(tokens[row]), kit.quote(tokens[column]), f"{looked.max():.0%}"
    sentence = (
        takes.format(asking=asking, asked=asked, share=share).replace("“", "").replace("”", "")
    )
    kit.prose(line, sentence=sentence)


def end(variant: Variant) -> dict[str, str]:
    """Return what the chapter's end says of the last token; of several heads, the largest share."""
    tokens = variant.inputs.tokens
    last = variant.steps.weights.reshape(-1, len(tokens), len(tokens))[:, -1].amax(0)  # (T,)
    share, token = f"{last.max():.0%}", kit.quote(tokens[int(last.argmax())])
    return {"asking": kit.quote(tokens[-1]), "share": share, "asked": token}


def _only_itself(weights: np.ndarray) -> str:
    """Return a sentence on weights (…, T, T) where no token takes half a percent from another.

    Those on the first token were left out before, in a model: it may have nearly all of them.
    """
    own = weights.reshape(-1, *weights.shape[-2:]).diagonal(0, 1, 2).min()
    if own < MOSTLY:
        return words.only_itself_or_first
    share = words.nearly_all if own > 0.999 else f"{own:.1%}"
    return words.only_itself.format(share=share)


def _say_dropped(variant: Variant, p: float) -> None:
    weights, dropped = variant.steps.weights, variant.steps.dropped
    assert variant.kept is not None  # where there is dropout, it has drawn
    there, kept = weights > 0, variant.kept
    sums = dropped.sum(-1)
    line = words.dropped.format(
        left=int((there & kept).sum()),
        count=int(there.sum()),
        by=f"{1 - p:.2f}",
        low=f"{sums.min():.2f}",
        high=f"{sums.max():.2f}",
        mean=f"{sums.mean():.2f}",
    )
    lost = [variant.inputs.tokens[i] for i in (sums == 0).nonzero().flatten().tolist()]
    if lost:
        names = ", ".join(kit.quote(token) for token in lost)
        line += " " + words.dropped_all.format(names=names)
    kit.prose(line)
