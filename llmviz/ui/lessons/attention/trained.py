"""Chapter "A trained model": all heads on the learner's text, what they do, and a translation."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st
import torch

from llmviz.corpus.language import translate
from llmviz.nn.attention.study import HeadSummary, alignment_share, summarise_heads
from llmviz.tokenizers import ENDOFTEXT
from llmviz.trace import record
from llmviz.ui import engine
from llmviz.ui.components import head_view, heads_grid
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.attention import sources, words
from llmviz.ui.lessons.attention.params import MOST_NEW
from llmviz.ui.lessons.attention.sources import Read, stamp
from llmviz.ui.lessons.common import count, keep, refuse
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

KEY = "attention.heads"
PAIRS = "pairs-seq2seq"
WRITING = "attention.writing"  # session: tokens still to be written
PACE = 0.5  # seconds between two tokens written in a row, so that the eye can follow


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    across = state["look"] == "cross"
    section(
        words.cross.TITLE if across else words.trained.TITLE,
        words.cross.TEXT if across else words.trained.TEXT,
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            words.trained.LOOK_LABEL,
            list(words.trained.LOOKS),
            format_func=words.trained.LOOKS.__getitem__,
            required=True,
            label_visibility="collapsed",
            **state.bind("look"),
        )
        name = None if across else sources.choose_model(state)
    if across:
        _translation(state)
    elif name is not None:
        _text(state, engine.load(name))


# ---- the learner's text


def _text(state: PageState, bundled: engine.Bundled) -> None:
    said = sources.read_text(state, bundled)
    if said is None:
        return
    said, ended = written(bundled, said, state["new"])
    _write(state, bundled, said, ended)
    maps, _ = sources.all_maps(bundled.name, stamp(bundled), said.ids)
    layers, heads = maps.shape[:2]
    layer, head = keep(state, "layer", range(layers)), keep(state, "head", range(heads))
    summary = summary_of(bundled.name, stamp(bundled), said.ids)

    def keep_head() -> None:
        clicked = st.session_state[KEY].get("chosen")
        state["layer"], state["head"] = clicked or (0, 0)

    heads_grid(
        maps,
        key=KEY,
        tokens=said.tokens,
        notes=[[note(summary, i, j) for j in range(heads)] for i in range(layers)],
        chosen=(layer, head),
        lines=True,
        on_change=keep_head,
    )
    st.caption(words.VIEW_ROUNDED)
    _ask(said, maps, layer, head)
    _summary(summary, said)
    _code(bundled, said, layer, head, summary)


def written(bundled: engine.Bundled, said: Read, new: int) -> tuple[Read, bool]:
    """Return the text with up to `new` tokens of the model's own, the most probable ones.

    The second value says that the model has ended its text or its context is full.
    """
    end = bundled.tokenizer.special_tokens[ENDOFTEXT]
    ids = list(said.ids)
    for _ in range(new):
        if len(ids) >= bundled.model.context_length:
            return _reread(bundled, ids), True
        _, logits = sources.all_maps(bundled.name, stamp(bundled), tuple(ids))
        best = int(logits.argmax())
        if best == end:
            return _reread(bundled, ids), True
        ids.append(best)
    return _reread(bundled, ids), False


def _reread(bundled: engine.Bundled, ids: list[int]) -> Read:
    return Read(tuple(ids), tuple(sources.names_of(ids, bundled.tokenizer)))


def _write(state: PageState, bundled: engine.Bundled, said: Read, ended: bool) -> None:
    """Show the buttons with which the model writes on, and what it has written."""
    left = st.session_state.get(WRITING, 0)
    if left and not ended and state["new"] < MOST_NEW:
        _writer(state)
    with st.container(horizontal=True):
        stop = ended or state["new"] >= MOST_NEW
        st.button(words.trained.WRITE_ONE, on_click=_go_on, args=(state, 1), disabled=stop)
        st.button(words.trained.WRITE_TEN, on_click=_go_on, args=(state, 10), disabled=stop)
        st.button(
            words.trained.WRITE_NONE, on_click=_go_on, args=(state, 0), disabled=not state["new"]
        )
    if state["new"]:
        new = said.ids[-state["new"] :]
        text = quote(bundled.tokenizer.decode(new), 200)
        prose(words.trained.WRITTEN.format(count=count(state["new"], "token"), text=text))
    if ended:
        full = len(said.ids) >= bundled.model.context_length
        line = words.trained.WRITE_FULL if full else words.trained.WRITE_ENDED
        st.info(line.format(limit=bundled.model.context_length))


def _go_on(state: PageState, tokens: int) -> None:
    """Write one token now and let the rest come one by one; 0 takes all of them back."""
    state["new"] = state["new"] + 1 if tokens else 0
    st.session_state[WRITING] = max(0, tokens - 1)


@st.fragment(run_every=PACE)
def _writer(state: PageState) -> None:
    """Write a token each time it is run by the clock, until none is left."""
    if st.session_state.pop("attention.drawn", False):
        st.session_state[WRITING] -= 1
        state["new"] = min(MOST_NEW, state["new"] + 1)
        st.rerun()
    st.session_state["attention.drawn"] = True


@st.cache_data(max_entries=32, show_spinner=False)
def summary_of(name: str, stamp: str, ids: tuple[int, ...]) -> HeadSummary:
    """Return where each head looks, arrays (L, H)."""
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        engine.load(name).model(torch.tensor([ids]), last_only=True)
    made = summarise_heads(torch.cat(list(trace.values())), ids)
    return HeadSummary(*(part.numpy() for part in made))


def note(summary: HeadSummary, layer: int, head: int) -> str:
    """Return a line about a head."""
    values = {name: float(part[layer, head]) for name, part in summary._asdict().items()}
    shares = {name: _percent(value) for name, value in values.items()}
    return words.trained.NOTE_HEAD.format(**{**shares, "entropy": values["entropy"]})


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.0%}"


def _summary(summary: HeadSummary, said: Read) -> None:
    section(words.trained.SUMMARY_TITLE, words.trained.SUMMARY_TEXT)
    layers, heads = summary.entropy.shape
    lines = []
    for name, line in words.trained.SUMMARY_READ.items():
        part = getattr(summary, name)
        if np.isnan(part).all():
            continue
        best = np.unravel_index(int(np.nanargmax(part)), part.shape)
        lines.append(
            line.format(
                head=words.HEAD_NAME.format(layer=best[0], head=best[1]),
                share=_percent(float(part[best])),
            )
        )
    if np.isnan(summary.induction).all():
        lines.append(words.trained.SUMMARY_NO_REPEAT)
    prose(" ".join(lines))
    rows = {
        "layer": np.repeat(np.arange(layers), heads),
        "head": np.tile(np.arange(heads), layers),
    } | {name: part.reshape(-1) for name, part in summary._asdict().items()}
    share = {
        words.trained.SUMMARY_COLUMNS[name]: st.column_config.ProgressColumn(
            format="percent", min_value=0.0, max_value=1.0, color="violet"
        )
        for name in ("previous", "itself", "first", "repeat", "induction")
    }
    table = pd.DataFrame(rows).rename(columns=words.trained.SUMMARY_COLUMNS)
    entropy = {
        words.trained.SUMMARY_COLUMNS["entropy"]: st.column_config.NumberColumn(format="%.2f")
    }
    st.dataframe(table, hide_index=True, column_config=share | entropy, height=320)


def _ask(said: Read, maps: np.ndarray, layer: int, head: int) -> None:
    """Ask which token the last one looks at most, among the most looked at of all heads."""
    row = maps[layer, head, -1]
    best = int(row.argmax())
    order = [int(i) for i in np.argsort(-maps[:, :, -1].max(axis=(0, 1)).astype(int))]
    places: dict[str, int] = {said.tokens[best]: best}
    for i in order:
        if said.tokens[i] not in places and row[i] < row[best]:
            places[said.tokens[i]] = i
        if len(places) == 4:
            break
    if len(places) < 3:
        return
    answers = sorted(places)
    name = words.HEAD_NAME.format(layer=layer, head=head)
    reasons = []
    for answer in answers:
        line = (
            words.trained.ASK_LOOK_RIGHT
            if answer == said.tokens[best]
            else words.trained.ASK_LOOK_WRONG
        )
        share = f"{row[places[answer]] / 255:.0%}"
        reasons.append(line.format(whom=quote(answer), share=share))
    predict(
        Question(
            words.trained.ASK_LOOK.format(head=name, who=quote(said.tokens[-1])),
            [quote(answer) for answer in answers],
            answers.index(said.tokens[best]),
            reasons,
        ),
        f"{KEY}.ask",
    )


def _code(bundled: engine.Bundled, said: Read, layer: int, head: int, summary: HeadSummary) -> None:
    show_code(
        [summarise_heads],
        "import torch\nfrom llmviz.nn.attention.study import summarise_heads\n"
        "from llmviz.pretrained import load_bundled\nfrom llmviz.trace import record\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\nids = {list(said.ids)}\n"
        'with torch.inference_mode(), record("blocks.*.attn.weights") as trace:\n'
        "    model(torch.tensor([ids]))\n"
        "summary = summarise_heads(torch.cat(list(trace.values())), ids)\n"
        f"at = ({layer}, {head})\n"
        'print(f"{summary.previous[at]:.2f} {summary.entropy[at]:.2f}")',
        f"{summary.previous[layer, head]:.2f} {summary.entropy[layer, head]:.2f}",
    )


# ---- a translation


def _translation(state: PageState) -> None:
    if PAIRS not in engine.names():
        sources.no_model(PAIRS)
        return
    st.text_input(words.cross.LABEL, width=520, **state.bind("sentence"))
    try:
        known = translate(state["sentence"].strip())
    except ValueError as rule:
        refuse(ValueError(words.cross.REFUSED.format(rule=rule, example=words.sources.SENTENCE)))
        return
    bundled = engine.load(PAIRS)
    source_ids = bundled.tokenizer.encode(known.source)
    if len(source_ids) > bundled.model.context_length:
        limit = bundled.model.context_length
        refuse(ValueError(words.cross.LONG.format(count=len(source_ids), limit=limit)))
        return
    weights, target = cross_maps(PAIRS, stamp(bundled), tuple(source_ids))
    asking, asked = target.split(), known.source.split()
    right = target == known.target
    line = words.cross.RIGHT if right else words.cross.WRONG
    prose(line.format(said=quote(target, 200).strip("`"), known=known.target))
    layers, heads = weights.shape[:2]
    names = [words.HEAD_NAME.format(layer=i, head=j) for i in range(layers) for j in range(heads)]
    flat = weights.reshape(layers * heads, *weights.shape[2:])
    marks = [(j, i) for i, j in known.alignment] if right else []
    notes: list[str] = []
    if right:
        shares = alignment_share(torch.from_numpy(flat), known.alignment).tolist()
        notes = [words.cross.NOTE.format(share=_percent(share)) for share in shares]
        best = int(np.argmax(shares))
    layer, head = keep(state, "layer", range(layers)), keep(state, "head", range(heads))

    def keep_head() -> None:
        at = st.session_state["attention.cross"].get("chosen") or 0
        state["layer"], state["head"] = divmod(at, heads)

    head_view(
        flat,
        [*asking, words.cross.END],
        key="attention.cross",
        names=names,
        key_tokens=asked,
        notes=notes,
        marks=marks,
        chosen=layer * heads + head,
        on_change=keep_head,
    )
    st.caption(words.VIEW_ROUNDED)
    if right:
        prose(
            words.cross.READ.format(
                head=names[best].capitalize(),
                share=_percent(shares[best]),
                count=len(known.alignment),
                even=_percent(1 / len(asked)),
            )
        )


@st.cache_data(max_entries=32, show_spinner=False)
def cross_maps(name: str, stamp: str, source: tuple[int, ...]) -> tuple[np.ndarray, str]:
    """Return the cross-attention (L, H, T, S) while writing a translation, and the translation.

    Row t is what was looked at to write token t; the last row writes the end.
    """
    bundled = engine.load(name)
    model = bundled.model
    ids = torch.tensor([source])
    with torch.inference_mode():
        said = model.translate(ids)[0][: model.context_length - 1]
        start = torch.tensor([[model.config.start_id, *said]])
        with record("decoder.blocks.*.cross.weights") as trace:
            model(ids, start)
    return torch.cat(list(trace.values())).numpy(), bundled.tokenizer.decode(said)
