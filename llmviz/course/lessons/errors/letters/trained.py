"""Models that were trained on letters in three spellings: their scores, and some live."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.letter_questions import (
    ALPHABET,
    COUNT,
    KNOWN,
    LENGTH,
    LETTERS,
    READ,
    SPELLINGS,
    SUM,
    TASKS,
    TESTS,
    UNASKED,
    UNKNOWN,
    WHOLE,
    cut,
)
from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.lessons.errors.letters import words
from llmviz.course.lessons.errors.letters.model import (
    COMMAND,
    SEEDS,
    STEPS,
    LetterScores,
    Score,
    asked_before,
    counted,
    counting,
    recorded,
    train_one,
)
from llmviz.course.ui import kit

KEY = "errors.letters"
ROLES = {READ: "weights", UNASKED: "value", UNKNOWN: "key"}


def draw(state: kit.PageState) -> dict[str, Any] | None:
    """Show both sections; return their numbers for the end, None while covered or missing."""
    known = kit.or_refused(recorded)
    if known is None:
        return None
    kit.section(
        words.trained,
        seeds=len(SEEDS),
        known=KNOWN,
        length=LENGTH,
        first=ALPHABET[0],
        last=ALPHABET[-1],
        command=COMMAND,
        steps=STEPS,
    )
    if not kit.predict(question(known), f"{KEY}.trained", covers=True):
        return None
    kit.choose(state, "lettertask", words.task, words.tasks)
    task = state["lettertask"]
    kit.chart(figure(task, kit.theme()), f"{KEY}.{task}", bar=False)
    kit.rows_table(rows(known, task), [words.spelling, *test_names(task).values()])
    kit.prose(words.task_about[task] + "\n\n" + read_line(known, task))
    _asked(state)
    counts = known.scores[COUNT]
    return {f"{way}_unknown": kit.percent(counts[way][UNKNOWN].mean) for way in (LETTERS, WHOLE)}


def question(known: LetterScores) -> kit.Question:
    """Return the question how often whole words are right about the letter not asked about."""
    score = known.scores[COUNT][WHOLE][UNASKED]
    numbers = {
        "right": kit.percent(score.mean),
        "guess": kit.percent(float(np.mean(score.guess))),
        "read": kit.percent(known.scores[COUNT][WHOLE][READ].mean),
    }
    reasons = [reason.format(**numbers) for reason in words.ask_trained_reasons]
    text = words.ask_trained.format(**numbers)
    return kit.share_question(text, score.mean, reasons, kit.percent)


def test_names(task: str) -> Mapping[str, str]:
    """Return what the tests of a task are called."""
    return words.tests_of_sums if task == SUM else words.tests


def spelling_names(task: str) -> Mapping[str, str]:
    """Return what the spellings of a task's words or numbers are called."""
    return words.spellings_of_sums if task == SUM else words.spellings_of


def tests_of(known: LetterScores, task: str) -> list[str]:
    """Return the tests that a task has."""
    return [test for test in TESTS if test in known.scores[task][WHOLE]]


def rows(known: LetterScores, task: str) -> list[tuple[str, ...]]:
    """Return a row for each spelling, and for guessing: the share right in each test."""
    scores = known.scores[task]

    def cells(of: dict[str, Score]) -> list[str]:
        return [
            f"{100 * of[test].mean:.1f} ± {100 * of[test].error:.1f} %" if test in of else "–"
            for test in TESTS
        ]

    table = [(spelling_names(task)[way], *cells(scores[way])) for way in SPELLINGS]
    guess = [
        kit.percent(float(np.mean(scores[WHOLE][test].guess))) if test in scores[WHOLE] else "–"
        for test in TESTS
    ]
    return [*table, (words.guessing, *guess)]


@kit.kept(2 * len(TASKS))
def figure(task: str, mode: kit.Mode) -> kit.Figure:
    """Return the share right over the spellings, a line for each test."""
    known = recorded()
    drawn = [
        Ranged(
            test_names(task)[test],
            ROLES[test],
            list(zip(*(known.scores[task][way][test].right for way in SPELLINGS), strict=True)),
        )
        for test in tests_of(known, task)
    ]
    names = [spelling_names(task)[way] for way in SPELLINGS]
    axes = (words.spelling_axis, words.right_axis)
    return ranged_lines(names, drawn, axes, mode, shares=True)


