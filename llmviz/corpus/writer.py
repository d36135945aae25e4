"""Write a text by choices of known probability, or read the choices back out of a text.

The grammar of tiny-world is ordinary Python that calls `say`, `choose` and `rule`. A `Sampler`
answers `choose` by chance and grows a text; a `Reader` answers it by looking at a text that is
already there. Both add up the natural logarithms of the probabilities.

Why a text has one derivation only. Three things hold, and the first two are checked:
1. a choice shows at once: the surface of the chosen option is written before anything else is
   decided (there are no hidden choices);
2. among the options of one choice no surface (with what must follow it) is the beginning of
   another, so the text that follows a point can agree with one option at most;
3. everything else is a function of what was chosen before.
By induction over the text, a reader from the left can tell every choice, so two different
derivations differ in their text, and the probability of the text is the product of its choices.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Generic, NamedTuple, NoReturn, TypeVar

Value = TypeVar("Value")


class NotTinyWorldError(ValueError):
    """The text cannot have been written by the grammar."""


class Fact(NamedTuple):
    """A place in a text where a regularity decides what comes next."""

    kind: str  # the regularity
    start: int  # character at which `right` begins
    right: str
    wrong: tuple[str, ...]  # what would break the regularity


class Options(Generic[Value]):
    """The options of one choice: values, how each is written, and their probabilities.

    followed_by: what may stand right after any of the surfaces, where that is needed to tell them
    apart ("ant" before a comma is not the beginning of "antelope" before a comma).
    category: that of `words` which the values are of, "" where they are of none.
    Raises ValueError if one option, so followed, begins another.
    """

    def __init__(
        self,
        values: Sequence[Value],
        surfaces: Sequence[str],
        weights: Sequence[float] | None = None,
        followed_by: tuple[str, ...] = ("",),
        category: str = "",
    ) -> None:
        self.category = category
        if len(values) != len(surfaces) or not values:
            raise ValueError(f"{len(values)} values need as many surfaces; got {len(surfaces)}")
        self.values: tuple[Value, ...] = tuple(values)
        self.surfaces = tuple(surfaces)
        self.forms = [tuple(surface + after for after in followed_by) for surface in self.surfaces]
        ordered = sorted(form for forms in self.forms for form in forms)
        for left, right in pairwise(ordered):
            if right.startswith(left):
                raise ValueError(f"option {left!r} is the beginning of option {right!r}")
        size = len(self.values)
        self.cumulative: list[float] | None = None
        self.log_probs = [-math.log(size)] * size
        if weights is not None:
            total = math.fsum(weights)
            self.log_probs = [math.log(weight / total) for weight in weights]
            self.cumulative = [part / total for part in accumulate(weights)]

    def __len__(self) -> int:
        return len(self.values)

    def match(self, text: str, at: int) -> int | None:
        """Return the index of the one option that `text` shows at `at`, or None."""
        for index, forms in enumerate(self.forms):
            if text.startswith(forms, at):
                return index
        return None


@dataclass(slots=True)
class Writer:
    """What a grammar writes to; see `Sampler` and `Reader`.

    choices: (character at which a choice begins, log-probability of what was chosen), in order.
    """

    switched_off: frozenset[str] = frozenset()
    position: int = 0
    log_prob: float = 0.0
    facts: list[Fact] = field(default_factory=list)
    choices: list[tuple[int, float]] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Write what is certain."""
        raise NotImplementedError

    def _index(self, options: Options) -> int:
        return self._index_among(options, range(len(options)))

    def choose(self, options: Options[Value], without: Sequence[Value] = ()) -> Value:
        """Write one of the options and return its value.

        without: values that are not to be had this time; the others keep their proportions.
        """
        if without:
            kept = [i for i, value in enumerate(options.values) if value not in without]
            return self._choose_among(options, kept)
        index = self._index(options)
        self._write(options.surfaces[index], options.log_probs[index])
        return options.values[index]

    def _choose_among(self, options: Options[Value], kept: list[int]) -> Value:
        """Choose uniformly among the options with the given indices."""
        if options.cumulative is not None:
            raise ValueError("options can be left out of a uniform choice only")
        index = self._index_among(options, kept)
        self._write(options.surfaces[index], -math.log(len(kept)))
        return options.values[index]

    def _index_among(self, options: Options, kept: Sequence[int]) -> int:
        raise NotImplementedError

    def _write(self, surface: str, log_prob: float) -> None:
        if log_prob:
            self.choices.append((self.position, log_prob))
            self.log_prob += log_prob
        self.say(surface)

    def rule(
        self, kind: str, right: str, wrong: Sequence[str], before: str = "", after: str = ""
    ) -> str:
        """Write what a regularity asks for: `before` + `right` + `after`.

        Where the regularity is switched off, `right` and each of `wrong` are equally likely.
        Returns what was written between `before` and `after`.
        """
        if kind in self.switched_off:
            every = (right, *wrong)
            return self.choose(Options(every, [before + text + after for text in every]))
        self.say(before)
        self.facts.append(Fact(kind, self.position, right, tuple(wrong)))
        self.say(right + after)
        return right


@dataclass(slots=True)
class Sampler(Writer):
    """Writes a new text, choosing by chance."""

    chance: random.Random = field(default_factory=random.Random)
    parts: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.parts.append(text)
        self.position += len(text)

    def _index(self, options: Options) -> int:
        u = self.chance.random()
        if options.cumulative is None:
            return int(u * len(options.values))
        return min(bisect_right(options.cumulative, u), len(options.values) - 1)

    def _index_among(self, options: Options, kept: Sequence[int]) -> int:
        return kept[int(self.chance.random() * len(kept))]

    @property
    def text(self) -> str:
        """What has been written so far."""
        return "".join(self.parts)


@dataclass(slots=True)
class Reader(Writer):
    """Follows a text that is already there and finds out what was chosen.

    Raises NotTinyWorldError at the first character that the grammar cannot have written.
    """

    text: str = ""

    def say(self, text: str) -> None:
        if not self.text.startswith(text, self.position):
            self._refuse(f"only {text!r} can follow")
        self.position += len(text)

    def _index(self, options: Options) -> int:
        index = options.match(self.text, self.position)
        if index is None:
            self._refuse(f"none of {len(options)} choices can follow")
        return index

    def _index_among(self, options: Options, kept: Sequence[int]) -> int:
        index = self._index(options)
        if index not in kept:
            self._refuse(f"{options.values[index]!r} cannot be chosen here")
        return index

    def finish(self) -> None:
        """Check that the text ends where the grammar has ended."""
        if self.position != len(self.text):
            self._refuse("the document should have ended")

    def _refuse(self, why: str) -> NoReturn:
        seen = self.text[self.position : self.position + 30]
        raise NotTinyWorldError(f"not tiny-world at character {self.position} ({seen!r}): {why}")
