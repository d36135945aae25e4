"""The same requests served twice, under two policies, by a bundled model: what each run did.

No torch is needed to read a run; `serving_run` is for work in the background. The chapter opens
with recorded runs: `python -m experiments make serving` (or `serving-texts`) makes them again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from llmviz.files.paths import DATA, EXPERIMENT_FOLDER
from llmviz.files.text import check_text, read_text_file
from llmviz.sampling import SamplingSettings
from llmviz.serving.record import record_bundled
from llmviz.serving.recording import EngineStep, Recording
from llmviz.serving.requests import GREEDY, Request
from llmviz.serving.settings import ServingConfig
from llmviz.serving.text_stream import TextStream
from llmviz.serving.workload import Workload, make_requests
from llmviz.tokenizers import Tokenizer
from llmviz.training.files import read_json

FILE, TEXTS_FILE = "serving.json", "serving_texts.json"
COMMAND = "python -m experiments make serving"
TEXTS_COMMAND = "python -m experiments make serving-texts"
WAYS = ("samples", "beams")  # of the texts to one prompt, in the order of their runs
BASE = "tiny-world-gpt"
MOST_OWN, MOST_OWN_CHARACTERS = 6, 300
SAMPLED = SamplingSettings(temperature=0.8)  # where a prompt has several samples, which then differ


@dataclass(frozen=True)
class Trial:
    """What is served, and how.

    policies: two of `POLICIES`; config.policy is not used. own: the learner's prompts.
    """

    workload: Workload
    config: ServingConfig
    policies: tuple[str, str]
    own: tuple[str, ...] = ()
    base: str = BASE

    def config_of(self, number: int) -> ServingConfig:
        """Return the settings of the first or the second run."""
        return replace(self.config, policy=self.policies[number])


TRIAL = Trial(
    Workload(requests=12, arrival_rate=100.0, prompt_tokens=24, new_tokens=32, samples=2),
    ServingConfig(max_batch=8, block_size=8, n_blocks=40),
    ("continuous", "static"),
)


class Begun(NamedTuple):
    """What both runs serve, with the text of each prompt by the request's id."""

    requests: tuple[Request, ...]
    prompts: dict[str, str]


class Part(NamedTuple):
    """Some steps of run 0 or 1, and what was written in them: (step, sequence, text).

    texts: likewise, of hypotheses of a beam search, the whole text that each has from then on.
    """

    number: int
    steps: tuple[EngineStep, ...]
    pieces: tuple[tuple[int, str, str], ...]
    texts: tuple[tuple[int, str, str], ...] = ()


@dataclass(frozen=True)
class Run:
    """One run: its recording, the texts of the prompts, and what was written at which step.

    texts: of each hypothesis of a beam search the whole text that it has from a step on; "" where
    it was dropped, and at the end of the search, which writes its texts as pieces.
    """

    recording: Recording
    prompts: dict[str, str]  # by request
    pieces: dict[str, tuple[tuple[int, str], ...]]  # by sequence
    texts: dict[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)  # by sequence


def own_prompts(text: str) -> tuple[str, ...]:
    """Return the prompts of a text, one a line; empty lines are passed over.

    Raises ValueError: there are too many, one is too long, or the text is none.
    """
    check_text(text)
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    if len(lines) > MOST_OWN:
        raise ValueError(f"at most {MOST_OWN} prompts of your own, one a line; got {len(lines)}")
    for line in lines:
        if len(line) > MOST_OWN_CHARACTERS:
            raise ValueError(
                f"a prompt of your own has at most {MOST_OWN_CHARACTERS} characters; one has "
                f"{len(line)}: {line[:40]}…"
            )
    return lines


def memory_of_beam(trial: Trial) -> int:
    """Return how many tokens each beam has in the memory, if none shares and a search fits."""
    return trial.config.n_blocks // trial.workload.samples * trial.config.block_size


def requests_of(trial: Trial, tokenizer: Tokenizer, text: str, context: int) -> Begun:
    """Return the requests of a trial; prompts are beginnings of stories, or the learner's.

    text: stories with an empty line between two. context: of the model, in tokens; prompts and
    answers are cut to it, and those of a beam search to what each of its beams has in the memory.
    Raises ValueError: a prompt of the learner's does not fit.
    """
    end = tokenizer.end
    own = [tuple(tokenizer.encode_from_start(prompt)) for prompt in trial.own]
    sampled = trial.workload.samples > 1 and not trial.workload.beams
    sampling = SAMPLED if sampled else GREEDY
    if trial.workload.beams:
        context = min(context, memory_of_beam(trial))
    drawn = make_requests(trial.workload, (end,), context, sampling, (end,), own)
    stories = text.split("\n\n")
    same = tuple(tokenizer.encode_from_start(stories[0]))[: trial.workload.same_beginning]
    requests = []
    for number, request in enumerate(drawn, 1):
        if request.prompt not in own:
            story = tokenizer.encode(stories[number % len(stories)])
            begun = (*same, *story) if same else tuple(tokenizer.behind_start(story))
            request = replace(request, prompt=begun[: len(request.prompt)])
        requests.append(request)
    outside = {end, *tokenizer.start}
    prompts = {
        request.id: tokenizer.decode([token for token in request.prompt if token not in outside])
        for request in requests
    }
    return Begun(tuple(requests), prompts)


