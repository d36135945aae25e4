"""What a link can cost the server: every chapter with its texts at their limits, its numbers at
their ends.

    python -m benchmarks.limits [--only embeddings/similarity] [--rows 20] [--mixed 30]

Each chapter opens with each of its text fields filled to the limit, in several kinds of text, with
each number at its lowest and its highest value, with all of them together, and so with each option
of its choices; then with all controls of its lesson drawn by chance. The server's processor time is
that of this process: jobs behind the page have their own. Goals: 1 s at the first opening, 45 ms
when it runs again (the least of up to 20 reruns, which end at the first within the goal), an answer
of 1 MB.
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import time
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.sampling.writing import chapter as writing
from llmviz.course.lessons.transformer.patching import chapter as patching
from llmviz.course.lessons.transformer.units import chapter as units
from llmviz.course.ui.codec import Param
from llmviz.course.ui.contents import Lesson, controls_of
from llmviz.course.ui.server import load_ahead

FIRST, AGAIN, BYTES = 1.0, 0.045, 1_000_000  # the goals: seconds, seconds, bytes
SETTLED = 20  # reruns after which nothing should grow any more
SLICED = (writing, patching, units)  # chapters that do their work by slices
NAME = 200  # characters; a shorter field holds a name or a kept cell: one kind of text will do

Link = dict[str, str]


@dataclass
class Opening:
    """What one link cost: processor seconds at first and when it runs again, and the answer."""

    where: str
    link: str
    first: float
    again: float
    size: int  # bytes
    elements: int
    trouble: str = ""

    @property
    def over(self) -> float:
        """How many times the goal that is missed most."""
        return max(self.first / FIRST, self.again / AGAIN, self.size / BYTES)


def texts(length: int) -> dict[str, str]:
    """Texts of so many characters that are hard on what reads them: words, letters, emoji."""
    chance = random.Random(0)
    letters = "".join(chance.choices("etaoinshrdlucmf     ", k=length))
    few = ", ".join("abcdefghijklmnop"[i] * (length // 16 - 2) for i in range(16))
    repeated = {
        "words": "so ",
        "letters": "a",
        "ab": "ab",
        "emoji": "👩‍👩‍👧‍👦",
        "numbers": "1 ",
        "lines": "\n\n",
        "commas": "cat, ",
        "marks": "*_[]()$",
    }
    return {
        "random words": letters,
        "few long words": few[:length],
        "different words": " ".join(f"w{i}" for i in range(length // 2 + 1))[:length],
        **{name: (unit * (length // len(unit) + 1))[:length] for name, unit in repeated.items()},
    }


def packed(text: str) -> str:
    """A text as a link carries it, however long its address becomes."""
    raw = zlib.compress(text.encode(), 9)
    return "~" + urlsafe_b64encode(raw).decode().rstrip("=")


def links(params: list[Param]) -> Iterator[tuple[str, Link]]:
    """Yield the links to a chapter, each with its name."""
    fields = [one for one in params if one.most]
    numbers = [one for one in params if one.low is not None]
    ends = {
        "lowest": {one.key: str(one.write(one.low)) for one in numbers},
        "highest": {one.key: str(one.write(one.high)) for one in numbers},
    }
    for field in fields:
        for kind, text in texts(field.most).items():
            if field.most > NAME or kind == "letters":
                yield f"{field.key} of {kind}", {field.key: packed(text)}
    for end, link in ends.items():
        yield f"all numbers {end}", link
        for key, value in link.items():
            yield f"{key} {end}", {key: value}
    long = [one for one in fields if one.most > NAME]
    kinds = ("words", "random words", "emoji") if long else ("words",)
    for kind in kinds:
        full = {one.key: packed(texts(one.most)[kind]) for one in long}
        yield f"all of {kind}, numbers highest", full | ends["highest"]
        for choice in params:
            for option in choice.options:
                named = f"{choice.key}={option}, all of {kind}, numbers highest"
                yield named, full | ends["highest"] | {choice.key: option}


def mixed(params: list[Param], number: int, seed: str) -> Iterator[tuple[str, Link]]:
    """Yield links in which every control is drawn: a full text, an end of a number, an option.

    A chapter takes all controls of its lesson: a tokenizer that another chapter has trained.
    What costs most may need two of them at once, such as a tokenizer and the corpus it learns from.
    """
    chance = random.Random(seed)
    kinds = list(texts(NAME))
    for i in range(number):
        kind = chance.choice(kinds)
        link: Link = {}
        for one in params:
            if one.most and one.most > NAME:
                link[one.key] = packed(texts(one.most)[kind])
            elif one.low is not None:
                link[one.key] = str(one.write(chance.choice((one.high, one.high, one.low))))
            elif one.options:
                link[one.key] = chance.choice(one.options)
        told = ", ".join(f"{one.key}={link[one.key]}" for one in params if one.options)
        yield f"mixed {i}: {kind}, {told}", link


class Sent:
    """What the server sends during a run."""

    def __init__(self) -> None:
        self.size = self.elements = 0
        ask = LocalScriptRunner.forward_msgs

        def noted(runner: LocalScriptRunner) -> Any:
            messages = ask(runner)
            self.size = sum(one.ByteSize() for one in messages)
            self.elements = sum(one.HasField("delta") for one in messages)
            return messages

        LocalScriptRunner.forward_msgs = noted


def open_as_served() -> Callable[..., AppTest]:
    """Return what opens a chapter, which gives it the slices of work that it has on a server."""
    slices = [(one, one.SLICE) for one in SLICED]
    from tests.pages.harness import open_part

    for chapter, seconds in slices:
        chapter.SLICE = seconds
    return open_part


def seconds(app: AppTest) -> float:
    """Processor seconds of running a page again."""
    start = time.process_time()
    app.run()
    return time.process_time() - start


def open_link(
    open_part: Callable[..., AppTest],
    sent: Sent,
    lesson: Lesson,
    part: str,
    name: str,
    link: Link,
) -> Opening:
    """Open a link and run the page once more."""
    where = f"{lesson.key}/{part}" if part else lesson.key
    start = time.process_time()
    app = open_part(lesson.key, part, **{"show": "1", **link})  # with all that questions cover
    first = time.process_time() - start
    size, elements = sent.size, sent.elements
    app.run()
    again = float("inf")
    for _ in range(SETTLED):  # what grows by slices comes to its end; one may collect garbage
        again = min(again, seconds(app))
        if again < AGAIN:
            break
    trouble = " ".join(str(error.value) for error in app.exception)
    return Opening(where, name, first, again, size, elements, trouble)


def chapters(only: str) -> Iterator[tuple[Lesson, str, list[Param]]]:
    """Yield each chapter with the controls that its links carry: its own and its lesson's."""
    for lesson in LESSONS:
        for part in [chapter.key for chapter in lesson.chapters] or [""]:
            if f"{lesson.key}/{part}".startswith(only):
                yield lesson, part, controls_of(lesson, part)


