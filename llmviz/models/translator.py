"""What every encoder-decoder has in common: it reads one sequence and writes another.

B batch, S source length, T target length, C width of what the encoder hands on, V vocabulary.
"""

import torch
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.translator_settings import TranslatorConfig
from llmviz.nn.loss import IGNORED
from llmviz.trace import Tap


class Translator(LanguageModel):
    """Base of the encoder-decoders; a subclass has `encode`, `decoder_states`, head and tap_logits.

    The exception to the models' contract: `forward` takes a source as well.
    """

    config: TranslatorConfig
    head: nn.Linear
    tap_logits: Tap

    def __init__(self, config: TranslatorConfig):
        super().__init__(config)
        self.source_vocab_size = config.source_vocab_size or config.vocab_size

    def forward(
        self, source: Tensor, target_in: Tensor, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) for the token after each of target_in, and the loss.

        source: (B, S) ids, short rows filled with pad_id on the right.
        target_in: (B, T), the target shifted right: start_id first (teacher forcing).
        targets: (B, T), the target with end_id last; pad_id and −1 carry no loss.
        Raises ValueError for unknown ids, too many tokens, or a source that is all padding.
        """
        source_mask = self.source_mask(source)
        return self.decode(self.encode(source, source_mask), source_mask, target_in, targets)

    def encode(self, source: Tensor, source_mask: Tensor) -> Tensor:
        """What the decoder is given of the source, (B, S, C) or (B, C)."""
        raise NotImplementedError

    def decode(
        self,
        encoded: Tensor,
        source_mask: Tensor,
        target_in: Tensor,
        targets: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """The decoder's half of `forward`: logits (B, T, V) and the loss."""
        self.check_known(target_in, self.vocab_size)
        states = self.decoder_states(encoded, source_mask, target_in)
        logits = self.tap_logits(self.head(states))
        return logits, self.loss_without_pads(logits, targets)

    def decoder_states(self, encoded: Tensor, source_mask: Tensor, target_in: Tensor) -> Tensor:
        """What the decoder makes of target_in, (B, T, C); the head turns it into logits."""
        raise NotImplementedError

    def source_mask(self, source: Tensor) -> Tensor:
        """True at the source's real tokens: (B, 1, 1, S)."""
        self.check_known(source, self.source_vocab_size)
        real = source != self.config.pad_id
        if not source.is_meta and not real.any(dim=1).all():
            row = int((~real.any(dim=1)).nonzero()[0, 0])
            raise ValueError(f"source {row} is all padding; it needs at least one token")
        return real[:, None, None, :]

    @torch.no_grad()
    def translate(self, source: Tensor, max_tokens: int | None = None) -> list[list[int]]:
        """The most probable token, again and again, for each row, up to end_id (left out).

        source (B, S); max_tokens: of a translation; None is the context length.
        """
        config = self.config
        limit = self.context_length if max_tokens is None else min(max_tokens, self.context_length)
        if limit < 1:
            raise ValueError(f"max_tokens must be at least 1; got {max_tokens}")
        source_mask = self.source_mask(source)
        encoded = self.encode(source, source_mask)
        ids = source.new_full((len(source), 1), config.start_id)
        done = torch.zeros(len(source), dtype=torch.bool, device=source.device)
        for _ in range(limit):
            logits, _ = self.decode(encoded, source_mask, ids[:, : self.context_length])
            following = logits[:, -1].argmax(dim=-1)
            done |= following == config.end_id
            ids = torch.cat((ids, following[:, None]), dim=1)
            if done.all():
                break
        rows = ids[:, 1:].tolist()
        return [row[: row.index(config.end_id)] if config.end_id in row else row for row in rows]

    def check_known(self, idx: Tensor, vocab_size: int) -> None:
        """Raise ValueError for a shape that does not fit or an id outside a vocabulary.

        Ids on the meta device have a shape alone.
        """
        self.check_length(idx)
        if idx.is_meta:
            return
        low, high = idx.min(), idx.max()
        if low < 0 or high >= vocab_size:
            raise ValueError(f"token ids must be from 0 to {vocab_size - 1}; got {low} to {high}")

    def loss_without_pads(self, logits: Tensor, targets: Tensor | None) -> Tensor | None:
        """Nats per token of targets (B, T) that are not pad_id or −1; None without targets."""
        if targets is not None:
            targets = targets.masked_fill(targets == self.config.pad_id, IGNORED)
        return self.loss(logits, targets)