class Texts:
    """Turns the tokens of sequences into pieces of text as they come."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._end = tokenizer.end
        self._tokenizer = tokenizer
        self._streams: dict[str, TextStream] = {}
        self._beams: dict[str, list[int]] = {}  # the new tokens of each hypothesis that lives

    def pieces(self, step: EngineStep) -> Iterator[tuple[int, str, str]]:
        """Yield (step, sequence, text) for each sequence that has written text in a step.

        Bytes of a character that is not whole yet are held back until the sequence ends.
        """
        pieces: dict[str, str] = {}
        for name, token in step.emitted:
            stream = self._streams.setdefault(name, TextStream(self._tokenizer))
            if token != self._end:
                pieces[name] = pieces.get(name, "") + stream.push(token)
        for outcome in step.finished:
            for name in (outcome.request, f"{outcome.request}/{outcome.sample}"):
                if name in self._streams:
                    pieces[name] = pieces.get(name, "") + self._streams.pop(name).end()
        yield from ((step.number, name, text) for name, text in pieces.items() if text)

    def hypotheses(self, step: EngineStep) -> Iterator[tuple[int, str, str]]:
        """Yield (step, sequence, text) for each hypothesis of a beam search that a step changes."""
        if not (step.hypotheses or step.finished):
            return
        searches = {name.partition("/")[0] for name, _, _ in step.hypotheses}
        searches |= {outcome.request for outcome in step.finished}
        before = self._beams
        now = {name: ids for name, ids in before.items() if name.partition("/")[0] not in searches}
        for name, parent, token in step.hypotheses:
            now[name] = [*before.get(parent, ()), token]
        self._beams = now
        for name in dict.fromkeys((*before, *now)):
            if before.get(name) != now.get(name):
                ids = [token for token in now.get(name, ()) if token != self._end]
                yield step.number, name, self._tokenizer.settled(ids)


def serving_run(trial: Trial) -> Iterator[Begun | Part]:
    """Serve the same requests under both policies, one run after the other, and yield what is done.

    Raises ValueError for a request that does not fit.
    """
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(trial.base)
    text = read_text_file(DATA / "tiny-world.txt")
    begun = requests_of(trial, tokenizer, text, model.context_length)
    yield begun
    for number in (0, 1):
        texts = Texts(tokenizer)
        for steps in record_bundled(trial.base, begun.requests, trial.config_of(number)):
            pieces = tuple(piece for step in steps for piece in texts.pieces(step))
            changed = tuple(text for step in steps for text in texts.hypotheses(step))
            yield Part(number, steps, pieces, changed)


def runs_of(trial: Trial, results: Sequence[Any]) -> tuple[Run, ...]:
    """Return the runs of which anything is there yet, from what `serving_run` has yielded."""
    begun = next((result for result in results if isinstance(result, Begun)), None)
    runs = []
    for number in (0, 1):
        parts = [part for part in results if isinstance(part, Part) and part.number == number]
        if begun is None or not parts:
            break
        steps = tuple(step for part in parts for step in part.steps)
        recording = Recording(trial.config_of(number), begun.requests, steps)
        pieces = _by_sequence(piece for part in parts for piece in part.pieces)
        texts = _by_sequence(text for part in parts for text in part.texts)
        runs.append(Run(recording, begun.prompts, pieces, texts))
    return tuple(runs)


def _by_sequence(
    entries: Iterable[tuple[int, str, str]],
) -> dict[str, tuple[tuple[int, str], ...]]:
    listed: dict[str, list[tuple[int, str]]] = {}
    for step, name, text in entries:
        listed.setdefault(name, []).append((step, text))
    return {name: tuple(each) for name, each in listed.items()}


def done_share(trial: Trial, results: Sequence[Any]) -> float:
    """Return which part of both runs' sequences has ended, from 0 to 1."""
    begun = next((result for result in results if isinstance(result, Begun)), None)
    if begun is None:
        return 0.0
    ended = sum(
        len(step.finished) for part in results if isinstance(part, Part) for step in part.steps
    )
    return ended / (2 * sum(request.texts for request in begun.requests))


@dataclass(frozen=True)
class Bundled:
    """The file: what was served, both runs, when they were recorded and on what."""

    trial: Trial
    runs: tuple[Run, ...]
    date: str
    environment: dict[str, Any]


def read(path: Path = EXPERIMENT_FOLDER / FILE) -> Bundled:
    """Return what a file holds. Raises ValueError: it is missing or damaged."""
    values = read_json(path)
    try:
        runs = tuple(
            Run(
                Recording.from_json(json.dumps(run["recording"])),
                values["prompts"],
                *(
                    {
                        name: tuple((step, text) for step, text in pieces)
                        for name, pieces in run.get(field, {}).items()
                    }
                    for field in ("pieces", "texts")
                ),
            )
            for run in values["runs"]
        )
        first, second = values["policies"]
        workload = Workload.from_dict(values["workload"])
        config = runs[0].recording.config
        trial = Trial(workload, config, (first, second), base=values["base"])
        return Bundled(trial, runs, values["date"], values["environment"])
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path.name} is no file of recorded runs: {error}") from None


def blocks_at_once(recording: Recording) -> tuple[int, int]:
    """Return how many blocks the tables name at the step where this is most, and how many blocks
    these are: without sharing, each name would be a block of its own.

    The first of the steps where it is most; 0, 0 where there is none.
    """
    counts = [(sum(map(len, step.blocks.values())), len(step.owners)) for step in recording.steps]
    return max(counts, key=lambda pair: pair[0], default=(0, 0))
