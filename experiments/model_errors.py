"""How wrong a model is on held-out stories, and how sure it was: measured once, and bundled.

Makes what `llmviz.course.lessons.errors.model_errors` reads.

S temperatures, B bins, N stories.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np

from llmviz.course.lessons.errors.model_errors import (
    BASE,
    COMMAND,
    FILE,
    STORIES,
    TO_FIT,
    TUNED,
    ModelErrors,
    measure_named,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json, write_json

_OTHERS = "drafts/tiny-world", "words-gpt", "tiny-world-char"


_BY_HEART = "errors/by-heart", "errors/by-heart-smoothed"


MODELS = BASE, *_OTHERS, "since-2017/learned", *_BY_HEART


def to_json(measured: ModelErrors) -> dict[str, Any]:
    content = asdict(measured)
    return {
        name: value.round(5).tolist() if isinstance(value, np.ndarray) else value
        for name, value in content.items()
    }


def main() -> None:
    """Measure the bundled models, or those named, and write the file after each."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description="Measure the errors of bundled models again.")
    parser.add_argument("names", nargs="*", help="only these models", metavar="MODEL")
    names = parser.parse_args().names
    path, every = EXPERIMENT_FOLDER / FILE, (*MODELS, *TUNED)
    models = read_json(path)["models"] if names and path.is_file() else {}
    for name in names or every:
        for found in tqdm(measure_named(name), name, STORIES + TO_FIT + 1):
            measured = found
        models[name] = to_json(measured)
        in_order = {name: models[name] for name in every if name in models}
        content = {"command": COMMAND, "stories": STORIES, "to_fit": TO_FIT}
        write_json(path, {**content, "models": in_order})


if __name__ == "__main__":
    main()
