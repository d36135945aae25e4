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

from llmviz.course.lessons.reasoning.tools.calculator import BROKEN, ZERO, calculate, fed_back
from llmviz.course.lessons.reasoning.tools.tool_loop import (
    HONEST,
    LIES,
    MOST_WRITTEN,
    RIGHT,
    Run,
    Tool,
    honest,
    in_turns,
    kind_of,
    lying,
)
from llmviz.course.lessons.reasoning.tools.tool_texts import (
    ANSWER,
    BATCH,
    CALL,
    DIRECT,
    DOUBT,
    DOUBTED,
    END,
    OPEN,
    RATE,
    RESULT,
    SIGNS,
    STEPS,
    TOKENS,
    TOOL,
    TRAINED,
    UPDATES,
    WARMUP,
    WAYS,
    WRONG,
    Question,
    characters,
    encode,
    is_number,
    new_model,
)
from llmviz.training import small_models
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


SECOND = 99  # most that is multiplied with or divided by


def write_all(model: GPT, questions: Sequence[Question], tool: Sequence[Tool] = ()) -> list[Run]:
    """Return what `write` gives for many questions, each with a tool of its own, all at once."""
    from llmviz.finetuning.rollouts import sample_groups

    tools = list(tool) or [honest] * len(questions)
    open_turns = [in_turns(*pair) for pair in zip(questions, tools, strict=True)]
    prompts = {at: next(turns) for at, turns in enumerate(open_turns)}
    runs: dict[int, Run] = {}
    while prompts:
        groups = sample_groups(
            model, list(prompts.values()), 1, MOST_WRITTEN, (RESULT, END), 0, temperature=0.0
        )
        going_on = {}
        for at, (written,) in zip(prompts, groups, strict=True):
            try:
                going_on[at] = open_turns[at].send(written)
            except StopIteration as stop:
                runs[at] = stop.value
        prompts = going_on
    return [runs[at] for at in range(len(questions))]


def random_number(rng: np.random.Generator, digits: int) -> int:
    """Return a random number of so many digits; 0 has one."""
    low = 10 ** (digits - 1) if digits > 1 else 0
    return int(rng.integers(low, 10**digits))


def random_question(
    rng: np.random.Generator, digits: int = 0, steps: int = 0, words: Sequence[str] = tuple(SIGNS)
) -> Question:
    """Return a question that has a whole value.

    digits: of the first number and of each that is added or subtracted; each is from 1 to TRAINED
    where it is 0. Factors and divisors go up to SECOND. steps: from 1 to STEPS where it is 0.
    """

    def number() -> int:
        return random_number(rng, digits or int(rng.integers(1, TRAINED + 1)))

    first = number()
    value, found = first, []
    for _ in range(steps or int(rng.integers(1, STEPS + 1))):
        word = words[int(rng.integers(len(words)))]
        divisors = [divisor for divisor in range(2, SECOND + 1) if value % divisor == 0]
        if word == " divided by " and not divisors:
            word = " add "
        if word == " divided by ":
            second = divisors[int(rng.integers(len(divisors)))]
        elif word == " times ":
            second = int(rng.integers(2, SECOND + 1)) if digits != 1 else int(rng.integers(2, 10))
        else:
            second = number()
        found.append((word, second))
        value = calculate(f"{value}{SIGNS[word]}{second}")
    return Question(first, tuple(found))


def fresh(rng: np.random.Generator, *, apart: bool = False, **more: object) -> Question:
    """Return a random question for training, or one that is kept apart."""
    while True:
        found = random_question(rng, **more)  # type: ignore[arg-type]  # as it takes them
        if found.is_apart == apart:
            return found


def lie(rng: np.random.Generator, value: str) -> str:
    """Return another number than a value: its sign turned, or one digit changed."""
    if value.strip("-0") and rng.random() < 0.5:
        return value[1:] if value.startswith("-") else f"-{value}"
    places = [at for at, char in enumerate(value) if char != "-"]
    at = places[int(rng.integers(len(places)))]
    least = 1 if at == places[0] and len(places) > 1 else 0
    others = [str(digit) for digit in range(least, 10) if str(digit) != value[at]]
    changed = value[:at] + others[int(rng.integers(len(others)))] + value[at + 1 :]
    return "0" if changed == "-0" else changed


def text_of(question: Question, way: str, rng: np.random.Generator) -> tuple[list[int], list[bool]]:
    """Return the ids of a whole text, and for each whether it is learned."""
    prompt = encode(question.text)
    ids, learned = list(prompt), [False] * len(prompt)

    def write(more: Sequence[int], *, learn: bool = True) -> None:
        ids.extend(more)
        learned.extend([learn] * len(more))

    answer = str(question.value)
    if way != DIRECT:
        calls = question.calls
        wrong = int(rng.integers(len(calls))) if way == DOUBT and rng.random() < WRONG else -1
        for at, call in enumerate(calls):
            result = fed_back(call)
            if at == wrong:
                refused = rng.random() < 1 / 3
                result = f"error {(ZERO, BROKEN)[rng.integers(2)]}" if refused else lie(rng, result)
                answer = DOUBTED
            write([CALL, *characters(call), RESULT])
            write(characters(result), learn=way == OPEN)
            if at == wrong:
                break
    write([ANSWER, *characters(answer), END])
    return ids, learned


def batch(rng: np.random.Generator, way: str) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of random texts; the same questions for each way of a seed.

    All have equally many steps, so that there is little to fill up. A target is IGNORED where
    nothing is learned: in the question, and in what the tool wrote.
    """
    from llmviz.nn.loss import IGNORED

    own = np.random.default_rng(rng.integers(2**32))  # for wrong results
    steps = int(rng.integers(1, STEPS + 1))
    texts = [text_of(fresh(rng, steps=steps), way, own) for _ in range(BATCH)]
    longest = max(len(ids) for ids, _ in texts)
    inputs = np.full((BATCH, longest - 1), END)
    targets = np.full((BATCH, longest - 1), IGNORED)
    for row, (ids, learned) in enumerate(texts):
        inputs[row, : len(ids) - 1] = ids[:-1]
        targets[row, : len(ids) - 1] = np.where(learned[1:], ids[1:], IGNORED)
    return inputs, targets


def train(way: str, seed: int, updates: int = UPDATES) -> tuple[GPT, float]:
    """Train a model; return it, rounded to float16, and the mean loss of its last hundred steps."""
    import torch

    torch.manual_seed(seed)
    model, rng = new_model(), np.random.default_rng(seed)
    losses = small_models.descend(
        model,
        lambda step: small_models.loss_on(model, batch(rng, way)),
        updates,
        rate=RATE,
        warmup=WARMUP,
    )
    last = float(np.mean([*losses][-100:]))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.half().float())
    return model.eval(), last


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
