"""What the bundled models answer, read once for all visitors."""

from dataclasses import dataclass

from llmviz.corpus.words import words as words_of
from llmviz.course.lessons.errors.read_facts import (
    SEEDS,
    Answer,
    Group,
    Reading,
    answers_of,
    bundled,
    by_times,
    world_of,
)
from llmviz.course.ui import engine, kit

OFTEN, FEW, ONCE, NEVER = 100, 5, 1, 0  # how often the text says a fact


@dataclass(frozen=True, eq=False)
class Read:
    """A bundled model on its own world: every answer, and the groups of facts by how often read."""

    answers: tuple[Answer, ...]
    groups: dict[int, Group]

    @property
    def invented(self) -> list[Answer]:
        """The towns that it names for persons whom it never read about."""
        return [reply for reply in self.answers if not reply.person.times and not reply.declined]


@kit.kept(32)
def read(world: int, unknown: int = 0) -> Read:
    """Return what the model of a world answers. ValueError where it is not in this copy."""
    answers = answers_of(world_of(Reading(world, unknown)), bundled(unknown, world))
    return Read(tuple(answers), {group.times: group for group in by_times(answers)})


def mean(unknown: int, times: int, what: str) -> float:
    """Return the mean of three worlds of one share: a field of Group."""
    shares = [getattr(read(world, unknown).groups[times], what) for world in SEEDS]
    return sum(shares) / len(shares)


STORY_MODEL = "tiny-world-gpt"  # its text names capitals by their countries, never the other way
BEGINNING = (
    "Once there was an odd baker called Nora Copperdale. The best friend she had was Ravi "
    "Nettleton, a kind doctor. They met at the harbour. Nora dreamed of"
)


@kit.kept(2)
def both_ways(bundled: engine.Bundled) -> tuple[int, int, int]:
    """Return of how many countries a model names the capital, of how many capitals the country.

    And how many pairs there are. An answer is right where its first token is the likeliest one.
    """
    pairs = list(zip(words_of("countries"), words_of("capitals"), strict=True))
    asked = [(f"{a}. The capital of {a} is", b) for a, b in pairs]
    turned = [(f"{b}. {b} is the capital of", a) for a, b in pairs]
    counts = []
    for way in (asked, turned):
        said = likeliest(bundled, [f"{BEGINNING} {prompt}" for prompt, _ in way])
        wanted = [bundled.tokenizer.encode(f" {answer}")[0] for _, answer in way]
        counts.append(sum(a == b for a, b in zip(said, wanted, strict=True)))
    return counts[0], counts[1], len(pairs)


def likeliest(bundled: engine.Bundled, prompts: list[str]) -> list[int]:
    """Return the likeliest next token after each prompt; a token sees none behind it."""
    import torch

    every = [list(bundled.tokenizer.encode_from_start(prompt)) for prompt in prompts]
    longest = max(map(len, every))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in every])
    with torch.inference_mode():
        logits = bundled.model(ids)[0]
    return [int(logits[k, len(row) - 1].argmax()) for k, row in enumerate(every)]
