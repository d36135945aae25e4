"""Features of the story model, learned at each layer and held against the grammar's own labels.

Makes what `llmviz.course.lessons.discoveries.features_record` reads.

N features, K labels, S texts that are kept of a feature, W tokens of such a text.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.interpretability.sparse_autoencoder import Dictionary, Recipe, learn
from llmviz.training.files import read_json, write_json
from llmviz.training.held_out_texts import stories

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer
from llmviz.course.lessons.discoveries.features_record import (
    BEFORE,
    BEHIND,
    CHOSEN_ON,
    COMMAND,
    FOLDER,
    KEPT,
    KINDS,
    LAYERS,
    MAIN,
    MODEL,
    PARTS,
    SCORES,
    SEEDS,
    LayerScore,
    Run,
    RunScore,
    _file,
    held_out_stories,
    weights_of,
)

LEARNED_FROM, LEARNED_SEED = 2200, 40_000  # stories that features are learned from, and their seed


STEPS = 1000


REPLACED_IN = 60  # stories that the model reads with its stream replaced


ABSENT = -1.0  # in a window, where the story has no token


RUNS = tuple(Run(*kind, seed) for seed in SEEDS for kind in KINDS)


def _ids(tokenizer: Tokenizer, texts: Sequence[str], gpt: GPT) -> list[list[int]]:
    return [tokenizer.encode_from_start(text)[: gpt.context_length] for text in texts]


def train(gpt: GPT, tokenizer: Tokenizer, work: Path) -> int:
    """Learn all runs that are not in the folder yet; return how many tokens they learn from."""
    import torch
    from tqdm import tqdm

    from llmviz.interpretability.stream_reading import read_taps, stream_tap
    from llmviz.training.tensors import save_tensors

    ids = sorted(_ids(tokenizer, stories(LEARNED_FROM, LEARNED_SEED), gpt), key=len)
    left = [run for run in RUNS if not (work / f"{run.name}.safetensors").is_file()]
    for layer in sorted({run.layer for run in left}):
        (parts,) = read_taps(gpt, ids, [stream_tap(layer)], "float16")
        vectors = np.concatenate(parts)
        for run in tqdm([run for run in left if run.layer == layer]):
            begun = time.perf_counter()
            *_, last = learn(vectors, Recipe(run.features, run.on, STEPS, run.seed))
            tensors = {part: torch.from_numpy(getattr(last.dictionary, part)) for part in PARTS}
            tensors["seconds"] = torch.tensor(time.perf_counter() - begun, dtype=torch.float64)
            save_tensors(work / f"{run.name}.safetensors", tensors, torch.float16)
    return sum(len(story) - 1 for story in ids)


def _learned(run: Run, work: Path) -> tuple[Dictionary, float]:
    from llmviz.training.tensors import load_tensors

    tensors = load_tensors(work / f"{run.name}.safetensors")
    parts = [tensors[part].float().numpy() for part in PARTS]
    return Dictionary(run.on, *parts), float(tensors["seconds"])


@dataclass(frozen=True, eq=False)
class _Read:
    """What the model did on the stories of a seed: for each story, one after another."""

    seed: int
    ids: list[list[int]]
    streams: list[list[np.ndarray]]  # [layer][story] (T, C)
    units: list[list[np.ndarray]]
    labels: list[np.ndarray]  # [story] (T, K)

    def halves(self, parts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate(parts[:CHOSEN_ON]), np.concatenate(parts[CHOSEN_ON:])


def read_stories(gpt: GPT, tokenizer: Tokenizer, seed: int, texts: Sequence[str]) -> _Read:
    """Return what passed in the model on stories, and what the grammar says of each token."""
    from llmviz.corpus.states import label, token_labels
    from llmviz.interpretability.stream_reading import read_taps, stream_tap

    ids = _ids(tokenizer, texts, gpt)
    taps = [stream_tap(layer) for layer in LAYERS] + [f"blocks.{layer}.mlp.act" for layer in LAYERS]
    found = read_taps(gpt, ids, taps)
    labels = []
    for text, tokens in zip(texts, ids, strict=True):
        ends = [token.char_end for token in tokenizer.tokens(text)][: len(tokens) - 1]
        labels.append(token_labels(label(text), ends))
    return _Read(seed, ids, found[: len(LAYERS)], found[len(LAYERS) :], labels)


def layer_score(gpt: GPT, tokenizer: Tokenizer, read: _Read, layer: int) -> LayerScore:
    """Measure what units, axes and all numbers together say of the labels."""
    import torch

    from experiments._columns_on_labels import (
        choose,
        f1_scores,
        measured,
        readings,
    )
    from llmviz.corpus.next_tokens import true_tokens
    from llmviz.interpretability.stream_reading import losses_with, stream_tap

    labels, wanted = read.halves(read.labels)
    f1 = {}
    for name, parts in (("unit", read.units), ("axis", read.streams)):
        some, others = (np.hstack([x, -x]) for x in read.halves(parts[layer]))
        f1[name] = measured(choose(some, labels), others, wanted)
    stream, other = read.halves(read.streams[layer])
    some, others = readings(stream, labels, stream), readings(stream, labels, other)
    each = []
    for k in range(labels.shape[1]):
        chosen = choose(some[:, [k]], labels[:, [k]])
        each.append(f1_scores(others[:, [k]] > chosen.thresholds, wanted[:, [k]])[0])
    mean = torch.from_numpy(stream.mean(0))
    texts = read.ids[CHOSEN_ON:][:REPLACED_IN]
    came = [
        true_tokens(story, tokenizer).log_probs[: len(ids) - 1]
        for story, ids in zip(held_out_stories(read.seed)[CHOSEN_ON:], texts, strict=False)
    ]
    unit, axis, reading = (tuple(map(_rounded, row)) for row in (f1["unit"], f1["axis"], each))
    return LayerScore(
        layer,
        read.seed,
        unit,
        axis,
        reading,
        float(losses_with(gpt, texts).mean()),
        float(losses_with(gpt, texts, stream_tap(layer), lambda x: mean.expand_as(x)).mean()),
        tuple(wanted.sum(0).tolist()),
        len(wanted),
        -float(np.mean(np.concatenate(came))),
    )


def run_score(gpt: GPT, read: _Read, run: Run, dictionary: Dictionary, seconds: float) -> RunScore:
    """Measure a dictionary on the stories of its seed."""
    import torch

    from experiments._columns_on_labels import choose, measured
    from llmviz.interpretability.stream_reading import losses_with, stream_tap

    labels, wanted = read.halves(read.labels)
    stream, other = read.halves(read.streams[run.layer])
    some, others = dictionary.read(stream), dictionary.read(other)
    chosen = choose(some, labels)
    apart = ((other - dictionary.write(others)) ** 2).sum(1)
    spread = ((other - other.mean(0)) ** 2).sum(1)
    missed = [float(apart[on].sum() / spread[on].sum()) if on.any() else 0.0 for on in wanted.T]

    def change(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(dictionary.write(dictionary.read(x.numpy())))

    texts = read.ids[CHOSEN_ON:][:REPLACED_IN]
    return RunScore(
        run.layer,
        run.features,
        run.on,
        run.seed,
        1 - float(apart.sum() / spread.sum()),
        float(losses_with(gpt, texts, stream_tap(run.layer), change).mean()),
        int(((some > 0).sum(0) + (others > 0).sum(0) == 0).sum()),
        tuple(map(_rounded, measured(chosen, others, wanted))),
        tuple(chosen.columns.tolist()),
        tuple(map(_rounded, missed)),
        round(seconds, 1),
    )


def _rounded(value: float) -> float:
    return round(float(value), 5)


def bundle_parts(read: _Read, run: Run, dictionary: Dictionary) -> dict[str, np.ndarray]:
    """Return what a feature did on held-out stories, as the arrays of `Bundle`."""
    values = [dictionary.read(stream) for stream in read.streams[run.layer]]
    peaks = np.stack([story.max(0) for story in values])  # (stories, N)
    order = np.argsort(-peaks, axis=0, kind="stable")[:KEPT].T  # (N, S)
    places = np.zeros_like(order)
    windows = np.full((*order.shape, BEFORE + 1 + BEHIND), ABSENT, np.float32)
    for feature, numbers in enumerate(order):
        for at, number in enumerate(numbers):
            column = values[number][:, feature]
            place = places[feature, at] = int(column.argmax())
            first, last = max(0, place - BEFORE), min(len(column), place + BEHIND + 1)
            begin = first - (place - BEFORE)
            windows[feature, at, begin : begin + last - first] = column[first:last]
    on = np.concatenate(values) > 0
    return {
        "share": on.mean(0).astype(np.float32),
        "stories": order.astype(np.int16),
        "places": places.astype(np.int16),
        "windows": windows.astype(np.float16),
        "on": on,
    }


def parents_of(
    dictionary: Dictionary, on: np.ndarray, smaller: Dictionary, smaller_on: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the nearest feature of a smaller dictionary, and how often it is on, too (N,)."""
    parents = (dictionary.directions @ smaller.directions.T).argmax(1)
    both = (on & smaller_on[:, parents]).sum(0)
    shared = both / np.maximum(1, on.sum(0))
    return {"parents": parents.astype(np.int16), "shared": shared.astype(np.float32)}


