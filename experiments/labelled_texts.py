"""Accuracy against the number of labelled examples, for each way of training; bundled as a file.

Makes what `llmviz.course.lessons.finetuning.classifier.examples_curve` reads.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path
from typing import Any

from llmviz.course.lessons.finetuning.classifier.class_texts import labelled_stories
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan
from llmviz.course.lessons.finetuning.classifier.examples_curve import (
    COMMAND,
    COUNTS,
    FILE,
    READS,
    STEPS,
    TASK,
    Run,
    runs,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.labels import Labelled
from llmviz.finetuning.plan import BASE
from llmviz.training.files import read_json, write_json

TESTED = 400  # texts, the same for all


def texts() -> tuple[Labelled, Labelled]:
    """Return the texts that trainings draw from, and those that all are tested on."""
    whole = labelled_stories(TASK, READS, COUNTS[-1] + TESTED + 100)
    return whole.split(TESTED / len(whole.texts))


def measure(run: Run, pool: Labelled, test: Labelled, kept: Any = None) -> float:
    """Train once and return the accuracy on the test.

    kept: the features of `pool` and of `test`, for a head alone, which need not be made anew.
    """
    import torch

    from llmviz.finetuning import classifier as c
    from llmviz.pretrained import load_bundled
    from llmviz.training import train

    plan = ClassPlan(way=run.way, examples=run.examples, steps=STEPS[run.way], seed=run.seed)
    settings = dataclasses.replace(plan.settings(), eval_every=0, eval_batches=1)
    some = pool.first(run.examples, run.seed)
    base, tokenizer, _ = load_bundled(BASE)
    model = c.classifier(base, len(pool.names), run.way, run.seed)
    if kept is None:
        module, data = c.prepare_classes(model, tokenizer, some, test, run.way, run.seed)
    else:
        places = {text: place for place, text in enumerate(pool.texts)}
        rows = torch.tensor([places[text] for text in some.texts])
        labels = [torch.tensor(part.labels) for part in (some, test)]
        module = model.head
        data = c.ClassData((kept[0][rows],), labels[0], (kept[1],), labels[1], run.seed)
    for _ in train(module, data, settings):
        pass
    test_ids = c.encode(tokenizer, test.texts, model.context_length)
    chosen = c.predict(model, test_ids).argmax(1)
    return c.accuracy(c.confusion(test.labels, chosen, len(test.names)))


def features(pool: Labelled, test: Labelled) -> tuple[Any, Any]:
    """Return the features of all texts under the base, (N, C) each."""
    from llmviz.finetuning import classifier as c
    from llmviz.models.transformers import require_transformer
    from llmviz.pretrained import load_bundled

    base, tokenizer, _ = load_bundled(BASE)
    body = c.body_of(require_transformer(base))
    encoded = (c.encode(tokenizer, part.texts, base.context_length) for part in (pool, test))
    first, second = (c.features(body, texts) for texts in encoded)
    return first, second


def make(folder: Path = EXPERIMENT_FOLDER, most: int | None = None) -> int:
    """Measure what the file does not have yet, `most` trainings at most; return how many are left.

    The file is written after each training.
    """
    path = folder / FILE
    from tqdm import tqdm

    pool, test = texts()
    about: dict[str, Any] = {
        "command": COMMAND,
        "base": BASE,
        "task": TASK,
        "reads": READS,
        "tested": len(test.texts),
        "guess": max(test.counts.values()) / len(test.texts),
        "steps": STEPS,
        "seconds": 0.0,
        "accuracy": {},
    }
    if path.is_file():
        before = read_json(path)
        if all(before.get(key) == about[key] for key in ("base", "task", "reads", "steps")):
            about |= {key: before[key] for key in ("seconds", "accuracy")}
    wanted = [run for run in runs() if run.key not in about["accuracy"]]
    kept = features(pool, test) if any(run.way == "head" for run in wanted) else None
    for run in tqdm(wanted[:most], unit="training"):
        begun = time.perf_counter()
        reached = measure(run, pool, test, kept if run.way == "head" else None)
        about["accuracy"][run.key] = reached
        about["seconds"] = round(about["seconds"] + time.perf_counter() - begun, 1)
        write_json(path, about)
    return len(wanted) - len(wanted[:most])


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description="Measure accuracy against examples again.")
    parser.add_argument("--to", type=Path, default=EXPERIMENT_FOLDER, help="folder of the file")
    parser.add_argument("--again", action="store_true", help="forget what is measured already")
    given = parser.parse_args()
    if given.again:
        (given.to / FILE).unlink(missing_ok=True)
    make(given.to)


if __name__ == "__main__":
    main()
