"""Chapter "A trained model": all heads on the learner's text, and what they do."""

import math

import numpy as np
import streamlit as st

from llmviz.course.components import heads_grid
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import opening
from llmviz.course.lessons.attention.trained import words
from llmviz.course.lessons.attention.trained.lookup import part as lookup
from llmviz.course.lessons.attention.trained.params import MOST_NEW
from llmviz.course.ui import engine, kit, model_on_text
from llmviz.nn.attention.study import HeadSummary, summarise_heads

KEY = "attention.heads"
ASK = f"{KEY}.ask"
WRITING = "attention.writing"  # session: tokens still to be written
PACE = 0.5  # seconds between two tokens written in a row, so that the eye can follow


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    name = real.LOOKED_INTO.choose(state)
    loaded = model_on_text.load_and_read(state, name)
    if loaded is not None:
        _text(state, *loaded)


# ---- the learner's text


def _text(state: kit.PageState, bundled: engine.Bundled, reading: kit.Read) -> None:
    if kit.tells_classes(bundled.card):
        kit.inform(words.write_classes, ":material/category:")
    else:
        reading, ended = written(bundled, reading, state["new"])
        _write(state, bundled, reading, ended)
    maps, summary, *_ = real.all_maps(bundled, reading.ids)
    layers, heads = maps.shape[:2]
    layer, head = opening.head_of(state, bundled)

    def keep_head() -> None:
        clicked = st.session_state[KEY].get("chosen")
        state["layer"], state["head"] = clicked or (-1, -1)

    quiz = question(reading, maps, (layer, head), bundled)
    covered = quiz[1] if quiz and not kit.answered(quiz[0], ASK) else None
    notes = [[note(summary, i, j) for j in range(heads)] for i in range(layers)]
    if covered:
        notes[covered[0]][covered[1]] = words.covered
    heads_grid(
        maps,
        key=KEY,
        tokens=reading.tokens,
        notes=notes,
        chosen=(layer, head),
        lines=True,
        covered=covered,
        on_change=keep_head,
    )
    st.caption(lesson_words.view_rounded)
    reasons = (opening.why(bundled, (layer, head)), opening.why_model(bundled.name))
    kit.prose(" ".join(filter(None, reasons)))
    if quiz:
        kit.predict(quiz[0], ASK, covers=True)
    _summary(summary, reading)
    kit.show_code(
        [summarise_heads],
        words.snippet.format(name=bundled.name, ids=list(reading.ids), layer=layer, head=head),
        f"{summary.previous[layer, head]:.2f} {summary.entropy[layer, head]:.2f}",
    )
    if not kit.tells_classes(bundled.card):
        lookup.draw(state, bundled)
    kit.seen(
        words.end,
        name=kit.label(bundled.name),
        layers=kit.count(layers, "layer"),
        heads=kit.count(heads, "head"),
        previous=most_before(summary),
    )


def written(bundled: engine.Bundled, reading: kit.Read, new: int) -> tuple[kit.Read, bool]:
    """Return the text with up to `new` tokens of the model's own, the most probable ones.

    The second value says that the model has ended its text or its context is full.
    """
    ids, ended = _continued(bundled, reading.ids, new)
    return kit.read_ids(ids, bundled), ended


@kit.kept(64)
def _continued(
    bundled: engine.Bundled, ids: tuple[int, ...], new: int
) -> tuple[tuple[int, ...], bool]:
    """As `written`; each step goes on from what is kept of the step before."""
    if new:
        ids, ended = _continued(bundled, ids, new - 1)
        if ended or len(ids) >= bundled.model.context_length:
            return ids, True
        best = int(real.all_maps(bundled, ids).logits.argmax())
        if best == bundled.tokenizer.end:
            return ids, True
        return (*ids, best), False
    return ids, False


def _write(state: kit.PageState, bundled: engine.Bundled, reading: kit.Read, ended: bool) -> None:
    """Show the buttons with which the model writes on, and what it has written."""
    left = st.session_state.get(WRITING, 0)
    if left and not ended and state["new"] < MOST_NEW:
        _writer(state)
    with st.container(horizontal=True):
        stop = ended or state["new"] >= MOST_NEW
        st.button(words.write_one, on_click=_go_on, args=(state, 1), disabled=stop)
        st.button(words.write_ten, on_click=_go_on, args=(state, 10), disabled=stop)
        st.button(words.write_none, on_click=_go_on, args=(state, 0), disabled=not state["new"])
    if state["new"]:
        new = reading.ids[-state["new"] :]
        text = kit.quote(bundled.tokenizer.decode(new), 200)
        kit.prose(words.written.format(count=kit.count(state["new"], "token"), text=text))
    if ended:
        full = len(reading.ids) >= bundled.model.context_length
        line = words.write_full if full else words.write_ended
        st.info(line.format(limit=bundled.model.context_length))


def _go_on(state: kit.PageState, tokens: int) -> None:
    """Write one token now and let the rest come one by one; 0 takes all of them back."""
    state["new"] = state["new"] + 1 if tokens else 0
    st.session_state[WRITING] = max(0, tokens - 1)


