"""Chapter "Guess and check": speculative decoding, its rule with the numbers, and its speed."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import streamlit as st
import torch

from llmviz.course.components.guess_rounds.view import (
    ACCEPTED,
    REJECTED,
    UNCHECKED,
    PlaceBars,
    RoundPicture,
    guess_rounds,
)
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.speculative import MOST_STEPS, WRITTEN, model, words
from llmviz.course.ui import engine, kit
from llmviz.models.costs import weight_bytes
from llmviz.models.settings import GPTConfig
from llmviz.sampling.drafts import Draft
from llmviz.sampling.settings import SamplingSettings
from llmviz.sampling.speculative import (
    Guess,
    Round,
    expected_speed_up,
    play_round,
    residual,
    speculate,
)

KEY, GUESS = "efficiency.speculative", "efficiency.speculative.passes"
LISTED = 6  # tokens of a place that are shown
SHOWN = 40  # tokens of the prompt that are shown
APART = 3  # passes between the answers of the question, at least
Settings = tuple[engine.Bundled, tuple[int, ...], str, int, float, int]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the rounds and the guess how many they are; then the rule, and what it saves."""
    kit.prose(words.hook)
    bundled = kit.load(kit.MADE_FIRST) if kit.models_here(kit.MADE_FIRST) else None
    if bundled is None:
        return
    stage, below = kit.stage("speculative"), st.container()
    with below:
        prompt = _source(state, bundled)
    if prompt is None:
        return
    kind = state["draft"]
    reason = why_not(bundled) if kind == model.NETWORK else ""
    kind = model.COUNTS if reason else kind
    given = (bundled, prompt.ids, kind, state["guesses"], state["guessheat"], state["guessluck"])
    played = rounds_of(*given)
    guess = kit.Guess(GUESS, question(played, state["guesses"]))
    shown = guess.open
    with stage:
        guess_rounds(
            prompt.tokens[-SHOWN:],
            pictured(*given) if shown else pictured(*given)[:1],
            key=f"{KEY}.rounds",
            words=words.picture,
            step=state["guessstep"],
            on_change=kit.bound(
                state, f"{KEY}.rounds", step=("guessstep", kit.one_of(range(MOST_STEPS + 1)))
            ),
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(state, "draft", words.draft, words.drafts)
            st.slider(words.guesses, width=220, **state.ranged("guesses"))
        if reason:
            kit.inform(words.no_network.format(reason=reason), ":material/info:")
        kit.prose(words.about[kind])
        _ask(guess, played)
        if guess.ask():
            kit.prose(total(played))
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.rule)
    _code(given, played)
    _speed(state, bundled.name, kind, bundled.model.config)
    if shown:
        kit.seen(words.end, **numbers_of(played))


def _source(state: kit.PageState, bundled: engine.Bundled) -> kit.Read | None:
    """The beginning of the story as tokens, cut so that something can be written behind it."""
    kit.text_area(state, "guesstext", words.prompt, height=80)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.heat, step=0.1, width=220, **state.ranged("guessheat"))
        st.number_input(words.luck, width=140, help=words.luck_help, **state.ranged("guessluck"))
    text = kit.readable(state["guesstext"], kit.LOOKED_AT, words.empty, kit.furniture.too_long)
    if text is None:
        return None
    return kit.read(text, bundled, max(1, bundled.model.context_length - WRITTEN))


@kit.cached(8)
def why_not(bundled: engine.Bundled) -> str:
    """Return why the small network cannot guess for a model; "" where it can."""
    try:
        model.draft_of(model.NETWORK, bundled.tokenizer)
    except ValueError as error:
        return str(error)
    return ""


@kit.cached(8)
def counts_for(bundled: engine.Bundled) -> Draft:
    """Return the counts that guess for a model; a draft with a cache is made anew each time."""
    return model.draft_of(model.COUNTS, bundled.tokenizer)


@kit.cached(32)
def rounds_of(
    bundled: engine.Bundled, ids: tuple[int, ...], kind: str, k: int, heat: float, seed: int
) -> list[Round]:
    """Return the rounds that write up to WRITTEN tokens behind ids."""
    draft = counts_for(bundled) if kind == model.COUNTS else model.draft_of(kind, bundled.tokenizer)
    settings, generator = SamplingSettings(heat), torch.Generator().manual_seed(seed)
    end = bundled.tokenizer.end
    return list(speculate(bundled.model, draft, ids, WRITTEN, k, settings, generator, end))


def question(played: Sequence[Round], k: int) -> kit.Question | None:
    """Ask how often the large model looks until the text is there. None where answers are too near.

    The wrong answers: every guess stands, and to check a guess is to read it in a pass of its own.
    """
    numbers = numbers_of(played)
    right, tokens = len(played), numbers["count"]
    all_stand = math.ceil(tokens / (k + 1))
    if min(b - a for a, b in pairwise(sorted((all_stand, right, tokens)))) < APART:
        return None
    reasons = {right: words.ask_right, all_stand: words.ask_stand, tokens: words.ask_each}
    return kit.Question.among(
        words.ask, reasons, right, k=kit.count(k, "guess", "guesses"), more=k + 1, **numbers
    )


