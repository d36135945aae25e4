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
_PATTERN = regex.compile(GPT2_PATTERN)
_SPACE_THEN_SPACE = re.compile(r" \s")
_SPACE_BEFORE_WORD = re.compile(r" (?=\S)")


def pretokenize(text: str) -> list[str]:
    """Split a text as GPT-2 does.

    >>> pretokenize("It's 3 o'clock!  Go")
    ['It', "'s", ' 3', ' o', "'", 'clock', '!', ' ', ' Go']
    """
    return _PATTERN.findall(text)


def split_at_spaces(text: str) -> list[str]:
    """Split a text at each space that stands before a visible character, and drop that space.

    Such a space always begins a piece, so each part with its space put back can be pretokenized
    alone. The parts repeat much more often than they differ: whoever keeps the answer for each
    part never runs the pattern over the whole text.

    >>> split_at_spaces("the cat,  the hat")
    ['the', 'cat, ', 'the', 'hat']
    """
    if _SPACE_THEN_SPACE.search(text) or text.endswith(" "):
        return _SPACE_BEFORE_WORD.split(text)
    return text.split(" ")


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
        for piece in _PATTERN.findall(part):
            pieces[piece] += count
    for part, count in after_space.items():
        if part.isalpha():  # letters only: one piece, without asking the pattern
            pieces[" " + part] += count
            continue
        for piece in _PATTERN.findall(" " + part):
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
