"""What batches that are made out of a text, instead of cut from it, have from it."""

from __future__ import annotations

from dataclasses import dataclass

from llmviz.training.data import TrainData


@dataclass(frozen=True)
class DerivedData:
    """What batches that are made out of a text have from it."""

    text: TrainData

    @property
    def vocab_size(self) -> int:
        """V, number of token ids."""
        return self.text.vocab_size

    @property
    def context_length(self) -> int:
        """Tokens in a row of the text."""
        return self.text.context_length

    @property
    def longest_row(self) -> int:
        """Most tokens of a row of the text."""
        return self.text.longest_row

    @property
    def windows(self) -> str:
        """How the text is cut into rows."""
        return self.text.windows
