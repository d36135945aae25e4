"""The settings of the serving engine: memory, batch, policy. No torch.

A policy says which sequences are computed together, and when a waiting one may join.
Reference: Yu et al. 2022, "Orca" (continuous, called iteration-level there); Holmes et al. 2024,
"DeepSpeed-FastGen" (split-fuse); Agrawal et al. 2024, "Sarathi-Serve" (chunked prefill).
"""

from __future__ import annotations

from dataclasses import dataclass

from llmviz.config import Config, setting
from llmviz.serving.requests import Request
from llmviz.serving.sequences import most_blocks


@dataclass(frozen=True)
class Policy:
    """What makes a policy.

    static_batching: a batch runs until its last sequence is finished, and nobody joins it
      meanwhile; each sequence is padded to the longest one, and so is its memory.
    waits: a batch that is not full is held back for a while.
    chunked: a long prompt is read in parts, so that no step has more tokens than the budget.
    """

    name: str
    static_batching: bool = False
    waits: bool = False
    chunked: bool = False


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("static", static_batching=True),
        Policy("dynamic", static_batching=True, waits=True),
        Policy("continuous"),
        Policy("split-fuse", chunked=True),
    )
}


PREEMPTIONS = ("recompute", "swap")


@dataclass(frozen=True)
class ServingConfig(Config):
    """How an engine serves many requests at once.

    Raises ValueError for a setting out of its range.
    """

    policy: str = setting(
        "continuous", "which requests run together, and from when", choices=POLICIES
    )
    max_batch: int = setting(16, "sequences that run at once, at most", "sequences", 1, 256)
    block_size: int = setting(16, "tokens whose keys and values a block holds", "tokens", 1, 256)
    n_blocks: int = setting(128, "blocks in the memory of keys and values", "blocks", 1, 16384)
    token_budget: int = setting(
        64, "split-fuse: tokens computed in a step, at most", "tokens", 1, 4096
    )
    preemption: str = setting(
        "recompute",
        "what happens to the keys and values of requests that must wait",
        choices=PREEMPTIONS,
    )
    host_blocks: int = setting(
        128, "swap: blocks in the second, larger memory; when it is full, recompute", "blocks", 0
    )
    share_prefixes: bool = setting(True, "equal beginnings of prompts share their blocks")
    window: float = setting(0.05, "dynamic: longest wait for a full batch", "seconds", 0, 10)
    max_waiting: int = setting(1000, "requests that wait at once, at most", "requests", 1)

    def __post_init__(self) -> None:
        self.require_one_of("policy", POLICIES)
        self.require_one_of("preemption", PREEMPTIONS)
        self.require_positive("max_batch", "block_size", "n_blocks", "token_budget", "max_waiting")
        self.require_at_least(0, "host_blocks")
        self.require_bool("share_prefixes")
        self.require_not_negative("window")
        if POLICIES[self.policy].chunked and self.token_budget < self.max_batch:
            raise ValueError(
                "token_budget must be at least max_batch, so that each running sequence gets its "
                f"token; got token_budget={self.token_budget}, max_batch={self.max_batch}"
            )

    @property
    def memory_tokens(self) -> int:
        """How many tokens' keys and values the memory holds."""
        return self.n_blocks * self.block_size

    def blocks_for(self, tokens: int) -> int:
        """How many blocks so many tokens of one sequence need."""
        return -(-tokens // self.block_size)


@dataclass(frozen=True)
class Limits(Config):
    """How much one request over HTTP may ask for.

    Raises ValueError for a limit below one.
    """

    max_prompts: int = setting(512, "prompts of a request, at most", "prompts", 1)
    max_stops: int = setting(64, "stop texts of a request, at most", "texts", 1)
    max_body: int = setting(4_000_000, "size of a request, at most", "bytes", 1)

    def __post_init__(self) -> None:
        self.require_positive("max_prompts", "max_stops", "max_body")


def check_fits(request: Request, config: ServingConfig) -> None:
    """Raise ValueError for a request that would never fit."""
    whole_batch = POLICIES[config.policy].static_batching
    if request.texts > config.max_batch:
        name, kind = ("n", "samples") if request.beams is None else ("beams", "beams")
        raise ValueError(
            f"{name} must be at most max_batch, {config.max_batch}; request {request.id!r} "
            f"asks for {request.texts} {kind}"
        )
    memory = (
        f"there are {config.n_blocks:,} blocks of {config.block_size}, "
        f"{config.memory_tokens:,} tokens in all"
    )
    if config.blocks_for(request.most_tokens) > config.n_blocks:
        raise ValueError(
            f"request {request.id!r} may need {request.most_tokens:,} tokens of memory (prompt "
            f"and new tokens less one); {memory}"
        )
    if request.beams is not None:
        blocks = most_blocks(request, config.block_size, whole_batch=whole_batch)
        if blocks > config.n_blocks:
            raise ValueError(
                f"request {request.id!r} may need {blocks:,} blocks for its {request.beams} "
                f"beams, which run together; {memory}"
            )
