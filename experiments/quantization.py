"""The loss of the bundled story model by bits and scheme, measured once and bundled.

Makes what `llmviz.course.lessons.efficiency.quantization.model` reads.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from llmviz.course.lessons.efficiency.quantization.model import (
    COMMAND,
    DOCUMENTS,
    FILE,
    MODEL,
    WAYS,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.quantization.quantized_models import quantized
from llmviz.quantization.scheme import FEWEST_BITS, MOST_BITS
from llmviz.training.files import write_json

BITS = tuple(range(MOST_BITS, FEWEST_BITS - 1, -1))


def measure(documents: int = DOCUMENTS) -> dict[str, Any]:
    """Measure all ways at all bits on new stories, and return what the file holds."""
    from llmviz.pretrained import load_bundled
    from llmviz.quantization.model import linears, plain_bytes
    from llmviz.training.evaluate import evaluate_documents
    from llmviz.training.held_out_texts import held_out

    model, tokenizer, card = load_bundled(MODEL)
    kept = held_out({"data": {"corpus": card["corpus"]}}, documents)
    score = evaluate_documents(model, tokenizer, kept.texts)
    points: dict[str, list[dict[str, Any]]] = {}
    for way in WAYS:
        points[way.key] = []
        for bits in BITS:
            rounded = quantized(model, tokenizer, way.scheme(bits), way.method)
            loss = evaluate_documents(rounded.model, tokenizer, kept.texts).per_token
            sizes = rounded.sizes
            point = {"bits": bits, "loss": loss, "total": sizes.total, "matrices": sizes.matrices}
            points[way.key].append(point)
    return {
        "command": COMMAND,
        "model": MODEL,
        "documents": score.documents,
        "tokens": score.tokens,
        "loss": score.per_token,
        "floor": kept.floor(score.documents, score.tokens),
        "float16": plain_bytes(model, 2),
        "float16_matrices": 2 * sum(linear.weight.numel() for linear in linears(model).values()),
        "points": points,
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description="Measure the bundled model on every grid again.")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="new stories")
    parser.add_argument("--to", type=Path, default=EXPERIMENT_FOLDER, help="where the file goes")
    given = parser.parse_args()
    write_json(given.to / FILE, measure(given.documents))


if __name__ == "__main__":
    main()
