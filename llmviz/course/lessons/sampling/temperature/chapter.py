"""Chapter "Temperature": the arithmetic of softmax, entropy, and both limits."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.softmax_view.view import softmax_view
from llmviz.course.document.marks import cleared
from llmviz.course.lessons.sampling import source, texts
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.lessons.sampling.temperature import words
from llmviz.course.ui import kit
from llmviz.sampling import entropy, softmax_terms, temperature_limit
from llmviz.sampling.pipeline import top_ids

KEY, GUESS = "sampling.softmax", "temperature.half"
ROWS = 12
WRITES_AT = (0.2, 1.0, 1.5)  # temperatures of the texts beside each other
WRITTEN = 24  # tokens of each
BEFORE = 40  # characters of the prompt before them
SLICE, POLL = 0.1, 0.2  # seconds of work by which each grows at a time, and between two reruns
APART = 0.03  # between the answers of the question, so that they are told apart on the picture
COLUMNS = ("scaled", "shifted", "exp", "probability")
SAID_AT = {"lowest": 0.2, "low": 0.5, "one": 1.0, "high": 2.0}  # what looks and end compare
STOPS = (
    0.0,
    *(round(0.05 * i, 2) for i in range(1, 20)),
    *(round(0.1 * i, 1) for i in range(10, 31)),
    *(round(0.25 * i, 2) for i in range(13, 17)),
    *(round(0.5 * i, 1) for i in range(9, 13)),
    *map(float, (7, 8, 10, 12, 15, 20, 30, 50, 100)),
)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the picture, the guess about it and the looks at it, then what goes deeper."""
    kit.prose(words.hook)
    prompt = source.prompted(state)
    if prompt is None:
        kit.source(state)
        return
    guess = kit.Guess(GUESS, question(prompt), state["temperature"] < 1, leads="temperature=0.5")
    shown = guess.open
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("temperature", stays=True):
            _table(state, prompt, veiled=not shown)
        guess.ask()
        kit.source(state)
        numbers = summary(prompt)
        if shown:
            _written(state, prompt)
            kit.looks(state, words.looks, f"{KEY}.looks", **numbers)
            kit.real_look(state, words.real, f"{KEY}.real")
    kit.section(words.intro)
    if shown and state["temperature"]:
        kit.prose(arithmetic(prompt.logits, *_top(prompt), state["temperature"]))
    kit.prose(words.softmax_zero)
    _code(prompt, state["temperature"] or 1.0)
    if shown:
        kit.seen(words.end, **numbers)


def _written(state: kit.PageState, prompt: Prompted) -> None:
    """Show how the text goes on at some temperatures, with the same dice; it grows meanwhile."""
    each = [texts.text(prompt, {"temperature": t}, state["seed"], 0) for t in WRITES_AT]

    def known() -> bool:
        return all(text.ended or len(text.tokens) >= WRITTEN for text in each)

    def columns() -> None:
        for t, text, column in zip(
            WRITES_AT, each, st.columns(len(each), gap="medium"), strict=True
        ):
            ids = [token.id for token in text.tokens[:WRITTEN] if token.id != prompt.stop_id]
            said = cleared(prompt.bundled.tokenizer.decode(ids))
            with column:
                kit.prose(words.wrote[f"{t:.1f}"], text=cleared(ending(prompt.text)), said=said)
        if going and known():
            st.rerun()  # which ends the looking
        if first:  # the rest of the page is drawn before they grow
            first.clear()
            return
        for text in each:  # after they are drawn: what is on the page does not fade meanwhile
            text.grow(WRITTEN, prompt.stop_id, SLICE)

    going, first = not known(), [True]
    st.fragment(columns, run_every=POLL if going else None)()


def ending(text: str) -> str:
    """Return how a text ends, from the beginning of a word on.

    >>> ending("They met."), ending("Once they lived on another planet. They met at the market.")
    ('They met.', '… another planet. They met at the market.')
    """
    if len(text) <= BEFORE:
        return text
    cut = text[-BEFORE - 1 :]
    return f"… {cut[cut.find(' ') + 1 or 1 :]}"


def _top(prompt: Prompted) -> tuple[np.ndarray, list[str]]:
    """Return the ids of the tokens of the table, the most probable first, and their texts."""
    ids = top_ids(prompt.logits, min(ROWS, prompt.logits.size))
    return ids, [prompt.token_text(token) for token in ids]


def _table(state: kit.PageState, prompt: Prompted, *, veiled: bool) -> None:
    """Show softmax under its slider. veiled: what stands below T = 1 is not sent."""
    ids, texts = _top(prompt)
    known = sorted({*STOPS, state["temperature"]})
    stops = [*(stop for stop in known if stop >= 1 or not veiled), None]
    rows = [row_at(prompt.logits, ids, stop) for stop in stops]
    empty = np.full(ids.size, np.nan)

    def keep_stop(act: dict) -> None:
        at = act.get("at")
        # Infinity is a place on the slider to look at, not a temperature that others can draw with.
        if isinstance(at, int) and 0 <= at < len(stops) - 1:
            state["temperature"] = stops[at]

    most = kit.local(f"{math.log(prompt.vocab_size):.2f}")
    names = {
        "all": words.softmax["all"].format(n=kit.local(f"{prompt.vocab_size:,}"), entropy=most)
    }
    softmax_view(
        texts,
        prompt.logits[ids],
        stops,
        {name: np.stack([row.get(name, empty) for row in rows]) for name in COLUMNS},
        np.array([row["entropy"] for row in rows]),
        key=KEY,
        words=words.softmax | names | ({"temperature": words.veiled} if veiled else {}),
        lines=[
            caption(texts[0], prompt.vocab_size, stop, row)
            for stop, row in zip(stops, rows, strict=True)
        ],
        at=stops.index(state["temperature"]),
        vocab_size=prompt.vocab_size,
        on_act=source.acted(KEY, keep_stop),
    )


