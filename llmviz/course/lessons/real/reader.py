"""What the chapters ask a real model: how likely its next tokens are, and what it writes.

T tokens of a text, N texts, V vocabulary. torch is imported when a model is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from llmviz.course.lessons.real import words
from llmviz.files.paths import DATA

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer

MOST_TOKENS = 600  # of a text that is read here
LONGEST_WORD = 6  # tokens of an answer


class Reads(Protocol):
    """A model with its tokenizer, as it was loaded."""

    @property
    def model(self) -> GPT: ...

    @property
    def tokenizer(self) -> Tokenizer: ...


STORY_WORDS = 400  # of the story that losses are measured on


def passage() -> str:
    """Return the beginning of the bundled story, which was written for this project."""
    words = (DATA / "story.txt").read_text("utf-8").split()
    return " ".join(words[:STORY_WORDS])


class Choice(NamedTuple):
    """What may come next, and how likely it is, from 0 to 1."""

    text: str
    share: float


def ids_of(reader: Reads, text: str, most: int = MOST_TOKENS) -> list[int]:
    """Return a text as ids (T,), with what the model has in front of texts.

    Raises ValueError: there is nothing to read, or more than `most` tokens.
    """
    ids = [*reader.tokenizer.start, *reader.tokenizer.encode(text)]
    most = min(most, reader.model.context_length)
    if not text.strip():
        raise ValueError(words.refused["empty"])
    if len(ids) > most:
        raise ValueError(words.refused["long"].format(count=len(ids), most=most))
    return ids


def text_of(reader: Reads, token: int) -> str:
    """Return a token as it stands in a text; what is no whole character is written as ⋯."""
    return reader.tokenizer.token_bytes(token).decode("utf-8", "replace").replace("\ufffd", "⋯")


def first_token(reader: Reads, word: str) -> int:
    """Return the token with which a word begins behind a space. ValueError: there is no word."""
    ids = reader.tokenizer.encode(" " + word.strip())
    if not word.strip() or not ids:
        raise ValueError(words.refused["word"])
    return ids[0]


def chances(reader: Reads, rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return how likely each token is after each text, (N, V), float32.

    Texts of one length are read together, so nothing has to be filled up.
    """
    import torch

    same: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        same[len(row)].append(place)
    found = np.empty((len(rows), reader.model.config.vocab_size), np.float32)
    with torch.inference_mode():
        for places in same.values():
            idx = torch.tensor([list(rows[place]) for place in places])
            logits = reader.model(idx, last_only=True)[0][:, -1]
            found[places] = logits.softmax(-1).numpy()
    return found


def best(reader: Reads, p: np.ndarray, most: int) -> list[Choice]:
    """Return the likeliest tokens of p (V,), the likeliest first; of equal ones the lower id."""
    order = np.argsort(-p, kind="stable")[:most]
    return [Choice(text_of(reader, int(token)), float(p[token])) for token in order]


def words_after(reader: Reads, texts: Sequence[str]) -> list[Choice]:
    """Return the word that the model puts after each text, and how sure it is of all of it.

    It takes the likeliest token each time, and the word goes on as long as the next one is a piece
    without a space, or another capital letter behind a space, as in New Delhi.
    """
    rows = [ids_of(reader, text) for text in texts]
    said, sure, going = [""] * len(rows), [1.0] * len(rows), list(range(len(rows)))
    for turn in range(LONGEST_WORD):
        p = chances(reader, [rows[place] for place in going])
        after = []
        for place, row in zip(going, p, strict=True):
            token = int(row.argmax())
            piece = text_of(reader, token)
            if turn and not _goes_on(piece):
                continue
            said[place] += piece
            sure[place] *= float(row[token])
            rows[place] = [*rows[place], token]
            if piece.strip()[:1].isalpha():
                after.append(place)
        going = after
        if not going:
            break
    return [Choice(text.strip(), share) for text, share in zip(said, sure, strict=True)]


def _goes_on(piece: str) -> bool:
    letters = piece.lstrip(" ")
    if not letters[:1].isalpha():
        return False
    return piece[0] != " " or letters[0].isupper()


def written(reader: Reads, ids: Sequence[int], most: int) -> list[int]:
    """Return the tokens that the model goes on with, the likeliest each time, up to its end."""
    from llmviz.sampling import generate

    made: list[int] = []
    for token in generate(reader.model, list(ids), most, temperature=0.0):
        if token.id in reader.tokenizer.ends:
            break
        made.append(token.id)
    return made


def packed(values: Iterable[float]) -> str:
    """Return shares as one text of whole thousandths, so that a record of many stays small.

    >>> packed([0.25, 1.0]), unpacked("250 1000").tolist()
    ('250 1000', [0.25, 1.0])
    """
    return " ".join(str(round(1000 * float(value))) for value in values)


def head_means(each: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the mean of each head's packed shares (L, H)."""
    return np.array([[unpacked(head).mean() for head in layer] for layer in each])


def unpacked(text: str) -> np.ndarray:
    """Return the shares of such a text."""
    return np.array(text.split(), float) / 1000


def token_losses(reader: Reads, ids: Iterable[int]) -> np.ndarray:
    """Return the loss of each token from the second on, (T − 1,), in nats."""
    import torch

    row = torch.tensor([list(ids)])
    with torch.inference_mode():
        logits = reader.model(row)[0][0, :-1]
        return torch.nn.functional.cross_entropy(logits, row[0, 1:], reduction="none").numpy()
