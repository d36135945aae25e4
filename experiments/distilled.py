"""Students of the story model: what they lack by what they learned from, measured and bundled.

Makes what `llmviz.course.lessons.reasoning.distillation.distil_record` reads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict, astuple
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.corpus.next_tokens import TrueTokens, true_tokens
from llmviz.course.lessons.reasoning.distillation import distilling as students
from llmviz.course.lessons.reasoning.distillation.distilling import (
    SOFT_1,
    TEXT,
    UPDATES,
    WAYS,
    Transfer,
)
from llmviz.evaluation.exact_loss import corpus_loss, log_softmax
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json, write_json
from llmviz.training.held_out_texts import SEED, stories

if TYPE_CHECKING:
    import torch

    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.distillation.distil_record import (
    BUNDLED,
    COMMAND,
    DRAWS,
    FEW,
    FILE,
    KINDS,
    NOISE_BATCHES,
    NOISE_SEED,
    SEEDS,
    WEIGHTS,
    WORD,
    Kind,
    Measured,
    Noise,
    Run,
    WordChances,
    bundled,
)

WORD_TESTS = 40  # new stories that have the word


POSSIBLE, CERTAIN = 0.5, 0.9  # true probabilities below and above which a place counts as either


PROBED = 20  # probes of each rule


OWN = 40  # stories that a student learned from, and is asked again


@cache
def word_tests() -> tuple[TrueTokens, ...]:
    """Return new stories that have the word, with the true distribution before each token."""
    tokenizer = students.teacher()[1]
    found = (text for text in stories(100 * WORD_TESTS, SEED + 1) if students.has_word(text, WORD))
    return tuple(true_tokens(text, tokenizer) for text in islice(found, WORD_TESTS))


def word_chances(model: GPT) -> WordChances:
    """Return how probable a model finds the word where it can come."""
    import torch

    end, (token,) = students.teacher()[1].end, students.teacher()[1].encode(f" {WORD}")
    true, given = [], []
    with torch.inference_mode():
        for truth in word_tests():
            logits = model(torch.tensor([[end, *truth.ids[:-1]]]))[0][0].double().numpy()
            given.append(np.exp(log_softmax(logits)[:, token]))
            true.append([following.of(token) for following in truth.following[: len(truth.ids)]])
    p, q = np.concatenate(true), np.concatenate(given)
    possible, certain = (p > 0) & (p < POSSIBLE), p > CERTAIN
    return WordChances(
        int(possible.sum()),
        float(p[possible].mean()),
        float(q[possible].mean()),
        int(certain.sum()),
        float(q[certain].mean()),
    )


def measure(model: GPT) -> Measured:
    """Measure a model on new stories."""
    from llmviz.corpus.probes import PROBES, probe_sets
    from llmviz.training.evaluate import share_right

    parts = corpus_loss(students.divided(model, students.tests()))
    every = [probe for some in probe_sets(PROBES, PROBED).values() for probe in some]
    rules = share_right(model, students.teacher()[1], every)
    loss, floor, excess, dice = parts.loss, parts.entropy, parts.divergence, parts.dice
    return Measured(loss, floor, excess, dice, rules, word_chances(model))


def trained(kind: Kind, updates: int = UPDATES) -> tuple[Run, GPT]:
    """Train a student and measure it."""
    import torch

    way = WAYS[kind.way]
    given = students.transfer(way, kind.stories, kind.seed, kind.without)
    torch.manual_seed(kind.seed)
    model = students.new_student(students.teacher()[1].vocab_size)
    points = tuple(students.learn(model, given, way, kind.seed, updates))
    floor = None
    if not way.written:
        texts = students.new_stories(kind.stories, kind.seed, kind.without)[:OWN]
        floor = floor_of(texts, sum(len(ids) - 1 for ids in given.ids[:OWN]))
    return Run(kind, points, measure(model.eval()), own_loss(model, given), floor), model


def own_loss(model: GPT, given: Transfer) -> float:
    """Return the loss of a student on the first stories that it learned from, by their tokens."""
    import torch

    from llmviz.nn.loss import next_token_loss

    nats = tokens = 0.0
    with torch.inference_mode():
        for story in given.ids[:OWN]:
            ids = torch.tensor(story)
            logits = model(ids[None, :-1])[0][0]
            nats += float(next_token_loss(logits, ids[1:])) * (len(story) - 1)
            tokens += len(story) - 1
    return nats / tokens


def floor_of(texts: Sequence[str], tokens: int) -> float:
    """Return minus the grammar's log-probability of stories, per token."""
    from llmviz.corpus.tiny_world import parse

    return -sum(parse(text).log_prob for text in texts) / tokens


