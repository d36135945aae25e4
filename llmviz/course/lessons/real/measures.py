"""What the chapters measure, by name: the function, what it returns, and what is recorded of it.

A chapter asks `source.measured` for a name and what is given. Where that is recorded, everybody
gets the record; else the model is asked, if it is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from llmviz.course.lessons.real.assistant import model as assistant
from llmviz.course.lessons.real.bits import model as bits
from llmviz.course.lessons.real.carrier import model as carrier
from llmviz.course.lessons.real.copies import model as copies
from llmviz.course.lessons.real.defaults import (
    BEGINNING,
    BIG,
    FRANCE,
    HOT,
    ITALY,
    LIGHTHOUSE,
    LOG,
    NAME,
    NEAR,
    PIRATE,
    QUESTIONS,
    STAR,
    SUMS,
)
from llmviz.course.lessons.real.examples import model as examples
from llmviz.course.lessons.real.first import model as first
from llmviz.course.lessons.real.heart import model as heart
from llmviz.course.lessons.real.knows import model as knows
from llmviz.course.lessons.real.meanings import model as meanings
from llmviz.course.lessons.real.people import model as people
from llmviz.course.lessons.real.reader import passage
from llmviz.course.lessons.real.teach import model as teach
from llmviz.course.lessons.real.travels import model as travels
from llmviz.course.lessons.real.yesterday import model as yesterday


class Measure(NamedTuple):
    """A function of a reader and some texts, what it returns, and the texts that are recorded.

    It may be a generator that yields how much is done, from 0 to 1, and returns the result.
    """

    compute: Callable[..., Any]
    kind: Any
    given: Sequence[tuple[Any, ...]]


MEASURES: dict[str, Measure] = {
    "knows": Measure(knows.measure, knows.Knows, [()]),
    "capital": Measure(knows.own, knows.Own, [("Australia",)]),
    "travels": Measure(travels.measure, travels.Travels, [(FRANCE, ITALY), (HOT, BIG)]),
    "carrier": Measure(carrier.measure, carrier.Carrier, [(FRANCE,), (HOT,)]),
    "sixteen": Measure(carrier.sixteen, carrier.Sixteen, [(23, 4), (0, 4)]),
    "sums": Measure(meanings.add, meanings.Sum, SUMS),
    "near": Measure(meanings.near, meanings.Near, [(word,) for word in NEAR]),
    "examples": Measure(
        examples.measure,
        tuple[examples.Round, ...],
        [(examples.written(pairs),) for pairs in examples.RULES.values()],
    ),
    "first": Measure(first.measure, first.First, [(LIGHTHOUSE,)]),
    "windows": Measure(first.windows, tuple[first.Window, ...], [()]),
    "copies": Measure(copies.measure, copies.Copies, [("",)]),
    "copies_off": Measure(copies.without, copies.Off, [()]),
    "heart": Measure(heart.measure, heart.Heart, [(text,) for text in (*heart.SENTENCES, STAR)]),
    "people": Measure(people.measure, tuple[people.Job, ...], [people.PAIR]),
    "assistant": Measure(assistant.measure, assistant.BothWays, QUESTIONS),
    "penalised": Measure(assistant.penalised, str, [(PIRATE,)]),
    "bits": Measure(bits.measure, tuple[bits.Kept, ...], [(FRANCE,)]),
    "bits_loss": Measure(lambda reader: bits.losses(reader, passage()), bits.Losses, [()]),
    "bits_rounded": Measure(bits.rounded, tuple[bits.Rounded, ...], [()]),
    "yesterday": Measure(yesterday.measure, yesterday.Yesterday, [(NAME,)]),
    # Last, because the model holds the adapter afterwards.
    "teach": Measure(teach.whole, teach.Taught, [(LOG, BEGINNING)]),
}


def name_of(given: Sequence[Any]) -> str:
    """Return how a record names what was given."""
    return " | ".join(map(str, given))


def finished(work: Any) -> Any:
    """Return what a measure comes to, in one go."""
    if not hasattr(work, "send"):
        return work
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
