"""Chapter "WordPiece": its rule beside that of BPE, its longest match, and BERT's marks."""

import pandas as pd
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.tokenization.wordpiece import words
from llmviz.course.lessons.tokenization.wordpiece.model import (
    LearnedPieces,
    after_merges,
    learn_pieces,
    longest_matches,
)
from llmviz.course.ui import kit
from llmviz.textfile import check_text
from llmviz.tokenizers import PairCount, WordPieceTokenizer, piece_steps

LAST_MERGES = 8  # in the table
UNKNOWN_LISTED = 6
MARKS_LENGTH = 24


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.choose(state, "learned", words.learned, words.corpora)
    text: str | None = None
    if state["learned"] == "text":
        text = kit.learner_text(state)
        if text is None:
            return
    forms = state["forms"]
    try:
        check_text(forms)
        learned = learned_from(text)
    except ValueError as error:
        kit.refuse(error)
        return
    st.slider(words.joins, **state.ranged("joins"))
    kit.text_input(state, "forms", words.forms, width=460)
    tokenizer = after_merges(learned, state["joins"])
    if tokenizer.split(forms):
        _rows(learned, tokenizer, forms, state["joins"])
    _merges(learned, state["joins"])
    question = next_question(learned, state["joins"])
    known = question is None or kit.predict(question, "wordpiece.next", covers=True)
    if tokenizer.split(forms):
        _match(tokenizer, forms)
        _marks(tokenizer, forms)
    _code(learned, text, forms, state["joins"])
    if known and tokenizer.split(forms) and learned.steps and state["joins"]:
        kit.seen(words.end, **end(learned, tokenizer, forms, state["joins"]))


def end(
    learned: LearnedPieces, tokenizer: WordPieceTokenizer, forms: str, joins: int
) -> dict[str, object]:
    """Return what the chapter ends with, after at least one merge."""
    steps = learned.steps[:joins]
    return {
        "done": kit.count(len(steps), "merge"),
        "rarer": sum(step.best.count < step.most_frequent.count for step in steps),
        "pieces": kit.count(len(tokenizer.encode(forms)), "token"),
        "bpe": kit.count(len(learned.bpe_after(joins).encode(forms)), "token"),
    }


learned_from = kit.kept(8)(learn_pieces)


def _rows(learned: LearnedPieces, tokenizer: WordPieceTokenizer, forms: str, joins: int) -> None:
    bpe = learned.bpe_after(joins)
    rows = []
    for name, model in zip(words.rows, (tokenizer, bpe), strict=True):
        parts = model.tokens(forms)
        note = words.note.format(tokens=kit.count(len(parts), "token"), vocabulary=model.vocab_size)
        rows.append(TokenRow(name, parts, note))
    token_strip(rows, key="wordpiece.rows", text=forms, mode="aligned")
    merges = min(joins, len(learned.steps)), min(joins, len(learned.bpe.merges))
    kit.prose(
        words.counts, pieces=kit.count(merges[0], "merge"), merges=kit.count(merges[1], "merge")
    )
    unknown = [w for w in dict.fromkeys(tokenizer.split(forms)) if tokenizer.pieces(w) == ["[UNK]"]]
    if unknown:
        kit.prose(words.unknown, unknown=", ".join(map(kit.quote, unknown[:UNKNOWN_LISTED])))


def _merges(learned: LearnedPieces, joins: int) -> None:
    done = min(joins, len(learned.steps))
    first = max(0, done - LAST_MERGES)
    lines = []
    for at, step in enumerate(learned.steps[first:done], first + 1):
        best = step.best
        parts = f"{best.counts[0]:,} · {best.counts[1]:,}"
        score = kit.power_of_ten(best.score, 3)
        lines.append((at, " + ".join(best.pair), step.piece, best.count, parts, score))
    if lines:
        kit.prose(words.last)
        table = pd.DataFrame(lines, columns=list(words.columns))
        st.dataframe(table, hide_index=True, width=640)


def next_question(learned: LearnedPieces, joins: int) -> kit.Question | None:
    """Return which of two pairs is joined next, as a question; None where the rules agree."""
    if joins >= len(learned.steps):
        return None
    step = learned.steps[joins]
    rare, frequent = step.best, step.most_frequent
    if rare.score <= frequent.score:
        return None

    def reason(pair: PairCount, line: str) -> str:
        first, second = pair.counts
        return line.format(count=pair.count, first=first, second=second, score=pair.score)

    def name(pair: PairCount) -> str:
        return " + ".join(pair.pair)

    reasons = {
        name(rare): reason(rare, words.ask_next_right),
        name(frequent): reason(frequent, words.ask_next_wrong),
    }
    return kit.Question.among(
        words.ask_next,
        reasons,
        name(rare),
        done=kit.count(joins, "merge"),
        rare=kit.quote(name(rare)),
        rare_count=kit.count(rare.count, "time"),
        rare_parts="{:,} and {:,}".format(*rare.counts),
        frequent=kit.quote(name(frequent)),
        frequent_count=kit.count(frequent.count, "time"),
        frequent_parts="{:,} and {:,}".format(*frequent.counts),
    )


def _match(tokenizer: WordPieceTokenizer, forms: str) -> None:
    kit.section(words.match)
    word = max(tokenizer.split(forms), key=len)
    lines = []
    for rest, piece in longest_matches(tokenizer, word):
        line = words.match_step if piece else words.match_none
        lines.append(
            line.format(rest=kit.quote(rest), piece=kit.quote(piece or ""), word=kit.quote(word))
        )
    kit.prose(" ".join(lines))


def _marks(tokenizer: WordPieceTokenizer, forms: str) -> None:
    kit.section(words.marks)
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
        load, documents = "", repr(text[: kit.IN_SNIPPET])
        learned = learned_from(text[: kit.IN_SNIPPET])
    tokenizer = after_merges(learned, joins)
    kit.show_code(
        [piece_steps, WordPieceTokenizer._word_spans],
        words.snippet.format(
            load=load, documents=documents, vocab_size=tokenizer.vocab_size, forms=forms
        ),
        f"{tokenizer.vocabulary[-10:]}\n"
        f"{[tokenizer.pieces(word) for word in tokenizer.split(forms)]}",
    )
