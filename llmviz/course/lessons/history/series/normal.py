"""The normal equations as matrices whose cells open."""

from llmviz.course import components as lv
from llmviz.course.lessons.history.series import words
from llmviz.course.lessons.history.series.series_fit import Fit
from llmviz.course.ui import kit, pinned_cells

SEEN = 5  # rows of X that are seen at once


def draw(state: kit.PageState, fit: Fit) -> None:
    """Show X, y, their products, and the coefficients."""
    lags = (words.lag if fit.lags == 1 else words.lags_plural).format(lags=fit.lags)
    kit.section(words.normal, lags=lags)
    windows = {"rows": lv.Window(len(fit.y), SEEN)} if len(fit.y) > SEEN else {}
    rows = "rows" if windows else ""
    names = [words.ones, *(words.lag_name.format(lag=lag) for lag in range(1, fit.lags + 1))]
    square = {"row_labels": names, "col_labels": names}
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
