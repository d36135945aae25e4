"""The loss of the bundled story model by bits and scheme, measured once and bundled.

`python -m experiments make quantization` measures it again, some minutes on one core, and writes
`data/experiments/quantization.json`. Reading it needs no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.quantization.quantized_models import AWQ, ROUNDING
from llmviz.quantization.scheme import CHANNEL, GROUP, TENSOR, Scheme
from llmviz.training.files import read_json

FILE = "quantization.json"
MODEL, DOCUMENTS, GROUP_OF = "tiny-world-gpt", 200, 32
COMMAND = "python -m experiments make quantization"


@dataclass(frozen=True)
class Way:
    """One line of the chart: a scheme at every number of bits, and how the codes are chosen."""

    symmetric: bool
    per: str
    method: str = ROUNDING

    @property
    def key(self) -> str:
        """Its name in the file."""
        return f"{'symmetric' if self.symmetric else 'asymmetric'}-{self.per}-{self.method}"

    def scheme(self, bits: int) -> Scheme:
        """Its scheme with so many bits."""
        return Scheme(bits, self.symmetric, self.per, GROUP_OF)


WAYS = (
    *(Way(symmetric, per) for per in (TENSOR, CHANNEL, GROUP) for symmetric in (True, False)),
    *(Way(symmetric, GROUP, AWQ) for symmetric in (True, False)),
)


@dataclass(frozen=True)
class Point:
    """One measurement: nats per token, and bytes of the whole model and of its matrices."""

    bits: int
    loss: float
    total: int
    matrices: int


@dataclass(frozen=True)
class Curves:
    """What was measured: the model's own loss and size, the floor, and the points of each way."""

    documents: int
    tokens: int
    loss: float  # of the model as it is, nats per token
    floor: float
    float16: int  # bytes of the model with 16 bits a number
    float16_matrices: int  # of them, those of the matrices that are quantized
    points: dict[str, tuple[Point, ...]]


def curves(folder: Path = EXPERIMENT_FOLDER) -> Curves:
    """Return the bundled measurements. Raises ValueError where they are not in this copy."""
    raw = read_json(folder / FILE)
    try:
        points = {way.key: tuple(Point(**row) for row in raw["points"][way.key]) for way in WAYS}
        names = ("documents", "tokens", "loss", "floor", "float16", "float16_matrices")
        return Curves(**{name: raw[name] for name in names}, points=points)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{FILE} lacks {error}") from None