def measure(gpt: GPT, tokenizer: Tokenizer, seed: int, work: Path, folder: Path) -> dict[str, Any]:
    """Return what is measured of all runs of a seed; write the dictionaries that come along."""
    import torch
    from tqdm import tqdm

    from llmviz.training.tensors import save_tensors

    read = read_stories(gpt, tokenizer, seed, held_out_stories(seed))
    layers = [layer_score(gpt, tokenizer, read, layer) for layer in LAYERS]
    runs = []
    smaller: tuple[Dictionary, np.ndarray] | None = None
    of_seed = sorted((run for run in RUNS if run.seed == seed), key=lambda run: run.features)
    for run in tqdm(of_seed):
        dictionary, seconds = _learned(run, work)
        runs.append(run_score(gpt, read, run, dictionary, seconds))
        if not run.bundled:
            continue
        parts = bundle_parts(read, run, dictionary)
        on = parts.pop("on")
        if run.layer == MAIN:
            parts |= {} if smaller is None else parents_of(dictionary, on, *smaller)
            smaller = dictionary, on
        tensors = {name: torch.from_numpy(value) for name, value in parts.items()}
        for name in PARTS:
            tensors[name] = torch.from_numpy(getattr(dictionary, name)).half()
        save_tensors(folder / _file(run.layer, run.features), tensors)
    return {
        "divisor": float(np.concatenate(read.streams[LAYERS[-1]]).std(1).mean()),
        "layers": [asdict(score) for score in layers],
        "runs": [asdict(score) for score in runs],
    }


