"""From logits to text: the sampling pipeline, generation and beam search.

`sampling_steps` runs one row of logits through named steps; `generate` yields tokens;
`beam_search` returns its whole tree, and `BeamSearch` makes its
steps without a model; `exhaustive_search` scores everything there is. `generation`, `beam` and
`exhaustive` load torch, so they are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.files.lazy import lazy_names
from llmviz.sampling.beam_tree import BeamNode, BeamSearch, BeamTree
from llmviz.sampling.kinds import STEPS, StepKind, kind_of, usual_order
from llmviz.sampling.pipeline import (
    Bars,
    SamplingSteps,
    Step,
    sampling_steps,
)
from llmviz.sampling.settings import STRIPS, SamplingSettings
from llmviz.sampling.steps import entropy, nucleus_size, softmax
from llmviz.sampling.temperature import (
    SoftmaxTerms,
    softmax_terms,
    temperature_limit,
)

if TYPE_CHECKING:
    from llmviz.sampling.beam import beam_search, beam_steps
    from llmviz.sampling.exhaustive import Continuations, exhaustive_search
    from llmviz.sampling.generation import GeneratedToken, generate, text_measures

_NEED_TORCH = {
    "beam_search": "beam",
    "beam_steps": "beam",
    "Continuations": "exhaustive",
    "exhaustive_search": "exhaustive",
    "GeneratedToken": "generation",
    "generate": "generation",
    "text_measures": "generation",
}

__all__ = [
    "STEPS",
    "STRIPS",
    "Bars",
    "BeamNode",
    "BeamSearch",
    "BeamTree",
    "Continuations",
    "GeneratedToken",
    "SamplingSettings",
    "SamplingSteps",
    "SoftmaxTerms",
    "Step",
    "StepKind",
    "beam_search",
    "beam_steps",
    "entropy",
    "exhaustive_search",
    "generate",
    "kind_of",
    "nucleus_size",
    "sampling_steps",
    "softmax",
    "softmax_terms",
    "temperature_limit",
    "text_measures",
    "usual_order",
]

__getattr__ = lazy_names(__name__, _NEED_TORCH)
