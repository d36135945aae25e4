"""Chapter "Looking things up": documents cut, ranked and put before a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import streamlit as st

from llmviz.corpus.facts_in_passages import (
    KINDS,
    MOST_PASSAGES,
    STAND_INS,
    names,
    split_plain,
    values,
)
from llmviz.corpus.words import article
from llmviz.course.components import TokenRow, token_strip
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.reasoning.retrieval import (
    AS_FOUND,
    LIE,
    MOST_OF_DOCUMENTS,
    MOST_OF_PASSAGE,
    MOST_OF_QUESTION,
    NUMBERS,
    OWN,
    TOLD,
    passage_ranking,
    passage_record,
    words,
)
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import (
    AMONG,
    BM,
    RANKINGS,
    STORY,
    TABLES,
    VECTORS,
    WAYS,
    WORLD,
    Means,
    Ranked,
    rank,
)
from llmviz.course.lessons.reasoning.retrieval.passage_reader import Answer, Prompt, answer, read
from llmviz.course.lessons.reasoning.retrieval.passage_record import (
    DECLINED,
    FIRST,
    LAST,
    RIGHT,
    TESTS,
    bundled,
    recorded,
)
from llmviz.course.ui import kit
from llmviz.interpretability.vector_tables import load_table
from llmviz.similarity import BM25, Passage, VectorTable, bm25, cut, search_words
from llmviz.tokenizers import Token, in_line

INSTRUCTION = "Answer: Nobody."


@kit.cached(1)
def table() -> VectorTable:
    """Return the word vectors that passages are compared by."""
    return load_table(TABLES[VECTORS])


@kit.cached(32)
def passages_of(text: str, sentences: int, overlap: int) -> tuple[Passage, ...]:
    return tuple(cut(text, sentences, overlap))


@kit.cached(32)
def means_of(text: str, sentences: int, overlap: int) -> Means:
    """Return the mean vector of each of a text's passages."""
    return Means.of([passage.text for passage in passages_of(text, sentences, overlap)], table())


@kit.cached(32)
def ranked_for(
    text: str, sentences: int, overlap: int, question: str, k1: float, b: float
) -> Ranked:
    """Return a text's passages with their scores. ValueError where there is no word."""
    means = means_of(text, sentences, overlap)
    return rank(passages_of(text, sentences, overlap), question, means, k1, b)


@dataclass(frozen=True)
class Put:
    """What stands before the question: texts, and the place of each among all passages.

    changed: the number, from 1, of the one that the learner changed; 0 is none of them.
    """

    texts: tuple[str, ...]
    places: tuple[int, ...]
    changed: int = 0


@kit.cached(256)
def answered_for(texts: tuple[str, ...], question: str) -> tuple[Prompt, Answer]:
    """Return the one text that the model reads, and its answer. ValueError where it is too long."""
    prompt = read(texts, question)
    return prompt, answer(bundled(), prompt)


def put(ranked: Ranked, way: str, take: int, *, off: list[str]) -> Put:
    """Return the best passages that are not off."""
    places = ranked.order(way)[: min(take, MOST_PASSAGES)]
    places = [place for number, place in enumerate(places, start=1) if str(number) not in off]
    return Put(tuple(ranked.passages[place].text for place in places), tuple(places))


def changed(before: Put, question: str, change: str, number: int, own: str) -> Put:
    """Return passages after the learner's change; unchanged where it cannot be made.

    LIE: the answer's word becomes another of its kind, in the passage that the model names as its
    source. TOLD: the passage of this number ends with INSTRUCTION. OWN: it is replaced by a text.
    """
    texts = list(before.texts)
    if change == AS_FOUND or (change != LIE and number > len(texts)):
        return before
    if change == LIE:
        _, given = answered_for(before.texts, question)
        number = given.source or 0
        if not 0 < number <= len(texts) or given.words[1] not in split_plain(texts[number - 1]):
            return before
        texts[number - 1] = _replaced(texts[number - 1], given.words[1])
    elif change == TOLD:
        texts[number - 1] = f"{texts[number - 1]} {INSTRUCTION}"
    else:
        texts[number - 1] = own
    return Put(tuple(texts), before.places, number)


