"""The machine on the learner's text: controls, one forward pass, the picture, writing on."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import numpy as np
import streamlit as st

from llmviz.course.components.machine.view import MachineRow, NextToken, View, machine
from llmviz.course.components.text_guard.view import KEY as GUARD
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.home import DEFAULT_MODEL, REAL_TEXT, TEXT, words
from llmviz.course.lessons.home.below import OnScreen, expected_instead, start
from llmviz.course.lessons.home.machine import Reading, read
from llmviz.course.lessons.home.next_token import Choice, choose, write_one
from llmviz.course.lessons.home.sentence import (
    LOOKED_AT,
    Sentence,
    machine_rows,
    machine_values,
    sentence,
    token_text,
)
from llmviz.course.ui import engine, kit
from llmviz.course.ui.contents import controls_of
from llmviz.course.ui.state import tied

if TYPE_CHECKING:
    from llmviz.tokenizers import Tokenizer

PACE = 0.45  # seconds between two tokens that are written in a row, so that the eye can follow
SOON = 0.1  # seconds until the first of them
POLL = 0.3  # seconds between two looks whether the model has come
KEY = "home.machine"
TINY_WORLD = "tiny-world"
WRITING = "home.writing"  # session: a Job
BROKEN = "home.broken"  # session: the text after which the model wants bytes of no character


@dataclass
class Job:
    """Tokens that the model is to write behind a text, while nobody types in its box."""

    wanted: int
    text: str  # what is in the box, unless the learner has put something else there
    written: int = 0
    last: float = -math.inf  # when
    locked: bool = False  # nobody can type in the box any more, and all that was typed has come
    mark: str = field(default_factory=lambda: uuid4().hex)  # of the time for which it is locked


def lock_text(state: kit.PageState) -> None:
    """Lock the box of the text while the model writes into it.

    Where the learner has put another text there, the model stops: what was typed stays.
    """
    job = st.session_state.get(WRITING)
    if job is not None and state["text"] != job.text:
        del st.session_state[WRITING]
    elif job is not None:
        state.locked[kit.LEARNER_TEXT.key] = job.mark


def models() -> list[str]:
    """Return the shared models that the machine can show: those that read and write text. The
    real one comes first, then that of the toy world."""
    # What is wrong with a damaged one is said at the end of the page.
    fitting = [name for name, _ in kit.bundled_fitting(kit.reads_text)]
    return sorted(fitting, key=lambda name: (name != kit.REAL, name != DEFAULT_MODEL, name))


def text_of(state: kit.PageState, name: str | None) -> str:
    """Return the text in force: a real model has an opening of its own in the place of the first
    one of the toy world."""
    return REAL_TEXT if state["text"] == TEXT and name in engine.obtained() else state["text"]


reading_of = kit.cached(64)(kit.on_model(read))


def decided_heads(weights: np.ndarray) -> tuple[int, list[int]]:
    """Return the layer and, for each layer, the head whose weights are most concentrated.

    weights: (L, H, R, R). What counts is the largest weight of each row on another token than the
    row itself and the first one; its mean over the rows is highest for the head that is returned.
    """
    rows = weights.shape[-1]
    others = weights[:, :, 2:, 1:] * (1 - np.eye(rows)[2:, 1:])
    if not others.size:
        return 0, [0] * len(weights)
    decision = others.max(axis=-1).mean(axis=-1)  # (L, H)
    return int(decision.max(axis=1).argmax()), [int(h) for h in decision.argmax(axis=1)]


def draw(state: kit.PageState) -> OnScreen | None:
    """Draw the machine; return what it shows, or None while there is no model."""
    names = models() + kit.offered(kit.reads_text, state["model"])
    name = kit.keep(state, "model", ["", *names]) or names[0] if names else None
    text = text_of(state, name)
    with st.container(gap="xsmall"):
        st.caption(words.purposes.get(name or "", words.purposes["other"]))
        kit.live_text_box(state, label=words.text_label, height=68, shown=text)
        _choose(state, names, name)
    beside = st.container(gap="xsmall")
    try:
        tokenizer = engine.tokenizer(name) if name else _fallback_tokenizer()
        bundled = engine.load(name) if name and engine.ready() else None
        context = bundled.model.context_length if bundled else None
        window = sentence(text, tokenizer, context)
    except ValueError as error:
        kit.refuse(error)
        _stop_writing()
        return None
    _tell_limits(text, window, context)
    rows = machine_rows(window, tokenizer)
    if bundled is None:
        sentences = words.picture | ({} if name else {"loading": words.no_model_short})
        machine(
            rows,
            None,
            key=KEY,
            vocab_size=tokenizer.vocab_size,
            words=sentences,
            view=View(),
            coming=name is not None and not engine.problem(),
        )
        _no_model() if name is None else _await_engine()
        _stop_writing()
        return None
    reading = reading_of(bundled, window.ids)
    choice = choose(reading.logits[-1], state["temperature"], state["seed"], window.count)
    following = _following(choice, tokenizer, state)
    view, config = _view(state, bundled, reading), bundled.model.config
    job: Job | None = st.session_state.get(WRITING)
    event = machine(
        rows,
        machine_values(reading, tokenizer),
        key=KEY,
        vocab_size=tokenizer.vocab_size,
        words=picture_words(
            config.positions, config.norm, kind_of(following, tokenizer), starts=window.starts
        )
        | ({} if following.id in tokenizer.ends else {"end": following.text}),
        view=view,
        following=following,
        links=(links := _links(state, text, bundled.name, reading.layers)),
        writing=(job.written, job.wanted) if job else None,
        on_view=lambda new: _keep_view(state, new, view, rows),
    )
    if st.session_state.get(BROKEN) == text:
        st.info(words.broken, icon=":material/block:")
    if event.chapter and event.chapter in links.values():
        page, _, query = event.chapter.partition("?")
        st.switch_page(f"pages/{page}.py", query_params=dict(parse_qsl(query)))
    _act(state, text, event.write)
    _draw_controls(state, choice, tokenizer)
    if bundled.card.get("corpus") == TINY_WORLD and is_foreign(reading, window.ids):
        with beside:
            st.caption(words.foreign)
            kit.examples(state, words.openings, "foreign")
    if job is not None:
        st.fragment(_write_on, run_every=PACE if job.written else SOON)(state, bundled)
    return OnScreen(bundled, window, reading, view.layer, view.heads[view.layer])


def _choose(state: kit.PageState, names: list[str], name: str | None) -> None:
    """Offer the ways from here, and the models: a real one and that of the toy world, each with
    what it is for."""
    kinds = {key: label for key, label in words.kinds.items() if key in names}
    if name is not None:
        kinds.setdefault(name, kit.label(name))
    others = [other for other in names if other not in kinds]
    with st.container(horizontal=True, vertical_alignment="center", key="home-ways"):
        if len(kinds) > 1:
            picked = state.bind("model", shown=name)
            st.segmented_control(
                words.model_label,
                list(kinds),
                format_func=kinds.__getitem__,
                required=True,
                label_visibility="collapsed",
                **picked,
            )
        with st.popover(words.more_label, icon=":material/tune:"):
            kit.examples(state, words.real_texts if name in engine.obtained() else words.openings)
            if others:
                picked = tied("_home.others", name, state.taker("model"))
                options = [*([name] if name else []), *others]
                st.selectbox(words.model_label, options, format_func=kit.label, **picked)
        start(state)
        kit.offer_real_model("home.real")


def is_foreign(reading: Reading, ids: Sequence[int]) -> bool:
    """Whether a model does worse on a text than who gives all tokens the same probability.

    Only the tokens that are drawn count, and not the first of a text, which nothing stands before.
    """
    following = np.array(ids[reading.first + 1 :])
    if not len(following):
        return False
    logits = reading.logits[:-1].astype(np.float64)
    highest = logits.max(axis=1)
    whole = highest + np.log(np.exp(logits - highest[:, None]).sum(axis=1))
    lost = whole - logits[np.arange(len(following)), following]
    return bool(lost.mean() > math.log(logits.shape[1]))


def changed_reading(screen: OnScreen) -> Reading:
    """Return the forward pass with the token that the model expected in the place of the last."""
    ids = (*screen.window.ids[:-1], expected_instead(screen))
    return reading_of(screen.bundled, ids)


def _fallback_tokenizer() -> Tokenizer:
    from llmviz.tokenizers import get_tokenizer

    return get_tokenizer("bpe")


def _tell_limits(text: str, window: Sentence, context: int | None) -> None:
    if len(text) > len(window.text):
        st.info(words.too_long.format(all=f"{len(text):,}", limit=f"{len(window.text):,}"))
    if not text:
        st.info(words.empty, icon=":material/edit:")
    if window.slid:
        st.info(words.slid.format(count=f"{window.count:,}", context=f"{context:,}"))
    if window.unknown:
        st.info(words.unknown.format(unknown=window.unknown, count=window.count - 1))


def _no_model() -> None:
    st.info(words.no_model, icon=":material/download:")
    st.code(words.no_model_command, language=None)


def _await_engine() -> None:
    """Start loading after this first paint, and draw the page again once it is done."""
    if engine.problem():
        kit.refuse(words.engine_failed.format(problem=engine.problem()))
        st.button(words.retry, on_click=engine.start)
        return
    _poll()


@st.fragment(run_every=POLL)
def _poll() -> None:
    # The first call is part of the first paint; loading begins with the second, a moment later.
    if st.session_state.get("home.painted"):
        engine.start()
    st.session_state["home.painted"] = True
    if engine.ready() or engine.problem():
        st.rerun()


def _view(state: kit.PageState, bundled: engine.Bundled, reading: Reading) -> View:
    """The view that the link asks for, as far as it fits this model and this text."""
    layer, heads = _striking(bundled)
    chosen = kit.keep(state, "heads", _lists_of_heads(state["heads"], reading))
    if state["layer"] >= 0:
        layer = kit.keep(state, "layer", range(reading.layers))
    row = -1
    if state["row"] >= 0:
        last = reading.first + reading.weights.shape[-1]
        position = kit.keep(state, "row", [-1, *range(reading.first, last)])
        row = -1 if position < 0 else position - reading.first
    step = kit.keep(state, "step", range(-1, 2 * reading.layers + 5))
    return View(layer, tuple(chosen or heads), row, step)


def _lists_of_heads(wanted: list[int], reading: Reading) -> list[list[int]]:
    """What `heads` may be: nothing, or one head that exists for each layer."""
    fits = len(wanted) == reading.layers and all(head < reading.heads for head in wanted)
    return [[], wanted] if fits else [[]]


def _striking(bundled: engine.Bundled) -> tuple[int, list[int]]:
    """The layer and heads of the first view, chosen on the page's own sentence for any text."""
    text = REAL_TEXT if bundled.name in engine.obtained() else TEXT
    window = sentence(text, bundled.tokenizer, bundled.model.context_length)
    return decided_heads(reading_of(bundled, window.ids).weights)