def row_at(logits: np.ndarray, ids: np.ndarray, stop: float | None) -> dict[str, Any]:
    """Return the numbers of softmax at a temperature for some tokens, and the entropy of all.

    logits: (V,). stop: the temperature; None is infinity.
    """
    if not stop:
        limit = temperature_limit(logits, math.inf if stop is None else 0)
        row = {"probability": limit[ids], "entropy": float(entropy(limit))}
        if stop is None:
            row |= dict.fromkeys(("scaled", "shifted"), np.zeros(ids.size))
            row["exp"] = np.ones(ids.size)
        return row
    terms = softmax_terms(logits, stop)
    return {
        "scaled": terms.scaled[ids],
        "shifted": terms.shifted[ids],
        "exp": terms.exps[ids],
        "probability": terms.probabilities[ids],
        "entropy": float(entropy(terms.probabilities)),
    }


def caption(token: str, vocab_size: int, stop: float | None, row: Mapping[str, Any]) -> str:
    """Return what there is to see at a temperature: how unsure the model is, and of what."""
    among = math.exp(row["entropy"])
    case = "infinite" if stop is None else "zero"
    if stop:
        case = "between" if among >= 1.05 else "sure"
    return words.caption[case].format(
        token=token,
        n=kit.local(f"{vocab_size:,}"),
        t=kit.local(f"{stop or 0:g}"),
        among=kit.roughly(among),
        p=kit.percent(float(row["probability"][0])),
    )


def arithmetic(logits: np.ndarray, ids: np.ndarray, texts: list[str], stop: float) -> str:
    """Return how the probability of the second token comes about at a temperature above 0."""
    terms = softmax_terms(logits, stop)
    row = min(1, ids.size - 1)  # the exponential of the first is always 1
    token = int(ids[row])
    return words.softmax_line.format(
        token=texts[row],
        logit=kit.signed(logits[token], 4),
        t=kit.local(f"{stop:g}"),
        highest=kit.operand(kit.local(f"{terms.highest:.4f}")),
        total=kit.local(f"{terms.total:.4f}"),
        exp=kit.local(f"{terms.exps[token]:.4f}"),
        probability=kit.local(f"{terms.probabilities[token]:.4f}"),
        n=kit.local(f"{logits.size:,}"),
    )


def question(prompt: Prompted) -> kit.Question | None:
    """Return the question what T = 0.5 makes of the first token's probability.

    The wrong answers are what somebody gets who doubles its share or its odds. Where two of them
    are nearly the same, it asks which way the share goes; None where nothing of it is seen to go.
    """
    ids, texts = _top(prompt)
    plain, right = (float(row_at(prompt.logits, ids, t)["probability"][0]) for t in (1.0, 0.5))
    odds = 2 * plain / (1 + plain)  # twice p / (1 - p), as a share
    reasons = {
        right: words.ask_half_right,
        2 * plain: words.ask_half_share,
        odds: words.ask_half_odds,
    }
    shares = sorted(reasons)
    if any(b - a < APART for a, b in zip(shares, [*shares[1:], 2.0], strict=True)):
        return way_question(texts[0], plain, right)
    if 2 * plain > 1:
        del reasons[2 * plain]
    return kit.Question.among(
        words.ask_half,
        reasons,
        right,
        kit.percent,
        token=kit.quote(texts[0]),
        one=kit.percent(plain),
        right=kit.percent(right),
    )


def way_question(token: str, plain: float, right: float) -> kit.Question | None:
    """Ask which way the first token's share goes; None where it is printed as before."""
    whole, half = kit.percent(plain), kit.percent(right)
    if whole == half:
        return None
    reasons = dict(zip(words.ask_way_answers, words.ask_way_reasons, strict=True))
    return kit.Question.among(
        words.ask_way,
        reasons,
        words.ask_way_answers[0],
        token=kit.quote(token),
        one=whole,
        right=half,
    )


def summary(prompt: Prompted) -> dict[str, str]:
    """Return what looks and the end say: the first token, and its probability at some T."""
    ids, texts = _top(prompt)
    at = {name: row_at(prompt.logits, ids, t)["probability"][0] for name, t in SAID_AT.items()}
    return {"token": kit.quote(texts[0])} | {name: kit.percent(p) for name, p in at.items()}


def _code(prompt: Prompted, temperature: float) -> None:
    terms = softmax_terms(prompt.logits, temperature)
    nats = float(entropy(terms.probabilities))
    kit.show_code(
        [softmax_terms, temperature_limit, entropy],
        source.snippet(prompt) + words.snippet.format(temperature=temperature),
        f"{round(float(terms.probabilities.max()), 3)} {round(nats, 3)}",
    )