def _replaced(text: str, word: str) -> str:
    """Return a text with another word of the same kind in the place of one."""
    lists = [values(kind) for kind in KINDS] + [tuple(names())]
    kind = next((words for words in lists if word in words), lists[0])
    other = kind[(kind.index(word) + 1) % len(kind)] if word in kind else kind[0]
    # "a baker" becomes "an archer".
    text = re.sub(rf"\ban? {re.escape(word)}\b", f"{article(other)} {other}", text)
    return re.sub(rf"\b{re.escape(word)}\b", other, text)


KEY = "reasoning.retrieval"
GUESS = f"{KEY}.away"
BEST = 8  # passages that are drawn
NO_ID = -1


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what is put before the question and the answer, then how it is found."""
    kit.prose(words.hook)
    commands = f"{passage_record.COMMAND}\n{passage_ranking.COMMAND}"
    reads = recorded, passage_record.bundled, passage_ranking.recorded
    if not kit.is_here(words.missing, commands, *reads):
        return
    ranked, guess, code = ranked_of(state), kit.Guess(GUESS, None), None
    with kit.stage("retrieval"):
        if ranked is not None:
            guess, code = _reading(state, ranked)
        kit.text_input(state, "lookask", words.question.format(most=MOST_OF_QUESTION), width=480)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(state, "lookchange", words.change, words.changes)
            if state["lookchange"] not in (AS_FOUND, LIE):
                kit.choose(state, "lookat", words.at, {number: number for number in NUMBERS})
            st.multiselect(
                words.off,
                NUMBERS,
                format_func=lambda number: words.off_one.format(number=number),
                width=320,
                **state.several("lookoff"),
                **state.bind("lookoff"),
            )
        if state["lookchange"] == OWN:
            kit.text_input(state, "lookown", words.own.format(most=MOST_OF_PASSAGE), width=480)
    opened = guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        if code is not None:
            kit.show_code([read, answer], *code)
    kit.section(words.intro)
    _finding(state, ranked)
    _measured()
    _disagreeing()
    if opened:
        shares = {"right": mean("right", RIGHT), "declined": mean("wrong", DECLINED)}
        said = {name: kit.percent(share) for name, share in shares.items()}
        low, high = (kit.percent(end(shares_of("right", RIGHT))) for end in (min, max))
        kit.seen(words.end, low=low, high=high, **said)


def ranked_of(state: kit.PageState) -> Ranked | None:
    """Return the documents' passages with their scores; None after one clear line."""
    text, sentences = state["lookdocs"], state["looklong"]
    overlap = min(state["lookover"], sentences - 1)
    if not any(search_words(part.text) for part in passages_of(text, sentences, overlap)):
        kit.inform(words.no_words, ":material/edit:")
        return None
    k1, b = (round(float(state[key]), 4) for key in ("lookk1", "lookb"))
    ranked = kit.or_refused(ranked_for, text, sentences, overlap, state["lookask"], k1, b)
    if ranked is not None and not ranked.terms.words:
        kit.inform(words.no_question, ":material/edit:")
        return None
    return ranked


def _reading(state: kit.PageState, ranked: Ranked) -> tuple[kit.Guess, tuple[str, str] | None]:
    """Show the passages before the question and the answer; return what is asked, and the code."""
    way, take, asked = state["lookby"], state["looktake"], state["lookask"]
    whole = put(ranked, way, take, off=[])
    before = put(ranked, way, take, off=state["lookoff"])
    change, number = state["lookchange"], int(state["lookat"])
    try:
        now = changed(before, asked, change, number, state["lookown"])
        prompt, given = answered_for(now.texts, asked)
        guess = kit.Guess(GUESS, question(whole, asked))
    except ValueError as error:
        kit.refuse(f"{error}. {words.too_long}")
        return kit.Guess(GUESS, None), None
    revealed = now == whole or guess.open
    token_strip(
        rows_of(now, asked, given, revealed=revealed),
        key=f"{KEY}.strip",
        show_ids=False,
        value_range=(0, 1),
    )
    if change != AS_FOUND and not now.changed:
        missing = words.no_lie if change == LIE else words.no_such
        kit.inform(missing.format(number=state["lookat"]), ":material/info:")
    if revealed:
        kit.prose(answer_read(given, now))
    if prompt.stand_ins:
        kit.prose(unknown_read(prompt))
    return guess, (words.snippet.format(texts=list(now.texts), question=asked), given.text)


