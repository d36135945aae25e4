"""Chapter "Writing": a text token by token, with other ways to go at each of them."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from llmviz.sampling import generate, text_measures
from llmviz.ui import codec
from llmviz.ui.components.tokens import visible_text
from llmviz.ui.components.writer import Way, WrittenToken, writer
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.common import count, percent, signed
from llmviz.ui.lessons.sampling import knobs, params, source, texts, words
from llmviz.ui.lessons.sampling.source import Prompted
from llmviz.ui.lessons.sampling.texts import Fork, Text
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_markdown

KEY = "sampling.writer"
READY = 40  # tokens that are known before they are asked for
SHOWN_AFTER = 24  # tokens of a new way that are shown at once
ASKED = 4
PARAMS = [
    codec.integer("written", 30, 0, params.MOST_TOKENS),  # tokens of the trunk
    texts.forks_param("ways"),
    codec.integer("way", 0, 0, texts.MOST_WAYS),
]
_WANTED = "sampling.wanted"


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.writing.TITLE, words.writing.TEXT)
    said = source.prompted(state)
    if said is None:
        return
    settings = knobs.usable(state, said)
    st.caption(words.IN_FORCE.format(settings=knobs.described(settings)))
    try:
        written = _written(state, said, settings)
    except ValueError as error:
        knobs.refused(state, error)
        return
    length = min(_length(state), len(written.tokens))
    _writer(state, said, settings, written, length)
    if len(state["ways"]) >= texts.MOST_WAYS:
        st.caption(words.writing.FORK_LIMIT)
    st.number_input(words.SEED, step=1, width=150, **state.ranged("seed"))
    shown = written.tokens[:length]
    if shown:
        measures = text_measures(shown)
        prose(
            words.writing.NUMBERS.format(
                n=count(len(shown), "token"),
                distinct=measures["distinct"],
                repetition=measures["repetition"],
                mean=signed(measures["mean_log_probability"]),
                p=percent(math.exp(measures["mean_log_probability"])),
            )
        )
    _ask(said, shown)
    _code(said, settings, state, written, length)


def _length(state: PageState) -> int:
    return state["ways"][state["way"] - 1].length if state["way"] else state["written"]


def _written(state: PageState, said: Prompted, settings: dict[str, Any]) -> Text:
    """Return the text of the way that is shown, with some tokens more than are shown."""
    if state["way"] > len(state["ways"]):
        state["way"] = 0
    wanted = max(_length(state) + READY, st.session_state.get(_WANTED, 0))
    try:
        if any(fork.token >= said.logits.size for fork in state["ways"]):
            raise ValueError(words.writing.FORK_LOST)
        return texts.text(said, settings, state["seed"], wanted, state["ways"], state["way"])
    except ValueError:
        if not state["ways"]:
            raise
        st.info(words.writing.FORK_LOST, icon=":material/alt_route:")
        state["ways"], state["way"] = [], 0
        return texts.text(said, settings, state["seed"], wanted)


def token_of(said: Prompted, token: Any, chosen: bool) -> WrittenToken:
    """Return a generated token as the picture needs it."""
    return WrittenToken(
        id=token.id,
        text=plain(said, token.id),
        probability=token.probability,
        chance=token.chance,
        rank=token.rank,
        entropy=token.entropy,
        u=token.u,
        alternatives=[(i, said.token_text(i), p) for i, p in token.alternatives],
        chosen=chosen,
    )


def plain(said: Prompted, token: int) -> str:
    """Return a token as text to read; bytes that are no whole character in hex."""
    data = said.bundled.tokenizer.token_bytes(token)
    shown, whole = visible_text(data)
    return data.decode("utf-8") if whole else f"⟨{shown}⟩"


def tokens_of(said: Prompted, written: Text) -> list[WrittenToken]:
    """Return all known tokens of a text as the picture needs them."""
    chosen = set(written.forced)
    return [token_of(said, token, at in chosen) for at, token in enumerate(written.tokens)]


def _writer(
    state: PageState, said: Prompted, settings: dict[str, Any], written: Text, length: int
) -> None:
    writer(
        tokens_of(said, written),
        key=KEY,
        prompt=said.text[-600:],
        words=writer_words(said),
        length=length,
        limit=params.MOST_TOKENS,
        ended=written.ended,
        slides_at=written.slides_at,
        ways=[Way(0, 0, ""), *(_way(said, fork) for fork in state["ways"])],
        way=state["way"],
        on_act=source.acted(KEY, lambda act: take_act(state, act)),
    )


def writer_words(said: Prompted) -> dict[str, str]:
    """Return the sentences of the picture with this model's numbers in them."""
    return words.writing.WRITER | {
        "slid": words.writing.WRITER["slid"].format(context=said.bundled.model.context_length),
        "full": words.writing.WRITER["full"].format(n=params.MOST_TOKENS),
    }


