"""Small drafts that guess for a bundled model, what a check does at a place, and what it saves.

V vocabulary, N listed tokens, k guesses of a round. Times are those of the processor for this work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from llmviz.corpus import load_corpus
from llmviz.files.paths import DRAFTS
from llmviz.models import GPT
from llmviz.models.decoder import optimize_for_inference
from llmviz.models.transformers import require_transformer
from llmviz.pretrained import load_bundled
from llmviz.sampling.drafts import CopyDraft, CountDraft, ModelDraft
from llmviz.sampling.settings import SamplingSettings
from llmviz.sampling.speculative import acceptance, residual, speculate

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.sampling.drafts import Chances, Draft
    from llmviz.sampling.speculative import Round
    from llmviz.tokenizers import Tokenizer

KINDS = NETWORK, COUNTS, COPY = ("network", "counts", "copy")
CHECKPOINT = f"{DRAFTS}/tiny-world"
CORPUS = "tiny-world-sample"
COUNTED = 900_000  # characters of the corpus that are counted; the stories behind them are not
LONGEST = 3  # tokens that the counts look back
MOST_GUESSES = 8  # guesses of a round that are measured
PROMPT = 30  # tokens of each story that are given
WRITTEN = 60  # tokens that are written behind them
STORIES, TRIES = 3, 3
WIDE = 32  # times as wide the feed-forward layers of the larger target are


def draft_of(kind: str, tokenizer: Tokenizer) -> Draft:
    """Return a new draft of a kind for a model with this tokenizer.

    Raises ValueError for an unknown kind, and for a network that is not in this copy or has
    another tokenizer.
    """
    if kind not in KINDS:
        raise ValueError(f"draft must be one of {', '.join(KINDS)}; got {kind!r}")
    if kind == COPY:
        return CopyDraft(tokenizer.vocab_size)
    if kind == COUNTS:
        return counts_of(tokenizer)
    model, own = _network()
    if not same_tokens(own, tokenizer):
        raise ValueError(
            f"{CHECKPOINT} cuts texts into other tokens than the model whose text it should guess"
        )
    return ModelDraft(model)


def same_tokens(first: Tokenizer, second: Tokenizer) -> bool:
    """Return whether two tokenizers give every id the same bytes."""
    return first.vocab_size == second.vocab_size and all(
        first.token_bytes(token) == second.token_bytes(token) for token in range(first.vocab_size)
    )


@cache
def _network() -> tuple[LanguageModel, Tokenizer]:
    model, tokenizer, _ = load_bundled(CHECKPOINT)
    return model.eval().requires_grad_(False), tokenizer


def counts_of(tokenizer: Tokenizer) -> CountDraft:
    """Count the first stories of tiny-world, cut by a tokenizer."""
    ids = [token for story in stories_apart()[0] for token in tokenizer.encode_from_start(story)]
    return CountDraft(ids, tokenizer.vocab_size, LONGEST)


@cache
def stories_apart() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stories of tiny-world that are counted, and those behind them."""
    counted: list[str] = []
    rest: list[str] = []
    taken = 0
    for story in load_corpus(CORPUS):
        (counted if taken < COUNTED else rest).append(story)
        taken += len(story)
    return tuple(counted), tuple(rest)


class Place(NamedTuple):
    """Both distributions at a place. The arrays end with all other tokens together: (N + 1,).

    kept: min(p, q), how often a token comes as an accepted guess. added: max(p − q, 0), how often
    it comes from the draw behind a rejection. error: the largest |kept + added − p| over the whole
    vocabulary. Where there was no guess, q is 0 and everything is drawn.
    """

    tokens: tuple[int, ...]  # (N,)
    p: np.ndarray
    q: np.ndarray
    kept: np.ndarray
    added: np.ndarray
    error: float


