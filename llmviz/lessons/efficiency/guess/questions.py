"""The questions of the chapter "Guess and check"."""

from __future__ import annotations

from collections.abc import Sequence

from llmviz.lessons.efficiency.guess import words
from llmviz.sampling.speculative import Round
from llmviz.ui.common import count, percent
from llmviz.ui.question import Question

LEAST = 0.01  # a probability that is asked about; smaller ones are hard to read


def count_question(k: int) -> Question:
    """Ask how many tokens a round of k guesses can add."""
    line = {"k": k, "more": k + 1}
    names = list(words.count_answers)
    if k == 1:
        names.remove("half")  # "1 to 1" is no answer that one would give
    return Question(
        words.ask_count.format(k=count(k, "guess", "guesses")),
        [words.count_answers[name].format(**line) for name in names],
        names.index("least1"),
        [words.count_reasons[name].format(**line) for name in names],
    )


def chance_question(rounds: Sequence[Round]) -> Question | None:
    """Ask with which probability a guess is accepted, about the first one that is not sure of it.

    None where there is no such guess, or its numbers cannot be told apart as they are written.
    """
    for one in rounds:
        for guess in one.guesses[: one.checked]:
            question = _about(float(guess.p[guess.token]), guess.q.of(guess.token))
            if question is not None:
                return question
    return None


def _about(p: float, q: float) -> Question | None:
    if not LEAST <= p < q:
        return None
    answers = {"right": p / q, "sure": 1.0, "p": p, "never": 0.0}
    texts = {name: percent(value) for name, value in answers.items()}
    if len(set(texts.values())) < len(texts) or texts["p"] == percent(q):
        return None
    names = sorted(answers, key=answers.__getitem__)
    return Question(
        words.ask_chance.format(p=texts["p"], q=percent(q)),
        [texts[name] for name in names],
        names.index("right"),
        [words.chance_reasons[name].format(right=texts["right"]) for name in names],
    )