def _way(said: Prompted, fork: Fork) -> Way:
    return Way(fork.parent, fork.at, said.token_text(fork.token))


def take_act(state: PageState, act: dict[str, Any]) -> None:
    """Put what was done in the picture into the page's state."""
    most = params.MOST_TOKENS
    if isinstance(act.get("length"), int):
        _rest(state, max(0, min(most, act["length"])))
    match act:
        case {"want": int(n)}:
            st.session_state[_WANTED] = min(most, n)
        case {"clear": True}:
            state["ways"], state["way"], state["written"] = [], 0, 0
            st.session_state[_WANTED] = 0
        case {"way": int(way)} if 0 <= way <= len(state["ways"]):
            state["way"] = way
            st.session_state[_WANTED] = 0
        case {"choose": int(at), "id": int(token)} if 0 <= at < most:
            _choose(state, at, token)


def _choose(state: PageState, at: int, token: int) -> None:
    forks = list(state["ways"])
    parent = state["way"]
    for n, fork in enumerate(forks, 1):  # gone before: back to it
        if (fork.parent, fork.at, fork.token) == (parent, at, token):
            state["way"] = n
            return
    if len(forks) >= texts.MOST_WAYS:
        return
    state["ways"] = [*forks, Fork(parent, at, token, min(params.MOST_TOKENS, at + 1 + SHOWN_AFTER))]
    state["way"] = len(forks) + 1
    st.session_state[_WANTED] = 0


def _rest(state: PageState, length: int) -> None:
    if not state["way"]:
        state["written"] = length
        return
    forks = list(state["ways"])
    forks[state["way"] - 1] = forks[state["way"] - 1]._replace(length=length)
    state["ways"] = forks


def _ask(said: Prompted, shown: list[Any]) -> None:
    if len(shown) < 3 * ASKED:
        return
    at = [round(i * (len(shown) - 1) / (ASKED - 1)) for i in range(ASKED)]
    best = max(at, key=lambda i: shown[i].entropy)
    answers = [in_context(said, shown, i) for i in at]
    if len(set(answers)) < len(answers):
        return
    predict(
        Question(
            words.writing.ASK_ENTROPY,
            answers,
            at.index(best),
            [
                words.writing.ASK_ENTROPY_REASON.format(
                    token=quote(said.token_text(shown[i].id)),
                    entropy=shown[i].entropy,
                    among=f"{math.exp(shown[i].entropy):.0f}",
                )
                for i in at
            ],
        ),
        "writing.entropy",
    )


def in_context(said: Prompted, shown: list[Any], at: int) -> str:
    """Return a token with what stands before it, harmless in a widget's label."""
    before = said.text + "".join(plain(said, token.id) for token in shown[:at])
    token = plain(said, shown[at].id).strip()
    return escape_markdown(
        words.writing.IN_CONTEXT.format(token=token, before=before[-24:].strip())
    )


def _code(
    said: Prompted, settings: dict[str, Any], state: PageState, written: Text, length: int
) -> None:
    if state["way"] or not length:
        return
    tokenizer = said.bundled.tokenizer
    n = min(length, 12)
    first = tokenizer.decode([token.id for token in written.tokens[:n]])
    show_code(
        [generate],
        "import torch\n" + source.snippet(said) + "from llmviz.sampling import generate\n\n"
        f"generator = torch.Generator().manual_seed({state['seed']})\n"
        f"tokens = generate(model, ids, {n}, generator=generator{knobs.arguments(settings)},\n"
        "                  stop_id=ids[0])\n"
        "print(repr(tokenizer.decode([token.id for token in tokens])))",
        f"{first!r}",
    )
