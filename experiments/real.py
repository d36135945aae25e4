"""What the chapters of "Inside a real model" measure on SmolLM2, for who has not fetched it.

Makes what `llmviz.course.lessons.real.record` reads. The model is asked as it was published, from
the pinned file, in float32; `python -m llmviz get smollm2` fetches it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from experiments._command import write_to
from llmviz.course.lessons.real.measures import MEASURES, finished, name_of
from llmviz.course.lessons.real.record import COMMAND, FOLDER, MODEL, written
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.obtainable.catalogue import how_to_get, path_of
from llmviz.training.files import write_json


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Measure everything, a file for each name. Raises ValueError: the model is another one."""
    import torch
    from tqdm import tqdm

    from llmviz.pretrained import obtained

    path = path_of(MODEL.name)
    if path is None:
        raise SystemExit(how_to_get(MODEL.name))
    if hashlib.sha256(path.read_bytes()).hexdigest() != MODEL.sha256:
        raise SystemExit(f"{path} is another model than the one that is recorded")
    torch.set_num_threads(1)  # more threads add up in another order
    reader = obtained(MODEL.name)
    about = {"command": COMMAND, "model": MODEL.title, "maker": MODEL.maker}
    about |= {"licence": MODEL.licence, "sha256": MODEL.sha256}
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, measure in tqdm(MEASURES.items(), unit="record"):
        made = {
            name_of(given): written(finished(measure.compute(reader, *given)))
            for given in measure.given
        }
        write_json(folder / FOLDER / f"{name}.json", {**about, "made": made})


if __name__ == "__main__":
    write_to(make, 'Measure what the lesson "Inside a real model" shows.')