def _ask(guess: kit.Guess, played: Sequence[Round]) -> None:
    tokens = numbers_of(played)["count"]
    rows = zip(words.rows, (tokens, len(played)), ("residual", "query"), strict=True)
    guess.cases(
        [kit.Case(label, value, role=role) for label, value, role in rows],
        kit.Axis(0, 1.1 * tokens, words.passes),
        veiled=[1],
        picture=f"{KEY}.guess",
        form="count",
    )


def numbers_of(played: Sequence[Round]) -> dict[str, Any]:
    tokens = sum(len(turn.tokens) for turn in played)
    return {
        "rounds": kit.count(len(played), "time"),
        "count": tokens,
        "tokens": kit.count(tokens, "token"),
        "each": tokens / len(played),
    }


def total(played: Sequence[Round]) -> str:
    """Return what all rounds did, in a sentence."""
    checked, kept = sum(turn.checked for turn in played), sum(turn.accepted for turn in played)
    line = words.total["some" if checked else "none"].format(**numbers_of(played))
    return f"{line} {kept_line(checked, kept)}".strip()


def kept_line(checked: int, kept: int) -> str:
    """Return how many of the guesses stood, in a sentence; "" where there were none."""
    if not checked:
        return ""
    how = "none" if not kept else "all" if kept == checked else "some"
    guesses = kit.count(checked, "guess", "guesses")
    return words.kept[how].format(checked=guesses, accepted=kept)


@kit.cached(32)
def pictured(
    bundled: engine.Bundled, ids: tuple[int, ...], kind: str, k: int, heat: float, seed: int
) -> list[RoundPicture]:
    """Return the rounds as the picture takes them, with their sentences."""
    played, end = rounds_of(bundled, ids, kind, k, heat, seed), len(ids) + WRITTEN
    return [
        _picture(number, turn, bundled, k, end - turn.before)
        for number, turn in enumerate(played, start=1)
    ]


def _picture(number: int, turn: Round, bundled: engine.Bundled, k: int, left: int) -> RoundPicture:
    vocab, count = bundled.model.vocab_size, len(turn.guesses)
    guessed = kit.names_of([guess.token for guess in turn.guesses], bundled.tokenizer)
    (drawn,) = kit.names_of([turn.drawn], bundled.tokenizer)
    lines_ = [guess_line(number, count, k, left)] if turn.guesses else []
    checked = zip(turn.guesses[: turn.checked], guessed, strict=False)
    checks = [check_line(guess, name, count - at) for at, (guess, name) in enumerate(checked, 1)]
    end = draw_line(turn, drawn, left)
    places = zip(model.places_of(turn, vocab, LISTED), [*checks, end], strict=False)
    return RoundPicture(
        [
            (name, UNCHECKED if guess.u is None else ACCEPTED if guess.accepted else REJECTED)
            for name, guess in zip(guessed, turn.guesses, strict=True)
        ],
        drawn,
        [
            _bars(place, kit.names_of(place.tokens, bundled.tokenizer), line, vocab)
            for place, line in places
        ],
        [*lines_, *checks, end],
        turn.accepted + 1 - len(turn.tokens),
    )


def guess_line(number: int, guesses: int, k: int, left: int) -> str:
    """Return how many guesses a round makes, and why not k, in a sentence.

    left: tokens that are still to be written when the round begins, of which the last is drawn.
    """
    fewer = ""
    if guesses < k:
        few = guesses == left - 1
        fewer = words.line_few_left if few else words.line_no_more
    return words.line_guess.format(
        round=number,
        guesses=kit.count(guesses, "guess", "guesses"),
        fewer=fewer.format(left=kit.count(left, "token")),
        read=words.line_read_one if guesses == 1 else words.line_read,
    )


def check_line(guess: Guess, token: str, behind: int) -> str:
    """Return what became of a guess, in a sentence; behind: guesses of the round behind it."""
    if guess.p is None or guess.u is None or guess.chance is None:
        raise ValueError("a guess that nobody looked at has no line")
    p, q = float(guess.p[guess.token]), guess.q.of(guess.token)
    if guess.chance == 1.0:
        why = words.why_sure
    else:
        chance, u = told_apart(guess.chance, guess.u)
        why = (words.why_below if guess.accepted else words.why_above).format(chance=chance, u=u)
    dropped = words.line_dropped[min(behind, 2) - 1].format(behind=behind) if behind else ""
    line = words.line_yes if guess.accepted else words.line_no
    return line.format(token=token, p=chance_text(p), q=chance_text(q), why=why, dropped=dropped)


def chance_text(share: float) -> str:
    """Return a probability as a percentage which is 0 only where the probability is.

    >>> chance_text(0.5), chance_text(0.00001234), chance_text(1e-30), chance_text(0.0)
    ('50.0\xa0%', '0.0012\xa0%', 'nearly 0 %', '0.0\xa0%')
    """
    if share == 0 or share >= 1e-3:
        return kit.percent(share)
    if share < 1e-8:
        return words.nearly_no
    return f"{100 * share:.{-1 - math.floor(math.log10(share))}f}\u00a0%"


