"""The words of the lesson on sampling: its head here, each chapter's in its own module."""

from llmviz.lessons.sampling import prompt_words as prompt
from llmviz.lessons.sampling.beam import exhaustive_words as exhaustive
from llmviz.lessons.sampling.beam import words as beam
from llmviz.lessons.sampling.compare import words as compare
from llmviz.lessons.sampling.dice import words as dice
from llmviz.lessons.sampling.knows import words as knows
from llmviz.lessons.sampling.pipeline import words as pipeline
from llmviz.lessons.sampling.temperature import words as temperature
from llmviz.lessons.sampling.writing import words as writing

__all__ = [
    "beam",
    "compare",
    "dice",
    "exhaustive",
    "knows",
    "pipeline",
    "prompt",
    "temperature",
    "writing",
]


# What several chapters say.
RESET = "Reset the steps"
SEED = "Seed"
TEMPERATURE = "Temperature"
STRIP = "Tokens on the strip"
STRIPS = {"probability": "most probable first", "id": "by token id"}
IN_FORCE = "Settings from “Logits to a token”: {settings}."
PLAIN = "none, so these are the model's own probabilities"
