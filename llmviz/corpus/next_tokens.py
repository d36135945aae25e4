"""The true distribution of the next token of a tiny-world story, given the tokens before it.

The grammar chooses phrases and a model reads tokens, so a token's probability is a sum: over all
derivations that agree with the tokens so far. They are followed, none is sampled. A tokenizer cuts
a text into pieces that it reads one by one (words, with BPE), so it is enough to know which pieces
can come next, each with its probability:

1. the grammar follows the text and says which of its phrases come next, and how probable each is;
2. phrases that begin with the same piece are put together; a phrase that ends within a piece goes
   on with the phrases behind it;
3. the pieces whose tokens begin with those read so far share the next token out. A piece that has
   just those tokens may be complete (" sun"), or not (" sun" of " sunset"): complete, the next
   token is the first of the piece behind it.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import regex

from llmviz.corpus.story_productions import tell
from llmviz.corpus.writer import NotTinyWorldError, Options, Writer
from llmviz.tokenizers.pretokenize import GPT2_PATTERN

_PIECE = {  # of each kind of tokenizer: what it reads as one, and whether more text may change that
    "bpe": (regex.compile(GPT2_PATTERN), True),
    "word": (regex.compile(r"\s*(?:\w+(?:['’]\w+)*|[^\w\s])|\s*\n"), True),
    "char": (regex.compile(r"(?s)."), False),
}


@dataclass(frozen=True)
class NextTokens:
    """Which tokens can come next and how probable each is; the probabilities sum to 1.

    ids (K,) in ascending order; probabilities (K,), float64.
    """

    ids: np.ndarray
    probabilities: np.ndarray

    def of(self, token: int) -> float:
        """The probability of a token, 0 for one that cannot come."""
        at = int(np.searchsorted(self.ids, token))
        found = at < len(self.ids) and int(self.ids[at]) == token
        return float(self.probabilities[at]) if found else 0.0

    @property
    def entropy(self) -> float:
        """The entropy in nats: what the best model's loss is here, in expectation."""
        return max(0.0, -math.fsum(self.probabilities * np.log(self.probabilities)))

    def dense(self, vocab_size: int) -> np.ndarray:
        """The probabilities of all tokens (V,)."""
        every = np.zeros(vocab_size)
        every[self.ids] = self.probabilities
        return every


@dataclass(frozen=True)
class TrueTokens:
    """A text's tokens, and what was to come at each of them.

    ids: the tokens of the text, and the end-of-text token if the story ends there.
    following: (ids up to `possible`) the true distribution before each; one more than that where
        a token could not come, or the text stops in the middle of a story.
    possible: how many tokens the grammar can have written; all of them if that is len(ids).
    whole: whether the text is a story from its beginning to its end.
    """

    ids: tuple[int, ...]
    following: tuple[NextTokens, ...]
    possible: int
    whole: bool

    @property
    def log_probs(self) -> list[float]:
        """The natural log-probability of each token that was possible."""
        pairs = zip(self.ids[: self.possible], self.following, strict=False)
        return [math.log(following.of(token)) for token, following in pairs]


def next_distribution(prefix: str, tokenizer: Any) -> NextTokens:
    """Return the true distribution of the token that follows the beginning of a story.

    tokenizer: a BPE, word or character tokenizer. The end-of-text token is among the tokens.
    Raises NotTinyWorldError, a ValueError, where no story's tokens begin with those of `prefix`.
    """
    read = true_tokens(prefix, tokenizer)
    inside = len(tokenizer.encode(prefix))
    if read.possible < inside:
        raise NotTinyWorldError(f"no story has token {read.possible + 1} of this text there")
    return read.following[inside]


def true_tokens(text: str, tokenizer: Any) -> TrueTokens:
    """Return the true distribution before each token of a text, as far as there is one.

    Raises ValueError for a tokenizer of another kind than BPE, word or character.
    """
    return _Tokens(text, tokenizer).read()


