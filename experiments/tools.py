"""What a calculator is worth to a small model: twelve trainings, measured.

Makes what `llmviz.course.lessons.reasoning.tools.tool_record` reads.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.course.lessons.reasoning.tools.calculator import calculate
from llmviz.course.lessons.reasoning.tools.tool_loop import (
    HONEST,
    LIES,
    RIGHT,
    Run,
    kind_of,
    lying,
    write_all,
)
from llmviz.course.lessons.reasoning.tools.tool_texts import (
    BATCH,
    CALL,
    DIRECT,
    DOUBT,
    OPEN,
    RESULT,
    TOKENS,
    TOOL,
    TRAINED,
    UPDATES,
    WAYS,
    Question,
    characters,
    encode,
    fresh,
    is_number,
    new_model,
    train,
)
from llmviz.training.files import read_json, write_json
from llmviz.training.measures import Share

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.tools.tool_record import (
    BUNDLED,
    CHAIN,
    COMMAND,
    DIGITS,
    FILE,
    FOLDER,
    IN_CALL,
    IN_COPY,
    IN_FORM,
    IN_HEAD,
    LONGER,
    PRODUCT,
    SEEDS,
    SUM,
    TESTS,
    Measured,
)

TASKS: dict[str, dict[str, Any]] = {
    SUM: {"steps": 1, "words": (" add ", " subtract ")},
    PRODUCT: {"steps": 1, "words": (" times ",)},
    CHAIN: {"steps": 2},
    LONGER: {"steps": 3},  # more steps than any training had
}


CAUSES = (IN_CALL, IN_COPY, IN_HEAD, IN_FORM)
"""Where a wrong answer comes from: a call that is not the one that is needed, a result that is not
copied, a number without any call, or a text without an answer."""


def cause_of(run: Run, question: Question) -> str:
    """Return where a wrong answer comes from, of CAUSES."""
    if [call.text for call in run.calls] != question.calls[: len(run.calls)]:
        return IN_CALL
    if run.answer is None:
        return IN_FORM
    if not run.calls:
        return IN_HEAD
    return IN_COPY if len(run.calls) == len(question.calls) else IN_CALL


def tests(task: str, digits: int) -> list[Question]:
    """Return the questions of a task, the same for each model."""
    rng = np.random.default_rng([len(task), digits])
    return [fresh(rng, apart=True, digits=digits, **TASKS[task]) for _ in range(TESTS)]


def asked_apart(steps: int = 0) -> list[Question]:
    """Return questions as in the training that were kept apart, with a value that is not 0."""
    rng = np.random.default_rng(77)
    found: list[Question] = []
    while len(found) < 2 * TESTS:
        question = fresh(rng, apart=True, steps=steps)
        if question.value:
            found.append(question)
    return found


def measure(model: GPT, way: str, seed: int, loss: float, seconds: float) -> Measured:
    """Ask a model everything."""
    right: dict[str, dict[int, Share]] = {}
    causes: dict[str, dict[int, dict[str, int]]] = {}
    for task in TASKS if way in (DIRECT, TOOL) else ():
        right[task], causes[task] = {}, {}
        for digits in DIGITS:
            questions = tests(task, digits)
            runs = write_all(model, questions)
            wrong = [
                cause_of(run, question)
                for run, question in zip(runs, questions, strict=True)
                if kind_of(run, question.value) != RIGHT
            ]
            right[task][digits] = Share(len(runs) - len(wrong), len(runs))
            causes[task][digits] = dict(Counter(wrong))
    questions, by_lie, invented, numbers = asked_apart(), {}, None, 0
    counts = answers(write_all(model, questions), questions)
    if way != DIRECT:
        single = asked_apart(steps=1)
        for lie in (HONEST, *LIES):
            tools = [lying(lie)] * len(single)
            by_lie[lie] = answers(write_all(model, single, tools), single)
        invented, numbers = inventions(model, single)
    return Measured(way, seed, loss, seconds, right, causes, counts, by_lie, invented, numbers)


def answers(runs: Sequence[Run], questions: Sequence[Question]) -> dict[str, int]:
    """Count what answers are, by kind."""
    pairs = zip(runs, questions, strict=True)
    return dict(Counter(kind_of(run, question.value) for run, question in pairs))


def inventions(model: GPT, questions: Sequence[Question]) -> tuple[Share, int]:
    """Let a model write on behind the right call itself; return right results, and numbers.

    What it writes up to its next mark is its result.
    """
    from llmviz.finetuning.rollouts import sample_groups

    prompts = [
        [*encode(question.text), CALL, *characters(question.calls[0]), RESULT]
        for question in questions
    ]
    marks = tuple(range(CALL, len(TOKENS)))
    groups = sample_groups(model, prompts, 1, 16, marks, 0, temperature=0.0)
    written = ["".join(TOKENS[token] for token in ids[:-1]) for (ids,) in groups]
    hits = sum(
        text == str(calculate(question.calls[0]))
        for text, question in zip(written, questions, strict=True)
    )
    return Share(hits, len(written)), sum(map(is_number, written))


def make(folder: Path = FOLDER, seeds: Sequence[int] = SEEDS) -> None:
    """Train and measure what is not there yet; write the record once all models are."""
    import torch
    from tqdm import tqdm

    from llmviz.training.tensors import load_tensors, save_tensors

    work = folder.with_name(f"{folder.name}.work")
    work.mkdir(parents=True, exist_ok=True)
    for way, seed in tqdm([(way, seed) for way in (TOOL, DIRECT, DOUBT, OPEN) for seed in seeds]):
        path = work / f"{way}-{seed}.json"
        if not path.is_file():
            begun = time.perf_counter()
            model, loss = train(way, seed)
            seconds = round(time.perf_counter() - begun, 1)
            save_tensors(path.with_suffix(".safetensors"), dict(model.state_dict()), torch.float16)
            write_json(path, asdict(measure(model, way, seed, loss, seconds)))
    paths = [work / f"{way}-{seed}.json" for way in WAYS for seed in SEEDS]
    if not all(path.is_file() for path in paths):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for way in BUNDLED:
        tensors = load_tensors(work / f"{way}-{SEEDS[0]}.safetensors")
        save_tensors(folder / f"{way}.safetensors", tensors)
    card = {
        "command": COMMAND,
        "parameters": sum(parameter.numel() for parameter in new_model().parameters()),
        "updates": UPDATES,
        "texts": BATCH * UPDATES,
        "digits": TRAINED,
    }
    write_json(folder / FILE, card | {"models": [read_json(path) for path in paths]})


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train the models with a calculator again.")
    parser.add_argument("--to", type=Path, default=FOLDER, help="the folder written to")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="only these")
    arguments = parser.parse_args()
    make(arguments.to, arguments.seeds)


if __name__ == "__main__":
    main()
