"""Two mistakes to spot: layers taken for heads, and a table that begins at 0 read from 1."""

from __future__ import annotations

from llmviz.lessons.attention.heads import words
from llmviz.ui.common import count
from llmviz.ui.lesson import section
from llmviz.ui.question import Question, predict

KEY = "attention.heads.spot"


def draw(name: str, layers: int, heads: int, width: int) -> None:
    """Ask both questions on a model, as far as it has what they are about."""
    asked = [layers_and_heads(name, layers, heads, width), counted_from_zero(layers, heads)]
    if not any(asked):
        return
    section(words.spot)
    for number, question in enumerate(asked):
        if question is not None:
            predict(question, f"{KEY}.{number}")


def layers_and_heads(name: str, layers: int, heads: int, width: int) -> Question | None:
    """Return the question which line is wrong: the one that counts a head for each layer.

    None where that line is right, for models with one head in each layer.
    """
    if heads == 1:
        return None
    known = {
        "name": name,
        "layers": count(layers, "layer"),
        "total": count(layers, "head"),
        "heads": count(heads, "head"),
        "all": layers * heads,
        "size": width // heads,
        "width": width,
    }
    lines = [(line.format(**known), why.format(**known)) for line, why in words.spot_lines.values()]
    answers, reasons = zip(*lines, strict=True)
    right = list(words.spot_lines).index("heads")
    return Question(words.spot_heads.format(**known), answers, right, reasons)


def counted_from_zero(layers: int, heads: int) -> Question | None:
    """Return the question which head a row of a table means; None without a second of both."""
    if layers < 2 or heads < 2:
        return None
    layer, head = 1, min(2, heads - 1)
    nth = words.ordinals
    options = {
        (layer - 1, head - 1): words.spot_zero_both,
        (layer - 1, head): words.spot_zero_layer,
        (layer, head - 1): words.spot_zero_head,
        (layer, head): words.spot_zero_right.format(layer=layer, nth=nth[layer]),
    }
    return Question(
        words.spot_zero.format(
            layer=layer, head=head, wrong_layer=nth[layer - 1], wrong_head=nth[head - 1]
        ),
        [words.spot_zero_answer.format(layer=nth[a], head=nth[b]) for a, b in options],
        list(options).index((layer, head)),
        list(options.values()),
    )