@dataclass(slots=True)
class _Branch:
    """A choice of the grammar: where it begins, its options, and the one that the text shows."""

    position: int
    options: Options
    kept: Sequence[int]
    chosen: int | None = None

    @property
    def end(self) -> int:
        """The character behind what was chosen."""
        assert self.chosen is not None
        return self.position + len(self.options.surfaces[self.chosen])


class _OutOfText(Exception):
    """The text does not settle the choice that the grammar has come to."""


@dataclass(slots=True)
class _Follower(Writer):
    """Follows a text as far as it goes, and on to the first choice that it does not settle.

    `written` is what the grammar has written: the text, and what is certain behind it.
    """

    text: str = ""
    tail: str = ""  # what is certain behind the text
    branches: list[_Branch] = field(default_factory=list)
    wrong: bool = False  # the text has something that the grammar cannot write
    sure: int = 0  # where the last choice begins that the text has settled

    def say(self, text: str) -> None:
        seen = self.text[self.position : self.position + len(text)]
        if not text.startswith(seen):
            self.wrong = True
            raise _OutOfText
        self.position += len(text)
        self.tail += text[len(seen) :]

    def _index_among(self, options: Options, kept: Sequence[int]) -> int:
        index = options.match(self.text, self.position)
        branch = _Branch(self.position, options, kept, index if index in kept else None)
        self.branches.append(branch)
        if branch.chosen is None:
            raise _OutOfText
        self.sure = self.position
        return branch.chosen

    @classmethod
    def along(cls, text: str) -> "_Follower":
        follower = cls(text=text)
        with suppress(_OutOfText):
            tell(follower)
        return follower

    @property
    def written(self) -> str:
        return self.text[: self.position - len(self.tail)] + self.tail

    def next_branch(self, at: int) -> _Branch | None:
        """The choice that decides what stands at a character, or the next one behind it."""
        k = bisect_right(self.branches, at, key=lambda branch: branch.position) - 1
        if k >= 0:
            branch = self.branches[k]
            if branch.chosen is None or at < branch.end:
                return branch
        return self.branches[k + 1] if k + 1 < len(self.branches) else None


