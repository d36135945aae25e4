"""Cases as lines on one axis: bars or dots, intervals, single trainings; a line may be guessed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmviz.course.components._shared.transport import nothing, pack, renderer
from llmviz.course.document import languages

Form = Literal["percent", "chance", "count", "figure"]  # how a number of a line is written


@dataclass(frozen=True)
class Case:
    """A line: its words, and what was measured of it.

    label: text, or (text, lit) pieces of which the lit ones stand out. value: None where it is not
    told yet and the hand may set it. interval: from, to. dots: single trainings. note: stands in
    place of the number. guess: what the visitor set before the value was told; ghosts: what others
    might have. begin: where the hand's handle begins, on the axis.
    """

    label: str | Sequence[tuple[str, bool]]
    value: float | None
    interval: tuple[float, float] | None = None
    dots: Sequence[float] = ()
    note: str = ""
    role: str = "query"
    guess: float | None = None
    ghosts: Sequence[float] = ()
    begin: float | None = None

    @classmethod
    def mean(
        cls, label: str | Sequence[tuple[str, bool]], dots: Iterable[float], **look: Any
    ) -> Case:
        """Return the line of single trainings, each a dot, with their mean as its value."""
        each = [float(value) for value in dots]
        return cls(label, math.fsum(each) / len(each), dots=each, **look)


@dataclass(frozen=True)
class Axis:
    """The axis of all lines, from low to high; log: by powers."""

    low: float
    high: float
    title: str = ""
    log: bool = False

    @classmethod
    def over(cls, cases: Iterable[Case], title: str) -> Axis:
        """Return an axis from 0 on which all cases have room.

        >>> Axis.over([Case("a", 4.0, dots=(3.0, 5.0)), Case("b", None)], "").high
        5.5
        """
        numbers = [number for case in cases for number in (case.value or 0.0, *case.dots)]
        return cls(0, 1.1 * max(numbers), title)

    def marks(self, form: Form) -> list[tuple[float, str]]:
        """Return where the axis is marked, and with what: at some five round numbers."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            marked = [*powers][:: max(1, len(powers) // 5)]
            if form in ("percent", "chance"):
                return [(10.0**k, f"{10.0 ** (k + 2):g} %") for k in marked]
            write = _power if marked[-1] <= LARGEST_NAMED else _as_power
            return [(10.0**k, write(k)) for k in marked]
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(k * power for k in (1, 2, 5, 10) if k * power >= rough * 0.999)
        places = range(math.ceil(self.low / step), math.floor(self.high / step + 1e-9) + 1)
        return [(k * step, _marked(k * step, form)) for k in places]


LARGEST_NAMED = 12  # the power of ten up to which numbers have a name that people use
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _as_power(exponent: int) -> str:
    return f"10{str(exponent).translate(_RAISED)}"


def _power(exponent: int) -> str:
    if exponent < 0:
        return languages.number(f"{10.0**exponent:g}")
    names = {3: " thousand", 6: " million", 9: " billion", 12: " trillion"}
    base = exponent - exponent % 3
    return f"{10 ** (exponent - base)}{names.get(base, '')}"


def _marked(value: float, form: Form) -> str:
    share = form in ("percent", "chance")
    if form == "count" and value >= 1e6:
        return f"{languages.number(f'{value / 1e6:,.4g}')} million"
    if share:
        return languages.share(f"{value:.0%}".replace("%", "\u00a0%")).replace("\u00a0", " ")
    return languages.number(f"{value:,.6g}".replace("-", "−"))


def case_rows(
    cases: Sequence[Case],
    axis: Axis,
    *,
    key: str,
    words: Mapping[str, str] | None = None,
    form: Form = "percent",
    mark: Literal["bar", "dot"] = "bar",
    levels: Sequence[tuple[float, str]] = (),
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw cases. levels: values with a name, dotted through all lines, such as that of guessing.

    Where lines are not told, ``st.session_state[key]["act"]`` is then ``{"guess": [value, …],
    "said": [text, …]}``, a value for each of them and how it is written. `words`: hint, done, own,
    ghost. Raises ValueError for what is no number, and for an axis that has no length.
    """
    payload = rows_payload(cases, axis, form, mark, levels) | {"words": dict(words or {})}
    renderer("case_rows")(data=pack(payload), key=key, on_act_change=on_act or nothing)


def rows_payload(
    cases: Sequence[Case],
    axis: Axis,
    form: Form,
    mark: str,
    levels: Sequence[tuple[float, str]],
) -> dict[str, Any]:
    """Return what lines of cases are sent, checked."""
    if not (math.isfinite(axis.low) and axis.low < axis.high < math.inf):
        raise ValueError(f"an axis must go up; got {axis.low} to {axis.high}")
    if axis.log and axis.low <= 0:
        raise ValueError(f"an axis by powers begins above 0; got {axis.low}")
    rows = []
    for case in cases:
        label = [(case.label, False)] if isinstance(case.label, str) else case.label
        numbers = [*case.dots, *case.ghosts, *(case.interval or ())]
        numbers += [value for value in (case.value, case.guess) if value is not None]
        if not all(map(math.isfinite, numbers)):
            raise ValueError(
                f"the numbers of {''.join(text for text, _ in label)!r} are not finite"
            )
        rows.append(
            {
                "label": [[text, bool(lit)] for text, lit in label],
                "value": None if case.value is None else float(case.value),
                "interval": None if case.interval is None else [float(at) for at in case.interval],
                "dots": [float(value) for value in case.dots],
                "note": case.note,
                "role": case.role,
                "guess": None if case.guess is None else float(case.guess),
                "ghosts": [float(value) for value in case.ghosts],
                "begin": float(axis.low if case.begin is None else case.begin),
            }
        )
    return {
        "rows": rows,
        "axis": {
            "low": float(axis.low),
            "high": float(axis.high),
            "log": axis.log,
            "title": axis.title,
            "ticks": axis.marks(form),
        },
        "form": form,
        "mark": mark,
        "levels": [[float(value), text] for value, text in levels],
    }
