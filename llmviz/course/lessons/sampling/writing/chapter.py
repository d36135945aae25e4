"""Chapter "Writing": a text token by token, with other ways to go at each of them."""

import math
from functools import partial
from typing import Any

import streamlit as st

from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.components.writer.view import Way, WrittenToken, writer
from llmviz.course.lessons.sampling import params, pipeline_settings, source, texts
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.growing_text import Fork, Text
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.lessons.sampling.writing import words
from llmviz.course.ui import kit
from llmviz.sampling import generate, text_measures

KEY = "sampling.writer"
READY = 8  # tokens that are known before they are asked for: enough until an answer comes
SHOWN_AFTER = 24  # tokens of a new way that are shown at once
ASKED = 4
ASK = "writing.entropy"
SLICE = 0.1  # seconds of work by which the text grows at a time: all of it, in most cases
POLL = 0.1  # seconds between two reruns while it grows
_WANTED = "sampling.wanted"


@source.reads_prompt(words.intro)
def draw(state: kit.PageState, prompt: Prompted) -> None:
    """Show the chapter."""
    settings = pipeline_settings.usable(state, prompt)
    st.caption(lesson_words.in_force.format(settings=pipeline_settings.described(settings)))
    try:
        live = not _written(state, prompt, settings)[1]
    except ValueError as error:
        pipeline_settings.refused(state, error)
        return
    # A long text is too much for one rerun where each token is a whole window of the model.
    body = partial(_text, state, prompt, settings, live)
    st.fragment(body, run_every=POLL if live else None)()


def _text(state: kit.PageState, prompt: Prompted, settings: dict[str, Any], live: bool) -> None:
    """Show the text as far as it is known, and all that is said of it once that is enough."""
    written, whole = _written(state, prompt, settings)
    length = min(_length(state), len(written.tokens))
    tokens = written.tokens[:length]
    quiz = question(prompt, tokens) if whole else None
    shown = whole and (quiz is None or kit.answered(quiz, ASK))
    _writer(state, prompt, settings, written, length, entropy=shown)
    if not whole:
        st.caption(words.growing)
        return
    if live:
        st.rerun()  # which ends the looking
    if len(state["ways"]) >= texts.MOST_WAYS:
        st.caption(words.fork_limit)
    st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
    if tokens:
        measures = text_measures(tokens)
        kit.prose(
            words.numbers,
            n=kit.count(len(tokens), "token"),
            distinct=measures["distinct"],
            repetition=measures["repetition"],
            mean=kit.signed(measures["mean_log_probability"]),
            p=kit.percent(math.exp(measures["mean_log_probability"])),
        )
    if quiz:
        kit.predict(quiz, ASK, covers=True)
    _code(prompt, settings, state, written, length)
    if tokens and shown:
        kit.seen(words.end, **end(prompt, tokens))


def _length(state: kit.PageState) -> int:
    return state["ways"][state["way"] - 1].length if state["way"] else state["written"]


def _written(state: kit.PageState, prompt: Prompted, settings: dict[str, Any]) -> tuple[Text, bool]:
    """Return the text of the way that is shown, with some tokens more than are shown.

    And whether they are all known: otherwise it grows each time it is asked for.
    """
    if state["way"] > len(state["ways"]):
        state["way"] = 0
    wanted = max(_length(state) + READY, st.session_state.get(_WANTED, 0))
    try:
        if any(fork.token >= prompt.logits.size for fork in state["ways"]):
            raise ValueError(words.fork_lost)
        ways = state["ways"], state["way"]
        return texts.grown(prompt, settings, state["seed"], wanted, *ways, seconds=SLICE)
    except ValueError:
        if not state["ways"]:
            raise
        st.info(words.fork_lost, icon=":material/alt_route:")
        state["ways"], state["way"] = [], 0
        return texts.grown(prompt, settings, state["seed"], wanted, seconds=SLICE)


def token_of(prompt: Prompted, token: Any, *, chosen: bool) -> WrittenToken:
    """Return a generated token as the picture needs it."""
    return WrittenToken(
        id=token.id,
        text=plain(prompt, token.id),
        probability=token.probability,
        chance=token.chance,
        rank=token.rank,
        entropy=token.entropy,
        u=token.u,
        alternatives=[(i, prompt.token_text(i), p) for i, p in token.alternatives],
        chosen=chosen,
    )


def plain(prompt: Prompted, token: int) -> str:
    """Return a token as text to read; bytes that are no whole character in hex."""
    data = prompt.bundled.tokenizer.token_bytes(token)
    visible, whole = visible_text(data)
    return data.decode("utf-8") if whole else f"⟨{visible}⟩"


