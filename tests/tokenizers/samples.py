"""Texts for the tokenizer tests: many scripts, emoji, marks and odd white space, from a seed."""

import random
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "data" / "tiny-world.txt"

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789½²٣५",
    ".,;:!?'\"()[]{}<>|-–—…@#$%^&*_+=/\\~`",
    "éàüñøßçœŁž",
    "абвгдежзийклмн",
    "αβγδεζηθ",
    "אבגדהו",
    "ابتثجحخ",
    "अआइईक्षि",
    "กขฃคแโใ",
    "한국어글",
    "日本語漢字かなカナ",
    "🙂🎉👍🏽👩‍👩‍👧‍👦🇫🇷❤️",
    "\u0301\u0308\u0327\u200d\ufe0f",
    "\x00\x01\x1c\x1f\x7f\ufeff",
)
SPACES = (" ", " ", " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "   \n ", "\x85")
WORDS = ("the", "don't", "we'll", "I'M", "it's", "token", "tokenization", "<|endoftext|>", "'")


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Return `count` short texts mixing all of the above."""
    rng = random.Random(seed)
    return [_random_text(rng) for _ in range(count)]


def _random_text(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(12)):
        kind = rng.random()
        if kind < 0.35:
            parts.append(rng.choice(SPACES))
        elif kind < 0.5:
            parts.append(rng.choice(WORDS))
        elif kind < 0.95:
            parts.append("".join(rng.choices(rng.choice(ALPHABETS), k=rng.randrange(1, 6))))
        else:
            parts.append(_any_character(rng))
    return "".join(parts)


def _any_character(rng: random.Random) -> str:
    # Unassigned code points are left out: libraries know different editions of Unicode.
    while True:
        character = chr(rng.randrange(0x110000))
        if unicodedata.category(character) not in ("Cn", "Cs"):
            return character
