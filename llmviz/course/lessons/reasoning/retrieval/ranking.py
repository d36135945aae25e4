"""The documents' passages, their scores in three ways, and the arithmetic of BM25 opened."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.reasoning.retrieval import found, words
from llmviz.course.lessons.reasoning.retrieval.params import MOST_OF_QUESTION
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import BM, RANKINGS, VECTORS, Ranked
from llmviz.course.ui import kit
from llmviz.similarity import BM25, bm25, search_words
from llmviz.tokenizers import Token

KEY = "reasoning.retrieval"
DRAWN = 40  # passages in the strip
BEST = 8  # rows of a table, columns of the grid
NO_ID = -1


def draw(state: kit.PageState) -> Ranked | None:
    """Show passages and rankings; None where there is nothing to rank, after one clear line."""
    with st.container(horizontal=True, gap="medium"):
        st.slider(words.long, step=1, width=240, **state.ranged("looklong"))
        st.slider(words.over, step=1, width=280, **state.ranged("lookover"))
    text, sentences = state["lookdocs"], state["looklong"]
    overlap = min(state["lookover"], sentences - 1)
    if overlap < state["lookover"]:
        st.caption(words.over_cut.format(sentences=kit.count(sentences, "sentence"), most=overlap))
    question = state["lookask"]
    ranked = None
    if any(search_words(passage.text) for passage in found.passages_of(text, sentences, overlap)):
        k1, b = (round(float(state[key]), 4) for key in ("lookk1", "lookb"))
        ranked = kit.or_refused(found.ranked_for, text, sentences, overlap, question, k1, b)
    else:
        kit.inform(words.no_words, ":material/edit:")
    if ranked is not None:
        _strip(ranked, overlap)
    kit.section(words.rank)
    kit.text_input(state, "lookask", words.question.format(most=MOST_OF_QUESTION), width=480)
    with st.container(horizontal=True, gap="medium"):
        st.slider(words.k1, step=0.1, width=260, **state.ranged("lookk1"))
        st.slider(words.b, step=0.05, width=260, **state.ranged("lookb"))
    if ranked is None:
        return None
    if not ranked.terms.words:
        kit.inform(words.no_question, ":material/edit:")
        return None
    quiz = term_question(ranked)
    if quiz is None or kit.predict(quiz, f"{KEY}.term", covers=True):
        _tables(ranked)
        _terms(ranked, k1, b)
        _code(ranked, question, k1, b)
    return ranked


def _strip(ranked: Ranked, overlap: int) -> None:
    tokens, at = [], 0
    for passage in ranked.passages[:DRAWN]:
        data = passage.text.encode("utf-8", "replace")
        tokens.append(Token(NO_ID, data, at, at + len(data), at, at + len(passage.text)))
        at += len(data)
    details = [
        {words.card_document: str(passage.document + 1), words.card_score: f"{score:.3f}"}
        for passage, score in zip(ranked.passages, ranked.scores[BM], strict=True)
    ]
    row = TokenRow(words.strip, tokens, details=details[:DRAWN])
    token_strip([row], key=f"{KEY}.strip", show_ids=False)
    if len(ranked.passages) > DRAWN:
        st.caption(words.passages_cut.format(drawn=DRAWN, all=f"{len(ranked.passages):,}"))
    kit.prose(
        words.cut_read["over" if overlap else "plain"],
        passages=kit.count(len(ranked.passages), "passage"),
        documents=kit.count(ranked.passages[-1].document + 1, "document"),
    )
    kit.prose(words.pronoun)


class Best(NamedTuple):
    """The two words of a question that give the best passage the most points; places in BM25."""

    passage: int
    first: int
    second: int


def best_terms(ranked: Ranked) -> Best | None:
    """Return them; None where passages are equally good, or words, or fewer than two count."""
    order = ranked.order(BM)
    scores, terms = np.round(ranked.scores[BM], 10), ranked.terms
    if scores[order[0]] <= 0 or (len(order) > 1 and scores[order[0]] == scores[order[1]]):
        return None
    points = np.round(terms.terms[:, order[0]], 10)
    by_points = np.argsort(-points, kind="stable")
    if len(points) < 2 or points[by_points[0]] == points[by_points[1]]:
        return None
    return Best(order[0], int(by_points[0]), int(by_points[1]))


def term_question(ranked: Ranked) -> kit.Question | None:
    """Return the question which word gives the best passage the most points, if there is one."""
    best = best_terms(ranked)
    if best is None:
        return None
    terms = ranked.terms
    reason = words.ask_term_reason.format(
        word=kit.quote(terms.words[best.first]),
        points=f"{terms.terms[best.first, best.passage]:.3f}",
        score=f"{terms.scores[best.passage]:.3f}",
        df=terms.df[best.first],
        all=f"{len(ranked.passages):,}",
        idf=f"{terms.idf[best.first]:.3f}",
    )
    return kit.Question.of(
        words.ask_term,
        0,
        passage=best.passage + 1,
        text=kit.quote(ranked.passages[best.passage].text, 90),
        first=terms.words[best.first],
        second=terms.words[best.second],
        reason=reason,
    )


def _tables(ranked: Ranked) -> None:
    columns = st.columns(len(RANKINGS), gap="medium")
    for column, way in zip(columns, RANKINGS, strict=True):
        with column:
            st.caption(words.ways[way])
            kit.rows_table(rank_rows(ranked, way), words.rank_columns)
    if len(ranked.passages) > BEST:
        st.caption(words.best_cut.format(drawn=BEST, all=f"{len(ranked.passages):,}"))
    if not ranked.scores[BM].any():
        kit.prose(words.none_found)
    kit.prose(unknown_read(ranked))


def rank_rows(ranked: Ranked, way: str) -> list[tuple[str, ...]]:
    """Return a row for each of the best passages; equal scores have equal ranks."""
    scores = ranked.scores[way]
    rounded = np.round(scores, 10)
    rows = []
    for at in ranked.order(way)[:BEST]:
        known = not np.isnan(scores[at])
        place = str(1 + int((rounded > rounded[at]).sum())) if known else words.no_score
        score = kit.signed(scores[at]) if known else words.no_score
        rows.append((place, str(at + 1), score, ranked.passages[at].text))
    return rows


def unknown_read(ranked: Ranked) -> str:
    """Return how many words have no vector."""
    if np.isnan(ranked.scores[VECTORS]).all():
        return words.unknown_vectors["all"]
    if not ranked.unknown:
        return words.unknown_vectors["none"]
    example = kit.quote(ranked.unknown[0])
    different = kit.count(len(ranked.unknown), "different word")
    return words.unknown_vectors["some"].format(words=different, example=example)


def _terms(ranked: Ranked, k1: float, b: float) -> None:
    kit.section(words.terms)
    places = ranked.order(BM)[:BEST]
    terms = ranked.terms
    values = np.column_stack([terms.idf, terms.terms[:, places]])
    sums = np.array([[0.0, *terms.scores[places]]])
    texts, notes = cells(ranked, places, k1, b)
    cell_grid(
        np.concatenate([values, sums]),
        key=f"{KEY}.terms",
        row_names=[*terms.words, words.sum_row],
        column_names=[words.idf_column, *(str(at + 1) for at in places)],
        texts=texts,
        notes=notes,
        starts=[len(terms.words)],
        label=words.terms_label,
    )
    kit.prose(words.terms_read)


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
    texts.append(["", *(f"{terms.scores[at]:.2f}" for at in places)])
    notes.append(
        [
            "",
            *(
                words.sum_note.format(passage=at + 1, score=f"{terms.scores[at]:.3f}")
                for at in places
            ),
        ]
    )
    return texts, notes


def _code(ranked: Ranked, question: str, k1: float, b: float) -> None:
    best = ranked.order(BM)[:3]
    texts = [ranked.passages[at].text for at in best]
    short = bm25([search_words(text) for text in texts], search_words(question), k1, b)
    kit.show_code(
        [bm25, BM25],
        "from llmviz.similarity import bm25, search_words\n\n"
        f"passages = {texts!r}\n"
        f"question = {question!r}\n"
        "cut = [search_words(one) for one in passages]\n"
        f"print(bm25(cut, search_words(question), k1={k1}, b={b}).scores.round(3))",
        str(short.scores.round(3)),
    )