def make(folder: Path, work: Path) -> None:
    """Learn and measure all, and write the folder."""
    import torch

    from llmviz.corpus.states import LABELS
    from llmviz.models.transformers import require_dense
    from llmviz.pretrained import load_bundled

    torch.set_num_threads(1)
    work.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer, _ = load_bundled(MODEL)
    gpt = require_dense(model)
    tokens = train(gpt, tokenizer, work)
    every = []
    for seed in SEEDS:
        part = work / f"measured-seed-{seed}.json"
        if not part.is_file():
            write_json(part, measure(gpt, tokenizer, seed, work, folder))
        every.append(read_json(part))
    write_json(
        folder / SCORES,
        {
            "command": COMMAND,
            "model": MODEL,
            "weights": weights_of(),
            "steps": STEPS,
            "learned_tokens": tokens,
            "divisor": every[0]["divisor"],
            "labels": list(LABELS),
            "layers": [layer for part in every for layer in part["layers"]],
            "runs": [run for part in every for run in part["runs"]],
        },
    )


def main() -> None:
    """Read the arguments, learn and measure."""
    parser = argparse.ArgumentParser(description="Learn the bundled features again.")
    parser.add_argument("--to", type=Path, default=FOLDER, help="the folder that is written")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "llmviz-features",
        help="where every training is kept when it ends, so that it need not be done again",
    )
    given = parser.parse_args()
    make(given.to, given.work)


if __name__ == "__main__":
    main()
