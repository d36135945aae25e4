"""A table of a page as HTML, its numbers written as the app writes them."""

from __future__ import annotations

import json
import math
from html import escape
from typing import Any

import pandas as pd


def table_html(element: Any) -> str:
    """Return a table. It can be scrolled where it is wider than the page."""
    frame, proto = element.value, element.proto
    known = json.loads(getattr(proto, "columns", "") or "{}")
    hides = known.get("_index", {}).get("hidden", False) or element.type == "table"
    if element.type == "table" and not isinstance(frame.index, pd.RangeIndex):
        hides = False
    order = list(getattr(proto, "column_order", ())) or [str(name) for name in frame.columns]
    columns = [name for name in frame.columns if str(name) in order]
    columns.sort(key=lambda name: order.index(str(name)))
    set_up = {name: known.get(str(name)) or {} for name in columns}
    columns = [name for name in columns if not set_up[name].get("hidden")]
    heads = [set_up[name].get("label") or str(name) for name in columns]
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    if not hides:
        top = f"<td></td>{top}"
    rows = []
    for label, row in zip(frame.index, frame[columns].itertuples(index=False), strict=True):
        cells = "".join(
            _cell(value, set_up[name]) for name, value in zip(columns, row, strict=True)
        )
        first = "" if hides else f'<th scope="row">{escape(str(label))}</th>'
        rows.append(f"<tr>{first}{cells}</tr>")
    return (
        f'<div class="table" tabindex="0"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(value: Any, column: dict[str, Any]) -> str:
    kind = column.get("type_config") or {}
    text = written(value, kind.get("format") or "")
    right = isinstance(value, (int, float)) or column.get("alignment") == "right"
    right = right or hasattr(value, "dtype")
    name = ' class="number"' if right and not isinstance(value, bool) else ""
    return f"<td{name}>{escape(text)}</td>"


def written(value: Any, form: str = "") -> str:
    """Return a value as a table of the app shows it.

    >>> written(0.25, "percent"), written(1234567, "localized"), written(1.23456, "%.2f")
    ('25%', '1,234,567', '1.23')
    >>> written(True), written(0.123456789), written(None)
    ('yes', '0.1235', '')
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return ""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        if form == "percent":
            return f"{100 * value:.2f}".rstrip("0").rstrip(".") + "%"
        if form.startswith("%"):
            return form % value
        if isinstance(value, int):
            return f"{value:,}" if form == "localized" else str(value)
        text = f"{value:,.4f}" if form == "localized" else f"{value:.4f}"
        return text.rstrip("0").rstrip(".")
    return str(value)
