"""Chapter "Writing": a text token by token, with other ways to go at each of them."""

import math
from functools import partial
from typing import Any

import streamlit as st

from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.components.writer.view import Way, WrittenToken, writer
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.sampling import params, pipeline_settings, source, texts
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.growing_text import Fork, Text
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.lessons.sampling.writing import LANES, words
from llmviz.course.ui import kit
from llmviz.sampling import generate, text_measures

KEY = "sampling.writer"
READY = 8  # tokens that are known before they are asked for: enough until an answer comes
SHOWN_AFTER = 24  # tokens of a new way that are shown at once
FEWEST = 12  # tokens of a text that is asked about
APART = 0.5  # nats between the entropy of the right answer and those of the others
ASK = "writing.entropy"
SLICE = 0.1  # seconds of work by which the text grows at a time: all of it, in most cases
LANE_SLICE = 0.03  # of each of the texts beside each other: a share of 0.1 for each
POLL = 0.1  # seconds between two reruns while it grows
_WANTED = "sampling.wanted"

Known = tuple[Prompted, dict[str, Any], Text, bool]  # see `_known`


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the text, the guess about it and the looks at it, then what goes deeper."""
    kit.prose(words.hook)
    begun = [_known(state)]
    if begun[0] is None:
        kit.source(state)
        return
    # A long text is too much for one rerun where each token is a whole window of the model.
    live = not begun[0][-1]
    st.fragment(partial(_text, state, begun, live), run_every=POLL if live else None)()


def _known(state: kit.PageState) -> Known | None:
    """Return the prompt, the settings, the text and whether it is whole; None after one line."""
    prompt = source.prompted(state)
    if prompt is None:
        return None
    settings = pipeline_settings.usable(state, prompt)
    try:
        return prompt, settings, *_written(state, prompt, settings)
    except ValueError as error:
        pipeline_settings.refused(state, error)
        return None


def _text(state: kit.PageState, begun: list[Known | None], live: bool) -> None:
    """Show the text as far as it is known, and all that is said of it once that is enough.

    begun: what was written a moment ago, for the first look at it. Later looks ask again, since a
    control beside the text may have another value.
    """
    known = begun.pop() if begun else _known(state)
    if known is None or not (live or known[-1]):
        st.rerun()  # which says why, or looks at it as it grows
    prompt, settings, written, whole = known
    length = min(_length(state), len(written.tokens))
    tokens = written.tokens[:length]
    guess = kit.Guess(ASK, question(prompt, tokens) if whole else None, by_hand=True)
    shown = whole and guess.open
    with kit.stage("writing"):
        _writer(state, prompt, settings, written, length, guess, shown=shown)
        if not whole:
            st.caption(words.growing)
            return
        if live:
            st.rerun()  # which ends the looking
        kit.prose(caption(prompt, tokens, shown=shown))
        if len(state["ways"]) >= texts.MOST_WAYS:
            st.caption(words.fork_limit)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.number_input(
                lesson_words.temperature, step=0.1, width=150, **state.ranged("temperature")
            )
            st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
        others = pipeline_settings.described(settings | {"temperature": 1.0})
        if others != lesson_words.plain:
            st.caption(lesson_words.in_force.format(settings=others))
    guess.ask()
    kit.source(state)
    if tokens and shown:
        kit.looks(state, words.looks, f"{KEY}.looks", **rival(prompt, tokens))
        kit.real_look(state, words.real, f"{KEY}.real")
        _lanes(state, prompt)
        measures = text_measures(tokens)
        kit.section(words.intro)
        kit.prose(
            words.numbers,
            n=kit.count(len(tokens), "token"),
            distinct=measures["distinct"],
            repeated=repeated(measures["repetition"]),
            mean=kit.signed(measures["mean_log_probability"]),
            p=kit.percent(math.exp(measures["mean_log_probability"])),
        )
    _code(prompt, settings, state, written, length)
    if tokens and shown:
        kit.seen(words.end, **end(prompt, tokens))


def _lanes(state: kit.PageState, prompt: Prompted) -> None:
    """Show texts beside each other that are drawn with the same random numbers."""
    kit.section(words.lanes)
    st.slider(words.tokens, width=280, **state.ranged("length"))
    for name, column in zip(LANES, st.columns(len(LANES), gap="medium"), strict=True):
        with column:
            st.slider(
                words.lane_temperature.format(name=name), step=0.1, **state.ranged(f"t{name}")
            )
            st.slider(words.lane_p.format(name=name), step=0.05, **state.ranged(f"p{name}"))
    # New texts are too much for one rerun: they grow a slice at a time, and are shown meanwhile.
    growing = not all([_grow(state, prompt, name, 0.0) for name in LANES])
    body = partial(_lane_texts, state, prompt, growing)
    st.fragment(body, run_every=POLL if growing else None)()


def _lane(state: kit.PageState, prompt: Prompted, name: str) -> Text:
    k = state[f"k{name}"]
    settings = {
        "temperature": state[f"t{name}"],
        "top_p": state[f"p{name}"],
        "top_k": None if k is None or k > prompt.vocab_size else k,
    }
    return texts.text(prompt, settings, state["seed"], 0)


def _grow(state: kit.PageState, prompt: Prompted, name: str, seconds: float) -> bool:
    """Let a text grow for some seconds; return whether all that it may get is known.

    A text whose settings are refused wants none.
    """
    length = min(state["length"], texts.most(prompt, len(LANES)))
    try:
        text = _lane(state, prompt, name)
    except ValueError:  # said where the text would stand
        return True
    if seconds:
        return text.grow(length, prompt.stop_id, seconds)
    return text.ended or len(text.tokens) >= length


def _lane_texts(state: kit.PageState, prompt: Prompted, growing: bool) -> None:
    """Show the texts side by side; while they grow, each time a slice longer."""
    grown = all([_grow(state, prompt, name, LANE_SLICE if growing else 0.0) for name in LANES])
    most = texts.most(prompt, len(LANES))
    length = min(state["length"], most)
    for name, column in zip(LANES, st.columns(len(LANES), gap="medium"), strict=True):
        with column:
            try:
                written = _lane(state, prompt, name)
            except ValueError as error:
                kit.refuse(error)
                continue
            tokens = tokens_of(prompt, written)[:length]
            writer(
                tokens,
                key=f"sampling.compare.{name}",
                prompt="…" + prompt.text[-40:],
                words=writer_words(prompt, len(LANES)),
                length=len(tokens),
                limit=most,
                ended=written.ended and len(written.tokens) <= length,
                controls=False,
            )
            if grown and tokens:
                measures = text_measures(written.tokens[:length])
                kit.prose(
                    words.lane_line,
                    distinct=measures["distinct"],
                    repeated=repeated(measures["repetition"]),
                )
    if not grown:
        st.caption(words.growing)
        return
    if growing:
        st.rerun()  # which ends the looking
    if length < state["length"]:
        st.caption(words.cut.format(context=prompt.bundled.model.context_length, n=length))


def repeated(share: float) -> str:
    """Return how many of a text's threes in a row had come before, as a sentence."""
    case = "none" if share == 0 else "some" if share >= 0.01 else "few"
    return words.repeated[case].format(repetition=share)


