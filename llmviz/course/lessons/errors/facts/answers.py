"""What the bundled models answer, read once for all visitors."""

from dataclasses import dataclass

from llmviz.course.lessons.errors.read_facts import (
    SEEDS,
    Answer,
    Group,
    Reading,
    answers_of,
    bundled,
    by_times,
    capitals_known,
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


@kit.cached(32)
def read(world: int, unknown: int = 0) -> Read:
    """Return what the model of a world answers. ValueError where it is not in this copy."""
    answers = answers_of(world_of(Reading(world, unknown)), bundled(unknown, world))
    return Read(tuple(answers), {group.times: group for group in by_times(answers)})


def mean(unknown: int, times: int, what: str) -> float:
    """Return the mean of three worlds of one share: a field of Group."""
    shares = [getattr(read(world, unknown).groups[times], what) for world in SEEDS]
    return sum(shares) / len(shares)


@kit.cached(2)
def both_ways(bundled: engine.Bundled) -> tuple[int, int, int]:
    """Return what a model knows of capitals in both directions: see `capitals_known`."""
    return capitals_known(bundled.model, bundled.tokenizer)
