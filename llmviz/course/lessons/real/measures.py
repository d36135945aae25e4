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
from llmviz.course.lessons.real.examples import model as examples
from llmviz.course.lessons.real.first import model as first
from llmviz.course.lessons.real.heart import model as heart
from llmviz.course.lessons.real.knows import model as knows
from llmviz.course.lessons.real.people import model as people
from llmviz.course.lessons.real.reader import passage
from llmviz.course.lessons.real.teach import model as teach
from llmviz.course.lessons.real.travels import model as travels
from llmviz.course.lessons.real.words import model as words
from llmviz.course.lessons.real.yesterday import model as yesterday

FRANCE, ITALY = "The capital of France is", "The capital of Italy is"
HOT, BIG = "The opposite of hot is", "The opposite of big is"
LIGHTHOUSE = (
    "When the old lighthouse keeper climbed the stairs that evening, he found a letter on the "
    "table, and nobody could tell him who had written it."
)
SUMS = (
    ("king", "man", "woman"),
    ("Paris", "France", "Japan"),
    ("puppy", "dog", "cat"),
    ("went", "go", "see"),
    ("doctor", "he", "she"),
    ("first", "one", "two"),
    ("better", "good", "bad"),
)
NEAR = ("Monday", "three", "king", "France")
QUESTIONS = (
    ("The capital of Australia is", "What is the capital of Australia?"),
    ("The capital of Zubrovia is", "What is the capital of Zubrovia?"),
    ("How many r's are in strawberry?", "How many r's are in strawberry?"),
    ("17 + 25 =", "What is 17 + 25?"),
    ("A pirate says:", "Answer like a pirate: how are you?"),
)
PIRATE = QUESTIONS[-1][1]
LOG = (
    "Day one at sea. Arr, the wind be kind and the biscuits be hard. The captain lost his hat, and "
    "the cook lost his temper. Day two at sea. Arr, the wind be mean and the biscuits be gone. The "
    "captain found his hat, and the parrot sat in it. Day three at sea. Arr, there be land ahead, "
    "or else a very large turtle. The cook says turtle, the captain says land, and the parrot says "
    "biscuits. Day four at sea. Arr, it be a turtle. We named her Margaret and asked her the way. "
    "Day five at sea. Arr, Margaret be wrong about the way, but she be right about the weather."
)
BEGINNING = "Day six at sea."
NAME = "Boris"


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
    "sums": Measure(words.add, words.Sum, SUMS),
    "near": Measure(words.near, words.Near, [(word,) for word in NEAR]),
    "examples": Measure(
        examples.measure,
        tuple[examples.Round, ...],
        [(examples.written(pairs),) for pairs in examples.RULES.values()],
    ),
    "first": Measure(first.measure, first.First, [(LIGHTHOUSE,)]),
    "windows": Measure(first.windows, tuple[first.Window, ...], [()]),
    "copies": Measure(copies.measure, copies.Copies, [("",)]),
    "copies_off": Measure(copies.without, copies.Off, [()]),
    "heart": Measure(heart.measure, heart.Heart, [(text,) for text in heart.SENTENCES]),
    "people": Measure(people.measure, tuple[people.Job, ...], [people.PAIR]),
    "assistant": Measure(assistant.measure, assistant.Asked, QUESTIONS),
    "penalised": Measure(assistant.penalised, str, [(PIRATE,)]),
    "bits": Measure(bits.measure, tuple[bits.Kept, ...], [(FRANCE,)]),
    "bits_loss": Measure(lambda reader: bits.losses(reader, passage()), bits.Losses, [()]),
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
