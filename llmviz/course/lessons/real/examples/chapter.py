"""Chapter "A rule from examples": right answers after none, one, two, three and four examples."""

from __future__ import annotations

from typing import Any

import streamlit as st

from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.examples import OPPOSITES, OWN, words
from llmviz.course.lessons.real.examples.model import (
    ASKED,
    MOST_SHOWN,
    RULES,
    Pair,
    Round,
    measure,
    read,
    written,
)
from llmviz.course.lessons.real.reader import words_after
from llmviz.course.ui import kit

KEY = "real.examples"
CODED = 2  # examples of the snippet
Rounds = tuple[Round, ...]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how many are right after so many examples, the guess, and a rule of one's own."""
    kit.prose(words.hook)
    stage, asked, fields, looks = source.places("examples", stays=True)
    with fields:
        _own(state)
        source.about()
    with stage:
        found: Rounds
        found, (pairs,) = source.or_recorded("examples", (pairs_of(state),), (OPPOSITES,))
    guess = kit.Guess(KEY, question(found))
    count = len(found[0].answers)
    with stage:
        guess.line(
            [],
            kit.Drawn(words.line, range(len(found)), [turn.right for turn in found]),
            kit.Scale(
                0, len(found) - 1, words.x_axis, marks=[(n, str(n)) for n in range(len(found))]
            ),
            kit.Scale(0, count, words.y_axis.format(asked=count)),
            known=1,
            picture=f"{KEY}.line",
        )
        kit.prose(words.caption, none=found[0].right, asked=count, prompt=prompt_of(pairs))
    with asked:
        guess.ask()
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks", **facts())
    kit.section(words.answers)
    if guess.open:
        _answers(found)
        _code(found, read(pairs))
    kit.section(words.learned)
    source.proved("finetuning", "fewshot")
    if guess.open:
        kit.seen(words.end, **facts())


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    rules = {name: source.record("examples", written(pairs)) for name, pairs in RULES.items()}
    slots = {f"{name}_{turn.shown}": turn.right for name, turns in rules.items() for turn in turns}
    return {**slots, "asked": len(rules["opposites"][0].answers)}


def prompt_of(written: str) -> str:
    """Return what the model reads with one example in front, quoted."""
    (a, b), *_ = pairs = read(written)
    return kit.quote(f"{a} -> {b}, {pairs[MOST_SHOWN][0]} ->", 100)


def question(found: Rounds) -> kit.Question | None:
    """Ask for the line from one example on; None where no example changes anything.

    The wrong lines: of somebody to whom each example helps as much, and to whom one is enough.
    """
    right = tuple(float(turn.right) for turn in found[1:])
    none, asked, count = found[0].right, len(found[0].answers), len(found) - 1
    even = tuple(none + (asked - none) * n / count for n in range(1, count + 1))
    once = (float(asked),) * count
    never = (float(none),) * count
    wrong = {even: words.ask_even, once: words.ask_once, never: words.ask_never}
    if right in wrong:
        return None
    rights = kit.listed([str(turn.right) for turn in found[1:]])
    names = {even: words.even, once: words.once, never: words.never}
    names[right] = words.measured.format(rights=rights)
    reasons = {right: words.ask_right, **wrong}
    return kit.Question.among(
        words.ask,
        reasons,
        right,
        names.__getitem__,
        scale=True,
        none=none,
        one=found[1].right,
        last=found[-1].right,
        asked=asked,
        count=count,
    )


def pairs_of(state: kit.PageState) -> str:
    """Return the pairs of the rule that is chosen, a line for each."""
    rule = state["rule"]
    return state["rulepairs"].strip() if rule == OWN else written(RULES[rule])


def _own(state: kit.PageState) -> None:
    kit.choose(state, "rule", words.rule_label, words.rules)
    if state["rule"] == OWN:
        kit.text_area(state, "rulepairs", words.own_label.format(shown=MOST_SHOWN), height=240)


def _code(found: Rounds, pairs: list[Pair]) -> None:
    """Show how the answers after two examples are counted."""
    shown, asked = pairs[:CODED], pairs[MOST_SHOWN : MOST_SHOWN + ASKED]
    prints = str(found[CODED].right)
    kit.show_code(
        [measure, words_after], source.snippet(words.snippet, shown=shown, asked=asked), prints
    )


def _answers(found: Rounds) -> None:
    """Show what was answered to each word, after none, one and all examples."""
    picked = [found[0], found[1], found[-1]]
    titles = [
        words.asked_word,
        *(words.after[min(turn.shown, 2)].format(n=turn.shown) for turn in picked),
    ]
    rows = zip(*(turn.answers for turn in picked), strict=True)
    kit.rows_table(
        [
            [
                answers[0].word,
                *(words.marked[a.right].format(said=a.said or words.nothing) for a in answers),
            ]
            for answers in rows
        ],
        titles,
    )
