"""A search of all units that grows a batch at a time, so that no page waits for all of it."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from llmviz.corpus import load_corpus
from llmviz.interpretability.unit_corpus import LONGEST, TOKENS, CorpusSearch, pieces_of

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

AT_ONCE = 512  # tokens of a batch: some 40 ms of the bundled model


class GrowingSearch:
    """What all units of a model do on a corpus, as far as it was read.

    Of `tokens`, `known` were read; `pieces` are the texts that they stand in, as ids. Several
    threads may grow it.
    """

    def __init__(
        self, model: LanguageModel, tokenizer: Tokenizer, corpus: str, tokens: int = TOKENS
    ) -> None:
        """Begin; corpus: for `load_corpus`, of which `tokens` tokens are read in pieces.

        Raises ValueError for a corpus that cannot be read or has no text, and for a model that has
        no units of this kind.
        """
        from llmviz.interpretability.units import search_steps

        loaded, longest = load_corpus(corpus), min(LONGEST, model.context_length)
        cut = pieces_of(loaded, tokenizer, longest, tokens)
        self.corpus, self.pieces = loaded.name, tuple(map(tuple, cut))
        self.tokens, self.known = sum(map(len, cut)), 0
        self.longest, self.documents = longest, len(loaded.documents)
        self._steps = search_steps(model, cut, at_once=AT_ONCE)
        self._growing = Lock()
        self._search = next(self._steps)
        self.known = self._search.tokens
        self._whole: CorpusSearch | None = None

    def grow(self, seconds: float) -> bool:
        """Read batch after batch for some seconds of this thread's work, at least one.

        Returns whether all are read.
        """
        with self._growing:
            until = time.thread_time() + seconds
            while self.known < self.tokens:
                self._search = next(self._steps)
                self.known = self._search.tokens
                if time.thread_time() >= until:
                    break
            return self.known == self.tokens

    def whole(self) -> CorpusSearch:
        """Return the search once all is read, the same object each time.

        Raises ValueError before that.
        """
        with self._growing:
            if self.known < self.tokens:
                raise ValueError(f"{self.known:,} of {self.tokens:,} tokens are read")
            if self._whole is None:
                self._whole = CorpusSearch(self.corpus, self.pieces, self._search)
            return self._whole