def tokens_of(prompt: Prompted, written: Text) -> list[WrittenToken]:
    """Return all known tokens of a text as the picture needs them."""
    chosen = set(written.forced)
    return [token_of(prompt, token, chosen=at in chosen) for at, token in enumerate(written.tokens)]


def _writer(
    state: kit.PageState,
    prompt: Prompted,
    settings: dict[str, Any],
    written: Text,
    length: int,
    *,
    entropy: bool,
) -> None:
    writer(
        tokens_of(prompt, written),
        key=KEY,
        prompt=prompt.text[-600:],
        words=writer_words(prompt),
        length=length,
        limit=texts.most(prompt),
        ended=written.ended,
        slides_at=written.slides_at,
        entropy=entropy,
        ways=[Way(0, 0, ""), *(_way(prompt, fork) for fork in state["ways"])],
        way=state["way"],
        on_act=source.acted(KEY, lambda act: take_act(state, act)),
    )


def writer_words(prompt: Prompted, beside: int = 1) -> dict[str, str]:
    """Return the picture's sentences with this model's numbers, of texts beside each other."""
    return words.writer | {
        "slid": words.writer["slid"].format(context=prompt.bundled.model.context_length),
        "full": words.writer["full"].format(n=texts.most(prompt, beside)),
        "ended": words.writer["ended"].format(end=prompt.token_text(prompt.stop_id)),
    }


def _way(prompt: Prompted, fork: Fork) -> Way:
    return Way(fork.parent, fork.at, prompt.token_text(fork.token))


def take_act(state: kit.PageState, act: dict[str, Any]) -> None:
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


def _choose(state: kit.PageState, at: int, token: int) -> None:
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


def _rest(state: kit.PageState, length: int) -> None:
    if not state["way"]:
        state["written"] = length
        return
    forks = list(state["ways"])
    forks[state["way"] - 1] = forks[state["way"] - 1]._replace(length=length)
    state["ways"] = forks


def question(prompt: Prompted, tokens: list[Any]) -> kit.Question | None:
    """Return the question where the model was least sure, of four tokens; None without a winner."""
    if len(tokens) < 3 * ASKED:
        return None
    at = [round(i * (len(tokens) - 1) / (ASKED - 1)) for i in range(ASKED)]
    answers = [in_context(prompt, tokens, i) for i in at]
    first, second = sorted((tokens[i].entropy for i in at), reverse=True)[:2]
    if len(set(answers)) < len(answers) or f"{first:.2f}" == f"{second:.2f}":
        return None
    return kit.Question(
        words.ask_entropy,
        answers,
        [tokens[i].entropy for i in at].index(first),
        [
            words.ask_entropy_reason.format(
                token=kit.quote(prompt.token_text(tokens[i].id)),
                entropy=tokens[i].entropy,
                among=f"{math.exp(tokens[i].entropy):.1f}",
            )
            for i in at
        ],
    )


def end(prompt: Prompted, tokens: list[Any]) -> dict[str, Any]:
    """Return the numbers that the chapter ends with, of a text of at least one token."""
    surest, least = (by(tokens, key=lambda token: token.entropy) for by in (min, max))
    text = words.end_more if len(tokens) > 1 else words.end_one
    return {
        "told": text.format(
            n=kit.count(len(tokens), "token"),
            surest=kit.quote(prompt.token_text(surest.id)),
            low=surest.entropy,
            least=kit.quote(prompt.token_text(least.id)),
            high=least.entropy,
            among=math.exp(least.entropy),
        )
    }


def in_context(prompt: Prompted, tokens: list[Any], at: int) -> str:
    """Return a token with what stands before it, harmless in a widget's label."""
    before = prompt.text + "".join(plain(prompt, token.id) for token in tokens[:at])
    token = plain(prompt, tokens[at].id).strip()
    return kit.escape_markdown(words.in_context.format(token=token, before=before[-24:].strip()))


def _code(
    prompt: Prompted, settings: dict[str, Any], state: kit.PageState, written: Text, length: int
) -> None:
    if state["way"] or not length:
        return
    tokenizer = prompt.bundled.tokenizer
    n = min(length, 12)
    first = tokenizer.decode([token.id for token in written.tokens[:n]])
    kit.show_code(
        [generate],
        "import torch\n"
        + source.snippet(prompt)
        + words.snippet.format(
            seed=state["seed"], n=n, settings=pipeline_settings.arguments(settings)
        ),
        f"{first!r}",
    )