class _Tokens:
    """One text with a tokenizer: what can follow each of its beginnings."""

    def __init__(self, text: str, tokenizer: Any) -> None:
        if tokenizer.kind not in _PIECE:
            raise ValueError(f"kind of tokenizer must be bpe, word or char; got {tokenizer.kind!r}")
        self.text, self.tokenizer = text, tokenizer
        self._pattern, self._open = _PIECE[tokenizer.kind]
        self._main = _Follower.along(text)
        self._pieces: dict[str, dict[str, float]] = {}
        self._ids: dict[str, tuple[int, ...]] = {"": (tokenizer.end,)}

    def read(self) -> TrueTokens:
        ids: list[int] = []
        following = [self._first(self._after("", ""))]
        start, before = 0, ""
        while start < len(self.text):
            piece = self._pattern.match(self.text, start)
            text = piece.group() if piece else self.text[start]
            tokens = self._tokens(text)
            known = self._after(self.text[:start], before)
            for m in range(1, len(tokens) + 1):
                if not following[-1].of(tokens[m - 1]):
                    return self._stopped(ids, following)
                ids.append(tokens[m - 1])
                following.append(self._next(known, tokens[:m], self.text[:start]))
            start, before = start + len(text), text
        whole = following[-1].of(self.tokenizer.end) == 1
        if whole:
            ids.append(self.tokenizer.end)
        return TrueTokens(tuple(ids), tuple(following), len(ids), whole)

    def _stopped(self, ids: list[int], following: list[NextTokens]) -> TrueTokens:
        every = tuple(self.tokenizer.encode(self.text))
        return TrueTokens(every, tuple(following), len(ids), False)

    def _tokens(self, piece: str) -> tuple[int, ...]:
        """The ids of a piece; the end of a story is the piece ""."""
        known = self._ids.get(piece)
        if known is None:
            known = self._ids[piece] = tuple(self.tokenizer.encode(piece))
        return known

    def _first(self, pieces: dict[str, float]) -> NextTokens:
        mass: dict[int, float] = {}
        for piece, p in pieces.items():
            token = self._tokens(piece)[0]
            mass[token] = mass.get(token, 0.0) + p
        return _normalized(mass)

    def _next(self, known: dict[str, float], tokens: tuple[int, ...], before: str) -> NextTokens:
        """What follows the first tokens of a piece, of which `known` says what it can be."""
        mass: dict[int, float] = {}
        n = len(tokens)
        for piece, p in known.items():
            its = self._tokens(piece)
            if its[:n] != tokens:
                continue
            if len(its) > n:
                mass[its[n]] = mass.get(its[n], 0.0) + p
            elif piece:
                behind = self._first(self._after(before + piece, piece))
                for token, share in zip(behind.ids, behind.probabilities, strict=True):
                    mass[int(token)] = mass.get(int(token), 0.0) + p * float(share)
        return _normalized(mass)

    def _after(self, text: str, last: str) -> dict[str, float]:
        """Which pieces can follow a beginning of a story that ends with the whole piece `last`."""
        known = self._pieces.get(text)
        if known is None:
            known = {}
            self._collect(text, "", 1.0, last, known)
            total = math.fsum(known.values())
            known = {piece: p / total for piece, p in known.items()}
            self._pieces[text] = known
        return known

    def _collect(self, text: str, pending: str, p: float, last: str, to: dict[str, float]) -> None:
        """Add the pieces that begin with `pending`, the end of `text`, with their share of p."""
        follower = self._main if self._settled(text) else _Follower.along(text)
        branch = follower.next_branch(len(text))
        stop = len(follower.written) if branch is None else max(branch.position, len(text))
        certain = follower.written[len(text) : stop]
        pending, text = pending + certain, text + certain
        piece = self._cut(pending)
        if piece is not None or branch is None:
            self._add(pending if piece is None else piece, p, last, to)
            return
        options, written = branch.options, text[branch.position :]
        fitting = [i for i in branch.kept if options.surfaces[i].startswith(written)]
        shares = [math.exp(options.log_probs[i]) for i in fitting]
        total = math.fsum(shares)
        for i, share in zip(fitting, shares, strict=True):
            p_here = p * share / total
            # What follows every such phrase may tell where the piece ends.
            grown = [pending + form[len(written) :] for form in options.forms[i]]
            ends = {self._cut(phrase) for phrase in grown}
            if len(ends) == 1 and (piece := ends.pop()) is not None:
                self._add(piece, p_here, last, to)
                continue
            for phrase in grown:
                longer = text + phrase[len(pending) :]
                if len(grown) == 1 or not _Follower.along(longer).wrong:
                    self._collect(longer, phrase, p_here, last, to)

    def _settled(self, text: str) -> bool:
        """Whether the grammar has followed the whole text as far as this beginning of it."""
        main = self._main
        return self.text.startswith(text) and not (main.wrong and len(text) > main.sure)

    def _cut(self, pending: str) -> str | None:
        """The first piece of a text, or None where more text can still change it."""
        found = self._pattern.match(pending)
        if found is None or (self._open and found.end() == len(pending)):
            return None
        return found.group()

    def _add(self, piece: str, p: float, last: str, to: dict[str, float]) -> None:
        joined = self._open and last and piece and self._pattern.match(last + piece)
        if not joined or joined.end() == len(last):  # "ant" was whole, so "elope" cannot follow
            to[piece] = to.get(piece, 0.0) + p


def _normalized(mass: dict[int, float]) -> NextTokens:
    ids = np.array(sorted(mass), np.int64)
    p = np.array([mass[int(token)] for token in ids])
    return NextTokens(ids, p / p.sum())