def gradient(model: GPT, loss: torch.Tensor) -> torch.Tensor:
    """Return the gradient of all parameters as one vector, in float64."""
    import torch

    parts = torch.autograd.grad(loss, [*model.parameters()])
    return torch.cat([part.flatten() for part in parts]).double()


def noise_of(model: GPT, draws: int = DRAWS, batches: int = NOISE_BATCHES) -> Noise:
    """Measure gradients at a student: for tokens drawn anew, and for batches of other stories."""
    import torch

    from llmviz.evaluation.exact_loss import draw_again
    from llmviz.nn.distillation import distillation_loss, soft_targets
    from llmviz.nn.loss import next_token_loss

    truths, end = students.tests()[: students.BATCH], students.teacher()[1].end
    inputs = [(end, *truth.ids) for truth in truths]

    def logits() -> torch.Tensor:
        return torch.cat([model(torch.tensor([row[:-1]]))[0][0] for row in inputs])

    vocabulary = students.teacher()[1].vocab_size
    dense = [p.dense(vocabulary) for truth in truths for p in truth.following[: len(truth.ids)]]
    right = gradient(model, distillation_loss(logits(), torch.tensor(np.array(dense)).float()))
    soft = soft_targets(torch.cat(students.teacher_logits(inputs)).float())
    taught = gradient(model, distillation_loss(logits(), soft))
    far = []
    for draw in range(draws):
        ids = [
            draw_again(truth, len(truth.ids), draw * len(truths) + at)
            for at, truth in enumerate(truths)
        ]
        target = torch.from_numpy(np.concatenate(ids))
        far.append(float(((gradient(model, next_token_loss(logits(), target)) - right) ** 2).sum()))
    rows: dict[str, list[torch.Tensor]] = {TEXT: [], SOFT_1: []}
    given = students.transfer(WAYS[SOFT_1], batches * students.BATCH, NOISE_SEED)
    for batch in range(batches):
        places = range(batch * students.BATCH, (batch + 1) * students.BATCH)
        for name, found in rows.items():
            found.append(gradient(model, students.batch_loss(model, given, places, WAYS[name])))
    distances = []
    for found in rows.values():
        every = torch.stack(found)
        distances.append(((every - every.mean(0)) ** 2).sum(1) * batches / (batches - 1))
    text, taught_far = distances
    return Noise(
        float(np.mean(far)),
        float(np.std(far, ddof=1)) / draws**0.5,
        float(((taught - right) ** 2).sum()),
        float((right**2).sum()),
        float(text.mean()),
        float(taught_far.mean()),
        float((text - taught_far).std()) / batches**0.5,
    )


def make(folder: Path = EXPERIMENT_FOLDER, kinds: Sequence[Kind] = KINDS) -> None:
    """Train and measure students; the file is written after each, the rest once all are there."""
    import torch
    from tqdm import tqdm

    from llmviz.training.tensors import save_tensors

    path = folder / FILE
    content: dict[str, Any] = {"command": COMMAND, "seconds": 0.0, "runs": []}
    if path.is_file():
        content = read_json(path)
    done = {Kind(*row["kind"]) for row in content["runs"]}
    for kind in tqdm([kind for kind in kinds if kind not in done], unit="student"):
        begun = time.perf_counter()
        run, model = trained(kind)
        if kind.way in BUNDLED and kind == Kind(kind.way, FEW, 0):
            weights = folder / WEIGHTS.format(kind.way)
            save_tensors(weights, dict(model.state_dict()), torch.float16)
        content["runs"].append(_packed(run))
        content["seconds"] = round(content["seconds"] + time.perf_counter() - begun, 1)
        write_json(path, content)
    if {Kind(*row["kind"]) for row in content["runs"]} == set(KINDS):
        content["runs"].sort(key=lambda row: KINDS.index(Kind(*row["kind"])))
        content["teacher"] = _short(asdict(measure(students.teacher()[0])))
        content["noise"] = _short(asdict(noise_of(bundled(TEXT, folder))))
        write_json(path, content)


def _short(value: Any) -> Any:
    """Numbers with six digits, for a small file."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    return [_short(part) for part in value] if isinstance(value, list | tuple) else value


def _packed(run: Run) -> dict[str, Any]:
    content = asdict(run) | {"points": [astuple(point) for point in run.points[1:]]}
    content["start"] = run.points[0].excess
    return _short(content)


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train the bundled students again.")
    parser.add_argument("--to", type=Path, default=EXPERIMENT_FOLDER, help="the folder written to")
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS, help="only these students")
    arguments = parser.parse_args()
    make(arguments.to, [kind for kind in KINDS if kind.seed in arguments.seeds])


if __name__ == "__main__":
    main()
