"""Chapter "Temperature": the arithmetic of softmax, entropy, and both limits."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from llmviz.course.components.softmax_view.view import softmax_view
from llmviz.course.lessons.sampling import source
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.lessons.sampling.temperature import words
from llmviz.course.ui import kit
from llmviz.sampling import entropy, softmax_terms, temperature_limit
from llmviz.sampling.pipeline import top_ids

KEY = "sampling.softmax"
ROWS = 12
LEAST_APART, MOST_APART = 0.2, math.log(1000)  # nats: logits between which it is asked
END_AT = {"low": 0.5, "one": 1.0, "high": 2.0}  # the temperatures that the end compares
STOPS = (
    0.0,
    *(round(0.05 * i, 2) for i in range(1, 20)),
    *(round(0.1 * i, 1) for i in range(10, 31)),
    *(round(0.25 * i, 2) for i in range(13, 17)),
    *(round(0.5 * i, 1) for i in range(9, 13)),
    *map(float, (7, 8, 10, 12, 15, 20, 30, 50, 100)),
)


@source.reads_prompt(words.intro)
def draw(state: kit.PageState, prompt: Prompted) -> None:
    """Show the chapter."""
    quiz = question(prompt)
    shown = quiz is None or kit.predict(quiz, "temperature.half", covers=True)
    if shown:
        kit.prose(words.drag)
        chances = _table(state, prompt, [*sorted({*STOPS, state["temperature"]}), None])
        kit.prose(words.softmax_zero + " " + words.softmax_infinite)
    _code(prompt, state["temperature"] or 1.0)
    if shown:
        kit.seen(words.end, **end(prompt, chances))


def _table(
    state: kit.PageState, prompt: Prompted, stops: list[float | None]
) -> dict[float | None, float]:
    """Show the table; return the probability of its first token at each stop."""
    ids = top_ids(prompt.logits, min(ROWS, prompt.logits.size))
    names = ("scaled", "shifted", "exp", "probability")
    columns = {name: np.full((len(stops), ids.size), np.nan) for name in names}
    texts = prompt.texts(ids)
    nats, lines = np.zeros(len(stops)), []
    for s, stop in enumerate(stops):
        row = _terms(prompt.logits, ids, texts, stop)
        for name in names:
            if name in row:
                columns[name][s] = row[name]
        nats[s] = row["entropy"]
        lines.append(row["line"])
    vocabulary = prompt.logits.size

    def keep_stop(act: dict) -> None:
        at = act.get("at")
        # Infinity is a place on the slider to look at, not a temperature that others can draw with.
        if isinstance(at, int) and 0 <= at < len(stops) - 1:
            state["temperature"] = stops[at]

    softmax_view(
        texts,
        prompt.logits[ids],
        stops,
        columns,
        nats,
        key=KEY,
        words=words.softmax
        | {
            "all": words.softmax["all"].format(
                n=f"{vocabulary:,}", entropy=f"{math.log(vocabulary):.2f}"
            )
        },
        lines=lines,
        at=stops.index(state["temperature"]),
        vocab_size=vocabulary,
        on_act=source.acted(KEY, keep_stop),
    )
    return dict(zip(stops, columns["probability"][:, 0].tolist(), strict=True))


def _terms(
    logits: np.ndarray, ids: np.ndarray, names: Sequence[str], stop: float | None
) -> dict[str, Any]:
    """Return the numbers of softmax at one stop for the tokens `ids`, and a sentence."""
    if not stop:
        limit = temperature_limit(logits, math.inf if stop is None else 0)
        row = {"probability": limit[ids], "entropy": float(entropy(limit))}
        if stop is None:
            row |= {"scaled": np.zeros(ids.size), "shifted": np.zeros(ids.size)}
            row |= {"exp": np.ones(ids.size), "line": words.softmax_infinite}
            return row
        return row | {"line": words.softmax_zero}
    terms = softmax_terms(logits, stop)
    row = min(1, ids.size - 1)  # of the second one: the exponential of the first is always 1
    token = int(ids[row])
    line = words.softmax_line.format(
        token=names[row],
        logit=kit.signed(logits[token], 4),
        t=f"{stop:g}",
        highest=kit.operand(f"{terms.highest:.4f}"),
        total=f"{terms.total:.4f}",
        exp=f"{terms.exps[token]:.4f}",
        probability=f"{terms.probabilities[token]:.4f}",
        n=f"{logits.size:,}",
    )
    return {
        "scaled": terms.scaled[ids],
        "shifted": terms.shifted[ids],
        "exp": terms.exps[ids],
        "probability": terms.probabilities[ids],
        "entropy": float(entropy(terms.probabilities)),
        "line": line,
    }


def question(prompt: Prompted) -> kit.Question | None:
    """Return the question what T = 0.5 makes of the ratio of two probabilities.

    None where there are fewer than three tokens, or where a wrong answer is nearly right.
    """
    if prompt.logits.size < 3:
        return None
    first, third = (int(token) for token in top_ids(prompt.logits, 3)[[0, 2]])
    apart = float(prompt.logits[first] - prompt.logits[third])
    if not LEAST_APART <= apart <= MOST_APART or abs(apart - math.log(2)) < LEAST_APART:
        return None
    ratio = float(f"{math.exp(apart):.3g}")  # as it is shown, so that the arithmetic is right
    reasons = {ratio: words.ask_half_same, 2 * ratio: words.ask_half_twice}
    reasons[ratio**2] = words.ask_half_reason
    return kit.Question.among(
        words.ask_half,
        reasons,
        ratio**2,
        lambda n: words.ratio.format(n=_number(n)),
        first=kit.quote(prompt.token_text(first)),
        third=kit.quote(prompt.token_text(third)),
        ratio=_number(ratio),
        square=_number(ratio**2),
    )


def end(prompt: Prompted, chances: dict[float | None, float]) -> dict[str, str]:
    """Return the numbers that the chapter ends with: the first token's probability at three T."""
    token = int(top_ids(prompt.logits, 1)[0])
    said = {name: kit.percent(chances[t]) for name, t in END_AT.items()}
    return {"token": kit.quote(prompt.token_text(token)), **said}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _code(prompt: Prompted, temperature: float) -> None:
    terms = softmax_terms(prompt.logits, temperature)
    nats = float(entropy(terms.probabilities))
    kit.show_code(
        [softmax_terms, temperature_limit, entropy],
        source.snippet(prompt) + words.snippet.format(temperature=temperature),
        f"{round(float(terms.probabilities.max()), 3)} {round(nats, 3)}",
    )
