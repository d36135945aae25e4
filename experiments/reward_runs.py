"""A small GPT of sums that learns from rewards, watched: what it writes, and how often it is right.

Makes what `llmviz.course.lessons.reasoning.reward_runs` reads.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments._command import write_to
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.sum_texts import (
    END,
    LONGEST,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json, write_json

if TYPE_CHECKING:
    from llmviz.finetuning.rewarded import RewardConfig
from llmviz.course.lessons.reasoning.reward_runs import (
    COMMAND,
    DPO,
    FILE,
    LOOK_SEED,
    NOISE_BATCHES,
    PAIR_BETA,
    QUESTIONS,
    SAMPLES,
    SEEDS,
    WAYS,
    Course,
    Look,
    Noise,
    RewardRun,
    config_of,
    look_at,
    questions_of,
    reward_run,
    right_reward,
)

EVERY = 20  # updates between two looks of a bundled run


NOISE_WAYS = ("reinforce", "baseline")


def pair_run(config: RewardConfig, every: int) -> Iterator[Look]:
    """Let the bundled model learn from pairs of its own samples; yield looks at it."""
    from experiments._own_pairs import learn_from_own_pairs

    base = sum_texts.bundled()
    model, held = copy.deepcopy(base), sum_texts.sums()[1][:QUESTIONS]
    yield look_at(model, base, 0, held, SAMPLES)
    prompts = questions_of(config.seed)
    for update in learn_from_own_pairs(model, prompts, right_reward, END, config, PAIR_BETA):
        if update.step == config.updates or update.step % every == 0:
            yield look_at(model, base, update.step, held, SAMPLES)


def noise_of(batches: int = NOISE_BATCHES) -> Noise:
    """Measure the gradients of so many batches of samples of the base model."""
    import torch

    from llmviz.finetuning.policy import METHODS, Written, advantages, policy_steps
    from llmviz.finetuning.rewarded import log_probabilities
    from llmviz.finetuning.rollouts import sample_groups

    model, config = copy.deepcopy(sum_texts.bundled()), config_of("baseline")
    prompts = questions_of(99)
    found: dict[str, list[Any]] = {way: [] for way in NOISE_WAYS}
    for step in range(1, batches + 1):
        batch = prompts(step, config.prompts)
        groups = sample_groups(
            model, batch, config.group, LONGEST, END, LOOK_SEED + config.seed_of(step)
        )
        pairs = zip(batch, groups, strict=True)
        paid = torch.tensor([[right_reward(q, ids) for ids in group] for q, group in pairs])
        written = Written.of(
            [q for q in batch for _ in range(config.group)], [ids for g in groups for ids in g], END
        )
        now = written.chosen(log_probabilities(model, written))
        for way, rows in found.items():
            how, old = METHODS[way], now.detach()
            better = advantages(paid, how.advantage).flatten()
            loss = policy_steps(now, old, old, better, written.mask, how).loss
            gradient = torch.autograd.grad(loss, [*model.parameters()], retain_graph=True)
            rows.append(torch.cat([part.flatten() for part in gradient]))
    distances = []
    for rows in found.values():
        every = torch.stack(rows).double()
        distances.append(((every - every.mean(0)) ** 2).sum(1) * batches / (batches - 1))
    plain, compared = distances
    error = float((compared - plain).std()) / batches**0.5
    return Noise(float(plain.mean()), float(compared.mean()), error)


def trained(way: str, seed: int) -> RewardRun:
    """Make a bundled run."""
    config, updates, looks = config_of(way, seed), [], []
    run: Iterator[Any] = pair_run(config, EVERY) if way == DPO else reward_run(config, EVERY)
    for log in run:
        if isinstance(log, Look):
            looks.append(log)
        else:
            updates.append(Course(log.step, log.reward, log.divergence, log.entropy, log.length))
    return RewardRun(way, seed, tuple(updates), tuple(looks))


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Make all runs; the file is written after each, and what it has is not made again."""
    from tqdm import tqdm

    path = folder / FILE
    content: dict[str, Any] = {"command": COMMAND, "seconds": 0.0, "noise": {}, "runs": []}
    if path.is_file():
        content = read_json(path)
    done = {(run["way"], run["seed"]) for run in content["runs"]}
    wanted = [(way, seed) for seed in SEEDS for way in WAYS if (way, seed) not in done]
    if not content["noise"]:
        content["noise"] = asdict(noise_of())
    for way, seed in tqdm(wanted, unit="run"):
        begun = time.perf_counter()
        content["runs"].append(_packed(trained(way, seed)))
        content["seconds"] = round(content["seconds"] + time.perf_counter() - begun, 1)
        write_json(path, content)
    write_json(path, content)


def _packed(run: RewardRun) -> dict[str, Any]:
    """A run as JSON: the numbers of its updates as lists, one for each curve."""
    names = Course.__dataclass_fields__
    curves = {name: [_short(getattr(update, name)) for update in run.updates] for name in names}
    written = {name: " ".join(map(str, values)) for name, values in curves.items()}
    looks = [asdict(look) | {"counts": " ".join(map(str, look.counts))} for look in run.looks]
    return {"way": run.way, "seed": run.seed, "updates": written, "looks": looks}


def _short(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.5g}")


if __name__ == "__main__":
    write_to(make, "Train the bundled runs with rewards again.")