def told_apart(a: float, b: float) -> tuple[str, str]:
    """Return two numbers from 0 to 1 with three digits, or as many more as tell them apart.

    >>> told_apart(0.5, 0.25), told_apart(0.50001, 0.5)
    (('0.500', '0.250'), ('0.50001', '0.50000'))
    """
    for digits in range(3, 17):
        written = f"{a:.{digits}f}", f"{b:.{digits}f}"
        if written[0] != written[1]:
            break
    return written


def draw_line(turn: Round, token: str, left: int) -> str:
    """Return how the last token of a round came about, in a sentence; left: as in `guess_line`."""
    rejected = turn.accepted < len(turn.guesses)
    sentence = words.line_residual if rejected else words.line_free
    if not turn.guesses:
        sentence = words.line_last if left == 1 else words.line_alone
    share = chance_text(float(turn.drawn_from[turn.drawn]))
    line = sentence.format(token=token, share=share, added=kit.count(len(turn.tokens), "token"))
    return line + (words.line_end if turn.accepted + 1 > len(turn.tokens) else "")


def _bars(place: model.Place, names: list[str], line: str, vocab: int) -> PlaceBars:
    sentence = words.told_free
    if place.q.any():
        apart = words.told_apart if place.error else words.told_same
        sentence = (words.told + apart).format(
            kept=chance_text(float(place.kept.sum())),
            added=chance_text(float(place.added.sum())),
            vocab=vocab,
            error=kit.power_of_ten(place.error, 1),
        )
    return PlaceBars(names, place.p, place.q, place.kept, place.added, line, sentence)


def _code(given: Settings, played: Sequence[Round]) -> None:
    bundled, ids, kind, k, heat, seed = given
    kit.show_code(
        [speculate, play_round, residual],
        words.snippet.format(
            name=bundled.name,
            kind=kind,
            ids=list(ids[: kit.IN_SNIPPET]),
            seed=seed,
            written=WRITTEN,
            k=k,
            heat=heat,
        ),
        str([(turn.accepted, turn.tokens) for turn in played]),
    )


job_of = kit.job_of(
    "llmviz.course.lessons.efficiency.speculative.model:guess_speeds",
    "name",
    "kind",
    "temperature",
    "wide",
)


def _speed(state: kit.PageState, name: str, kind: str, config: GPTConfig) -> None:
    """Show how fast both are; kind: of the draft, config: that of the target as it is."""
    wider = replace(config, hidden_size=model.WIDE * config.feed_forward_size)
    small, large = (weight_bytes(settings, "float32") / 1e6 for settings in (config, wider))
    kit.section(words.speed)
    kit.prose(words.speed_text, small=small, large=large)
    kit.choose(state, "guesssize", words.size, words.sizes, then=state.setter(guessspeed=False))
    kit.live(
        state,
        "guessspeed",
        job_of,
        (name, kind, state["guessheat"], model.WIDE if state["guesssize"] == "wide" else 1),
        _measured,
        start=words.measure,
        share=lambda job: len(job.results) / model.TRIES,
        said=kit.JobWords(words.measuring, words.measure_stopped, words.measure_again),
    )


def _measured(job: kit.Job) -> None:
    if job.results:
        speeds = job.results[-1]
        kit.chart(figure(speeds, kit.theme()), f"{KEY}.figure")
        kit.prose(best_line(best := best_of(speeds)))
        tries = kit.count(len(job.results), "try", "tries")
        kit.measured(
            words.how_fast,
            tries=tries,
            wide=model.WIDE,
            longest=model.MOST_GUESSES,
            plain=1 / best.step,
            k=best.guesses,
            best=best.tokens / best.seconds,
            accepted=kit.percent(best.acceptance),
        )


def best_of(speeds: tuple[model.Speed, ...]) -> model.Speed:
    return max(speeds, key=lambda speed: (speed.speed_up, -speed.guesses))


def best_line(best: model.Speed) -> str:
    """Return which number of guesses was the fastest, and whether it paid, in a sentence."""
    how = "pays" if best.speed_up > 1 else "not"
    return words.speed_best[how].format(k=best.guesses, ratio=best.speed_up)


@kit.cached(32)
def figure(speeds: tuple[model.Speed, ...], mode: kit.Mode) -> kit.Figure:
    """Return the measured speed-up and that of the formula, over the number of guesses."""
    a, cost = model.pooled(speeds)
    ks = [speed.guesses for speed in speeds]
    read = [expected_speed_up(a, speed.guesses, cost, speed.read) for speed in speeds]
    drawn = [
        Line(words.measured, ks, [speed.speed_up for speed in speeds], 0),
        Line(words.expected, ks, [expected_speed_up(a, k, cost) for k in ks], 1),
        Line(words.expected_read, ks, read, 2, dashed=True),
    ]
    return lines(drawn, words.speed_axes, mode, level=(1.0, words.plain_level), hover="%{y:.2f}")
