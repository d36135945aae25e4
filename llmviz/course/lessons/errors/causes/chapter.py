"""Chapter "Find the cause": a wrong answer, to be explained from what was measured, and others."""

from typing import Any

import streamlit as st

from llmviz.corpus.leaning import LEANS
from llmviz.course.lessons.errors import read_leaning
from llmviz.course.lessons.errors.causes import words
from llmviz.course.lessons.errors.causes.answering_heads import HeadCase
from llmviz.course.lessons.errors.causes.case_evidence import answers_given, head_of, lines_of
from llmviz.course.lessons.errors.causes.wrong_answers import TEN, Case, cases, offered, ten_cases
from llmviz.course.lessons.errors.facts.answers import mean
from llmviz.course.lessons.errors.facts.chapter import often
from llmviz.course.lessons.errors.read_facts import CHOICES, NOBODY
from llmviz.course.ui import kit

KEY = "errors.causes"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a case as it was measured, ask for its cause, then show the evidence."""
    kit.prose(words.hook)
    try:
        known = cases()
    except ValueError:
        st.info(words.missing, icon=":material/download:")
        return
    number = state["casefile"]
    file = ten_cases(number)
    every = [
        kit.Guess(f"{KEY}.{number}.{n}", question(case, number)) for n, case in enumerate(file)
    ]

    at = state["case"] - 1

    def another() -> None:
        state["case"] = (at + 1) % TEN + 1
        if at + 1 == TEN:
            state["casefile"] = number % 9_999 + 1

    with kit.stage("causes"):
        kit.case_rows(seen(file[at]), kit.Axis(0, 1, words.seen_axis), key=f"{KEY}.case")
        revealed = every[at].ask()
        st.button(words.another, icon=":material/arrow_forward:", on_click=another)
    if revealed:
        _evidence(file[at])
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    kit.measured(words.how_drawn, all=sum(map(len, known.values())))
    kit.show_code(
        [ten_cases, cases],
        words.snippet.format(number=number),
        str([case.cause for case in file].count("never")),
    )
    results = [guess.graded for guess in every]
    answered, right = len(results) - results.count(None), results.count(True)
    if answered:
        kit.prose(words.score, right=right, answered=answered)
    if any(guess.open for guess in every):
        kit.seen(words.end)


def seen(case: Case) -> list[kit.Case]:
    """Return what was measured of a case as lines: answers, scores, or shares of a word."""
    values = case.named
    if given := answers_given(case):
        return [
            kit.Case(
                words.nobody if said == CHOICES[NOBODY] else words.in_town.format(town=said), chance
            )
            for said, chance in given
        ]
    if case.cause == "heart":
        written = [(f"{values['given']} ", False), (str(values["written"]), True)]
        return [kit.Case(written, 1.0, note=words.in_full)]
    if case.cause == "tested":
        rows = {"this_test": values["read"], "other_test": values["other"]}
    elif "share" in values:
        text, model = float(values["women"]), float(values["share"])
        if values["said"] != "she" and case.cause != "unsaid":
            text, model = 1 - text, 1 - model
        elif values["said"] != "she":
            model = 1 - model
        rows = {"women" if case.cause == "unsaid" else "text": text, "model": model}
    else:
        rows = {"wrong": values["confidence"]}
    named = {"said": values.get("said", "")}
    return [kit.Case(words.seen[name].format(**named), share) for name, share in rows.items()]


def _evidence(case: Case) -> None:
    """Show what proves the cause: sentences of the text with their number, or what a head does."""
    if found := head_of(case):
        _head(found)
        return
    lines, more = lines_of(case)
    rows = [
        kit.Case(
            words.line_of[line.who].format(text=line.text) if line.who else line.text,
            float(line.times),
        )
        for line in lines
    ]
    axis = kit.Axis(0, max(1, *(line.times for line in lines)), words.lines_axis)
    kit.case_rows(rows, axis, key=f"{KEY}.lines", form="count")
    if more:
        kit.prose(words.more_lines.format(others=kit.count(more, "other line")))


def _head(found: HeadCase) -> None:
    """Show the right answer in three passes, and where the head looks."""
    stands = [" | ".join(token.replace(" ", "·") for token in tokens) for tokens in found.tokens]
    first, second = stands if any(stands) else [f"… {ending}" for ending in found.endings]
    rows = [
        kit.Case([(f"{words.passes['plain']}: ", False), (first, True)], found.plain, role="value"),
        kit.Case([(f"{words.passes['here']}: ", False), (second, True)], found.here),
        kit.Case([(f"{words.passes['moved']}: ", False), (second, True)], found.moved),
    ]
    axis = kit.Axis(0, 1, words.right_axis.format(right=found.right))
    kit.case_rows(rows, axis, key=f"{KEY}.head")
    kit.prose(head_line(found))


def head_line(found: HeadCase) -> str:
    """Return which head an answer depends on, what its output changes, and where it looks."""
    looks = [
        words.looks_at.format(token=kit.quote(look.token), weight=kit.percent(look.weight))
        for look in found.looks
    ]
    return words.head_read["back" if found.moved > 0.5 else "most"].format(
        layer=found.layer,
        head=found.head,
        right=kit.quote(found.right),
        moved=kit.percent(found.moved),
        here=kit.percent(found.here),
        before=looks[0],
        now=looks[1],
    )


def stem(case: Case) -> str:
    """Return a case as it is told."""
    return words.asked[case.cause].format(**written_values(case))


def question(case: Case, seed: int) -> kit.Question:
    """Return the question on a case: its text, and the causes to choose from."""
    causes = offered(case, seed)
    return kit.Question(
        f"{stem(case)} {words.question}",
        [words.causes[cause] for cause in causes],
        causes.index(case.cause),
        [words.why_not[cause] if cause != case.cause else proof(case) for cause in causes],
    )


def written_values(case: Case) -> dict[str, Any]:
    """Return the values of a case as its texts write them."""
    values = case.named
    named: dict[str, Any] = dict(values)
    for name in ("confidence", "read", "other", "clean"):
        if isinstance(values.get(name), float):
            named[name] = kit.percent(values[name])
    for name in ("times", "copies"):
        if name in values:
            named[name] = often(values[name])
    if "share" in values:
        she = values["said"] == "she"
        given = values["share"] if she else 1 - values["share"]
        planted = values["women"] if she else 1 - values["women"]
        named |= {
            "given": kit.percent(given),
            "little": kit.percent(1 - given),
            "planted": kit.percent(planted),
            "text_share": kit.percent(1 - planted),
            "women": kit.percent(values["women"]),
        }
    return named


def proof(case: Case) -> str:
    values, more = case.named, {}
    if case.cause == "never":
        shared = words.namesake[bool(values["shared"])]
        more = {"namesake": shared.format(said=values["said"])}
    elif case.cause == "rare":
        more = {
            "often": kit.percent(mean(0, 100, "right")),
            "rarely": kit.percent(mean(0, values["times"], "right")),
        }
    elif case.cause == "declines":
        five = values["times"]
        more = {
            "before": kit.percent(mean(0, five, "declined")),
            "after": kit.percent(mean(values["unknown"], five, "declined")),
        }
    elif case.cause == "unsaid":
        more = {"direct": kit.percent(_direct(values["women"]))}
    elif found := head_of(case):
        whole, tokens = (
            kit.listed([kit.quote(token) for token in those]) for those in found.tokens
        )
        more = {
            "whole": whole,
            "tokens": tokens,
            "asked": found.endings[0],
            "plain": kit.percent(found.plain),
            "here": kit.percent(found.here),
        }
    return words.proof[case.cause].format(**written_values(case) | more)


def _direct(women: float) -> float:
    """The mean share of "she" after jobs of the same share that were read with pronouns."""
    found = [
        job.probability
        for lean in LEANS
        for seed in read_leaning.SEEDS
        for job in read_leaning.bundled(lean, seed).jobs
        if job.direct and abs(job.planted - women) < 1e-9
    ]
    return sum(found) / len(found)
