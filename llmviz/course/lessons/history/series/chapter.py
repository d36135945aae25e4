"""Chapter "A series first": each value told from the ones before, by least squares."""

from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.corpus.counts import LETTERS
from llmviz.course import components as lv
from llmviz.course.components.series_view.view import read_drawn, read_hand, read_step, series_view
from llmviz.course.lessons.history import NAME, typed_name
from llmviz.course.lessons.history.counting.model import learned_pairs
from llmviz.course.lessons.history.letter_pairs import one_hot_fit
from llmviz.course.lessons.history.series import DRAWN, HILLS, words
from llmviz.course.lessons.history.series.series_fit import (
    FIRST_MONTH,
    FIRST_YEAR,
    Fit,
    fit_series,
    forecast,
    read_series,
    running_error,
    sea_temperatures,
    sunspots,
    swing,
)
from llmviz.course.ui import kit, pinned_cells

KEY = "history.series.view"  # not that of the control called series
GUESS = "history.series.rest"
OWN = ("drawn", "typed")
FEWEST = 5  # values that are drawn by hand at least
APART = 0.3  # of the deviation of the series, on average, between the answers of the question
BEFORE = 3  # times as many values are drawn before those that are covered
SEEN = 5  # rows of X that are seen at once
SWING = 48  # values
SMALL = 5e-5  # a share that would be written as 0.00 %
AHEAD = 12  # steps of a forecast at least

