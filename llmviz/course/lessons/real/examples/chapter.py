"""Chapter "A rule from examples": right answers after none, one, two, three and four examples."""

from __future__ import annotations

import streamlit as st

from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.examples import OWN, words
from llmviz.course.lessons.real.examples.model import MOST_SHOWN, RULES, Round, read, written
from llmviz.course.ui import kit

KEY = "real.examples"
Rounds = tuple[Round, ...]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how many are right after so many examples, the guess, and a rule of one's own."""
    kit.prose(words.hook)
    stage, asked, fields, looks = source.places("examples")
    with fields:
        _own(state)
        source.about()
    with stage:
        found: Rounds | None = source.measured("examples", pairs_of(state))
    if found is None:
        return
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
        kit.prose(words.caption, none=found[0].right, asked=count, prompt=prompt_of(state))
    with asked:
        guess.ask()
    rules = {name: source.record("examples", written(pairs)) for name, pairs in RULES.items()}
    slots = {
        f"{name}_{turn.shown}": turn.right for name, all_of in rules.items() for turn in all_of
    }
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks", **slots)
    kit.section(words.answers)
    if guess.open:
        _answers(found)
    kit.section(words.learned)
    kit.chapter_link("finetuning", "fewshot", words.proved)
    if guess.open:
        kit.seen(words.end, **slots, asked=len(rules["opposites"][0].answers))


def prompt_of(state: kit.PageState) -> str:
    """Return what the model reads with one example in front, quoted."""
    (a, b), *_ = pairs = read(pairs_of(state))
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
    """Show the choice of a rule, and the field for one's own."""
    kit.choose(state, "rule", words.rule_label, words.rules)
    if state["rule"] == OWN:
        kit.text_area(state, "rulepairs", words.own_label.format(shown=MOST_SHOWN), height=240)


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
