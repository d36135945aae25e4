"""What proves the cause of a wrong answer: training texts, probabilities, tokens and a head."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np

from llmviz.corpus.invented import invent
from llmviz.corpus.leaning import WOMEN, leaning_text
from llmviz.corpus.planted import field
from llmviz.course.lessons.errors import read_facts, tested_in_training
from llmviz.course.lessons.errors.causes import answering_heads, wrong_answers

MOST = 8  # lines of a case
FACTS, PRONOUNS, HEADS = (
    (wrong_answers.NEVER, wrong_answers.RARE, wrong_answers.DECLINES),
    (wrong_answers.GREEDY, wrong_answers.DICE, wrong_answers.UNSAID),
    (wrong_answers.SPELLED, wrong_answers.WORDED),
)


class Line(NamedTuple):
    """A sentence of the training text, or a part of several, and how often it stands there.

    0 times: it is what would have to stand there. who: "women" or "men", where a part stands behind
    any of their names.
    """

    text: str
    times: int
    who: str = ""


def lines_of(case: wrong_answers.Case) -> tuple[list[Line], int]:
    """Return the lines of the training text that a case is about, and how many more there are.

    There are none about HEADS, whose text is a story that the model reads when it is asked.
    """
    if case.cause in FACTS:
        lines = _about_somebody(case)
    elif case.cause in PRONOUNS:
        lines = _about_a_job(case)
    elif case.cause == wrong_answers.HEART:
        seed, at = map(int, case.source)
        planted = field(seed).planted[at]
        lines = [Line(planted.text, planted.times)]
    elif case.cause == wrong_answers.TESTED:
        lines = _of_a_test(case)
    elif case.cause in HEADS:
        lines = []
    else:
        raise ValueError(f"unknown cause {case.cause!r}")
    return lines[:MOST], max(0, len(lines) - MOST)


@cache
def _world(seed: int, unknown: int) -> Counter[str]:
    return Counter(read_facts.world_of(read_facts.Reading(seed, unknown)).documents())


def _about_somebody(case: wrong_answers.Case) -> list[Line]:
    """The person's own line first, then those of namesakes, the most frequent first."""
    seed, unknown = map(int, case.source)
    counts, name = _world(seed, unknown), str(case.named["name"])
    first, last = name.split()
    own = f"Where does {name} live? In {case.named['town']}."
    found = [
        Line(text, times)
        for text, times in counts.most_common()
        if text != own and (f" {first} " in text or f" {last} " in text)
    ]
    return [Line(own, counts[own]), *found]


def _about_a_job(case: wrong_answers.Case) -> list[Line]:
    seed, lean = case.source
    documents, job = leaning_text(lean, int(seed)).documents, str(case.named["job"])
    lines = []
    for pronoun in ("she", "he"):
        begins = f"The {job} said that {pronoun} was"
        lines.append(Line(f"{begins} …", sum(text.startswith(begins) for text in documents)))
    by_name = Counter(text for text in documents if text.endswith(f" {job}."))
    women = sum(times for text, times in by_name.items() if text.split()[0] in WOMEN)
    kind = next(iter(by_name)).split(" is ", 1)[1]
    return [
        *lines,
        Line(f"is {kind}", women, "women"),
        Line(f"is {kind}", by_name.total() - women, "men"),
    ]


def _of_a_test(case: wrong_answers.Case) -> list[Line]:
    seed, copies = map(int, case.source)
    register = invent(seed, each=tested_in_training.EACH)
    test, _ = tested_in_training.two_tests(register)
    counts = Counter(tested_in_training.documents(register, test, copies))
    facts = dict.fromkeys(tested_in_training.fact(person) for person in test)
    return [Line(text, counts[text]) for text in facts]


def answers_given(case: wrong_answers.Case, most: int = 5) -> list[tuple[str, float]]:
    """Return the most probable answers about a person with their probabilities; none otherwise."""
    if case.cause not in FACTS:
        return []
    seed, unknown = map(int, case.source)
    chances = read_facts.bundled(unknown, seed).of(*str(case.named["name"]).split())
    best = np.argsort(-chances, kind="stable")[:most]
    return [(read_facts.CHOICES[place], float(chances[place])) for place in best]


def head_of(case: wrong_answers.Case) -> answering_heads.HeadCase | None:
    """Return which tokens and which head a wrong answer depends on; None for other causes."""
    return answering_heads.recorded()[int(case.source[0])] if case.cause in HEADS else None