def place_of(p: np.ndarray, q: np.ndarray, listed: int, also: tuple[int, ...] = ()) -> Place:
    """Return the numbers of a place; p, q (V,).

    listed: how many tokens are shown, those with the largest p or q, in falling order; `also` are
    shown in any case, each in place of another one.
    """
    kept, added = np.minimum(p, q), np.maximum(p - q, 0.0)
    larger = np.maximum(p, q)
    order = np.argsort(-larger, kind="stable")[:listed]
    others = [int(token) for token in order if larger[token] > 0 and token not in also]
    tokens = [*others[: max(0, listed - len(set(also)))], *dict.fromkeys(also)]
    tokens.sort(key=lambda token: -larger[token])
    error = float(np.abs(way_out(p, q) - p).max())
    p, q, kept, added = (_with_rest(row, tokens) for row in (p, q, kept, added))
    return Place(tuple(tokens), p, q, kept, added, error)


def way_out(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """How often each token comes out of a place, (V,): by both ways, each computed as it is played.

    A guess x has the probability q(x) and is accepted with min(1, p ÷ q); else, with the
    probability that no guess was accepted, a token comes from the residual.
    """
    accepted = np.array(
        [qx * acceptance(px, qx) for px, qx in zip(p.tolist(), q.tolist(), strict=True)]
    )
    return accepted + max(0.0, 1.0 - float(accepted.sum())) * residual(p, q)


def _with_rest(row: np.ndarray, tokens: list[int]) -> np.ndarray:
    listed = row[tokens]
    return np.append(listed, max(0.0, float(row.sum() - listed.sum())))


def places_of(turn: Round, vocab_size: int, listed: int) -> list[Place]:
    """Return the places of a round: each checked guess, then the free token behind them all.

    The last one is there only where no guess was rejected.
    """
    places = []
    for guess in turn.guesses[: turn.checked]:
        also = (guess.token,) if guess.accepted else (guess.token, turn.drawn)
        assert guess.p is not None  # it was checked
        places.append(place_of(guess.p, guess.q.full(vocab_size), listed, also))
    if turn.accepted == len(turn.guesses):
        places.append(place_of(turn.drawn_from, np.zeros(vocab_size), listed, (turn.drawn,)))
    return places


def widened(model: GPT, times: int) -> GPT:
    """Return a copy whose feed-forward layers are `times` as wide and give the same results.

    The hidden units that are new get random weights on the way in, and weights of 0 on the way
    out, so that nothing comes of them; but they are read and multiplied like all others.
    Raises ValueError unless times is 1 or more, and for a model with several experts.
    """
    if times < 1:
        raise ValueError(f"a model must be made 1 or more times as wide; got {times}")
    if model.config.n_expert > 1:
        raise ValueError("only a model with one feed-forward network in a layer can be made wider")
    size = model.config.feed_forward_size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        wide = GPT(replace(model.config, hidden_size=times * size))
    own, state = model.state_dict(), wide.state_dict()
    for name, tensor in state.items():
        if tensor.shape == own[name].shape:
            tensor.copy_(own[name])
        elif name.endswith("mlp.output.weight"):
            tensor.zero_()
            tensor[:, :size].copy_(own[name])
        else:  # the way in: rows, and their biases
            tensor[:size].copy_(own[name])
    return wide.eval().requires_grad_(False)


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
    longest: int = MOST_GUESSES,
    stories: int = STORIES,
    written: int = WRITTEN,
    tries: int = TRIES,
) -> Iterator[tuple[Speed, ...]]:
    """Yield after each try what rounds of 1 to `longest` guesses did and took; the best try counts.

    name: of the target, a bundled model. kind: see `draft_of`. wide: how many times as wide
    its feed-forward layers are made (see `widened`): it writes the same, but its weights take
    more memory. Guesses are checked by a copy whose weights are packed for the processor; plain
    decoding counts with that copy or with the model itself, whichever was faster. All write
    `written` tokens behind the first tokens of the same stories, one after the other, on one
    thread.
    Raises ValueError for a model or a draft that is not there, and for a setting out of range.
    """
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
        for story in stories_apart()[1][:stories]
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