def least_sure(tokens: list[Any]) -> int:
    """Return the place of the token before which the entropy was highest."""
    return max(range(len(tokens)), key=lambda at: tokens[at].entropy)


def caption(prompt: Prompted, tokens: list[Any], *, shown: bool) -> str:
    """Say what there is to see: where the model was least sure, once that is told."""
    case = "empty" if not tokens else "shown" if shown else "veiled"
    least = tokens[least_sure(tokens)] if tokens else None
    return words.caption[case].format(
        n=kit.count(len(tokens), "token"),
        token=least and kit.quote(prompt.token_text(least.id)),
        among=least and kit.roughly(math.exp(least.entropy)),
        rank=least and f"{least.rank:,}",
    )


def rival(prompt: Prompted, tokens: list[Any]) -> dict[str, str]:
    """Return what looks say of the place where the model was least sure, and of a rival there."""
    at = least_sure(tokens)
    others = [token for token, _ in tokens[at].alternatives if token != tokens[at].id]
    other = others[0] if others else tokens[at].id
    return {
        "least": kit.quote(prompt.token_text(tokens[at].id)),
        "rival": prompt.token_text(other),
        "rival_id": str(other),
        "at": str(at),
        "length": str(min(params.MOST_TOKENS, at + 1 + SHOWN_AFTER)),
    }


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
    guess: kit.Guess,
    *,
    shown: bool,
) -> None:
    def act(done: dict[str, Any]) -> None:
        at = done.get("guess")
        if guess.asks and isinstance(at, int) and 0 <= at < length:
            guess.settle([math.exp(written.tokens[at].entropy)], log=True)
        else:
            take_act(state, done)

    writer(
        tokens_of(prompt, written),
        key=KEY,
        prompt=prompt.text[-600:],
        words=writer_words(prompt) | words.hand,
        length=length,
        limit=texts.most(prompt),
        ended=written.ended,
        slides_at=written.slides_at,
        veiled=not shown,
        asks=guess.asks,
        least=least_sure(written.tokens[:length]) if shown and length else None,
        ways=[Way(0, 0, ""), *(_way(prompt, fork) for fork in state["ways"])],
        way=state["way"],
        on_act=source.acted(KEY, act),
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
    """Return the question before which token the model was least sure; None without a clear one.

    The wrong answers are those of somebody who takes long words for hard, or a sentence's start.
    An answer's value is among how many equally likely tokens the model was as unsure.
    """
    if len(tokens) < FEWEST:
        return None
    pieces = [plain(prompt, token.id) for token in tokens]
    starts = [at for at in range(1, len(tokens)) if pieces[at - 1].rstrip()[-1:] in tuple(".!?")]
    least, long = least_sure(tokens), max(range(len(tokens)), key=lambda at: len(pieces[at]))
    reasons = {least: words.ask_entropy_least}
    for wrong, reason in (
        (long, words.ask_entropy_long),
        *((at, words.ask_entropy_start) for at in starts[:1]),
    ):
        if tokens[wrong].entropy <= tokens[least].entropy - APART:
            reasons.setdefault(wrong, reason)
    answers = [in_context(prompt, tokens, at) for at in reasons]
    if len(set(answers)) < 2 or len(set(answers)) < len(answers):
        return None
    among = [math.exp(token.entropy) for token in tokens]
    return kit.Question(
        words.ask_entropy,
        answers,
        0,
        [
            line.format(
                token=kit.quote(prompt.token_text(tokens[at].id)), among=kit.roughly(among[at])
            )
            for at, line in reasons.items()
        ],
        values=[(among[at],) for at in reasons],
        write=lambda guess: unmarked(in_context(prompt, tokens, among.index(guess))),
    )


def end(prompt: Prompted, tokens: list[Any]) -> dict[str, Any]:
    """Return the numbers that the chapter ends with, of a text of at least one token."""
    surest, least = (by(tokens, key=lambda token: token.entropy) for by in (min, max))
    text = words.end_more if len(tokens) > 1 else words.end_one
    return {
        "told": text.format(
            n=kit.count(len(tokens), "token"),
            surest=kit.quote(prompt.token_text(surest.id)),
            least=kit.quote(prompt.token_text(least.id)),
            among=kit.roughly(math.exp(least.entropy)),
        )
    }


def in_context(prompt: Prompted, tokens: list[Any], at: int) -> str:
    """Return a token with what stands before it."""
    before = prompt.text + "".join(plain(prompt, token.id) for token in tokens[:at])
    token = prompt.token_text(tokens[at].id)
    return words.in_context.format(
        token=kit.quote(token), before=kit.quote("…" + before[-24:].replace("\n", " "))
    )


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
