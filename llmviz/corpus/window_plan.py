"""Which windows a text is cut into: context size, stride, what overlaps, what is never seen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WindowPlan:
    """The windows over a text of `tokens` tokens, without the text itself.

    A window at position p reads tokens p … p + context − 1 as inputs and p + 1 … p + context as
    targets (the shift by one). Windows begin at 0, stride, 2·stride … as long as the last target
    exists; a rest that is too short for a whole window is left over.
    Raises ValueError if a size is below 1 or the text is too short for one window.
    """

    tokens: int
    context: int
    stride: int

    def __post_init__(self) -> None:
        for name in ("context", "stride"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}")
        if self.tokens < self.context + 1:
            raise ValueError(
                f"a window of context {self.context} needs at least {self.context + 1} tokens; "
                f"the text has {self.tokens}"
            )

    @property
    def starts(self) -> range:
        """Position of the first token of each window."""
        return range(0, self.tokens - self.context, self.stride)

    @property
    def visits(self) -> list[int]:
        """How many windows have each token among their inputs; length `tokens`."""
        return self._cover(0)

    @property
    def target_visits(self) -> list[int]:
        """How many windows have each token among their targets; length `tokens`."""
        return self._cover(1)

    @property
    def overlap(self) -> int:
        """How many inputs a window shares with the next one; 0 if the stride is the context."""
        return max(0, self.context - self.stride)

    @property
    def gap(self) -> int:
        """How many tokens lie between a window's inputs and the next window's; 0 if none."""
        return max(0, self.stride - self.context)

    @property
    def never_seen(self) -> list[int]:
        """Positions of the tokens that are neither input nor target of any window."""
        both = zip(self.visits, self.target_visits, strict=True)
        return [i for i, (inputs, targets) in enumerate(both) if not inputs and not targets]

    @property
    def predictions(self) -> int:
        """How many next-token predictions all windows make together."""
        return len(self.starts) * self.context

    def _cover(self, shift: int) -> list[int]:
        changes = [0] * (self.tokens + 1)
        for start in self.starts:
            changes[start + shift] += 1
            changes[start + shift + self.context] -= 1
        total, counts = 0, []
        for change in changes[:-1]:
            total += change
            counts.append(total)
        return counts
