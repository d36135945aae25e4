"""Chapter "A series first": each value told from the ones before, by least squares."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components.series_view.view import read_drawn, read_hand, read_step, series_view
from llmviz.course.lessons.history.series import letters, normal, words
from llmviz.course.lessons.history.series.params import DRAWN, HILLS
from llmviz.course.lessons.history.series.series_data import (
    FIRST_MONTH,
    FIRST_YEAR,
    sea_temperatures,
    sunspots,
)
from llmviz.course.lessons.history.series.series_fit import (
    Fit,
    fit_series,
    forecast,
    read_series,
    running_error,
    swing,
)
from llmviz.course.ui import kit

KEY = "history.series.view"  # not that of the control called series
SWING = 48  # values
AHEAD = 12  # steps of a forecast at least

MEASURED = {"sunspots": kit.kept(1)(sunspots), "sea": kit.kept(1)(sea_temperatures)}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.choose(state, "series", words.source, words.sources)
    source = state["series"]
    kit.prose(
        words.about[source],
        first=FIRST_YEAR,
        last=FIRST_YEAR + len(MEASURED["sunspots"]()) - 1,
        month=FIRST_MONTH,
        december=FIRST_MONTH + len(MEASURED["sea"]()) // 12 - 1,
    )
    values = kit.or_refused(series_of, state)
    if values is None:
        return
    held = _controls(state, values)
    fitted = len(values) - held
    fit = kit.or_refused(fit_series, values[:fitted], state["lags"])
    if fit is not None and fit.left_out:
        them = words.them[1 if fit.left_out == 1 else 2]
        rows = kit.count(fit.left_out, "row is", "rows are")
        kit.inform(words.gaps.format(gaps=rows, them=them), ":material/content_cut:")
    question = None if fit is None else far_question(values, fitted, fit)
    shown = question is None or kit.predict(question, f"{KEY}.far", covers=True)
    _view(state, values, fitted, fit)
    if fit is None:
        return
    far = growth(values, fitted, fit) if shown else ""
    kit.prose("\n\n".join(filter(None, [summary(fit), far])))
    normal.draw(state, fit)
    letters.draw(state)
    _code(source, values, fitted, fit)
    numbers = {"lags": kit.count(fit.lags, "value"), "rows": kit.count(len(fit.y), "value")}
    mean = float(np.var(fit.y))
    kit.seen(words.end, **numbers, error=fit.mean_square, mean=mean)


def series_of(state: kit.PageState) -> np.ndarray:
    """Return the chosen series, (T,). Raises SeriesError for a text that holds none."""
    if state["series"] == "typed":
        kit.text_area(state, "typed", words.typed, height=80)
        return read_series(state["typed"])
    if state["series"] == "drawn":
        drawn = state["drawn"]
        return np.array(drawn if len(drawn) == DRAWN else HILLS, dtype=float)
    measured = MEASURED.get(state["series"])
    return measured() if measured else swing(SWING)


def _controls(state: kit.PageState, values: np.ndarray) -> int:
    """Show the sliders; return how many values at the end are held out."""
    left, right = st.columns(2, gap="medium")
    left.slider(words.lags, **state.ranged("lags"))
    most = len(values) - 2
    if most < 1:
        return 0
    if state["hold"] > most:  # of another series: no message, the slider shows it
        state["hold"] = most // 4
    right.slider(words.hold, **state.ranged("hold", most=most))
    return state["hold"]


def _view(state: kit.PageState, values: np.ndarray, fitted: int, fit: Fit | None) -> None:
    b = [] if fit is None else fit.b.tolist()
    drawable = state["series"] == "drawn"
    steps = max(len(values) - fitted, AHEAD) if b else 0

    def settled() -> None:
        raw = st.session_state[KEY]
        drawn = read_drawn(raw.get("drawn"), len(values)) if drawable else None
        if drawn is not None and drawn != state["drawn"]:
            state["drawn"] = drawn
            state["byhand"] = ""
            return
        hand = read_hand(raw.get("hand"), len(b))
        state["byhand"] = "" if hand is None else ",".join(f"{value:.6g}" for value in hand)
        state["ahead"] = read_step(raw.get("step"), steps, state["ahead"])

    series_view(
        values,
        fitted,
        b,
        key=KEY,
        words=words.view,
        drawable=drawable,
        by_hand=by_hand(state["byhand"], len(b)),
        step=state["ahead"],
        steps=steps,
        on_change=settled,
    )


def by_hand(written: str, size: int) -> list[float] | None:
    """Return the coefficients that a link holds; None where it holds not `size` numbers."""
    parts = written.split(",")
    if not written or len(parts) != size:
        return None
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return None
    return numbers if all(abs(number) < 1e12 for number in numbers) else None


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {abs(value):.4f}"


def summary(fit: Fit) -> str:
    """Return the fitted formula and its error, beside that of the mean."""
    names = ["X(t)", *(f"X(t−{back})" for back in range(1, fit.lags))]
    terms = [f"{_signed(b)}·{name}" for b, name in zip(fit.b[1:], names, strict=True)]
    formula = " ".join([kit.signed(fit.b[0], 4), *terms])
    return words.fitted.format(
        rows=kit.count(len(fit.y), "value"),
        formula=formula,
        error=fit.mean_square,
        mean=float(np.var(fit.y)),
    )


class Missed(NamedTuple):
    """By how much held-out values are missed: root mean squared errors."""

    running: np.ndarray  # (T,) of the forecast up to each value
    ahead: float  # one step ahead, from the true values
    truth: np.ndarray  # (T,)


def missed(values: np.ndarray, fitted: int, fit: Fit) -> Missed | None:
    """Return how the held-out values are missed; None where that cannot be said."""
    truth = values[fitted:]
    if len(truth) < 2 or np.isnan(values[fitted - fit.lags :]).any():
        return None
    running = running_error(forecast(values[:fitted], fit.b, len(truth)), truth)
    ahead = np.array([forecast(values[: fitted + h], fit.b, 1)[0] for h in range(len(truth))])
    return Missed(running, float(np.sqrt(((ahead - truth) ** 2).mean())), truth)


def growth(values: np.ndarray, fitted: int, fit: Fit) -> str:
    """Say how the error of the forecast grows over the held-out values; "" where it cannot be."""
    known = missed(values, fitted, fit)
    if known is None:
        return ""
    error, ahead, truth = known.running, known.ahead, known.truth
    middle = (len(truth) + 1) // 2
    half = words.half.format(error=error[middle - 1], middle=middle) if middle > 1 else ""
    size = 1e-9 * (1 + float(np.abs(truth).max()))
    kind = "same" if abs(error[-1] - ahead) <= size else "grows" if error[-1] > ahead else "less"
    return words.growth.format(
        steps=len(truth),
        first=error[0],
        half=half,
        last=error[-1],
        one=ahead,
        compare=words.compare[kind],
    )


def far_question(values: np.ndarray, fitted: int, fit: Fit) -> kit.Question | None:
    """Ask by how much the forecast is off; None where nothing is missed, or at a border."""
    known = missed(values, fitted, fit)
    if known is None or known.ahead <= 1e-9 * (1 + float(np.abs(known.truth).max())):
        return None
    last = float(known.running[-1])
    times = last / known.ahead
    if not np.isfinite(times) or f"{times:.3g}" in ("0.5", "2"):
        return None
    right = 0 if times < 0.5 else 1 if times <= 2 else 2
    values = {"last": last, "times": times, "steps": len(known.truth), "one": known.ahead}
    return kit.Question.rated(words.ask, words.ask_answers, right, words.ask_reason, **values)


def _code(source: str, values: np.ndarray, fitted: int, fit: Fit) -> None:
    imports = "from llmviz.course.lessons.history.series.series_fit import fit_series"
    if source in MEASURED:
        series = f"{MEASURED[source].__name__}()"
        data = "llmviz.course.lessons.history.series.series_data"
        imports = f"from {data} import {MEASURED[source].__name__}\n{imports}"
    elif source == "swing":
        imports, series = f"{imports}, swing", f"swing({SWING})"
    else:
        written = ", ".join(_written(value) for value in values)
        imports, series = f"{imports}, read_series", f"read_series({written!r})"
    text = words.snippet.format(imports=imports, series=series, fitted=fitted, lags=fit.lags)
    prints = f"{' '.join(f'{value:.6g}' for value in fit.b)} {fit.mean_square:.6g}"
    kit.show_code([fit_series], text, prints)


def _written(value: float) -> str:
    return "?" if np.isnan(value) else f"{value!r}" if value != int(value) else f"{int(value)}"
