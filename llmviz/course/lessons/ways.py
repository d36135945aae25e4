"""The ways through the course, as data: which chapters in which order, in how many sittings."""

from llmviz.course.lessons.home import REAL_TEXT, TEXT
from llmviz.course.ui.contents import COURSE, HOUR
from llmviz.course.ui.course import Stop
from llmviz.course.ui.get_model import REAL


def _sitting(*places: str) -> tuple[Stop, ...]:
    named = (place.partition("/") for place in places)
    return tuple(Stop(lesson, chapter) for lesson, _, chapter in named)


# The sentence that goes through the hour where a visitor has none: with the real model, and without
# it the story that home begins with, up to where the toy world's model is not sure.
SENTENCES = REAL_TEXT, TEXT.partition("And where")[0] + "At noon Anna"
# By the name in links: its sittings, each with its stops. The way through all chapters is LESSONS.
WAYS: dict[str, tuple[tuple[Stop, ...], ...]] = {
    HOUR: (
        (Stop("tokenization", "cut", 10, {"tokenizer": REAL}),),
        (
            Stop(
                *("embeddings", "similarity", 13),
                {"model": REAL, "word": "Paris", "other": "France"},
            ),
        ),
        (Stop("attention", "trained", 15, {"model": REAL}),),
        (Stop("training", "teach", 10),),
        (Stop("sampling", "temperature", 12, {"model": REAL}),),
    ),
    COURSE: (
        _sitting("history/where", "tokenization/cut", "tokenization/learn"),
        _sitting("embeddings/lookup", "embeddings/similarity"),
        _sitting("history/counting", "history/mlp", "history/all"),
        _sitting("attention/why", "attention/steps"),
        _sitting("attention/masks", "attention/heads"),
        _sitting("transformer/block", "transformer/stream", "transformer/context"),
        _sitting("training/loss", "training/descent"),
        _sitting("training/curves", "training/overfitting", "training/runs"),
        _sitting("sampling/loop", "sampling/temperature", "sampling/pipeline"),
        _sitting("finetuning/stages", "finetuning/instructions", "finetuning/preferences"),
    ),
}
