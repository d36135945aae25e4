"""Chapter "Bytes": what is one letter on the screen, and how many characters, bytes and tokens."""

import unicodedata

import pandas as pd
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.components.token_strip.view import visible_character
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.bytes import words
from llmviz.course.lessons.tokenization.compare import chapter as compare
from llmviz.course.ui import kit
from llmviz.tokenizers import TOKENIZERS, Token, Tokenizer

OWN = "own"
DRAWN = 60  # characters of the learner's text


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.bytes)
    st.segmented_control(
        words.bytes_choose,
        list(words.bytes_samples),
        format_func=lambda key: words.bytes_samples[key][0],
        required=True,
        label_visibility="collapsed",
        **state.bind("sample"),
    )
    text = words.bytes_samples[state["sample"]][1]
    if state["sample"] == OWN:
        text = kit.learner_text(state, DRAWN)
        if text is None:
            return
    tokenizers = compare.available(
        state, [name for name in state["rows"] if name not in ("word", "char")] or ["bpe"]
    )
    cut = {name: tokenizer.tokens(text) for name, tokenizer in tokenizers.items()}
    rows = [
        TokenRow(words.bytes_rows[0], byte_tokens(text)),
        TokenRow(words.bytes_rows[1], character_tokens(text)),
        *(TokenRow(name, tokens) for name, tokens in cut.items()),
    ]
    token_strip(rows, key="bytes.rows", text=text, mode="aligned")
    _counts(state, text, cut)
    kit.prose(words.bytes_table)
    st.dataframe(characters_table(text, cut), hide_index=True)
    kit.predict(size_question(asked_character(state["sample"], text)), "bytes.size")
    _code(state, text, tokenizers)
    if text and cut:
        kit.seen(words.end, **end(text, cut))


def end(text: str, cut: dict[str, list[Token]]) -> dict[str, object]:
    """Return what the chapter ends with, for a text of at least one character."""
    longest = max(text, key=lambda character: len(character.encode("utf-8")))
    return {
        "characters": kit.count(len(text), "character"),
        "bytes": kit.count(len(text.encode("utf-8")), "byte"),
        "longest": kit.quote(visible_character(longest)),
        "size": kit.count(len(longest.encode("utf-8")), "byte"),
        "tokenizers": kit.count(len(cut), "tokenizer"),
        "cutting": sum(cut_inside(text, tokens) > 0 for tokens in cut.values()),
    }


def byte_tokens(text: str) -> list[Token]:
    """Return one token for each byte, its value as the id."""
    tokens = []
    for token in character_tokens(text):
        for at, byte in enumerate(token.data):
            start = token.byte_start + at
            span = (start, start + 1, token.char_start, token.char_end)
            tokens.append(Token(byte, bytes([byte]), *span))
    return tokens


def character_tokens(text: str) -> list[Token]:
    """Return one token for each character, its code point as the id."""
    tokens, start = [], 0
    for at, character in enumerate(text):
        data = character.encode("utf-8")
        tokens.append(Token(ord(character), data, start, start + len(data), at, at + 1))
        start += len(data)
    return tokens


def cut_inside(text: str, tokens: list[Token]) -> int:
    """Return how many characters of the text have a token border inside."""
    borders = {token.byte_start for token in tokens}
    characters = character_tokens(text)
    return sum(any(at in borders for at in range(c.byte_start + 1, c.byte_end)) for c in characters)


def characters_table(text: str, cut: dict[str, list[Token]]) -> pd.DataFrame:
    """Return a line for each character: code point, name, bytes, tokens that touch it."""
    lines = []
    for character in character_tokens(text):
        letter = chr(character.id)
        line = {
            "character": visible_character(letter),
            "code": f"U+{character.id:04X}",
            "name": unicodedata.name(letter, "(no name)").lower(),
            "bytes": character.data.hex(" ").upper(),
        }
        for name, tokens in cut.items():
            line[name] = sum(
                token.char_start <= character.char_start < token.char_end for token in tokens
            )
        lines.append(line)
    return pd.DataFrame(lines).rename(columns=words.bytes_columns)


def _counts(state: kit.PageState, text: str, cut: dict[str, list[Token]]) -> None:
    inside = {name: cut_inside(text, tokens) for name, tokens in cut.items()}
    split = [
        words.bytes_split.format(name=kit.quote(name), times=kit.count(times, "character"))
        for name, times in inside.items()
        if times
    ]
    counts = words.bytes_counts.format(
        text=kit.quote(text),
        characters=kit.count(len(text), "character"),
        bytes=kit.count(len(text.encode("utf-8")), "byte"),
        split=("; ".join(split) + ".") if split else words.bytes_whole,
    )
    same_look = words.bytes_same_look if state["sample"] in ("all", "accents") else ""
    kit.prose(f"{counts}\n\n{same_look}")


def asked_character(sample: str, text: str) -> str:
    """Return the character to ask for: another for each sample, and none that the table lists."""
    pool = words.ask_bytes_pool
    at = list(words.bytes_samples).index(sample) + 1
    return next((c for c in pool[at:] + pool[:at] if c not in text), pool[at % len(pool)])


def size_question(character: str) -> kit.Question:
    """Return how many bytes a character takes in UTF-8, as a question."""
    size = len(character.encode("utf-8"))
    sizes = [kit.count(number, "byte") for number in range(1, 5)]
    reasons = [
        words.ask_bytes_wrong.format(bytes=label, range=reach, code=ord(character))
        for label, reach in zip(sizes, words.ask_bytes_ranges, strict=True)
    ]
    reasons[size - 1] = words.ask_bytes_right.format(
        code=ord(character), range=words.ask_bytes_ranges[size - 1], bytes=sizes[size - 1]
    )
    return kit.Question(
        words.ask_bytes.format(character=kit.quote(character)), sizes, size - 1, reasons, scale=True
    )


def _code(state: kit.PageState, text: str, tokenizers: dict[str, Tokenizer]) -> None:
    name = next((name for name in tokenizers if name in TOKENIZERS), None)
    if name is None:
        return
    builds = sources.code_for(state, name)
    lines = [f"U+{ord(c):04X} {c.encode('utf-8').hex(' ')}" for c in text]
    lines += [f"{t.id} {t.data} {t.char_start} {t.char_end}" for t in tokenizers[name].tokens(text)]
    kit.show_code(
        [Tokenizer.tokens],
        words.snippet.format(builds=builds, text=text),
        "\n".join(lines),
    )
