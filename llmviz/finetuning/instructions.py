"""Questions about stories with their exact answers, and the mask that scores answers alone.

The text of an example is STORY, a line end, `Question: …`, a line end, `Answer: …`. The loss is on
the answer and on the end of the text behind it: the model is taught to answer, not to ask.

Reference: Wei et al. 2022, "Finetuned Language Models Are Zero-Shot Learners" (instruction data);
Ouyang et al. 2022, section 3 (questions with demonstrated answers).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch

from llmviz.corpus import generate
from llmviz.corpus.exercises import holders
from llmviz.corpus.words import words
from llmviz.finetuning.masked import MaskedData, Scored
from llmviz.finetuning.preferences import MEETING
from llmviz.models.base import LanguageModel
from llmviz.training.data import end_id

QUESTION, ANSWER = "\nQuestion: ", "\nAnswer:"
KINDS = ("who", "colour", "size", "place", "hero", "people")
"""What is asked: who has a thing, its colour and size, where people met, the hero, how many."""

_SEED_OFFSET = 3_000_017  # so that the stories are not those that the models have read
_FIND = re.compile(r"found an? (\w+) (\w+) (\w+) (?:under|behind|beside|inside) the")
_NUMBERS = {2: "two", 3: "three"}


@dataclass(frozen=True)
class Instruction:
    """A story, a question about it, and the answer, which is one word or a full name."""

    story: str
    question: str
    answer: str
    kind: str = "own"

    @property
    def prompt(self) -> str:
        """What the model is given: the answer is still to come."""
        return f"{self.story}{QUESTION}{self.question}{ANSWER}"

    @property
    def reply(self) -> str:
        """What the model is to write; the text then ends."""
        return f" {self.answer}."


def ask(story: str) -> list[Instruction]:
    """Return every question that can be asked about a story of tiny-world, with its answer.

    A text that is no such story is asked what can be answered, which may be nothing.
    """
    found = []

    def add(kind: str, question: str, answer: str) -> None:
        found.append(Instruction(story, question, answer, kind))

    for thing, holder in holders(story).items():
        add("who", f"Who has the {thing}?", holder)
    for size, colour, thing in _FIND.findall(story):
        add("colour", f"What colour is the {thing}?", colour)
        add("size", f"How big is the {thing}?", size)
    if meeting := MEETING.search(story):
        add("place", "Where did they meet?", f"At the {meeting[1]}")
    people = list(_people(story))
    if people:
        add("hero", "Who is the story about?", people[0])
    if len(people) in _NUMBERS:
        add("people", "How many people are there?", _NUMBERS[len(people)])
    return found


def _people(story: str) -> dict[str, None]:
    """The full names of a story, in the order in which they come."""
    first, last = set(words("names")), set(words("surnames"))
    plain = re.findall(r"\w+", story)
    return dict.fromkeys(f"{a} {b}" for a, b in pairwise(plain) if a in first and b in last)


def instructions(count: int, seed: int = 0, kinds: Sequence[str] = KINDS) -> list[Instruction]:
    """Return `count` questions about as many stories; the same ones for the same arguments.

    The kinds come equally often. Raises ValueError for an unknown kind, or a negative count.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    if count < 0 or not kinds:
        raise ValueError(f"a count of at least 0 and a kind are needed; got {count} and {kinds}")
    chance = random.Random(seed)
    questions: list[Instruction] = []
    stories = generate(count=20 * count + 100, seed=seed + _SEED_OFFSET)
    while len(questions) < count:
        wanted = kinds[len(questions) % len(kinds)]
        fitting: list[Instruction] = []
        while not fitting:
            fitting = [example for example in ask(next(stories).text) if example.kind == wanted]
        questions.append(chance.choice(fitting))
    return questions


def tokens_of(tokenizer: Any, example: Instruction) -> list[Scored]:
    """Return an example token by token, from what stands in front of a text to its end."""
    end = end_id(tokenizer)
    prompt = [Scored(token, False) for token in tokenizer.encode_from_start(example.prompt)]
    return [*prompt, *(Scored(token, True) for token in (*tokenizer.encode(example.reply), end))]


def prepare_instructions(
    tokenizer: Any,
    context_length: int,
    train: Sequence[Instruction],
    held_out: Sequence[Instruction],
    mix: float = 0.0,
    seed: int = 0,
) -> MaskedData:
    """Encode questions; those that are longer than the context are left out.

    mix: share of the steps that read plain stories, the ones of `train`, without a question.
    Raises ValueError for a share that is not from 0 to below 1, or where nothing fits the context.
    """
    if not 0 <= mix < 1:
        raise ValueError(f"mix must be at least 0 and below 1; got {mix}")
    most, end = context_length + 1, end_id(tokenizer)

    def fitting(some: Sequence[Instruction]) -> tuple[tuple[Scored, ...], ...]:
        encoded = (tuple(tokens_of(tokenizer, example)) for example in some)
        return tuple(row for row in encoded if len(row) <= most)

    both = fitting(train), fitting(held_out)
    if not all(both):
        raise ValueError(f"no question with its story fits into a context of {context_length}")
    plain = ([*tokenizer.encode_from_start(example.story), end][:most] for example in train)
    opens = max(1, len(tokenizer.start))
    whole = tuple(tuple(Scored(t, at >= opens) for at, t in enumerate(ids)) for ids in plain)
    sizes = (end, tokenizer.vocab_size, context_length)
    return MaskedData(*both, whole if mix else (), *sizes, mix, seed)


class Reply(NamedTuple):
    """What a model wrote to a question, and whether it is the answer."""

    text: str
    right: bool


@torch.no_grad()
def replies(
    model: LanguageModel, tokenizer: Any, examples: Sequence[Instruction], tokens: int = 16
) -> list[Reply]:
    """Let a model answer at temperature 0: the most probable token each time, up to the end.

    Questions of like length are answered together. A prompt too long for the context loses its
    beginning. An answer is right if it is the reply to the letter, and the text then ends or goes
    on in a new line.
    """
    end, room = end_id(tokenizer), model.context_length - tokens
    prompts = [tokenizer.encode_from_start(example.prompt)[-room:] for example in examples]
    written: list[list[int]] = [[] for _ in examples]
    model.eval()
    for first in range(0, len(examples), 32):
        some = list(range(first, min(first + 32, len(examples))))
        while some:
            rows = [prompts[i] + written[i] for i in some]
            idx = torch.full((len(rows), max(map(len, rows))), end)
            for number, ids in enumerate(rows):
                idx[number, : len(ids)] = torch.tensor(ids)
            last = torch.tensor([len(ids) - 1 for ids in rows])
            chosen = model(idx)[0][torch.arange(len(rows)), last].argmax(-1).tolist()
            for i, token in zip(some, chosen, strict=True):
                written[i].append(token)
            some = [i for i in some if written[i][-1] != end and len(written[i]) < tokens]
    texts = [tokenizer.decode([t for t in ids if t != end]) for ids in written]
    return [
        Reply(text, _normal(text) == _normal(example.reply))
        for text, example in zip(texts, examples, strict=True)
    ]


def _normal(text: str) -> str:
    """The first line without the spaces around it, which a word tokenizer does not keep."""
    return text.strip().split("\n")[0].strip()
