"""The policies: which sequences are computed together, and when a waiting one may join. No torch.

Reference: Yu et al. 2022, "Orca" (continuous, called iteration-level there); Holmes et al. 2024,
"DeepSpeed-FastGen" (split-fuse); Agrawal et al. 2024, "Sarathi-Serve" (chunked prefill).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """What makes a policy.

    whole_batches: a batch runs until its last sequence is finished, and nobody joins it meanwhile;
      each sequence is padded to the longest one, and so is its memory.
    waits: a batch that is not full is held back for a while.
    chunked: a long prompt is read in parts, so that no tick has more tokens than the budget.
    """

    name: str
    whole_batches: bool = False
    waits: bool = False
    chunked: bool = False


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("static", whole_batches=True),
        Policy("dynamic", whole_batches=True, waits=True),
        Policy("continuous"),
        Policy("split-fuse", chunked=True),
    )
}