def read_line(known: LetterScores, task: str) -> str:
    """Return how the spellings compare on words of the training and on others."""
    scores, names = known.scores[task], spelling_names(task)
    shares = [
        words.share_of.format(share=_share(scores[way][UNKNOWN]), spelling=names[way])
        for way in SPELLINGS
    ]
    lines = [
        words.new_read.format(
            seeds=len(SEEDS), unknown=test_names(task)[UNKNOWN], shares=kit.listed(shares)
        ),
        *(compared(scores, better, worse, names) for better, worse in _neighbours(scores)),
        _against_luck(scores[WHOLE][UNKNOWN], names[WHOLE]),
    ]
    if unlearned := [names[way] for way in SPELLINGS if scores[way][READ].mean < 0.5]:
        lines.append(words.unlearned.format(spellings=kit.listed(unlearned)))
    return " ".join(lines)


def _share(score: Score) -> str:
    return f"{100 * score.mean:.1f} ± {100 * score.error:.1f} %"


def _neighbours(scores: dict[str, dict[str, Score]]) -> list[tuple[str, str]]:
    """Return the spellings two by two, from the one that is right most often on new words."""
    order = sorted(SPELLINGS, key=lambda way: -scores[way][UNKNOWN].mean)
    return list(pairwise(order))


def compared(
    scores: dict[str, dict[str, Score]], better: str, worse: str, names: Mapping[str, str]
) -> str:
    """Return whether one spelling is right more often on new words than another, or a tie."""
    apart = scores[better][UNKNOWN].above(scores[worse][UNKNOWN])
    return words.compared["apart" if apart else "tie"].format(
        better=names[better], worse=names[worse]
    )


def _against_luck(score: Score, spelling: str) -> str:
    more = all(right > guess for right, guess in zip(score.right, score.guess, strict=True))
    guess = kit.percent(float(np.mean(score.guess)))
    return words.luck["more" if more else "none"].format(guess=guess, spelling=spelling)


def _asked(state: kit.PageState) -> None:
    kit.section(words.ask_one)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "countedword", words.counted_word, width=200)
        kit.choose(state, "countedletter", words.counted_letter, {sign: sign for sign in ALPHABET})
    word, letter = state["countedword"].strip().lower(), state["countedletter"]
    if not word:
        kit.inform(words.no_counted, ":material/edit:")
        return
    if len(word) != LENGTH or set(word) - set(ALPHABET):
        kit.inform(
            words.other_word.format(
                word=kit.quote(word), length=LENGTH, first=ALPHABET[0], last=ALPHABET[-1]
            ),
            ":material/edit:",
        )
        return
    found = kit.or_refused(answers, word, letter)
    if found is None:
        return
    kit.rows_table(answer_rows(word, letter, found), words.answer_columns)
    kit.prose(answer_line(word, letter, found))
    _code(word, letter, found)


@kit.kept(64)
def answers(word: str, letter: str) -> dict[str, np.ndarray | None]:
    """Return how probable each count is, by spelling; None where a word is no token.

    Raises ValueError where the models are not in this copy.
    """
    return {
        way: counted(way, word, letter)
        if all(token in counting(way)[1] for token in cut(word, way))
        else None
        for way in SPELLINGS
    }


def answer_rows(
    word: str, letter: str, found: dict[str, np.ndarray | None]
) -> list[tuple[str, ...]]:
    """Return a row for each spelling: tokens, answer, and how probable the right one is."""
    table = []
    for way in SPELLINGS:
        chances = found[way]
        said = (
            (words.no_token, "", "")
            if chances is None
            else (
                str(int(chances.argmax())),
                kit.percent(float(chances.max())),
                kit.percent(float(chances[word.count(letter)])),
            )
        )
        table.append((words.spellings_of[way], " | ".join(cut(word, way)), *said))
    return table


def answer_line(word: str, letter: str, found: dict[str, np.ndarray | None]) -> str:
    """Return how often the letter is in the word, who is right, and what the training had of it."""
    number = word.count(letter)
    right = [
        words.spellings_of[way]
        for way in SPELLINGS
        if (chances := found[way]) is not None and int(chances.argmax()) == number
    ]
    return words.answer_read.format(
        word=kit.quote(word),
        letter=kit.quote(letter),
        times=kit.count(number, "time"),
        right=words.answer_right["some" if right else "none"].format(right=kit.listed(right)),
        kind=words.answer_kind[asked_before(word, letter) or "none"],
    )


def _code(word: str, letter: str, found: dict[str, np.ndarray | None]) -> None:
    known = [way for way in SPELLINGS if found[way] is not None]
    kit.show_code(
        [train_one, counted],
        words.snippet_trained.format(known=known, word=word, letter=letter),
        "\n".join(f"{way} {found[way].argmax()}" for way in known),
    )
