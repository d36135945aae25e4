"""WordPiece below the merge tree: its rule beside that of BPE, and BERT's marks."""

import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.tokenization.merge import words
from llmviz.course.lessons.tokenization.merge.model import (
    LearnedPieces,
    after_merges,
    learn_pieces,
)
from llmviz.course.ui import kit
from llmviz.course.ui.guess_drawn import words as hand_words
from llmviz.files.text import check_text
from llmviz.tokenizers import PairCount, PieceStep, WordPieceTokenizer

GUESS = "wordpiece.next"
UNKNOWN_LISTED = 6
MARKS_LENGTH = 24
learned_from = kit.cached(8)(learn_pieces)


def draw(state: kit.PageState) -> None:
    """Show words cut by both rules, and the guess which pair WordPiece glues next."""
    kit.section(words.wordpiece)
    learned, joins, forms = None, state["joins"], state["forms"]
    picture = st.container()
    st.slider(words.joins, **state.ranged("joins"))
    pairs = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "forms", words.forms, width=460)
        kit.choose(state, "learned", words.learned, words.corpora)
    own = state["learned"] == "text"
    text = kit.learner_text(state) if own else None
    try:
        check_text(forms)
        learned = learned_from(text) if text is not None or not own else None
    except ValueError as error:
        kit.refuse(error)
    if learned is None:
        kit.Guess(GUESS, None).ask()
        kit.looks(state, words.pieces_looks, "wordpiece.looks")
        return
    tokenizer = after_merges(learned, joins)
    with picture:
        if tokenizer.split(forms):
            _rows(learned, tokenizer, forms, joins)
    guess = kit.Guess(GUESS, next_question(learned, joins))
    with pairs:
        if joins < len(learned.steps):
            _pairs(learned.steps[joins], guess.open)
        elif learned.steps:
            kit.prose(words.pairs_over)
            _pairs(learned.steps[-1], guess.open)
    guess.ask()
    kit.looks(state, words.pieces_looks, "wordpiece.looks")
    if tokenizer.split(forms):
        _marks(tokenizer, forms)


def _rows(learned: LearnedPieces, tokenizer: WordPieceTokenizer, forms: str, joins: int) -> None:
    models = tokenizer, learned.bpe_after(joins)
    cut = [model.tokens(forms) for model in models]
    counts = [kit.count(len(tokens), "token") for tokens in cut]
    rows = [TokenRow(*row) for row in zip(words.rows, cut, counts, strict=True)]
    token_strip(rows, key="wordpiece.rows", text=forms, mode="aligned", show_ids=False)
    done = min(joins, len(learned.steps))
    unknown = [w for w in dict.fromkeys(tokenizer.split(forms)) if tokenizer.pieces(w) == ["[UNK]"]]
    lines = [
        words.pieces_caption.format(
            merges=kit.count(done, "merge"), pieces=counts[0], bpe=counts[1]
        )
    ]
    if done:
        lines.append(words.last.format(piece=kit.quote(learned.steps[done - 1].piece)))
    if unknown:
        listed = ", ".join(map(kit.quote, unknown[:UNKNOWN_LISTED]))
        lines.append(words.unknown.format(unknown=listed))
    kit.prose(" ".join(lines))


def _pairs(step: PieceStep, known: bool) -> None:
    """Draw the next pair of each rule, and once told, what WordPiece makes of their counts."""
    cases = [
        kit.Case(
            words.pair.format(pair=" + ".join(pair.pair), count=pair.count, parts=pair.counts),
            pair.score / step.best.score if known else None,
            note=kit.power_of_ten(pair.score, 3) if known else "?",
        )
        for pair in dict.fromkeys([step.most_frequent, step.best])
    ]
    axis = kit.Axis(0, 1, words.scored)
    kit.case_rows(cases, axis, key="wordpiece.scores", words=hand_words.bars)


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

    right = " + ".join(rare.pair)
    reasons = {right: reason(rare, words.ask_glue_right)}
    reasons[" + ".join(frequent.pair)] = reason(frequent, words.ask_glue_wrong)
    return kit.Question.among(words.ask_glue, reasons, right, done=kit.count(joins, "merge"))


def _marks(tokenizer: WordPieceTokenizer, forms: str) -> None:
    kit.prose(words.marks)
    first = " ".join(tokenizer.split(forms)[:2])
    ids = tokenizer.encode_with_marks(words.marks_first, first)
    ids += [tokenizer.special_tokens["[PAD]"]] * (MARKS_LENGTH - len(ids))
    texts = [tokenizer.token_bytes(i).decode("utf-8") for i in ids]
    st.code(" ".join(texts) + "\n" + " ".join(map(str, ids)), language=None, wrap_lines=True)