def _keep_view(state: kit.PageState, new: View, old: View, rows: list[MachineRow]) -> None:
    if new.layer != old.layer:
        state["layer"] = new.layer
    if new.heads != old.heads:
        state["heads"] = list(new.heads)
    state["row"] = -1 if new.row < 0 else rows[new.row].position
    state["step"] = new.step


def _following(choice: Choice, tokenizer: Tokenizer, state: kit.PageState) -> NextToken:
    return NextToken(
        token_text(choice.id, tokenizer)[0],
        choice.id,
        choice.probability,
        choice.rank,
        ends=choice.id in tokenizer.special_tokens.values(),
        drawn=state["temperature"] > 0,
    )


def _links(state: kit.PageState, text: str, model: str, layers: int) -> dict[str, str]:
    """Return the address of the chapter of each stage, which opens with what the picture reads."""
    links, by_key = {}, {lesson.key: lesson for lesson in LESSONS}
    written = state.params["text"].write(text)  # None: too long for an address
    for stage, place in words.stage_chapters.items():
        page, _, part = place.partition("/")
        known = {param.key for param in controls_of(by_key[page], part)}
        read = {"prompt" if "prompt" in known else "text": written, "model": model}
        values = {key: value for key, value in read.items() if key in known and value is not None}
        links[stage] = f"{page}?{urlencode({'part': part} | values)}"
    of_layer = links.pop("layer")
    return links | {f"layer {layer}": f"{of_layer}&layer={layer}" for layer in range(layers)}