SOURCES = {"sunspots": sunspots, "sea": sea_temperatures}
MEASURED = {name: kit.cached(1)(read) for name, read in SOURCES.items()}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the series, whose end is drawn by hand, then its forecast and where it comes from."""
    kit.prose(words.hook)
    with kit.stage("series"):
        picture = st.container()
        kit.choose(state, "series", words.source, words.sources)
        values = kit.or_refused(series_of, state)
        if values is None:
            return
        held = _controls(state, values)
        fitted = len(values) - held
        fit = kit.or_refused(fit_series, values[:fitted], state["lags"])
        own = state["series"] in OWN  # who made it has nothing to guess
        guess = kit.Guess(GUESS, None if fit is None or own else question(values, fitted))
        with picture:
            if fit is not None and guess.question is not None:
                _drawn_on(values, fitted, fit, guess, words.sources[state["series"]])
            if guess.ask():
                _view(state, values, fitted, fit)
    source = state["series"]
    kit.prose(
        words.about[source],
        first=FIRST_YEAR,
        last=FIRST_YEAR + len(MEASURED["sunspots"]()) - 1,
        month=FIRST_MONTH,
        december=FIRST_MONTH + len(MEASURED["sea"]()) // 12 - 1,
    )
    kit.looks(state, words.looks, f"{KEY}.looks")
    if fit is None:
        return
    if fit.left_out:
        them = words.them[1 if fit.left_out == 1 else 2]
        rows = kit.count(fit.left_out, "row is", "rows are")
        kit.inform(words.gaps.format(gaps=rows, them=them), ":material/content_cut:")
    revealed = guess.open
    far = growth(values, fitted, fit) if revealed else ""
    kit.prose(" ".join(filter(None, [summary(fit), far])))
    missing = how_far(values, fitted, fit) if revealed else ""
    kit.measured(
        words.how_fitted.format(
            rows=kit.count(len(fit.y), "value"), error=fit.mean_square, mean=float(np.var(fit.y))
        )
        + missing
    )
    _normal(state, fit)
    _letters(state)
    _code(source, values, fitted, fit)
    if revealed:
        numbers = {"lags": kit.count(fit.lags, "value"), "rows": kit.count(len(fit.y), "value")}
        left = fit.mean_square / (float(np.var(fit.y)) or 1)
        kit.seen(words.end, **numbers, left=kit.percent(left) if left > SMALL else words.nothing)


def question(values: np.ndarray, fitted: int) -> kit.Question | None:
    """Ask how a series goes on; None where a value is not known, or where the answers are near.

    The wrong lines are of somebody to whom nothing can be known, so that the mean is best, and of
    one to whom all comes again as it was.
    """
    truth, before = values[fitted:], values[max(0, 2 * fitted - len(values)) : fitted]
    if len(truth) < FEWEST or len(before) < len(truth) or np.isnan(values).any():
        return None
    mean = np.full(len(truth), values[:fitted].mean())
    lines = {"truth": truth, "mean": mean, "again": before}
    least = APART * float(values.std())
    names = list(lines)
    if any(
        np.abs(lines[x] - lines[y]).mean() <= least
        for n, x in enumerate(names)
        for y in names[n + 1 :]
    ):
        return None
    return kit.Question(
        words.ask.format(count=len(truth)),
        [words.answers[name] for name in names],
        0,
        [words.reasons[name] for name in names],
        values=[tuple(map(float, line)) for line in lines.values()],
    )


def _drawn_on(values: np.ndarray, fitted: int, fit: Fit, guess: kit.Guess, name: str) -> None:
    """Draw the series up to what is held out; the rest is drawn by hand, and then told."""
    revealed = guess.open
    held = len(values) - fitted
    first = max(0, fitted - BEFORE * held)
    ahead = forecast(values[:fitted], fit.b, held)
    own = [kit.Drawn(words.forecast, range(fitted, len(values)), ahead.tolist(), "value")]
    low, high = float(min(values.min(), ahead.min())), float(max(values.max(), ahead.max()))
    room = 0.1 * (high - low)
    guess.line(
        own if revealed else [],
        kit.Drawn(name, range(first, len(values)), values[first:].tolist()),
        kit.Scale(first, len(values) - 1, words.view["x_axis"]),
        kit.Scale(low - room, high + room, words.view["y_axis"]),
        known=fitted - first,
        picture=f"{KEY}.guess",
    )


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


def summary(fit: Fit) -> str:
    """Say how the model guesses, by how many values it looks back at."""
    return words.fitted["one" if fit.lags == 1 else "more"].format(
        lags=fit.lags, numbers=fit.lags + 1
    )


def formula(fit: Fit) -> str:
    """Return the next value as a sum of the last ones.

    >>> formula(fit_series(np.array([1.0, 2, 4, 8, 16, 32]), 1))
    '0.0000 + 2.0000·X(t)'
    """
    names = ["X(t)", *(f"X(t−{back})" for back in range(1, fit.lags))]
    terms = [
        f"{'−' if b < 0 else '+'} {abs(b):.4f}·{name}"
        for b, name in zip(fit.b[1:], names, strict=True)
    ]
    return " ".join([kit.signed(fit.b[0], 4), *terms])


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
    """Say whether the forecast misses more than one step ahead; "" where it cannot be known."""
    known = missed(values, fitted, fit)
    if known is None:
        return ""
    last, ahead = known.running[-1], known.ahead
    size = 1e-9 * (1 + float(np.abs(known.truth).max()))
    kind = "same" if abs(last - ahead) <= size else "grows" if last > ahead else "less"
    return words.growth[kind].format(last=last, one=ahead)


def how_far(values: np.ndarray, fitted: int, fit: Fit) -> str:
    """Say how the error of the forecast grows over the held-out values; "" where it cannot be."""
    known = missed(values, fitted, fit)
    if known is None:
        return ""
    error, truth = known.running, known.truth
    middle = (len(truth) + 1) // 2
    half = words.half.format(error=error[middle - 1], middle=middle) if middle > 1 else ""
    return words.how_growth.format(
        steps=len(truth), first=error[0], half=half, last=error[-1], one=known.ahead
    )


# ---- where the coefficients come from, and the same with letters


def _normal(state: kit.PageState, fit: Fit) -> None:
    lags = (words.lag if fit.lags == 1 else words.lags_plural).format(lags=fit.lags)
    kit.section(words.normal, formula=formula(fit))
    windows = {"rows": lv.Window(len(fit.y), SEEN)} if len(fit.y) > SEEN else {}
    rows = "rows" if windows else ""
    names = [words.ones, *(words.lag_name.format(lag=lag) for lag in range(1, fit.lags + 1))]
    square: dict[str, Any] = {"row_labels": names, "col_labels": names}
    matrices = [
        lv.Matrix("X", fit.x, col_labels=names, windows=(rows, "")),
        lv.Matrix("y", fit.y[:, None], windows=(rows, "")),
        lv.Matrix("Xᵀ", fit.x.T, op=lv.transposed("X"), row_labels=names, windows=("", rows)),
        lv.Matrix("XᵀX", fit.normal, op=lv.matmul("Xᵀ", "X"), **square),
        lv.Matrix("Xᵀy", fit.right[:, None], op=lv.matmul("Xᵀ", "y"), row_labels=names),
        lv.Matrix("inverse", fit.inverse, "(XᵀX)⁻¹", words.formula_inverse, **square),
        lv.Matrix(
            "b",
            fit.b[:, None],
            op=lv.matmul("inverse", "Xᵀy"),
            role="query",
            row_labels=[f"b{lag}" for lag in range(fit.lags + 1)],
        ),
    ]
    pinned_cells.show(
        state,
        matrices,
        [["X", "y", "Xᵀ"], ["XᵀX", "Xᵀy"], ["inverse", "b"]],
        key="history.series.normal",
        control="seriescell",
        first="b.1.0",
        windows=windows,
    )
    kit.programmers(words.equations, lags=lags)


@kit.cached(1)
def letter_fit() -> tuple[np.ndarray, np.ndarray]:
    """Return the counted pairs of letters, and what least squares makes of them."""
    counts = learned_pairs()
    return counts, one_hot_fit(counts)


def _letters(state: kit.PageState) -> None:
    """Say what least squares finds after the last letter of the learner's name."""
    counts, b = letter_fit()
    name = typed_name.read(state[NAME.key]).letters
    row = LETTERS.index(name[-1]) if name else 1
    best = 1 + int(counts[row, 1:].argmax())  # the end is no letter
    kit.section(
        words.letters,
        letter=kit.quote(LETTERS[row]),
        best=kit.quote(LETTERS[best]),
        count=int(counts[row, best]),
        row=int(counts[row].sum()),
        share=b[row, best],
    )


def _code(source: str, values: np.ndarray, fitted: int, fit: Fit) -> None:
    imports = "from llmviz.course.lessons.history.series.series_fit import fit_series"
    if source in MEASURED:
        series = f"{SOURCES[source].__name__}()"
        data = "llmviz.course.lessons.history.series.series_fit"
        imports = f"from {data} import {SOURCES[source].__name__}\n{imports}"
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
