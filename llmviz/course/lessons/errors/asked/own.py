"""The learner's own story, fact and question: where the fact stands, and what stands before it."""

from collections import Counter

import streamlit as st

from llmviz.course.lessons.errors.asked import own_question, words
from llmviz.course.lessons.errors.moved_answers import MODEL
from llmviz.course.ui import engine, kit
from llmviz.files.text import check_text

Answers = dict[tuple[str, str], own_question.OwnAnswer]


def draw(state: kit.PageState, bundled: engine.Bundled) -> None:
    kit.section(words.own)
    kit.text_area(state, "askedown", words.own_story, height=130)
    kit.text_input(state, "askedfact", words.own_fact)
    with st.container(horizontal=True, gap="medium"):
        kit.text_input(state, "askedquestion", words.own_question)
        kit.text_input(state, "askedreworded", words.own_reworded)
    story, fact, question = (
        state[key].strip() for key in ("askedown", "askedfact", "askedquestion")
    )
    if not story or not question:
        kit.inform(words.own_needed, ":material/edit:")
        return
    further = state["askedbefore"], state["askedreworded"]
    prompts = own_question.own_prompts(story[: kit.LOOKED_AT], fact, question, *further)
    try:
        for prompt in prompts.values():
            check_text(prompt)
        found = answers_of(bundled.version, tuple(prompts.items()))
    except ValueError as error:
        kit.refuse(error)
        return
    longest = max(prompts.values(), key=len)
    if len(bundled.tokenizer.encode_from_start(longest)) > bundled.model.context_length:
        kit.inform(words.too_long, ":material/content_cut:")
    kit.case_rows(
        rows(found),
        kit.Axis(0, 1, words.own_axis),
        key="errors.asked.own",
        form="percent",
    )
    kit.prose(read_line(found, bundled))
    if all(way != own_question.OPTIONS for _, way in found):
        kit.inform(words.own_no_options, ":material/info:")


@kit.cached(64)
def answers_of(version: str, prompts: tuple[tuple[tuple[str, str], str], ...]) -> Answers:
    """Return the answer behind each prompt; version: of the model's weights."""
    bundled = engine.load(MODEL)
    return own_question.own_answers(bundled.model, bundled.tokenizer, dict(prompts))


def rows(found: Answers) -> list[kit.Case]:
    """Return a row for each place and each way to ask, coloured by the person."""
    people = list(dict.fromkeys(answer.person for answer in found.values()))
    return [
        kit.Case(
            f"{words.own_places[place]} · {words.own_ways[way]}",
            answer.person_p,
            note=answer.person,
            role="query" if answer.person == people[0] else "key",
        )
        for (place, way), answer in found.items()
    ]


def read_line(found: Answers, bundled: engine.Bundled) -> str:
    """Return whether all rows have the same answer, and whether it is a person at all."""
    counts = Counter(answer.person for answer in found.values())
    chances = [answer.person_p for answer in found.values()]
    line = words.own_read["same" if len(counts) == 1 else "moved"].format(
        first=kit.quote(next(iter(counts))),
        rows=len(found),
        least=kit.percent(min(chances)),
        most=kit.percent(max(chances)),
        counts=kit.listed(
            [
                words.own_count["one" if times == 1 else "more"].format(name=name, times=times)
                for name, times in counts.most_common()
            ]
        ),
    )
    others = [answer for answer in found.values() if answer.token_p > answer.person_p]
    if others:
        line += words.own_other.format(
            some=len(others),
            token=kit.spoken(others[0].token, bundled.tokenizer),
            token_p=kit.percent(others[0].token_p),
        )
    return line
