"""Chapter "Find the cause": ten wrong answers, each to be explained from what was measured."""

import streamlit as st

from llmviz.corpus.leaning import LEANS
from llmviz.course.lessons.errors import read_leaning
from llmviz.course.lessons.errors.causes import words
from llmviz.course.lessons.errors.causes.answering_heads import HeadCase, Look
from llmviz.course.lessons.errors.causes.case_evidence import answers_given, head_of, lines_of
from llmviz.course.lessons.errors.causes.wrong_answers import TEN, Case, cases, offered, ten_cases
from llmviz.course.lessons.errors.facts.answers import mean
from llmviz.course.lessons.errors.facts.own_fact import often
from llmviz.course.lessons.errors.read_facts import CHOICES, NOBODY
from llmviz.course.ui import kit

KEY = "errors.causes"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    try:
        known = cases()
    except ValueError:
        kit.section(words.intro, all=0)
        st.info(words.missing, icon=":material/download:")
        return
    kit.section(words.intro, all=sum(map(len, known.values())))
    number = state["casefile"]
    file = ten_cases(number)
    every = [question(case, number) for case in file]

    def another() -> None:
        state["casefile"] = number % 9_999 + 1
        state["case"] = 1

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "case", words.case_label, {at: str(at) for at in range(1, TEN + 1)})
        st.button(words.another, icon=":material/folder_open:", on_click=another)
    st.caption(words.file.format(number=number))
    at = state["case"] - 1
    st.subheader(words.title.format(number=at + 1, all=TEN), anchor=False)
    key = f"{KEY}.{number}.{at}"
    if kit.predict(every[at], key, covers=True):
        st.caption(words.evidence)
        _evidence(file[at])
    kit.show_code(
        [ten_cases, cases],
        "from llmviz.course.lessons.errors.causes.wrong_answers import ten_cases\n\n"
        f"print([case.cause for case in ten_cases({number})].count('never'))",
        str([case.cause for case in file].count("never")),
    )
    results = [kit.graded(quiz, f"{KEY}.{number}.{place}") for place, quiz in enumerate(every)]
    answered, right = len(results) - results.count(None), results.count(True)
    kit.prose(words.score.format(right=right, answered=answered, left=TEN - answered))
    if answered or state["show"]:
        kit.seen(words.end, number=number, answered=answered, right=right)


def _evidence(case: Case) -> None:
    kit.prose(proof(case))
    if found := head_of(case):
        _head(found)
        return
    lines, more = lines_of(case)
    rows = [
        (words.line_of[line.who].format(text=line.text) if line.who else line.text, line.times)
        for line in lines
    ]
    kit.rows_table([(text, often(times)) for text, times in rows], words.line_columns)
    if more:
        kit.prose(words.more_lines.format(others=kit.count(more, "other line")))
    if given := answers_given(case):
        answers = [
            (words.nobody if said == CHOICES[NOBODY] else words.in_town.format(town=said), chance)
            for said, chance in given
        ]
        kit.rows_table(
            [(said, kit.percent(chance)) for said, chance in answers], words.answer_columns
        )


def _head(found: HeadCase) -> None:
    """Show both passes, and what the head does in each."""
    plain, here = map(looks_at, found.looks)
    stands = [" | ".join(map(_seen, tokens)) for tokens in found.tokens]
    first, second = stands if any(stands) else [f"… {ending}" for ending in found.endings]
    rows = [
        (words.passes["plain"], first, kit.percent(found.plain), plain),
        (words.passes["here"], second, kit.percent(found.here), here),
        (words.passes["moved"], second, kit.percent(found.moved), plain),
    ]
    kit.rows_table(rows, words.head_columns)
    kit.prose(head_line(found))


def _seen(token: str) -> str:
    return token.replace(" ", "·")


def looks_at(look: Look) -> str:
    """Return the token that a head looks at most, with its weight."""
    return words.looks_at.format(token=_seen(look.token), weight=kit.percent(look.weight))


def head_line(found: HeadCase) -> str:
    """Return which head an answer depends on, and what its output changes."""
    return words.head_read["back" if found.moved > 0.5 else "most"].format(
        layer=found.layer,
        head=found.head,
        right=kit.quote(found.right),
        moved=kit.percent(found.moved),
        here=kit.percent(found.here),
    )


def question(case: Case, seed: int) -> kit.Question:
    """Return the question on a case: its text, and the causes to choose from."""
    causes = offered(case, seed)
    return kit.Question(
        f"{words.asked[case.cause].format(**written_values(case))} {words.question}",
        [words.causes[cause] for cause in causes],
        causes.index(case.cause),
        [words.why_not[cause] if cause != case.cause else proof(case) for cause in causes],
    )


def written_values(case: Case) -> dict[str, object]:
    """Return the values of a case as its texts write them."""
    values = case.named
    named: dict[str, object] = dict(values)
    for name in ("sure", "read", "other", "clean"):
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
    """Return what proves the cause of a case."""
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
