"""Texts with a watermark, and what was measured of many: read from the record.

`python -m experiments make watermark` measures it again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch

from llmviz import records
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.models.base import LanguageModel
from llmviz.sampling.settings import SamplingSettings
from llmviz.sampling.watermark import Watermark, detect, write
from llmviz.tokenizers import Tokenizer

MODEL = "tiny-world-gpt"
FILE = "watermark.json"
COMMAND = "python -m experiments make watermark"
TOKENS = 80  # of the text on the first screen
ALARM = 1e-3  # of honest texts this share, at most, is called marked
PUSH, SHARE = 3.0, 0.25
HEATS = ("0.01", "0.02", "0.05", "0.1", "0.3", "1")
LONGEST = 200  # tokens of a measured text
FREE, FORCED = "free", "forced"
REAL_PUSH, REAL_HEAT = 2.0, 0.7  # of the real model


@dataclass(frozen=True)
class Text:
    """A written text: the id before it and its own, and of each of its own its bytes and entropy.

    entropies: nats of the model's own probabilities, how much choice there was.
    """

    ids: list[int]
    pieces: list[bytes]
    entropies: list[float]


def text_of(
    model: LanguageModel,
    tokenizer: Tokenizer,
    start: Sequence[int],
    mark: Watermark,
    heat: float = 1.0,
    draw: int = 0,
    tokens: int = TOKENS,
    stop: int | None = None,
) -> Text:
    """Return a text that a model writes under a watermark, behind `start`.

    heat: the temperature, which acts on the model's own logits and leaves the push as it is: so it
    sets how much choice there is. draw: the seed of the dice. stop: the id that ends the text.
    """
    pushed = Watermark(mark.key, mark.share, mark.push * heat)  # (l + Tδ) / T = l / T + δ
    generator = torch.Generator().manual_seed(draw)
    settings = SamplingSettings(temperature=heat)
    own = list(write(model, start, tokens, pushed, generator, stop, settings))
    return Text(
        [start[-1], *(token.id for token in own)],
        [tokenizer.token_bytes(token.id) for token in own],
        [token.entropy for token in own],
    )


def only_hits(green: np.ndarray, share: float) -> np.ndarray:
    """Return the chances (N,) that somebody computes who forgets the tokens that are not green."""
    return share ** np.cumsum(green)


def greens_under_other_keys(ids: Sequence[int], mark: Watermark, keys: int) -> np.ndarray:
    """Return how many tokens are green for detectors with other keys (keys,)."""
    others = (Watermark(mark.key + 1 + other, mark.share) for other in range(keys))
    return np.array([detect(ids, other).count for other in others])


def odds(chance: float) -> float:
    """Return one honest text in how many is so green; at most 10¹².

    >>> odds(0.25), odds(0.0)
    (4.0, 1000000000000.0)
    """
    return min(1e12, 1 / chance) if chance else 1e12


def rounded(number: float) -> int:
    """Return a number from 1, cut to one digit: as one would say it, and never more than it is.

    >>> rounded(7421), rounded(1.4), rounded(998)
    (7000, 1, 900)
    """
    power = 10 ** math.floor(math.log10(number))
    return int(number // power * power)


@dataclass(frozen=True)
class Alarms:
    """How many honest texts an alarm calls marked.

    at_end: at the end of the text; on_the_way: after any of its tokens. exact: the share that the
    binomial law says for the end, which is below the promised one as counts are whole.
    """

    promised: float
    exact: float
    at_end: int
    on_the_way: int


@dataclass(frozen=True)
class Cell:
    """Texts of one temperature and push, in sets of equal size.

    entropy: nats of choice per token. rings: after how many tokens the alarm rang, LONGEST + 1 for
    never. loss: nats per token by the model without the mark. kept: the share of a text before the
    first phrase that the grammar cannot write.
    """

    heat: float
    push: float
    entropy: float
    rings: list[list[int]]
    loss: list[float]
    kept: list[float]

    @property
    def medians(self) -> list[float]:
        """The median of each set (S,)."""
        return [float(np.median(rings)) for rings in self.rings]


@dataclass(frozen=True)
class Changed:
    """Marked texts whose words were exchanged: the share of tokens that are new, and found (S,)."""

    words: float
    tokens: float
    found: list[float]


@dataclass(frozen=True)
class Sample:
    """A text of the real model: its pieces behind the prompt, with which are green."""

    prompt: str
    pieces: list[str]
    green: list[bool]
    fresh: list[bool]
    entropy: float
    rings: int | None


@dataclass(frozen=True)
class Recorded:
    """All that was measured. errors: of each judge, the share it judges wrongly (S,)."""

    honest: int
    alarms: list[Alarms]
    cells: list[Cell]
    changed: list[Changed]
    errors: dict[str, list[float]]
    real: dict[str, Sample]

    @property
    def by_push(self) -> list[Cell]:
        """The texts of temperature 1, by their push."""
        return sorted((c for c in self.cells if c.heat == 1), key=lambda cell: cell.push)

    def cell(self, heat: float, push: float) -> Cell:
        """Return the texts of a temperature and a push."""
        return next(cell for cell in self.cells if (cell.heat, cell.push) == (heat, push))


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Recorded:
    """Return the bundled results. Raises ValueError where the file is missing or damaged."""
    with records.Recorded(folder / FILE, COMMAND) as content:
        found = records.typed(content, Recorded)
        if {len(found.by_push), len(found.cells)} & {0} or not found.changed or not found.alarms:
            raise TypeError("a part is missing")
        return found