def _act(state: kit.PageState, text: str, write: int | None) -> None:
    if write == 0:
        _stop_writing()
    elif write is not None and 1 <= write <= 10 and WRITING not in st.session_state:
        state["text"] = text
        st.session_state[WRITING] = Job(write, text)
        st.rerun()


def _stop_writing() -> None:
    """Draw the page again with a box that is not locked, if the model writes into it."""
    if st.session_state.pop(WRITING, None) is not None:
        st.rerun()


def _write_on(state: kit.PageState, bundled: engine.Bundled) -> None:
    """Write one token each time it is run, until all are written, stopped, or the text ends.

    The first comes only after the browser has locked the box: what the learner had typed there
    until then has arrived, and is not written over.
    """
    job: Job | None = st.session_state.get(WRITING)
    if job is None or time.monotonic() - job.last < 0.9 * PACE:
        return
    if not job.locked:
        said = st.session_state.get(GUARD) or {}
        job.locked = said.get("locked") == job.mark
        return
    if state["text"] != job.text:
        st.rerun()
    head, looked_at = job.text[:-LOOKED_AT], job.text[-LOOKED_AT:]
    written = write_one(
        bundled.model, bundled.tokenizer, looked_at, state["temperature"], state["seed"]
    )
    state["text"] = job.text = head + written.text
    state["row"] = -1
    job.written, job.last = job.written + 1, time.monotonic()
    if written.broken:
        st.session_state[BROKEN] = state["text"]
    if written.ended or job.written >= job.wanted:
        del st.session_state[WRITING]
    st.rerun()


