"""Chapter "Words": a word vocabulary built from the learner's text, and used on another one."""

from collections import Counter

import pandas as pd
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.tokenization.vocabulary import words
from llmviz.course.ui import kit
from llmviz.textfile import check_text
from llmviz.tokenizers import PADDING, UNKNOWN, WordTokenizer

IDS_LISTED = 60
UNKNOWN_LISTED = 8
BATCH_LENGTH = 12  # tokens of each text in the batch, at most


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    text = kit.learner_text(state)
    if text is None:
        return
    tokenizer = WordTokenizer.train(text)
    if known := kit.predict(size_question(text), "vocabulary.size", covers=True):
        _counts(text, tokenizer)
        table = vocabulary_table(tokenizer, WordTokenizer.split(text))
        st.dataframe(table, hide_index=True, height=280, width=460)
    kit.section(words.use)
    kit.text_input(state, "sentence", words.sentence, width=460)
    sentence = state["sentence"]
    if kit.or_refused(check_text, sentence) is None:
        return
    if not sentence.strip():
        st.info(words.empty)
        return
    _use(sentence, tokenizer)
    _batch(text, sentence, tokenizer)
    _code(text[: kit.IN_SNIPPET], sentence)
    if known:
        kit.seen(words.end, **end(sentence, tokenizer))


def end(sentence: str, tokenizer: WordTokenizer) -> dict[str, object]:
    """Return what the chapter ends with: the list, and the words of a sentence outside it."""
    ids = tokenizer.encode(sentence)
    unknown = tokenizer.special_tokens[UNKNOWN]
    return {
        "size": kit.count(tokenizer.vocab_size, "line"),
        "outside": f"{ids.count(unknown):,}",
        "tokens": kit.count(len(ids), "word or mark", "words and marks"),
        "unknown": unknown,
    }


def _counts(text: str, tokenizer: WordTokenizer) -> None:
    split = WordTokenizer.split(text)
    kit.prose(
        words.counts,
        tokens=kit.count(len(split), "word or mark", "words and marks"),
        different=f"{len(set(split)):,}",
        special=kit.count(len(tokenizer.special_tokens), "special token"),
        size=kit.count(tokenizer.vocab_size, "line"),
    )


def vocabulary_table(tokenizer: WordTokenizer, split: list[str]) -> pd.DataFrame:
    """Return every line of the vocabulary, with how often it stands among the words of a text."""
    times = Counter(split)
    ids = range(tokenizer.vocab_size)
    columns = {
        "id": list(ids),
        "text": [visible_text(tokenizer.token_bytes(i))[0] for i in ids],
        "count": [times[word] for word in tokenizer.vocabulary]
        + [0] * len(tokenizer.special_tokens),
    }
    return pd.DataFrame(columns).rename(columns=words.columns)


def _use(sentence: str, tokenizer: WordTokenizer) -> None:
    tokens = tokenizer.tokens(sentence)
    token_strip([TokenRow("", tokens)], key="vocabulary.sentence")
    ids = [token.id for token in tokens]
    missing = dict.fromkeys(
        token.data.decode("utf-8")
        for token in tokens
        if token.id == tokenizer.special_tokens[UNKNOWN]
    )
    lines = [words.ids.format(ids=" ".join(map(str, ids[:IDS_LISTED])) or "–")]
    if missing:
        listed = ", ".join(kit.quote(word) for word in list(missing)[:UNKNOWN_LISTED])
        lines.append(words.unknown.format(unknown=listed))
    back = tokenizer.decode(ids)
    same = (
        words.back_same if back == sentence else words.back.format(back=kit.quote(back, limit=120))
    )
    kit.prose(" ".join([*lines, same]))


def _batch(text: str, sentence: str, tokenizer: WordTokenizer) -> None:
    kit.section(words.batch)
    rows = batch_rows([text, sentence], tokenizer)
    st.caption(words.batch_caption.format(rows=len(rows), columns=len(rows[0])))
    texts = [[visible_text(tokenizer.token_bytes(i))[0] for i in row] for row in rows]
    lines = []
    for ids, names in zip(rows, texts, strict=True):
        widths = [max(len(str(i)), len(name)) for i, name in zip(ids, names, strict=True)]
        for line in (names, map(str, ids)):
            lines.append("  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)))
        lines.append("")
    st.code("\n".join(lines).rstrip(), language=None)


def batch_rows(texts: list[str], tokenizer: WordTokenizer) -> list[list[int]]:
    """Return the first ids of some texts behind the start token, padded to one length."""
    rows = [tokenizer.encode_from_start(text)[:BATCH_LENGTH] for text in texts]
    longest = max(map(len, rows))
    pad = tokenizer.special_tokens[PADDING]
    return [row + [pad] * (longest - len(row)) for row in rows]


def size_question(text: str) -> kit.Question:
    """Return how many lines the vocabulary of a text has, as a question."""
    split = WordTokenizer.split(text)
    different = len(set(split))
    special = len(WordTokenizer.special_texts)
    known = {
        "tokens": f"{len(split):,} tokens" if len(split) != 1 else "1 token",
        "different": f"{different:,}",
        "special": kit.count(special, "special token"),
        "size": different + special,
    }
    reasons = {different + special: words.ask_size_right}
    reasons.setdefault(different, words.ask_size_bare)
    reasons.setdefault(len(split) + special, words.ask_size_all)
    reasons.setdefault(len({word.lower() for word in split}) + special, words.ask_size_case)
    return kit.Question.among(
        words.ask_size,
        reasons,
        different + special,
        lambda size: kit.count(size, "line"),
        **known,
    )


def _code(text: str, sentence: str) -> None:
    tokenizer = WordTokenizer.train(text)
    ids = tokenizer.encode(sentence)
    kit.show_code(
        [WordTokenizer.split, WordTokenizer.train],
        words.snippet.format(text=text, sentence=sentence),
        f"{tokenizer.vocabulary}\n{tokenizer.special_tokens}\n{ids}\n{tokenizer.decode(ids)!r}",
    )
