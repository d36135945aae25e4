"""Tokens of stories and of a learner's text, coloured by the value of a feature."""

from collections.abc import Sequence

import numpy as np

from llmviz.course.components import TokenRow
from llmviz.course.lessons.discoveries.features import words
from llmviz.course.lessons.discoveries.features_record import (
    BEFORE,
    MODEL,
    Bundle,
    bundle,
    held_out_stories,
)
from llmviz.course.ui import engine, kit
from llmviz.tokenizers import Token, Tokenizer

NAMED = 4  # tokens that say what a feature is strongest at


@kit.kept(1)
def story_ids() -> list[list[int]]:
    """Return the tokens of the held-out stories, each behind its start token."""
    tokenizer = engine.load(MODEL).tokenizer
    return [tokenizer.encode_from_start(text) for text in held_out_stories()]


def window(found: Bundle, feature: int, at: int) -> tuple[list[int], np.ndarray]:
    """Return the tokens of a feature's text and its values there."""
    ids = story_ids()[int(found.stories[feature, at])][1:]
    values = found.windows[feature, at]
    place = int(found.places[feature, at])
    there = np.flatnonzero(values >= 0)
    first = place - BEFORE + int(there[0])
    return ids[first : first + len(there)], values[there]


def token_row(
    ids: Sequence[int],
    values: np.ndarray,
    tokenizer: Tokenizer,
    name: str,
    details: Sequence[str] = (),
) -> TokenRow:
    """Return tokens as a strip draws them; details: a line for each token's card."""
    tokens, at = [], 0
    for token, shown in zip(ids, kit.names_of(ids, tokenizer), strict=True):
        special = token in tokenizer.special_tokens.values()
        data = shown.encode() if special else tokenizer.token_bytes(token)
        tokens.append(Token(token, data, at, at + len(data), at, at + len(data)))
        at += len(data)
    cards = [{words.value: kit.signed(float(value))} for value in values]
    if details:
        cards = [card | {words.on_here: line} for card, line in zip(cards, details, strict=True)]
    return TokenRow(name, tokens, values=values.tolist(), details=cards)


@kit.kept(256)
def strongest_at(layer: int, features: int, feature: int) -> str:
    """Return the tokens at which a feature of a dictionary is strongest, each once."""
    found = bundle(layer, features)
    tokenizer = engine.load(MODEL).tokenizer
    if not found.highest[feature] > 0:
        return "–"
    places = zip(found.stories[feature], found.places[feature], strict=True)
    ids = [story_ids()[int(story)][1 + int(place)] for story, place in places]
    shown = [name.replace("·", " ").strip() or name for name in kit.names_of(ids, tokenizer)]
    return " · ".join(list(dict.fromkeys(shown))[:NAMED])


def strongest_token(found: Bundle, feature: int) -> str:
    """Return the token at which a feature is strongest, as a sentence says it."""
    story, place = int(found.stories[feature, 0]), int(found.places[feature, 0])
    return kit.spoken(story_ids()[story][1 + place], engine.load(MODEL).tokenizer)
