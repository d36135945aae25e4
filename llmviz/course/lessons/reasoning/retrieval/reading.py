"""The best passages before the question: what the model reads, what it answers, what changes it."""

from __future__ import annotations

import streamlit as st

from llmviz.corpus.facts_in_passages import STAND_INS, split_plain
from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.reasoning.retrieval import found, words
from llmviz.course.lessons.reasoning.retrieval.found import Put
from llmviz.course.lessons.reasoning.retrieval.params import (
    AS_FOUND,
    LIE,
    MOST_OF_PASSAGE,
    NUMBERS,
    OWN,
)
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import RANKINGS, Ranked
from llmviz.course.lessons.reasoning.retrieval.passage_reader import (
    LAYERS,
    Answer,
    Prompt,
    answer,
    read,
    tokens,
    vocabulary,
)
from llmviz.course.lessons.reasoning.retrieval.passage_record import bundled
from llmviz.course.ui import kit
from llmviz.tokenizers import Token

KEY = "reasoning.retrieval"
FIXED = ("[", "<", "_", "END")  # how tokens begin that no document has


def draw(state: kit.PageState, ranked: Ranked) -> None:
    """Show what is put before the question, and the answer."""
    parameters = sum(parameter.numel() for parameter in bundled().parameters())
    known = sum(not token.startswith(FIXED) for token in vocabulary())
    kit.section(words.read, layers=LAYERS, parameters=parameters, words=known)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "lookby", words.by, {way: words.ways[way] for way in RANKINGS})
        st.slider(words.take, step=1, width=220, **state.ranged("looktake"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.toggle(words.turned, **state.bind("lookturned"))
        st.multiselect(
            words.off,
            NUMBERS,
            format_func=lambda number: words.off_one.format(number=number),
            width=320,
            **state.several("lookoff"),
            **state.bind("lookoff"),
        )
    before = found.put(
        ranked,
        state["lookby"],
        state["looktake"],
        best_last=state["lookturned"],
        off=state["lookoff"],
    )
    kit.choose(state, "lookchange", words.change, words.changes)
    change, question = state["lookchange"], state["lookask"]
    if change not in (AS_FOUND, LIE):
        kit.choose(state, "lookat", words.at, {number: number for number in NUMBERS})
    if change == OWN:
        kit.text_input(state, "lookown", words.own.format(most=MOST_OF_PASSAGE), width=480)
    try:
        now = found.changed(before, question, change, int(state["lookat"]), state["lookown"])
        prompt, given = found.answered_for(now.texts, question)
        unchanged = found.answered_for(before.texts, question)[1]
    except ValueError as error:
        kit.refuse(f"{error}. {words.too_long}")
        return
    if change != AS_FOUND and not now.changed:
        missing = words.no_lie if change == LIE else words.no_such
        kit.inform(missing.format(number=state["lookat"]), ":material/info:")
    _put(now)
    _prompt(prompt)
    kit.prose(answer_read(given, now))
    if now.changed:
        kind = "same" if unchanged.text == given.text else "other"
        kit.prose(words.change_read[kind], before=kit.quote(unchanged.text, 60))
    left, right = st.columns(2, gap="medium")
    with left:
        written = zip(given.words, map(kit.percent, given.sure), strict=True)
        kit.rows_table(written, words.answer_columns)
    with right:
        kit.rows_table(
            [(word, kit.percent(sure)) for word, sure in given.others], words.other_columns
        )
    kit.show_code(
        [read, answer],
        "from llmviz.course.lessons.reasoning.retrieval.passage_reader import answer, read\n"
        "from llmviz.course.lessons.reasoning.retrieval.passage_record import bundled\n\n"
        f"asked = read({list(now.texts)!r}, {question!r})\n"
        "print(answer(bundled(), asked).text)",
        given.text,
    )


def _put(now: Put) -> None:
    if not now.texts:
        kit.prose(words.empty)
        return
    rows = [
        (f"[{number}]", str(place + 1), text)
        for number, (place, text) in enumerate(zip(now.places, now.texts, strict=True), start=1)
    ]
    kit.rows_table(rows, words.put_columns)


def _prompt(prompt: Prompt) -> None:
    written, details, values, at = [], [], [], 0
    stands = {token: word for word, token in prompt.stand_ins.items()}
    for number in prompt.ids:
        token = tokens()[number]
        word = stands.get(token, token)
        data = word.encode("utf-8", "replace")
        written.append(Token(number, data, at, at + len(data), at, at + len(word)))
        at += len(data)
        values.append(float(token in stands))
        kind = words.card_stand.format(token=token) if token in stands else words.card_known
        details.append({words.card_read: kind})
    row = TokenRow(words.prompt, written, values=values, details=details)
    token_strip([row], key=f"{KEY}.prompt", show_ids=False, value_label=words.prompt_value)
    kit.prose(unknown_read(prompt))


def unknown_read(prompt: Prompt) -> str:
    """Return how many words of a prompt the model does not know."""
    if not prompt.stand_ins:
        return words.unknown_words["none"]
    kind = "lost" if prompt.lost else "some"
    count = len(prompt.stand_ins) + prompt.lost
    return words.unknown_words[kind].format(
        words=kit.count(count, "different word or sign", "different words or signs"),
        example=kit.quote(next(iter(prompt.stand_ins))),
        stand_ins=len(STAND_INS),
    )


def answer_read(given: Answer, now: Put) -> str:
    """Return what the model answers, and whether its source has the word."""
    sure = kit.percent(given.sure[1]) if len(given.sure) > 1 else ""
    if given.declines:
        return words.answer_read["declines"].format(sure=sure)
    if given.source is None:
        return words.answer_read["bare"].format(text=kit.quote(given.text, 60))
    place = "nowhere"
    if given.source <= len(now.texts):
        there = given.words[1] in split_plain(now.texts[given.source - 1])
        place = "there" if there else "elsewhere"
    return words.answer_read["source"].format(
        about=kit.quote(given.words[0]),
        word=kit.quote(given.words[1]),
        sure=sure,
        source=given.source,
        sourced=kit.percent(given.sure[2]),
        place=words.source_place[place],
    )
