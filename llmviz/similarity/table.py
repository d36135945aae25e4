"""A table of vectors with the tokens that its rows belong to: the embedding matrix of a model.

V rows, C columns. NumPy only, no torch.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from llmviz.files.text import table_cell, whole_number
from llmviz.similarity.measures import as_matrix, nearest_spellings
from llmviz.tokenizers import UNKNOWN, Tokenizer

WHOLE = ("word", "char")  # kinds of tokenizers to which a space is no part of a word


class NotOneRow(ValueError):
    """A word that has no row of its own: it is unknown, or cut into several tokens.

    `ids` are the rows of its pieces, empty for an unknown word; `spellings` are words with a row
    of their own that are spelled most like it.
    """

    def __init__(self, message: str, word: str, ids: Sequence[int], spellings: Sequence[str]):
        super().__init__(message)
        self.word, self.ids, self.spellings = word, tuple(ids), tuple(spellings)


@dataclass(frozen=True, eq=False)
class VectorTable:
    """The vectors of a vocabulary: row i of `matrix` (V, C) belongs to token i of `tokenizer`.

    Raises ValueError when the matrix does not have one row for each token.
    """

    name: str
    matrix: np.ndarray
    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != self.tokenizer.vocab_size:
            raise ValueError(
                f"a table needs one row for each of {self.tokenizer.vocab_size} tokens; "
                f"got shape {self.matrix.shape}"
            )

    @property
    def size(self) -> int:
        """V, the number of rows."""
        return len(self.matrix)

    @property
    def width(self) -> int:
        """C, the number of columns."""
        return self.matrix.shape[1]

    @cached_property
    def exact(self) -> np.ndarray:
        """The vectors (V, C) in float64, as every measure takes them; not to be written into."""
        rows = as_matrix(self.matrix).view()
        rows.flags.writeable = False
        return rows

    @cached_property
    def bytes_of(self) -> list[bytes]:
        """The bytes of every token, in the order of the rows."""
        return [self.tokenizer.token_bytes(i) for i in range(self.size)]

    @cached_property
    def rows_of_words(self) -> dict[str, int]:
        """Every word that has a row of its own, and which row `find` gives for it."""
        row_of: dict[str, int] = {}
        special = set(self.tokenizer.special_tokens.values())
        for i, data in enumerate(self.bytes_of):
            text = data.decode("utf-8", "replace")
            word = text.strip()
            if i in special or not word or "\ufffd" in word:
                continue
            # " cat" and "cat" are two tokens; inside a text it is nearly always the first.
            if text.startswith(" ") or word not in row_of:
                row_of[word] = i
        return row_of

    @cached_property
    def whole_words(self) -> list[str]:
        """The words of `rows_of_words` that are no mere pieces: those that begin after a space."""
        words = self.rows_of_words
        if self.tokenizer.kind in WHOLE:
            return list(words)
        return [word for word, row in words.items() if self.bytes_of[row].startswith(b" ")]

    def name_of(self, row: int) -> str:
        """Return how a row is written in a control: its word if that finds it, else "#row"."""
        word = self.bytes_of[row].decode("utf-8", "replace").strip()
        return word if self.rows_of_words.get(word) == row else f"#{row}"

    def find(self, word: str) -> int:
        """Return the row of a word, or of "#123".

        Where a token begins with a space, the word is looked for as it stands inside a text, with
        a space before it, and only then at the beginning of one.

        Raises: NotOneRow when it has none of its own; ValueError for a row that does not exist.
        """
        ids = self.read(word)
        if len(ids) == 1:
            return ids[0]
        pieces = f"it is cut into {len(ids)} tokens"
        raise self._not_one(word, ids, f"{word.strip()!r} has no row of its own: {pieces}")

    def read(self, text: str) -> tuple[int, ...]:
        """Return the rows of a word or of a whole text, one a token.

        Raises: NotOneRow for a word that a table of words does not know; ValueError when there
        is no text or a row does not exist.
        """
        word = text.strip()
        if not word:
            raise ValueError("there is no word; type one")
        if word in self.rows_of_words:
            return (self.rows_of_words[word],)
        if word[0] == "#" and word[1:].isdecimal():
            row = whole_number(word[1:])
            if row is None or row >= self.size:
                raise ValueError(f"{self.name} has rows 0 to {self.size - 1}; got {word[:80]}")
            return (row,)
        ids = self.tokenizer.encode(word if self.tokenizer.kind in WHOLE else f" {word}")
        unknown = self.tokenizer.special_tokens.get(UNKNOWN)
        if unknown is not None and unknown in ids:
            lost = self._first_unknown(word, unknown)
            raise self._not_one(lost, (), f"{lost!r} is not in the vocabulary of {self.name}")
        return tuple(ids)

    def mean(self, ids: Sequence[int]) -> np.ndarray:
        """Return the mean (C,) of some rows, the plainest vector of several tokens."""
        return self.matrix[list(ids)].mean(axis=0, dtype=np.float64)

    def _first_unknown(self, text: str, unknown: int) -> str:
        tokens = self.tokenizer.tokens(text)
        token = next(token for token in tokens if token.id == unknown)
        return text[token.char_start : token.char_end]

    def spelled_like(self, word: str) -> list[str]:
        """Return words with a row of their own that are spelled most like this one."""
        return nearest_spellings(word.strip(), [w for w in self.whole_words if w != word])

    def _not_one(self, word: str, ids: Sequence[int], message: str) -> NotOneRow:
        return NotOneRow(message, word, ids, self.spelled_like(word))

    # ---- files

    def csv(self, labels: Sequence[str]) -> str:
        """Return the table as comma-separated values: id, token, then one column a number."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")  # a label with either gets quotes
        writer.writerow(["id", "token", *(f"d{j}" for j in range(self.width))])
        for i, numbers in enumerate(self._written()):
            writer.writerow([i, table_cell(labels[i]), *numbers])
        return out.getvalue()

    def tsv(self) -> str:
        """Return the vectors as TensorFlow's embedding projector reads them: numbers and tabs."""
        return "".join("\t".join(numbers) + "\n" for numbers in self._written())

    def _written(self) -> Iterator[list[str]]:
        """The numbers of each row, in the fewest digits that give back the same float32."""
        rows = self.matrix.astype(np.float32, copy=False)
        return (list(map(str, row)) for row in rows)


def one_hot(row: int, size: int) -> np.ndarray:
    """Return a vector (size,) of zeros with a 1 at `row`: `one_hot(i, V) @ matrix` is row i.

    >>> one_hot(2, 4).tolist()
    [0.0, 0.0, 1.0, 0.0]

    Raises: ValueError for a row outside the vector.
    """
    if not 0 <= row < size:
        raise ValueError(f"a row must be from 0 to {size - 1}; got {row}")
    vector = np.zeros(size, dtype=np.float32)
    vector[row] = 1.0
    return vector


def renumbered(size: int, seed: int) -> np.ndarray:
    """Return new ids (size,) for old ones, dealt out at random from a seed.

    With the rows of a table in the new order, a model computes what it did before: an id is a
    name, and only tells which row.
    """
    return np.random.default_rng(seed).permutation(size)


def projector_labels(labels: Sequence[str]) -> str:
    """Return the labels as the projector's metadata file: one a line, nothing above them."""
    return "".join(label.replace("\t", " ").replace("\n", " ") + "\n" for label in labels)
