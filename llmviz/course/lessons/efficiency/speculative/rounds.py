"""The rounds of the learner's story, computed once and told step by step."""

import math
from typing import Any

from llmviz.course.components.guess_rounds.view import (
    ACCEPTED,
    REJECTED,
    UNCHECKED,
    PlaceBars,
    RoundPicture,
    guess_rounds,
)
from llmviz.course.lessons.efficiency.speculative import words
from llmviz.course.lessons.efficiency.speculative.drafts import draft_of
from llmviz.course.lessons.efficiency.speculative.guess_places import Place, places_of
from llmviz.course.lessons.efficiency.speculative.params import MOST_STEPS, WRITTEN
from llmviz.course.ui import engine, kit
from llmviz.sampling.settings import SamplingSettings
from llmviz.sampling.speculative import Guess, Round, speculate

KEY = "efficiency.speculative"
LISTED = 6  # tokens of a place that are shown
SHOWN = 40  # tokens of the prompt that are shown

Settings = tuple[engine.Bundled, tuple[int, ...], str, int, float, int]


@kit.kept(8)
def draft_for(kind: str, bundled: engine.Bundled) -> object:
    """Return a draft for a model; one that reads with a cache is made anew for each text."""
    return draft_of(kind, bundled.tokenizer)


@kit.kept(32)
def rounds_of(
    bundled: engine.Bundled, ids: tuple[int, ...], kind: str, k: int, heat: float, seed: int
) -> list[Round]:
    """Return the rounds that write up to WRITTEN tokens behind ids."""
    import torch

    draft = draft_for(kind, bundled) if kind == "counts" else None
    return list(
        speculate(
            bundled.model,
            draft or draft_of(kind, bundled.tokenizer),
            ids,
            WRITTEN,
            k,
            SamplingSettings(heat),
            torch.Generator().manual_seed(seed),
            bundled.tokenizer.end,
        )
    )


@kit.kept(32)
def pictured(*given: Any) -> list[RoundPicture]:
    """Return the rounds as the picture takes them, with their sentences."""
    bundled, ids, _, k, *_ = given
    end = len(ids) + WRITTEN
    return [
        _picture(number, turn, bundled, k, end - turn.before)
        for number, turn in enumerate(rounds_of(*given))
    ]


def _picture(number: int, turn: Round, bundled: engine.Bundled, k: int, left: int) -> RoundPicture:
    vocab = bundled.model.vocab_size
    guessed = kit.names_of([guess.token for guess in turn.guesses], bundled.tokenizer)
    (drawn,) = kit.names_of([turn.drawn], bundled.tokenizer)
    lines = [guess_line(number + 1, len(turn.guesses), k, left)] if turn.guesses else []
    checks = [
        check_line(guess, token, len(turn.guesses) - at)
        for at, (guess, token) in enumerate(
            zip(turn.guesses[: turn.checked], guessed, strict=False), start=1
        )
    ]
    end = draw_line(turn, drawn, left)
    bars = []
    for place, line in zip(places_of(turn, vocab, LISTED), [*checks, end], strict=False):
        bars.append(_bars(place, kit.names_of(place.tokens, bundled.tokenizer), line, vocab))
    verdicts = [
        (token, UNCHECKED if guess.u is None else ACCEPTED if guess.accepted else REJECTED)
        for token, guess in zip(guessed, turn.guesses, strict=True)
    ]
    ended = turn.accepted + 1 - len(turn.tokens)
    return RoundPicture(verdicts, drawn, bars, [*lines, *checks, end], ended)


def guess_line(number: int, guesses: int, k: int, left: int) -> str:
    """Return how many guesses a round makes, and why not k, in a sentence.

    left: tokens that are still to be written when the round begins, of which the last is drawn.
    """
    fewer = ""
    if guesses < k:
        few = guesses == left - 1
        fewer = (
            words.line_few_left.format(left=kit.count(left, "token")) if few else words.line_no_more
        )
    return words.line_guess.format(
        round=number,
        guesses=kit.count(guesses, "guess", "guesses"),
        fewer=fewer,
        read=words.line_read_one if guesses == 1 else words.line_read,
    )


def check_line(guess: Guess, token: str, behind: int) -> str:
    """Return what became of a guess, in a sentence; behind: guesses of the round behind it."""
    p, q = float(guess.p[guess.token]), guess.q.of(guess.token)
    if guess.chance == 1.0:
        why = words.why_sure
    else:
        chance, u = told_apart(guess.chance, guess.u)
        why = (words.why_below if guess.accepted else words.why_above).format(chance=chance, u=u)
    dropped = ""
    if behind:
        those = "the guess" if behind == 1 else f"the {behind} guesses"
        dropped = words.line_dropped.format(behind=those + (" is" if behind == 1 else " are"))
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


def _bars(place: Place, names: list[str], line: str, vocab: int) -> PlaceBars:
    sentence = words.told_free
    if place.q.any():
        sentence = words.told.format(
            kept=chance_text(float(place.kept.sum())),
            added=chance_text(float(place.added.sum())),
        )
        apart = words.told_apart if place.error else words.told_same
        sentence += apart.format(vocab=vocab, error=kit.power_of_ten(place.error, 1))
    return PlaceBars(names, place.p, place.q, place.kept, place.added, line, sentence)


def total(rounds: list[Round]) -> str:
    """Return what all rounds did, in a sentence."""
    tokens, checked = sum(len(turn.tokens) for turn in rounds), sum(turn.checked for turn in rounds)
    accepted = sum(turn.accepted for turn in rounds)
    share = words.total_share.format(share=kit.percent(accepted / checked)) if checked else ""
    return words.total.format(
        rounds=kit.count(len(rounds), "round"),
        tokens=kit.count(tokens, "token"),
        each=tokens / len(rounds),
        checked=checked,
        accepted=accepted,
        share=share,
    )


def end(played: list[Round]) -> dict[str, object]:
    """Return the numbers that the chapter ends with."""
    tokens = sum(len(turn.tokens) for turn in played)
    return {
        "rounds": kit.count(len(played), "round"),
        "tokens": kit.count(tokens, "token"),
        "each": tokens / len(played),
    }


def draw(state: kit.PageState, given: Settings, tokens: tuple[str, ...]) -> None:
    """Draw the rounds behind the prompt's tokens."""

    guess_rounds(
        tokens[-SHOWN:],
        pictured(*given),
        key=f"{KEY}.rounds",
        words=words.picture,
        step=state["guessstep"],
        on_change=kit.bound(
            state, f"{KEY}.rounds", step=("guessstep", kit.one_of(range(MOST_STEPS + 1)))
        ),
    )
