"""The first cut of byte-level BPE: text into pieces that no merge may cross."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

import regex

# Alternatives, tried in this order at each place. Radford et al. (2019), "Language Models are
# Unsupervised Multitask Learners", describe the idea; the released encoder fixes the classes.
GPT2_PATTERN = "|".join(
    (
        r"'(?:[sdmt]|ll|ve|re)",  # the end of an English contraction: 's 'd 'm 't 'll 've 're
        r" ?\p{L}++",  # letters of any script, with the one space before them
        r" ?\p{N}++",  # digits and other numerals, with the one space before them
        r" ?[^\s\p{L}\p{N}]++",  # anything else that is not white space: punctuation, emoji, marks
        r"\s+(?!\S)",  # white space, but not the last of it where a word follows
        r"\s+",  # what white space is left
    )
)
# Letters and numerals that came after Unicode 16. tiktoken and tokenizers know Unicode 16 and the
# regex library a later edition; by that one alone, a text in a new script would be cut otherwise
# than by the encoders that models were trained with. Source: the Unicode Character Database.
AFTER_UNICODE_16 = """
    0558 058B-058C 088F 0C5C 0CDC 208F 209D-209F A7CE-A7CF A7D2 A7D4 A7DD A7E2 A7F1 AB6C-AB6D
    107BB-107BF 10940-10959 10EC5-10EC7 10ED9-10EEE 11B0A 11DB0-11DDB 11DE0-11DE9 11DF1 1246F
    12475-1247F 12550-12686 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6 187F8-187FF 18CD6-18CDA
    18D09-18D20 18D80-18DF2 18E00-19191 191A0-191D2 1B123-1B128 1B168 1D6A6 1DF1F-1DF24
    1DF2B-1DF81 1DF90-1DF96 1DFCD-1DFFF 1E6C0-1E6DE 1E6E0-1E6E2 1E6E4-1E6E5 1E6E7-1E6ED
    1E6F0-1E6F4 1E6FE-1E6FF 2B73A-2B73F 2B81E 2CEA2-2CEAD 323B0-33479 3D000-3FC3F
"""


def _of_unicode_16(pattern: str) -> str:
    """Return a pattern whose letters and numerals are those of Unicode 16."""
    ranges = [pair.split("-") for pair in AFTER_UNICODE_16.split()]
    newer = "".join(f"\\U{pair[0]:0>8}-\\U{pair[-1]:0>8}" for pair in ranges)
    for kind in (r"\p{L}", r"\p{N}"):
        pattern = pattern.replace(kind, f"[{kind}--[{newer}]]")
    return f"(?V1){pattern}"  # this version of the library's syntax subtracts sets


_PATTERN = regex.compile(_of_unicode_16(GPT2_PATTERN))
_ASCII_PATTERN = regex.compile(GPT2_PATTERN)  # the same for these texts, and faster
_SPACE_THEN_SPACE = re.compile(r" \s")
_SPACE_BEFORE_WORD = re.compile(r" (?=\S)")


def pretokenize(text: str) -> list[str]:
    """Split a text as GPT-2 does, with the letters and numerals of Unicode 16.

    >>> pretokenize("It's 3 o'clock!  Go")
    ['It', "'s", ' 3', ' o', "'", 'clock', '!', ' ', ' Go']
    """
    return (_ASCII_PATTERN if text.isascii() else _PATTERN).findall(text)


def split_at_spaces(text: str) -> list[str]:
    """Split a text at each space that stands before a visible character, and drop that space.

    Such a space always begins a piece, so each part with its space put back can be pretokenized
    alone. Most parts occur many times: a caller that keeps the answer for each part never
    runs the pattern over the whole text.

    >>> split_at_spaces("the cat,  the hat")
    ['the', 'cat, ', 'the', 'hat']
    """
    if _SPACE_THEN_SPACE.search(text) or text.endswith(" "):
        return _SPACE_BEFORE_WORD.split(text)
    return text.split(" ")


def last_cut(text: str) -> int:
    """Return the last place where GPT-2's pattern, and those of tiktoken's others, begin a piece
    whatever stands behind the text: a space, or the end of a line, alone between visible
    characters. 0 if there is none.

    >>> last_cut("two words. And"), last_cut("a line\\nanother"), last_cut("a  b \\n c")
    (10, 7, 0)
    """
    at = len(text) - 1
    while (at := max(text.rfind(" ", 0, at), text.rfind("\n", 0, at))) > 0:
        if _is_visible(text[at - 1]) and text[at + 1].isalnum():
            return at if text[at] == " " else at + 1
    return 0


def _is_visible(character: str) -> bool:
    return character.isprintable() and not character.isspace()


def is_one_word(part: str) -> bool:
    """Whether a part between spaces is surely one piece, which saves asking the pattern.

    Only of ASCII letters: which others there are depends on Python's edition of Unicode.
    """
    return part.isascii() and part.isalpha()


def count_pieces(documents: Iterable[str]) -> Counter[str]:
    """Count the distinct pieces of the documents."""
    at_start: Counter[str] = Counter()
    after_space: Counter[str] = Counter()
    for document in documents:
        parts = split_at_spaces(document)
        at_start[parts[0]] += 1
        after_space.update(parts[1:])
    pieces: Counter[str] = Counter()
    for part, count in at_start.items():
        for piece in pretokenize(part):
            pieces[piece] += count
    for part, count in after_space.items():
        if is_one_word(part):
            pieces[" " + part] += count
            continue
        for piece in pretokenize(" " + part):
            pieces[piece] += count
    return pieces


@cache
def byte_to_character() -> tuple[str, ...]:
    """Return GPT-2's printable alphabet: a visible character for each byte.

    Visible Latin-1 characters stand for themselves, the other bytes are numbered from U+0100 on,
    so the space is 'Ġ'. Only `tokenizer.json` files use it; here tokens are bytes.
    """
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in visible else next(spare)) for byte in range(256))
