"""How fast guessing writes stories, beside plain decoding, measured in turns.

k guesses of a round; times are those of the processor for this work alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.sampling.drafts import Chances, Draft
    from llmviz.sampling.settings import SamplingSettings

LONGEST = 8  # guesses of a round that are measured
PROMPT = 30  # tokens of each story that are given
WRITTEN = 60  # tokens that are written behind them
STORIES, TRIES = 3, 3
WIDE = 32  # times as wide the feed-forward layers of the larger target are


class Speed(NamedTuple):
    """What rounds of k guesses did and took, and what plain decoding took for its tokens.

    checked, accepted: guesses that were looked at, and that were accepted. guess_seconds: of all
    guesses together; guessed: how many there were.
    """

    guesses: int
    tokens: int
    rounds: int
    checked: int
    accepted: int
    guessed: int
    seconds: float
    guess_seconds: float
    plain_tokens: int
    plain_seconds: float

    @property
    def step(self) -> float:
        """Seconds of one token of plain decoding."""
        return self.plain_seconds / self.plain_tokens

    @property
    def acceptance(self) -> float:
        """The share of the guesses that were looked at which was accepted; 0 without any."""
        return self.accepted / self.checked if self.checked else 0.0

    @property
    def cost(self) -> float:
        """Seconds of a guess, in plain steps; 0 where there was none."""
        return self.guess_seconds / self.guessed / self.step if self.guessed else 0.0

    @property
    def read(self) -> float:
        """Seconds of reading and checking a round, in plain steps."""
        return (self.seconds - self.guess_seconds) / self.rounds / self.step

    @property
    def speed_up(self) -> float:
        """How many times as many tokens per second as plain decoding."""
        return self.tokens / self.seconds * self.step


def pooled(speeds: tuple[Speed, ...]) -> tuple[float, float]:
    """Return a, the share of guesses that were accepted, and c, the cost of one, of all rounds."""
    checked, accepted, guessed = (
        sum(getattr(speed, key) for speed in speeds) for key in ("checked", "accepted", "guessed")
    )
    seconds = sum(speed.guess_seconds for speed in speeds)
    a = accepted / checked if checked else 0.0
    return a, seconds / guessed / speeds[0].step if guessed else 0.0


@dataclass
class _Timed:
    """A draft, and how long its guesses take."""

    draft: Draft
    seconds: float = 0.0
    guessed: int = 0

    @property
    def vocab_size(self) -> int:
        return self.draft.vocab_size

    def chances(self, ids: list[int], settings: SamplingSettings) -> Chances | None:
        begun = time.thread_time()
        chances = self.draft.chances(ids, settings)
        self.seconds += time.thread_time() - begun
        self.guessed += chances is not None
        return chances


def guess_speeds(
    name: str,
    kind: str,
    temperature: float = 1.0,
    wide: int = 1,
    longest: int = LONGEST,
    stories: int = STORIES,
    written: int = WRITTEN,
    tries: int = TRIES,
) -> Iterator[tuple[Speed, ...]]:
    """Yield after each try what rounds of 1 to `longest` guesses did and took; the best try counts.

    name: of the target, a bundled model. kind: see `study.drafts`. wide: how many times as wide
    its feed-forward layers are made (see `study.wider`): it writes the same, but its weights take
    more memory. Guesses are checked by a copy whose weights are packed for the processor; plain
    decoding counts with that copy or with the model itself, whichever was faster. All write
    `written` tokens behind the first tokens of the same stories, one after the other, on one
    thread.
    Raises ValueError for a model or a draft that is not there, and for a setting out of range.
    """
    import torch

    from llmviz.course.lessons.efficiency.speculative.drafts import draft_of
    from llmviz.course.lessons.efficiency.speculative.drafts import stories as all_stories
    from llmviz.course.lessons.efficiency.speculative.wider import widened
    from llmviz.models.decoder import optimize_for_inference
    from llmviz.models.transformers import require_transformer
    from llmviz.pretrained import load_bundled
    from llmviz.sampling.settings import SamplingSettings

    if min(longest, stories, written, tries) < 1:
        raise ValueError("guesses, stories, tokens and tries must be 1 or more")
    model, tokenizer, _ = load_bundled(name)
    draft = draft_of(kind, tokenizer)
    gpt = require_transformer(model)
    gpt = gpt.eval() if wide == 1 else widened(gpt, wide)
    packed = optimize_for_inference(gpt)
    settings = SamplingSettings(temperature)
    room = max(1, gpt.context_length - written)
    prompts = [
        tokenizer.encode_from_start(story)[: min(PROMPT, room)]
        for story in all_stories()[1][:stories]
    ]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        best: dict[int, Speed] = {}
        for _ in range(tries):
            for target, k in ((gpt, 0), *((packed, k) for k in range(longest + 1))):
                taken = _write(target, draft, prompts, written, settings, k)
                if k not in best or taken.seconds < best[k].seconds:
                    best[k] = taken
            tokens, seconds = best[0].tokens, best[0].seconds
            yield tuple(
                best[k]._replace(plain_tokens=tokens, plain_seconds=seconds)
                for k in range(1, longest + 1)
            )
    finally:
        torch.set_num_threads(threads)


def _write(
    model: LanguageModel,
    draft: Draft,
    prompts: list[list[int]],
    written: int,
    settings: SamplingSettings,
    k: int,
) -> Speed:
    """Write behind all prompts with rounds of k guesses; 0 is plain decoding."""
    import torch

    from llmviz.sampling.speculative import speculate

    timed = _Timed(draft)
    begun, tokens, rounds, checked, accepted = time.thread_time(), 0, 0, 0, 0
    for number, ids in enumerate(prompts):
        generator = torch.Generator().manual_seed(number)
        for turn in speculate(model, timed, ids, written, k, settings, generator):
            tokens += len(turn.tokens)
            rounds += 1
            checked += turn.checked
            accepted += turn.accepted
    seconds = time.thread_time() - begun
    counts = (k, tokens, rounds, checked, accepted, timed.guessed)
    return Speed(*counts, seconds, timed.seconds, tokens, seconds)
