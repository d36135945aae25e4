"""Frozen settings that check themselves."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

LAST_WHOLE = 2**53 - 1  # what JSON and a browser count exactly


@dataclass(frozen=True)
class About:
    """What a setting means; its range is a sane one for a form, its rule is in the class."""

    meaning: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] = ()

    @property
    def help(self) -> str:
        """Meaning and unit, or choices, in one line."""
        note = ", ".join(map(str, self.choices)) or self.unit
        return f"{self.meaning} ({note})" if note else self.meaning


def setting(
    default: Any,
    meaning: str,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: Iterable[Any] = (),
) -> Any:
    """A field of a settings class that says what it means; the command line and forms show it."""
    about = About(meaning, unit, low, high, tuple(choices))
    return field(default=default, metadata={"about": about})


def settings_of(config: type) -> dict[str, About]:
    """The settings of a class that say what they mean, by name."""
    return {
        part.name: part.metadata["about"] for part in fields(config) if "about" in part.metadata
    }


def default_of(config: type, name: str) -> Any:
    """The default of a setting."""
    (part,) = (part for part in fields(config) if part.name == name)
    return part.default


@dataclass(frozen=True)
class Config:
    """Base of all settings: subclasses are frozen dataclasses that check themselves.

    >>> from llmviz.models import GPTConfig
    >>> GPTConfig(n_embd=30, n_head=4)
    Traceback (most recent call last):
    ValueError: n_head must divide n_embd; got n_embd=30, n_head=4
    """

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Settings from plain values; a field that is left out keeps its default.

        Raises ValueError for a field that does not exist, and for what is no mapping.
        """
        if not isinstance(values, Mapping):
            raise ValueError(f"{cls.__name__} must be settings by their names; got {values!r:.60}")
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise ValueError(f"{cls.__name__} has no field {name!r}; it has {', '.join(known)}")
        return cls(**values)

    def require_at_least(self, low: int, *names: str) -> None:
        """Refuse a field that is not a whole number of at least `low`."""
        for name in names:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise ValueError(f"{name} must be a whole number of at least {low}; got {value!r}")
            if value > LAST_WHOLE:
                raise ValueError(f"{name} must be at most {LAST_WHOLE}; got {value}")

    def require_positive(self, *names: str) -> None:
        """Refuse a field that is not a whole number of at least 1."""
        self.require_at_least(1, *names)

    def require_not_negative(self, *names: str) -> None:
        """Refuse a field that is not a finite number of at least 0."""
        for name in names:
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 <= value < math.inf:
                raise ValueError(
                    f"{name} must be a finite number that is not negative; got {value!r}"
                )

    def require_above_zero(self, *names: str) -> None:
        """Refuse a field that is not a finite number above 0."""
        for name in names:
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 < value < math.inf:
                raise ValueError(f"{name} must be a number above 0; got {value!r}")

    def require_fraction(self, *names: str) -> None:
        """Refuse a field that is not at least 0 and below 1."""
        for name in names:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
                raise ValueError(f"{name} must be at least 0 and below 1; got {value!r}")

    def require_numbers(self, *names: str) -> None:
        """Refuse a field that is not a list of numbers."""
        for name in names:
            value = getattr(self, name)
            listed = isinstance(value, list | tuple)
            if not listed or not all(type(part) in (int, float) for part in value):
                raise ValueError(f"{name} must be a list of numbers; got {value!r}")

    def require_bool(self, *names: str) -> None:
        """Refuse a field that is not True or False: any text would count as True."""
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ValueError(f"{name} must be true or false; got {value!r}")

    def require_text(self, *names: str) -> None:
        """Refuse a field that is not a text."""
        for name in names:
            if not isinstance(value := getattr(self, name), str):
                raise ValueError(f"{name} must be a text; got {value!r:.60}")

    def require_one_of(self, name: str, choices: Iterable[Any]) -> None:
        """Refuse a field that is not one of the choices."""
        choices, value = list(choices), getattr(self, name)
        if not any(value is choice or value == choice for choice in choices):
            listed = ", ".join(map(str, choices))
            raise ValueError(f"{name} must be one of {listed}; got {value!r}")

    def require_divides(self, part: str, whole: str) -> None:
        """Refuse fields of which the first does not divide the second."""
        a, b = getattr(self, part), getattr(self, whole)
        if b % a:
            raise ValueError(f"{part} must divide {whole}; got {whole}={b}, {part}={a}")
