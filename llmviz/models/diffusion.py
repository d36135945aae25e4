"""A masked-diffusion model: a transformer that fills in texts of which any share is hidden.

B batch, T time, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor

from llmviz.models.bert import BERT
from llmviz.nn.loss import IGNORED, next_token_loss


class MaskedDiffusion(BERT):
    """A BERT whose loss counts each row alike, however many of its tokens are hidden.

    With 1 to T hidden tokens a row, each number equally likely, T times the loss is at least −ln p
    of the row on average: `exact_bound` of `llmviz.models.masked_diffusion` is that average. So it
    learns to write a text in any order; `llmviz.sampling.unmasking.unmask` lets it.

    Reference: Sahoo et al. 2024, "Simple and Effective Masked Diffusion Language Models", and for
    the number of hidden tokens instead of a time Ou et al. 2024, "Your Absorbing Discrete Diffusion
    Secretly Models the Conditional Distributions of Clean Data".
    """

    def loss(self, logits: Tensor, targets: Tensor | None) -> Tensor | None:
        """The mean over the rows of the nats of a hidden token; a row without one does not count.

        logits (B, T, V), of which the two ids that are no text do not count; targets (B, T): −1
        where a token is not hidden. None without targets.
        """
        if targets is None:
            return None
        smoothing = self.label_smoothing if self.training else 0.0
        nats = next_token_loss(logits[..., : self.config.mask_id], targets, smoothing, "none")
        hidden = (targets != IGNORED).sum(1)  # (B,)
        return (nats.sum(1) / hidden.clamp(min=1)).sum() / (hidden > 0).sum()
