"""Tables of the pages: columns go to the browser as they are, without a data frame in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st


def columns_table(columns: Mapping[str, Sequence[Any]], **more: Any) -> None:
    """Show columns under their titles; more: as `st.dataframe` takes it.

    A pandas frame says the same, and takes the server ten times as long in every rerun.
    """
    arrays = [pa.array(values, from_pandas=True) for values in columns.values()]  # NaN is empty
    st.dataframe(pa.table(arrays, names=list(columns)), hide_index=True, **more)


def rows_table(rows: Iterable[Sequence[Any]], titles: Iterable[str], **more: Any) -> None:
    """Show rows under the titles of their columns; see `columns_table`."""
    titles, rows = list(titles), list(rows)
    columns = zip(*rows, strict=True) if rows else [()] * len(titles)
    columns_table(dict(zip(titles, columns, strict=True)), **more)


def grouped(titles: Iterable[str]) -> dict[str, Any]:
    """Return a `column_config` with which columns of these titles have commas in large numbers."""
    return {title: st.column_config.NumberColumn(format="localized") for title in titles}
