"""The bigram: the next token from the last one alone, by counting or by gradient.

B batch, T time, V vocabulary.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.settings import BigramConfig
from llmviz.trace import Tap


class Bigram(LanguageModel):
    """One linear layer on one-hot tokens: row i of its table holds the logits after token i.

    It starts at zero, which is the uniform distribution. Taps: logits.
    """

    config: BigramConfig

    def __init__(self, config: BigramConfig):
        super().__init__(config)
        self.table = nn.Embedding(config.vocab_size, config.vocab_size)
        nn.init.zeros_(self.table.weight)
        self.tap_logits = Tap("logits")
        self.finish()

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) and the loss; see `LanguageModel`."""
        self.check_length(idx)
        logits = self.tap_logits(self.embed_ids(idx, self.table.weight))
        return logits, self.loss(logits, targets)


class CountBigram(LanguageModel):
    """The same model by counting: how often token j followed token i. Nothing is learned.

    `fit` or `fit_counts` fills it. The logits are log-probabilities; a pair that was never seen
    has −∞, unless `smoothing` adds something to every count. A token that was never seen as
    the first of a pair says nothing, so its row is uniform.
    """

    config: BigramConfig
    counts: Tensor  # (V, V)

    def __init__(self, config: BigramConfig, smoothing: float = 0.0):
        super().__init__(config)
        if not 0 <= smoothing < float("inf"):
            raise ValueError(f"smoothing must be a finite number of at least 0; got {smoothing}")
        self.smoothing = smoothing
        v = config.vocab_size
        self.register_buffer("counts", torch.zeros(v, v, dtype=torch.float64))
        self.tap_logits = Tap("logits")
        self.finish()

    @classmethod
    def fit(
        cls, ids: Tensor | Sequence[int], vocab_size: int | None = None, smoothing: float = 0.0
    ) -> "CountBigram":
        """Count the neighbours in a stream of token ids.

        Raises ValueError for fewer than two tokens or an id outside the vocabulary.
        """
        ids = torch.as_tensor(ids, dtype=torch.long)
        if ids.dim() != 1 or len(ids) < 2:
            raise ValueError(
                f"counting pairs needs at least 2 tokens; got shape {tuple(ids.shape)}"
            )
        v = int(ids.max()) + 1 if vocab_size is None else vocab_size
        if ids.min() < 0 or ids.max() >= v:
            raise ValueError(f"token ids must be from 0 to {v - 1}; got {ids.min()} to {ids.max()}")
        pairs = torch.bincount(ids[:-1] * v + ids[1:], minlength=v * v)
        return cls.fit_counts(pairs.view(v, v), smoothing)

    @classmethod
    def fit_counts(cls, counts: Tensor, smoothing: float = 0.0) -> "CountBigram":
        """Take the counts (V, V) as given: row i, column j is how often j followed i."""
        counts = torch.as_tensor(counts, dtype=torch.float64)
        if counts.dim() != 2 or counts.shape[0] != counts.shape[1]:
            raise ValueError(f"counts must be a square table; got shape {tuple(counts.shape)}")
        if counts.min() < 0:
            raise ValueError(f"counts must not be negative; got {counts.min():g}")
        model = cls(BigramConfig(vocab_size=counts.shape[0]), smoothing)
        model.counts.copy_(counts)
        return model

    def probabilities(self) -> Tensor:
        """P(next | last), (V, V) in float64; each row sums to 1."""
        counts = self.counts + self.smoothing
        totals = counts.sum(dim=1, keepdim=True)
        uniform = torch.full_like(counts, 1 / len(counts))
        return torch.where(totals > 0, counts / totals.clamp(min=torch.finfo().tiny), uniform)

    def average_loss(self) -> float:
        """Nats per pair on the very pairs that were counted."""
        seen = self.counts > 0
        return float(
            -(self.counts[seen] * self.probabilities()[seen].log()).sum() / self.counts.sum()
        )

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Log-probabilities (B, T, V) and the loss; see `LanguageModel`."""
        self.check_length(idx)
        logits = self.tap_logits(self.embed_ids(idx, self.probabilities().log().float()))
        return logits, self.loss(logits, targets)