@st.fragment(run_every=PACE)
def _writer(state: kit.PageState) -> None:
    """Write a token each time it is run by the clock, until none is left."""
    if st.session_state.pop("attention.drawn", False):
        st.session_state[WRITING] -= 1
        state["new"] = min(MOST_NEW, state["new"] + 1)
        st.rerun()
    st.session_state["attention.drawn"] = True


def note(summary: HeadSummary, layer: int, head: int) -> str:
    """Return a line about a head."""
    values = {name: float(part[layer, head]) for name, part in summary._asdict().items()}
    shares = {name: _percent(value) for name, value in values.items()}
    return words.note_head.format(**{**shares, "entropy": values["entropy"]})


def most_before(summary: HeadSummary) -> str:
    """Return a sentence on the head with the most weight on the token before."""
    if np.isnan(summary.previous).all():
        return words.end_one
    layer, head = divmod(int(np.nanargmax(summary.previous)), summary.previous.shape[1])
    name = lesson_words.head_name.format(layer=layer, head=head)
    return words.end_previous.format(head=name, share=_percent(summary.previous[layer, head]))


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.0%}"


def _summary(summary: HeadSummary, reading: kit.Read) -> None:
    kit.section(words.summary)
    layers, heads = summary.entropy.shape
    lines = []
    for name, line in words.summary_read.items():
        part = getattr(summary, name)
        if np.isnan(part).all():
            continue
        best = np.unravel_index(int(np.nanargmax(part)), part.shape)
        lines.append(
            line.format(
                head=lesson_words.head_name.format(layer=best[0], head=best[1]),
                share=_percent(float(part[best])),
            )
        )
    if np.isnan(summary.induction).all():
        lines.append(words.summary_no_repeat)
    kit.prose(" ".join(lines))
    columns = {
        "layer": np.repeat(np.arange(layers), heads),
        "head": np.tile(np.arange(heads), layers),
    } | {name: part.reshape(-1) for name, part in summary._asdict().items()}
    share = {
        words.summary_columns[name]: st.column_config.ProgressColumn(
            format="percent", min_value=0.0, max_value=1.0, color="violet"
        )
        for name in ("previous", "itself", "first", "repeat", "induction")
    }
    titled = {words.summary_columns.get(name, name): values for name, values in columns.items()}
    entropy = {words.summary_columns["entropy"]: st.column_config.NumberColumn(format="%.2f")}
    kit.columns_table(titled, column_config=share | entropy, height=320)


def question(
    reading: kit.Read, maps: np.ndarray, large: tuple[int, int], bundled: engine.Bundled
) -> tuple[kit.Question, tuple[int, int]] | None:
    """Return the question which token a late one looks at most, and the head that it is about.

    That head is another one than `large`. None where there is nothing to ask: too few tokens, one
    head, or two different tokens with the same largest percentage.
    """
    texts = (visible_text(bundled.tokenizer.token_bytes(token)) for token in reading.ids)
    whole = [i for i, (_, of_characters) in enumerate(texts) if of_characters]
    asking = whole[-1] if whole else 0
    if asking < 2 or maps.shape[0] * maps.shape[1] < 2:
        return None
    layer, head = other_head(maps[:, :, asking], large)
    row = maps[layer, head, asking]
    highest: dict[str, int] = {}  # of each token's places, the largest weight
    for token, weight in zip(reading.tokens, row.tolist(), strict=True):
        highest[token] = max(weight, highest.get(token, 0))
    best = int(row.argmax())
    percents = {token: f"{weight / 255:.0%}" for token, weight in highest.items()}
    alike = [token for token in percents if percents[token] == percents[reading.tokens[best]]]
    if best not in whole or len(alike) > 1:
        return None
    places = {reading.tokens[best]: best}
    order = np.argsort(-maps[:, :, asking].max(axis=(0, 1)).astype(int), kind="stable")
    for i in map(int, order):
        if i in whole and reading.tokens[i] not in places:
            places[reading.tokens[i]] = i
        if len(places) == 4:
            break
    if len(places) < 3:
        return None
    lines = dict.fromkeys(places, words.ask_look_wrong)
    lines[reading.tokens[best]] = words.ask_look_right
    question = kit.Question.among(
        words.ask_look,
        {key: why.format(asked=kit.quote(key), share=percents[key]) for key, why in lines.items()},
        reading.tokens[best],
        lambda answer: kit.escape_markdown(f"“{answer}”"),
        head=lesson_words.head_name.format(layer=layer, head=head),
        asking=kit.quote(reading.tokens[asking]),
        place=asking,
    )
    return question, (layer, head)


def other_head(rows: np.ndarray, large: tuple[int, int]) -> tuple[int, int]:
    """Return the most decided head but one; rows (L, H, T): the weights of one token."""
    decided = rows.max(axis=-1).astype(int)
    if decided.size > 1:
        decided[large] = -1
    layer, head = np.unravel_index(int(decided.argmax()), decided.shape)
    return int(layer), int(head)