def table(openings: list[Opening], rows: int) -> str:
    """The openings that miss a goal most."""
    worst = sorted(openings, key=lambda one: -one.over)[:rows]
    head = f"{'chapter':26} {'link':58} {'first s':>8} {'again ms':>9} {'kB':>7} {'elements':>9}"
    lines = [
        f"{one.where:26} {one.link[:58]:58} {one.first:8.2f} {1e3 * one.again:9.0f} "
        f"{one.size / 1e3:7.0f} {one.elements:9} {one.trouble[:60]}"
        for one in worst
    ]
    counts = [
        f"{len(openings)} links",
        f"{sum(one.first > FIRST for one in openings)} over {FIRST:g} s at first",
        f"{sum(one.again > AGAIN for one in openings)} over {1e3 * AGAIN:.0f} ms again",
        f"{sum(one.size > BYTES for one in openings)} over {BYTES / 1e6:g} MB",
        f"{sum(bool(one.trouble) for one in openings)} with an exception",
    ]
    return "\n".join([head, *lines, ", ".join(counts)])


def main() -> None:
    """Open all links and print those that cost most."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="the beginning of LESSON/CHAPTER")
    parser.add_argument("--rows", type=int, default=20, help="rows of the table")
    parser.add_argument("--mixed", type=int, default=30, help="links of a chapter with all drawn")
    parser.add_argument("--every", type=int, default=1, help="of so many links one, for a look")
    args = parser.parse_args()
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    load_ahead(LESSONS).join()  # as the server does before the first visitor comes
    opener = partial(open_link, open_as_served(), Sent())
    openings: list[Opening] = []
    for lesson, part, params in chapters(args.only):
        opener(lesson, part, "", {})  # what all visitors share is loaded
        gc.collect()
        gc.freeze()  # as app.py does
        all_of_it = [one for one in lesson.params() if one.key not in ("part", "show")]
        listed = [*links(params), *mixed(all_of_it, args.mixed, f"{lesson.key}/{part}")]
        listed = listed[:: args.every]
        some = [opener(lesson, part, name, link) for name, link in listed]
        openings += some
        if some:
            print(table(some, 1).splitlines()[1], flush=True)
    print("\n" + table(openings, args.rows))


if __name__ == "__main__":
    main()
