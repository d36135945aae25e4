"""What one pass of a transformer computes and reads, from its settings: operations and bytes.

No model is built. B texts, T new tokens of each, S tokens that are in the cache already.
"""

from __future__ import annotations

from typing import NamedTuple

from llmviz.models.arithmetic import cache_per_token, tensors
from llmviz.models.settings import GPTConfig


class PassWork(NamedTuple):
    """Operations of one pass, and the bytes that must be moved for it at least."""

    operations: int  # floating-point; a product and its addition count as two
    weights: int  # bytes that are read, once for all texts
    cache_read: int  # bytes of the keys and values of earlier tokens
    cache_written: int  # bytes of those of the new tokens

    @property
    def bytes(self) -> int:
        """All bytes."""
        return self.weights + self.cache_read + self.cache_written

    @property
    def intensity(self) -> float:
        """Operations for each byte, the arithmetic intensity."""
        return self.operations / self.bytes


def pass_work(config: GPTConfig, batch: int, new: int, seen: int, size: int = 4) -> PassWork:
    """Count a pass over `new` tokens of each of `batch` texts, behind `seen` tokens of each.

    new > 1 and seen = 0 is the prefill of a prompt; new = 1 is the decoding of a token. size: bytes
    of a number. The head is computed for the last token of each text. Counted are matrices and
    attention, each new token with all seen + new keys, as they are computed without a kernel that
    skips what the mask hides; norms, activations, softmax and biases are left out. Of the
    bytes, those of weights (the embedding's only where it is the head, too) and of the cache:
    what is computed in between is small enough to stay in the processor.

    Raises ValueError for batch or new below 1, seen below 0, a window, or experts.
    Reference: Kaplan et al. 2020, "Scaling Laws", section 2.1; Williams et al. 2009, "Roofline",
    section 3, for operations per byte.
    """
    for name, value, least in (("batch", batch, 1), ("new", new, 1), ("seen", seen, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}; got {value}")
    if config.n_expert > 1 or config.window is not None:
        raise ValueError("passes are counted for models without experts and without a window")
    parts = list(tensors(config))
    inner = [tensor for tensor in parts if tensor.part not in ("token", "position", "head")]
    matrices = sum(tensor.count for tensor in inner if len(tensor.shape) == 2)
    head = config.vocab_size * config.n_embd
    attention = 2 * config.n_layer * (seen + new) * config.n_embd  # q·k and weights·v
    each = cache_per_token(config) * size
    return PassWork(
        operations=2 * batch * (new * (matrices + attention) + head),
        weights=size * (sum(tensor.count for tensor in inner) + head),
        cache_read=batch * seen * each,
        cache_written=batch * new * each,
    )
