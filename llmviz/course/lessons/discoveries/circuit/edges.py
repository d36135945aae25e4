"""The edges of the chapter "A circuit, edge by edge": computed once, named, and asked about."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llmviz.course.lessons.discoveries.circuit import words
from llmviz.course.lessons.discoveries.circuit.params import MOST_OWN
from llmviz.course.ui import engine, kit
from llmviz.course.ui.two_prompts import NO_DIFFERENCE, written
from llmviz.interpretability.circuit import Edge, GrowingCircuit, Part, Sums, read_sums

NEEDED = 90  # percent of the preference, that the question asks for
Prompts = tuple[engine.Bundled, tuple[int, ...], tuple[int, ...], tuple[int, int]]


@dataclass(frozen=True)
class Circuit:
    """All that was measured: see `GrowingCircuit`."""

    order: list[Edge]
    effects: dict[Edge, float]
    left: list[float]

    @property
    def needed(self) -> int:
        """The least number of edges, the strongest first, that leave enough of the preference."""
        return next(
            number
            for number, share in enumerate(self.left)
            if round(100 * share) >= NEEDED or number == self.all
        )

    @property
    def all(self) -> int:
        """How many edges there are."""
        return len(self.order)


@kit.kept(64)
def sums(bundled: engine.Bundled, ids: tuple[int, ...]) -> Sums:
    """Return what each part of a model wrote for a prompt."""
    return read_sums(bundled.model, ids)


@kit.kept(32)
def growing(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> GrowingCircuit:
    """Return the edges of two prompts as far as they are, the same for all visitors.

    Raises ValueError: both prompts prefer the one answer to the other equally.
    """
    try:
        return GrowingCircuit(bundled.model, sums(bundled, own), sums(bundled, donor), pair)
    except ValueError:
        raise ValueError(NO_DIFFERENCE) from None


@kit.kept(32)
def whole(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> Circuit:
    """Return the edges of two prompts once all are known."""
    grown = growing(bundled, own, donor, pair)
    grown.grow(math.inf)
    return Circuit(grown.order, grown.effects, grown.left)


@kit.kept(128)
def left_with(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    pair: tuple[int, int],
    edges: tuple[Edge, ...],
) -> float:
    """Return what is left of the preference with these edges alone."""
    return growing(bundled, own, donor, pair).left_with(edges)


def part_name(part: Part) -> str:
    """Return what a part is called."""
    return words.parts_named[part.kind].format(layer=part.layer, head=part.head)


def edge_name(edge: Edge) -> str:
    """Return what an edge is called."""
    return words.edge.format(sender=part_name(edge.sender), receiver=part_name(edge.receiver))


def link_of(edge: Edge) -> str:
    """Return how a link names an edge.

    >>> link_of(Edge(Part("head", 1, 3), Part("logits")))
    'head.1.3>logits'
    """
    return ">".join(".".join(str(field) for field in part if field != -1) for part in edge)


def chosen_edges(link: str, edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return the edges that a link names and that the model has, each once, at most `MOST_OWN`."""
    named = {link_of(edge): edge for edge in edges}
    wanted = dict.fromkeys(name for name in link.split(",") if name in named)
    return tuple(named[name] for name in list(wanted)[:MOST_OWN])


def is_path(edges: Iterable[Edge]) -> bool:
    """Whether some of the edges lead from the embedding to the logits.

    >>> is_path([Edge(Part("embed"), Part("mlp", 0)), Edge(Part("mlp", 0), Part("logits"))])
    True
    """
    ends, reached, before = list(edges), {Part("embed")}, 0
    while before != len(reached):
        before = len(reached)
        reached |= {edge.receiver for edge in ends if edge.sender in reached}
    return Part("logits") in reached


def question(circuit: Circuit) -> kit.Question:
    """Return how many edges must stay, as a question."""
    needed, every = circuit.needed, circuit.all
    values = {
        "edges": every,
        "need": written(NEEDED / 100),
        "needed": needed,
        "left": written(circuit.left[needed]),
    }
    return kit.share_question(
        words.ask.format(**values),
        needed / every,
        [reason.format(**values) for reason in words.ask_reasons],
        lambda share: f"{round(share * every):,}",
    )


def by_count(lines: dict[str, str], number: int, every: int | None = None) -> str:
    """Return the variant of a sentence for a number of things; every: that of all."""
    how = "none" if not number else "all" if number == every else "one" if number == 1 else "some"
    return lines[how]


def kept_line(circuit: Circuit, number: int) -> str:
    """Return what is left with the strongest edges alone."""
    line = by_count(words.left, number, circuit.all)
    return line.format(count=number, left=written(circuit.left[number]))


def aligned_line(own: Sequence[int], donor: Sequence[int]) -> str:
    """Return how two prompts are aligned; empty where they have the same length."""
    count = abs(len(own) - len(donor))
    if not count:
        return ""
    longer = words.longer["own" if len(own) > len(donor) else "donor"]
    alone = words.alone["one" if count == 1 else "some"].format(count=count)
    return words.unequal.format(own=len(own), donor=len(donor), longer=longer, alone=alone)


def own_line(
    circuit: Circuit, edges: Sequence[Edge], left: float, *, same_length: bool = True
) -> str:
    """Return what is left with the edges of a hypothesis, and what the strongest ones leave."""
    number = len(edges)
    lines = [by_count(words.own_left, number).format(count=number, left=written(left))]
    if number and not is_path(edges):
        lines.append(words.no_path["same" if same_length else "other"])
    if number:
        best = written(circuit.left[number])
        lines.append(by_count(words.own_best, number).format(count=number, best=best))
    return " ".join(lines)
