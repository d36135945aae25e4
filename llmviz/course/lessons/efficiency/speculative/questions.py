"""The questions of the chapter "Guess and check"."""

from collections.abc import Sequence

from llmviz.course.lessons.efficiency.speculative import words
from llmviz.course.ui import kit
from llmviz.sampling.speculative import Round

LEAST = 0.01  # a probability that is asked about; smaller ones are hard to read


def count_question(k: int) -> kit.Question:
    """Ask how many tokens a round of k guesses can add."""
    line = {"k": k, "more": k + 1}
    names = list(words.count_answers)
    if k == 1:
        names.remove("half")  # "1 to 1" is no answer that one would give
    return kit.Question.among(
        words.ask_count.format(k=kit.count(k, "guess", "guesses")),
        {words.count_answers[name].format(**line): words.count_reasons[name] for name in names},
        words.count_answers["least1"].format(**line),
        **line,
    )


def chance_question(rounds: Sequence[Round]) -> kit.Question | None:
    """Ask with which probability a guess is accepted, about the first one that is not sure of it.

    None where there is no such guess, or its numbers cannot be told apart as they are written.
    """
    for turn in rounds:
        for guess in turn.guesses[: turn.checked]:
            question = _about(float(guess.p[guess.token]), guess.q.of(guess.token))
            if question is not None:
                return question
    return None


def _about(p: float, q: float) -> kit.Question | None:
    if not LEAST <= p < q:
        return None
    answers = {"right": p / q, "q": q, "p": p, "never": 0.0}
    texts = {name: kit.percent(value) for name, value in answers.items()}
    if len(set(texts.values())) < len(texts):
        return None
    reasons = {text: words.chance_reasons[name] for name, text in texts.items()}
    slots = {"p": texts["p"], "q": kit.percent(q), "right": texts["right"]}
    return kit.Question.among(words.ask_chance, reasons, texts["right"], **slots)
