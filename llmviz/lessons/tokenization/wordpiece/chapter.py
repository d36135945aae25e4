"""Chapter "WordPiece": its rule beside that of BPE, its longest match, and BERT's marks."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from llmviz.components import TokenRow, token_strip
from llmviz.lessons.tokenization.wordpiece import words
from llmviz.study.word_pieces import LearnedPieces, after_merges, learn_pieces, longest_matches
from llmviz.textfile import check_text
from llmviz.tokenizers import PairCount, WordPieceTokenizer, piece_steps
from llmviz.ui.code import show_code
from llmviz.ui.common import IN_SNIPPET, choose, count, learner_text, power_of_ten, refuse
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section, seen
from llmviz.ui.prose import prose, quote
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState
from llmviz.ui.text_field import text_input

LAST_MERGES = 8  # in the table
UNKNOWN_LISTED = 6
MARKS_LENGTH = 24


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    choose(state, "learned", words.learned, words.corpora)
    text: str | None = None
    if state["learned"] == "text":
        text = learner_text(state)
        if text is None:
            return
    forms = state["forms"]
    try:
        check_text(forms)
        learned = learned_from(text)
    except ValueError as error:
        refuse(error)
        return
    st.slider(words.joins, **state.ranged("joins"))
    text_input(state, "forms", words.forms, width=460)
    tokenizer = after_merges(learned, state["joins"])
    if tokenizer.split(forms):
        _rows(learned, tokenizer, forms, state["joins"])
    _merges(learned, state["joins"])
    question = next_question(learned, state["joins"])
    known = question is None or predict(question, "wordpiece.next", covers=True)
    if tokenizer.split(forms):
        _match(tokenizer, forms)
        _marks(tokenizer, forms)
    _code(learned, text, forms, state["joins"])
    if known and tokenizer.split(forms) and learned.steps and state["joins"]:
        seen(words.end, **end(learned, tokenizer, forms, state["joins"]))


def end(
    learned: LearnedPieces, tokenizer: WordPieceTokenizer, forms: str, joins: int
) -> dict[str, object]:
    """Return what the chapter ends with, after at least one merge."""
    steps = learned.steps[:joins]
    return {
        "done": count(len(steps), "merge"),
        "rarer": sum(step.best.count < step.most_frequent.count for step in steps),
        "pieces": count(len(tokenizer.encode(forms)), "token"),
        "bpe": count(len(learned.bpe_after(joins).encode(forms)), "token"),
    }


@kept(8)
def learned_from(text: str | None) -> LearnedPieces:
    """Return what both rules learn from a text, or from the bundled word forms; kept."""
    return learn_pieces(text)


def _rows(learned: LearnedPieces, tokenizer: WordPieceTokenizer, forms: str, joins: int) -> None:
    bpe = learned.bpe_after(joins)
    rows = []
    for name, one in zip(words.rows, (tokenizer, bpe), strict=True):
        tokens = one.tokens(forms)
        note = words.note.format(tokens=count(len(tokens), "token"), vocabulary=one.vocab_size)
        rows.append(TokenRow(name, tokens, note))
    token_strip(rows, key="wordpiece.rows", text=forms, mode="aligned")
    merges = min(joins, len(learned.steps)), min(joins, len(learned.bpe.merges))
    prose(words.counts, pieces=count(merges[0], "merge"), merges=count(merges[1], "merge"))
    unknown = [w for w in dict.fromkeys(tokenizer.split(forms)) if tokenizer.pieces(w) == ["[UNK]"]]
    if unknown:
        prose(words.unknown, unknown=", ".join(map(quote, unknown[:UNKNOWN_LISTED])))


def _merges(learned: LearnedPieces, joins: int) -> None:
    done = min(joins, len(learned.steps))
    first = max(0, done - LAST_MERGES)
    lines = []
    for at, step in enumerate(learned.steps[first:done], first + 1):
        best = step.best
        parts = f"{best.counts[0]:,} · {best.counts[1]:,}"
        score = power_of_ten(best.score, 3)
        lines.append((at, " + ".join(best.pair), step.piece, best.count, parts, score))
    if lines:
        prose(words.last)
        table = pd.DataFrame(lines, columns=list(words.columns))
        st.dataframe(table, hide_index=True, width=640)


def next_question(learned: LearnedPieces, joins: int) -> Question | None:
    """Return which of two pairs is joined next, as a question; None where the rules agree."""
    if joins >= len(learned.steps):
        return None
    step = learned.steps[joins]
    rare, frequent = step.best, step.most_frequent
    if rare.score <= frequent.score:
        return None

    def told(pair: PairCount, line: str) -> str:
        first, second = pair.counts
        return line.format(count=pair.count, first=first, second=second, score=pair.score)

    def name(pair: PairCount) -> str:
        return " + ".join(pair.pair)

    reasons = {
        name(rare): told(rare, words.ask_next_right),
        name(frequent): told(frequent, words.ask_next_wrong),
    }
    answers = sorted(reasons)
    return Question(
        words.ask_next.format(
            done=count(joins, "merge"),
            rare=quote(name(rare)),
            rare_count=count(rare.count, "time"),
            rare_parts="{:,} and {:,}".format(*rare.counts),
            frequent=quote(name(frequent)),
            frequent_count=count(frequent.count, "time"),
            frequent_parts="{:,} and {:,}".format(*frequent.counts),
        ),
        answers,
        answers.index(name(rare)),
        [reasons[answer] for answer in answers],
    )


def _match(tokenizer: WordPieceTokenizer, forms: str) -> None:
    section(words.match)
    word = max(tokenizer.split(forms), key=len)
    lines = []
    for rest, piece in longest_matches(tokenizer, word):
        line = words.match_step if piece else words.match_none
        lines.append(line.format(rest=quote(rest), piece=quote(piece or ""), word=quote(word)))
    prose(" ".join(lines))


def _marks(tokenizer: WordPieceTokenizer, forms: str) -> None:
    section(words.marks)
    first = " ".join(tokenizer.split(forms)[:2])
    ids = tokenizer.encode_with_marks(words.marks_first, first)
    ids += [tokenizer.special_tokens["[PAD]"]] * (MARKS_LENGTH - len(ids))
    texts = [tokenizer.token_bytes(i).decode("utf-8") for i in ids]
    st.code(" ".join(texts) + "\n" + " ".join(map(str, ids)), language=None, wrap_lines=True)


def _code(learned: LearnedPieces, text: str | None, forms: str, joins: int) -> None:
    load, documents = (
        "from llmviz.corpus import load_corpus\n",
        'load_corpus("word-forms").documents',
    )
    if text is not None:
        load, documents = "", repr(text[:IN_SNIPPET])
        learned = learned_from(text[:IN_SNIPPET])
    tokenizer = after_merges(learned, joins)
    show_code(
        [piece_steps, WordPieceTokenizer._word_spans],
        f"{load}from llmviz.tokenizers import WordPieceTokenizer\n\n"
        f"tokenizer = WordPieceTokenizer.train({documents}, {tokenizer.vocab_size})\n"
        "print(tokenizer.vocabulary[-10:])\n"
        f"print([tokenizer.pieces(word) for word in tokenizer.split({forms!r})])",
        f"{tokenizer.vocabulary[-10:]}\n"
        f"{[tokenizer.pieces(word) for word in tokenizer.split(forms)]}",
    )
