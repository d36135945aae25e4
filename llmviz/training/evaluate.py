"""How good a trained model is: whole documents scored from their start, probes, translations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.nn.loss import IGNORED
from llmviz.sampling.generation import vocabulary_of
from llmviz.training.data import end_id
from llmviz.training.measures import Share, bits_per_byte, perplexity

if TYPE_CHECKING:
    from llmviz.corpus.probes import Probe

ROWS = 32  # sequences in one forward pass, at most
LOGITS = 2**26  # numbers of one forward pass, at most, where it has more than one sequence
PROBED = 1000  # probes of each kind that a score is of
Window = tuple[list[int], list[int]]  # inputs and targets


@dataclass(frozen=True)
class Score:
    """The loss of a set of documents, each with the end-of-text token that closes it."""

    nats: float  # minus the log-probability of all documents
    documents: int
    tokens: int  # end-of-text tokens counted
    characters: int
    bytes: int  # of the texts in UTF-8

    @property
    def per_token(self) -> float:
        """Nats per token, the end-of-text tokens counted as tokens."""
        return self.nats / self.tokens

    @property
    def per_character(self) -> float:
        """Nats per character of the texts; the end of a document is no character."""
        return self.nats / self.characters

    @property
    def per_document(self) -> float:
        """Nats per document."""
        return self.nats / self.documents

    @property
    def perplexity(self) -> float:
        """e to the nats per token."""
        return perplexity(self.per_token)

    @property
    def bits_per_byte(self) -> float:
        """Bits for each byte of the texts."""
        return bits_per_byte(self.nats, self.bytes)

    @classmethod
    def sum(cls, scores: Iterable[Self]) -> Self:
        """The score of all documents together."""
        each = list(scores)
        return cls(*(sum(getattr(score, part.name) for score in each) for part in fields(cls)))

    def to_dict(self) -> dict[str, float]:
        """The counts and the averages, for JSON."""
        return {
            "documents": self.documents,
            "tokens": self.tokens,
            "nats_per_document": self.per_document,
            "nats_per_token": self.per_token,
            "nats_per_character": self.per_character,
            "bits_per_byte": self.bits_per_byte,
            "perplexity": self.perplexity,
        }


def evaluate_documents(model: LanguageModel, tokenizer: Any, documents: Sequence[str]) -> Score:
    """Score each document from its start, given only what stands in front of every text.

    A document longer than the context is read through windows that overlap by half, each token
    scored once, with at least half the context before it; a shorter one in one piece. The text's
    probability is that of the tokenizer's own way to cut it, which is at most that of the text.
    Raises ValueError if there are no documents.
    """
    return Score.sum(score_each(model, tokenizer, documents))


def score_each(
    model: LanguageModel,
    tokenizer: Any,
    documents: Sequence[str],
    *,
    end: bool = True,
    stride: int | None = None,
) -> list[Score]:
    """The score of each document alone, read as `evaluate_documents` reads it.

    Arguments and refusals are those of `score_pieces`.
    """
    return [
        Score.sum(pieces)
        for pieces in score_pieces(model, tokenizer, documents, end=end, stride=stride)
    ]


def score_pieces(
    model: LanguageModel,
    tokenizer: Any,
    documents: Sequence[str],
    *,
    end: bool = True,
    stride: int | None = None,
    tell: Callable[[int, int], object] | None = None,
) -> list[list[Score]]:
    """The score of each document in parts: its characters and bytes, then each window's tokens.

    end: whether the end-of-text token that closes a document is scored. stride: tokens that a
      window moves by; half the context if None. tell: hears how many windows are read, and of how
      many.
    Where nothing stands in front of texts, a document's first token is not scored, and neither its
    bytes nor its characters are counted.
    Raises ValueError if there are no documents, and for a stride that is not from 1 to the context.
    """
    if not documents:
        raise ValueError("evaluation needs at least one document; got none")
    context = model.context_length
    if stride is not None and not 1 <= stride <= context:
        raise ValueError(f"stride must be from 1 to the context of {context}; got {stride}")
    last = end_id(tokenizer)
    unscored = max(1, len(tokenizer.start))  # the first token of a text has nothing before it
    read: list[list[Window]] = []
    sizes: list[tuple[int, int]] = []
    for document in documents:
        ids = tokenizer.encode(document)
        row = [*tokenizer.behind_start(ids), *([last] if end else [])]
        fits = len(row) > unscored
        read.append([*_windows(row, context, unscored - 1, stride)] if fits else [])
        skipped = b"" if tokenizer.start or not ids else tokenizer.token_bytes(ids[0])
        characters = len(document) - len(skipped.decode("utf-8", "ignore"))
        sizes.append((characters, len(document.encode("utf-8")) - len(skipped)))
    answers = iter(_read(model, [window for windows in read for window in windows], last, tell))
    result = []
    for windows, (characters, size) in zip(read, sizes, strict=True):
        pieces = [
            Score(nats, 0, len(targets) - targets.count(IGNORED), 0, 0)
            for (nats, _), (_, targets) in zip(islice(answers, len(windows)), windows, strict=True)
        ]
        result.append([Score(0.0, 1, 0, characters, size), *pieces])
    return result


def _windows(
    ids: list[int], context: int, skipped: int = 0, stride: int | None = None
) -> Iterator[Window]:
    """Inputs and targets that score ids[1 + skipped:] once each, -1 where a window only reads."""
    first, moved = 0, stride or context // 2 or 1
    while True:
        inputs, targets = ids[first : first + context], ids[first + 1 : first + 1 + context]
        seen = skipped if first == 0 else context - moved
        inputs = inputs[: len(targets)]
        yield inputs, [IGNORED] * seen + targets[seen:]
        if first + 1 + context >= len(ids):
            return
        first += moved


@torch.no_grad()
def _read(
    model: LanguageModel,
    windows: Sequence[Window],
    filler: int,
    tell: Callable[[int, int], object] | None = None,
    *,
    greedy: bool = False,
) -> list[tuple[float, bool]]:
    """Minus the log-probability of each window's targets, and whether greedy writing gives them.

    In eval mode, in float32. Windows of one batch with the same inputs, such as two words after one
    story, are read once. greedy: find out what greedy writing gives, which takes the lowest id of
    equal logits; False is said otherwise, and a fifth of the time is saved.
    """
    order = sorted(range(len(windows)), key=lambda i: (len(windows[i][0]), windows[i][0]))
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    answers = [(0.0, False)] * len(windows)
    was_training = model.training
    model.eval()
    try:
        first = 0
        while first < len(order):
            rows = _batch(windows, order[first : first + ROWS], vocabulary_of(model) or 1)
            first += len(rows)
            inputs, targets = _padded([windows[i] for i in rows], filler)
            inputs, row_of = torch.unique_consecutive(inputs, dim=0, return_inverse=True)
            logits = model(inputs.to(device))[0]
            if len(inputs) < len(rows):
                logits = logits[row_of.to(device)]
            targets = targets.to(device)
            losses = F.cross_entropy(
                logits.flatten(0, 1).float(),
                targets.flatten(),
                ignore_index=IGNORED,
                reduction="none",
            )
            per_row = losses.view(len(rows), -1).double().sum(dim=1).tolist()
            written = [False] * len(rows)
            if greedy:
                written = ((logits.argmax(-1) == targets) | (targets == IGNORED)).all(1).tolist()
            for i, *answer in zip(rows, per_row, written, strict=True):
                answers[i] = (answer[0], answer[1])
            if tell is not None:
                tell(first, len(order))
    finally:
        model.train(was_training)
    return answers


def _batch(windows: Sequence[Window], order: Sequence[int], vocabulary: int) -> Sequence[int]:
    """As many of the windows, which come with the shortest first, as one pass has memory for."""
    rows = 1
    while rows < len(order) and (rows + 1) * len(windows[order[rows]][0]) * vocabulary <= LOGITS:
        rows += 1
    return order[:rows]


def _padded(windows: Sequence[Window], filler: int) -> tuple[Tensor, Tensor]:
    width = max(len(inputs) for inputs, _ in windows)
    inputs = torch.full((len(windows), width), filler)
    targets = torch.full((len(windows), width), IGNORED)
    for row, (read, scored) in enumerate(windows):
        inputs[row, : len(read)] = torch.tensor(read)
        targets[row, : len(scored)] = torch.tensor(scored)
    return inputs, targets


def log_probabilities(
    model: LanguageModel, tokenizer: Any, continued: Sequence[tuple[str, str]]
) -> list[float]:
    """ln P(continuation | prompt) in nats for each (prompt, continuation).

    A prompt is the beginning of a document. Prompt and continuation are cut into tokens together
    where the tokenizer's cut falls between them, so that the tokens are those the model was
    trained on. Tokens beyond the context are left out from the front.
    """
    windows = [_continuation(model, tokenizer, *pair) for pair in continued]
    return [-nats for nats, _ in _read(model, windows, end_id(tokenizer))]


def _continuation(model: LanguageModel, tokenizer: Any, prompt: str, continuation: str) -> Window:
    before, whole = tokenizer.encode(prompt), tokenizer.encode(prompt + continuation)
    if whole[: len(before)] != before:  # the cut goes through a token
        whole = before + tokenizer.encode(continuation)
    ids = tokenizer.behind_start(whole)[-(model.context_length + 1) :]
    scored = min(len(whole) - len(before), len(ids) - 1)
    return ids[:-1], [IGNORED] * (len(ids) - 1 - scored) + ids[-scored:]


class ProbeScore(NamedTuple):
    """In how many probes the right one of two continuations is more probable, or is written."""

    of_two: Share  # guessing gets half of them
    greedy: Share  # the right continuation comes first if always the most probable token is taken


def probe_scores(
    model: LanguageModel,
    tokenizer: Any,
    kinds: Sequence[str] | None = None,
    count: int = PROBED,
    seed: int = 0,
) -> dict[str, ProbeScore]:
    """Ask `count` probes of each kind; in how many is the right continuation the more probable one.

    kinds: None = all there are. seed: of the stories, none of which a corpus of that seed holds.
    Raises ValueError for an unknown kind or a count below 1.
    """
    from llmviz.corpus.probes import PROBES, probe_sets

    if count < 1:
        raise ValueError(f"a score needs at least one probe; got count={count}")
    sets = probe_sets(PROBES if kinds is None else kinds, count, seed)
    return {kind: probe_score(model, tokenizer, probes) for kind, probes in sets.items()}


def probe_score(model: LanguageModel, tokenizer: Any, probes: Sequence[Probe]) -> ProbeScore:
    """Ask a model probes: which of two answers is more probable, and which text it would write."""
    pairs = [(probe.prompt, either) for probe in probes for either in (probe.right, probe.wrong)]
    windows = [_continuation(model, tokenizer, *pair) for pair in pairs]
    read = _read(model, windows, end_id(tokenizer), greedy=True)
    better = sum(right[0] < wrong[0] for right, wrong in zip(read[::2], read[1::2], strict=True))
    written = sum(greedy for _, greedy in read[::2])
    return ProbeScore(Share(better, len(probes)), Share(written, len(probes)))


def share_right(model: LanguageModel, tokenizer: Any, probes: Sequence[Probe]) -> Share:
    """In how many probes the right continuation is more probable than the wrong one."""
    pairs = [(probe.prompt, either) for probe in probes for either in (probe.right, probe.wrong)]
    found = log_probabilities(model, tokenizer, pairs)
    better = sum(right > wrong for right, wrong in zip(found[::2], found[1::2], strict=True))
    return Share(better, len(probes))