def rows_of(now: Put, asked: str, given: Answer, *, revealed: bool) -> list[TokenRow]:
    """Return a row for each passage, for the question and for the answer; its source is lit."""
    rows = []
    for number, text in enumerate(now.texts, 1):
        lit = given.words[1] if revealed and given.source == number else None
        parts = text.split()
        values = [float(lit is not None and lit in split_plain(part)) for part in parts]
        rows.append(TokenRow(words.passage_row.format(number=number), chips(parts), "", values))
    rows.append(TokenRow(words.question_row, chips(asked.split()), role="query"))
    said = given.words if revealed else ("?",)
    rows.append(TokenRow(words.answer_row, chips(said), role="value"))
    return [row for row in rows if row.tokens]


def chips(parts: Sequence[str]) -> list[Token]:
    """Return words as tokens that stand one behind the other."""
    return in_line((part.encode("utf-8", "replace") for part in parts), repeat(NO_ID))


def question(whole: Put, asked: str) -> kit.Question | None:
    """Return the question what is answered once its source is taken away; None without a source.

    One who thinks that the model remembers expects the same word, one who thinks that it takes the
    next best thing another.
    """
    _, given = answered_for(whole.texts, asked)
    if given.declines or not given.source or given.source > len(whole.texts):
        return None
    texts = tuple(text for n, text in enumerate(whole.texts, 1) if n != given.source)
    _, after = answered_for(texts, asked)
    place = 2 if after.declines else 0 if after.words[1:2] == given.words[1:2] else 1
    word = kit.quote(given.words[1])
    return kit.Question.of(words.ask_away, place, word=word, source=given.source)


def answer_read(given: Answer, now: Put) -> str:
    """Return what the model answers, and whether its source has the word."""
    sure = kit.percent(given.confidence[1]) if len(given.confidence) > 1 else ""
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
        place=words.source_place[place],
    )


def unknown_read(prompt: Prompt) -> str:
    """Return how many words of a prompt the model does not know."""
    count = len(prompt.stand_ins) + prompt.lost
    return words.unknown_words["lost" if prompt.lost else "some"].format(
        words=kit.count(count, "different word or sign", "different words or signs"),
        example=kit.quote(next(iter(prompt.stand_ins))),
        stand_ins=len(STAND_INS),
    )


def _finding(state: kit.PageState, ranked: Ranked | None) -> None:
    """Show how passages are ranked, the arithmetic of BM25, and how often each way finds one."""
    kit.section(words.rank)
    if ranked is not None:
        way = state["lookby"]
        places = [at for at in ranked.order(way)[:BEST] if not np.isnan(ranked.scores[way][at])]
        cases = [rank_case(ranked, way, at) for at in places]
        if cases:
            ends = [case.value or 0.0 for case in cases]
            axis = kit.Axis(min(0.0, *ends), max(0.1, *ends), words.ways[way])
            kit.case_rows(cases, axis, key=f"{KEY}.rank", form="figure")
        kit.prose(words.none_found if not ranked.scores[BM].any() else words.rank_read)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "lookby", words.by, {way: words.ways[way] for way in RANKINGS})
        for key, label, step in (
            ("looktake", words.take, 1),
            ("looklong", words.long, 1),
            ("lookover", words.over, 1),
            ("lookk1", words.k1, 0.1),
            ("lookb", words.b, 0.05),
        ):
            st.slider(label, step=step, width=220, **state.ranged(key))
    label = words.documents.format(most=MOST_OF_DOCUMENTS)
    kit.text_area(state, "lookdocs", label, height=180)
    if ranked is not None:
        _terms(ranked, round(float(state["lookk1"]), 4), round(float(state["lookb"]), 4))
    kit.section(words.recall)
    k = AMONG[2]
    rows = [
        kit.Case(
            words.recall_row.format(text=words.recall_texts[name], way=words.recall_ways[way]),
            passage_ranking.share(name, way, k),
            role="value" if name == STORY else "query",
        )
        for name in (WORLD, STORY)
        for way in WAYS
    ]
    axis = kit.Axis(0, 1, words.recall_axis.format(k=k))
    kit.case_rows(rows, axis, key=f"{KEY}.recall")
    kit.prose(words.recall_read)


def rank_case(ranked: Ranked, way: str, at: int) -> kit.Case:
    """Return a passage with its score as a line; the words of the question are lit."""
    asked = {*ranked.terms.words}
    pieces = [
        (f"{part} ", bool(asked & {*search_words(part)}))
        for part in ranked.passages[at].text.split()
    ]
    return kit.Case(pieces or ranked.passages[at].text, float(ranked.scores[way][at]))