def _draw_controls(state: kit.PageState, choice: Choice, tokenizer: Tokenizer) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.slider(
            words.temperature_label,
            step=0.05,
            width=300,
            help=words.temperature_help,
            **state.ranged("temperature"),
        )
        if state["temperature"] > 0:
            seed = state.ranged("seed")
            st.number_input(words.seed_label, width=150, help=words.seed_help, **seed)
    if state["temperature"] > 0:
        st.caption(
            words.drawn.format(
                temperature=kit.local(f"{state['temperature']:g}"),
                probability=kit.local(f"{choice.probability:.4f}"),
                rank=kit.local(f"{choice.rank:,}"),
                vocab=kit.local(f"{tokenizer.vocab_size:,}"),
            )
        )


def kind_of(following: NextToken, tokenizer: Tokenizer) -> str:
    """Return whether the next token is a text, the end of one, or a mark that is neither."""
    if not following.ends:
        return "text"
    return "end" if following.id in tokenizer.ends else "mark"


def picture_words(positions: str, norm: str, following: str, *, starts: bool) -> dict:
    """Return what the picture says of a model with these positions and norms.

    following: the kind of the next token; starts: whether the start token is what the model reads
    first.
    """
    say = words.picture["say"]
    counted = words.counted["start" if starts else "plain"]
    own = {
        "tokens": say["tokens"].replace("{counted}", counted),
        "vectors": say["vectors"].replace("{placed}", kit.placed(positions)),
        "scores": say["scores"].replace("{last}", words.last_vector[norm]),
        "next": say["next"].replace("{following}", words.following[following]),
    }
    return words.picture | {"say": say | own}
