"""The bundled text of word forms: short sentences in which stems meet endings often."""

import random
from pathlib import Path

from experiments._command import write_to
from llmviz.files.paths import DATA
from llmviz.files.whole import write_whole

# What -ize can follow; the first two stand more often than the others.
_IZE = ["token", "modern"] * 3 + [
    "normal",
    "real",
    "general",
    "special",
    "local",
    "central",
    "formal",
    "legal",
]
_THINGS = [
    "town",
    "school",
    "library",
    "garden",
    "harbour",
    "station",
    "kitchen",
    "market",
    "museum",
    "bridge",
]
# Adjectives with un- and -ness, "happy" more often than the others.
_QUALITIES = ["happy", "fair", "sure", "happy", "clean", "happy", "aware"]
_PEOPLE = ["boy", "girl", "teacher", "player", "worker", "farmer", "baker", "driver"]
_DOING = ["play", "work", "talk", "walk", "jump", "help", "cook"]

SENTENCES = 600


def _on_ize(rng: random.Random) -> str:
    stem, thing = rng.choice(_IZE), rng.choice(_THINGS)
    if stem == "token":
        return rng.choice(
            (
                "A token is a piece of a text, and tokens have numbers.",
                "Tokenization cuts a text into tokens.",
                "The tokenizer tokenizes a text: each token is a piece of it.",
                "After the tokenization there are many tokens, and each token has a number.",
                "We tokenize the text, and the tokens stand in a row.",
                "A text is tokenized by a tokenizer; "
                "the result of tokenization is a row of tokens.",
            )
        )
    return rng.choice(
        (
            f"The {stem}ization of the {thing} took a year.",
            f"They {stem}ize the {thing}, and the {stem}ization goes well.",
            f"The {thing} was {stem}ized, and {stem}ization has its price.",
            f"A {stem} {thing} is no wonder after such a {stem}ization.",
        )
    )


def _on_ness(rng: random.Random) -> str:
    word, person = rng.choice(_QUALITIES), rng.choice(_PEOPLE)
    stem = word[:-1] + "i" if word.endswith("y") else word  # happy, happi-ness
    return rng.choice(
        (
            f"The {person} was {word} today and un{word} yesterday.",
            f"The {stem}ness of the {person} is known, and so is the un{stem}ness of the others.",
            f"It was un{stem}ness, not {stem}ness, that the {person}s felt.",
            f"A {word} {person} is better than an un{word} one.",
            f"The {person}s looked at it {stem}ly; only one was un{stem}ly quiet.",
        )
    )


def _on_plurals(rng: random.Random) -> str:
    person, verb = rng.choice(_PEOPLE), rng.choice(_DOING)
    return rng.choice(
        (
            f"One {person} {verb}s, two {person}s {verb}.",
            f"The {person}s {verb}ed at the {rng.choice(_THINGS)}, and one {person} {verb}s there.",
            f"The {person} {verb}ed and the other {person}s {verb} still.",
        )
    )


def make_word_forms(seed: int = 0) -> str:
    """Return the text, the same for the same seed: a sentence a line."""
    rng = random.Random(seed)
    kinds = (_on_ize, _on_ness, _on_plurals)
    return "".join(kinds[at % len(kinds)](rng) + "\n" for at in range(SENTENCES))


def make(folder: Path) -> None:
    """Write the text into a folder."""
    text = make_word_forms()
    write_whole(
        folder / "word-forms.txt", lambda path: path.write_text(text, "utf-8", newline="\n")
    )


if __name__ == "__main__":
    write_to(make, "Write the text of word forms.", DATA)