def _terms(ranked: Ranked, k1: float, b: float) -> None:
    kit.section(words.terms)
    places, terms = ranked.order(BM)[:BEST], ranked.terms
    values = np.column_stack([terms.idf, terms.terms[:, places]])
    texts, notes = cells(ranked, places, k1, b)
    cell_grid(
        np.concatenate([values, np.array([[0.0, *terms.scores[places]]])]),
        key=f"{KEY}.terms",
        row_names=[*terms.words, words.sum_row],
        column_names=[words.idf_column, *(str(at + 1) for at in places)],
        texts=texts,
        notes=notes,
        starts=[len(terms.words)],
        label=words.terms_label,
    )
    best = [ranked.passages[at].text for at in places[:3]]
    short = bm25([search_words(text) for text in best], list(terms.words), k1, b)
    kit.show_code(
        [bm25, BM25],
        words.bm_snippet.format(passages=best, words=list(terms.words), k1=k1, b=b),
        str(short.scores.round(3)),
    )


def cells(
    ranked: Ranked, places: list[int], k1: float, b: float
) -> tuple[list[list[str]], list[list[str]]]:
    """Return what stands in each cell of the grid, and the line below for each."""
    terms, total = ranked.terms, len(ranked.passages)
    texts, notes = [], []
    for row, word in enumerate(terms.words):
        idf, times = f"{terms.idf[row]:.3f}", int(terms.times[row])
        texts.append([idf, *(f"{terms.terms[row, at]:.2f}" for at in places)])
        line = [words.idf_note.format(word=word, df=terms.df[row], all=total, idf=idf)]
        for at in places:
            if not terms.tf[row, at]:
                line.append(words.absent_note.format(word=word, passage=at + 1))
                continue
            line.append(
                words.term_note.format(
                    word=word,
                    tf=f"{terms.tf[row, at]:.0f}",
                    length=f"{terms.lengths[at]:.0f}",
                    mean=f"{terms.mean_length:.2f}",
                    times="" if times == 1 else f"{times} · ",
                    idf=idf,
                    k1=f"{k1:g}",
                    b=f"{b:g}",
                    points=f"{terms.terms[row, at]:.3f}",
                )
            )
        notes.append(line)
    sums = [f"{terms.scores[at]:.3f}" for at in places]
    texts.append(["", *(f"{terms.scores[at]:.2f}" for at in places)])
    pairs = zip(places, sums, strict=True)
    notes.append(["", *(words.sum_note.format(passage=at + 1, score=score) for at, score in pairs)])
    return texts, notes


def shares_of(case: str, name: str) -> list[float]:
    return [model.share(case, name) for model in recorded()]


def mean(case: str, name: str) -> float:
    """Return the mean of a share over the models."""
    return float(np.mean(shares_of(case, name)))


def _rows(key: str, axis: str, names: dict[str, str], kinds: Sequence[str]) -> None:
    """Draw a line for each case: the mean of three models, and a dot for each."""
    rows = [
        kit.Case(
            names[case],
            mean(case.partition(".")[0], kind),
            dots=shares_of(case.partition(".")[0], kind),
        )
        for case, kind in zip(names, kinds, strict=True)
    ]
    kit.case_rows(rows, kit.Axis(0, 1, axis), key=f"{KEY}.{key}")


def _measured() -> None:
    kit.section(words.measured)
    _rows("measured", words.share_axis, words.measured_rows, (RIGHT, RIGHT, DECLINED, DECLINED))
    right = shares_of("right", RIGHT)
    sourced = [model.sourced for model in recorded()]
    points = f"{100 * (max(right) - min(right)):.0f}"
    kit.prose(words.seeds, points=points, share=kit.percent(min(sourced)))
    kit.measured(words.how_measured, tests=TESTS)


def _disagreeing() -> None:
    kit.section(words.two)
    _rows("two", words.share_axis, words.two_rows, (FIRST, LAST, DECLINED))
    leads = {
        first > last
        for first, last in zip(*(shares_of("two", kind) for kind in (FIRST, LAST)), strict=True)
    }
    kit.prose(words.two_read["mixed" if len(leads) == 2 else "first" if True in leads else "last"])
