"""The state of a page: kept in the session, written in the address, shared between pages.

A page names its controls once as `Param`s. `page_state` then reads the address, keeps what the
learner set on an earlier visit, and hands out keyword arguments that tie a widget to its control:

    state = page_state("sampling", [codec.number("temperature", 1.0, 0, 5)])
    st.slider("Temperature", 0.0, 5.0, **state.bind("temperature"))
    logits / state["temperature"]

Every change is written to the address at once, so that copying it copies the lesson.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from llmviz.ui import codec
from llmviz.ui.text import escape_markdown

DEFAULT_TEXT = "The cat sat on the mat. The kitten slept; tokenization isn't magic 🙂"
LEARNER_TEXT = codec.text("text", DEFAULT_TEXT, shared=True)


class PageState:
    """The values of one page's controls. Made by `page_state`."""

    def __init__(self, page: str, params: Sequence[codec.Param]) -> None:
        self.page = page
        self.params = {param.key: param for param in params}
        self.problems: list[str] = []

    def _slot(self, key: str) -> str:
        return f"shared.{key}" if self.params[key].shared else f"{self.page}.{key}"

    def __getitem__(self, key: str) -> Any:
        return st.session_state.get(self._slot(key), self.params[key].default)

    def __setitem__(self, key: str, value: Any) -> None:
        st.session_state[self._slot(key)] = value
        self.write_address()

    def bind(self, key: str, then: Callable[[], None] | None = None) -> dict[str, Any]:
        """Return `key` and `on_change` for a widget, so that it shows and sets this control.

        `then` is called after a change. Pass the widget no default of its own.
        """
        widget_key = f"_{self._slot(key)}@{self.page}"
        st.session_state[widget_key] = self[key]

        def changed() -> None:
            self[key] = st.session_state[widget_key]
            if then is not None:
                then()

        return {"key": widget_key, "on_change": changed}

    def keep(self, key: str, options: Sequence[Any]) -> Any:
        """Return the value if it is among `options`, else the first of them, and say so.

        For controls whose range depends on the learner's text or on a chosen model.
        """
        value = self[key]
        if value in options:
            return value
        self.problems.append(f"{key} = {value} does not exist here; {options[0]} is shown instead.")
        st.session_state[self._slot(key)] = options[0]
        self.write_address()
        return options[0]

    def address(self) -> dict[str, str]:
        """Return what belongs into the address: every control that is not at its default."""
        written = {}
        for key, param in self.params.items():
            value = self[key]
            if value != param.default and (text := param.write(value)) is not None:
                written[key] = text
        return written

    def write_address(self) -> None:
        """Bring the address up to date."""
        address = self.address()
        if st.query_params.to_dict() != address:
            st.query_params.from_dict(address)
        st.session_state["_address"] = (self.page, address)

    def left_out(self) -> list[str]:
        """Return the controls whose value is too long for a link."""
        return [key for key, param in self.params.items() if param.write(self[key]) is None]

    def show_problems(self) -> None:
        """Say which parts of the link could not be used, and what the link cannot carry."""
        for problem in self.problems:
            st.warning(escape_markdown(problem), icon=":material/link_off:")
        for key in self.left_out():
            st.info(
                f"The {key} is too long for a link; everything else is in it.",
                icon=":material/link:",
            )

    def _read_address(self, address: dict[str, str]) -> None:
        for key, param in self.params.items():
            if key not in address:
                continue
            try:
                st.session_state[self._slot(key)] = param.read(address[key])
            except ValueError as rule:
                self.problems.append(
                    f"The link says {key}={address[key][:60]}, but {rule}. "
                    f"The default is used: {_short(param.default)}."
                )
        for key in address.keys() - self.params.keys():
            if not key.startswith("embed"):
                self.problems.append(
                    f"The link has a control named {key}, which is not known here."
                )


def _short(value: Any) -> str:
    shown = str(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def page_state(page: str, params: Sequence[codec.Param], *, with_text: bool = True) -> PageState:
    """Return the state of a page after reading its address.

    The address wins when it is not the one that this app wrote last: a link was opened. Otherwise
    what the learner set earlier stays. `with_text` adds the text that all pages share.
    """
    _enter_through_app()
    params = [LEARNER_TEXT, *params] if with_text else list(params)
    state = PageState(page, params)
    address = st.query_params.to_dict()
    last_page, last_address = st.session_state.get("_address", (None, {}))
    opened = address and (page, address) != (last_page, last_address)
    if opened:
        state._read_address(address)
    state.write_address()
    return state


THROUGH_APP = "_through_app"


def _enter_through_app() -> None:
    """Run again from `app.py` if Streamlit started this page by itself.

    On a fresh server whose first visitor opens a lesson's own address, Streamlit finds the folder
    `pages` and runs the lesson alone, for everyone from then on. Any call of `st.navigation` ends
    that mode; `app.py`, which then runs, builds the real navigation.
    """
    if st.session_state.get(THROUGH_APP):
        return
    files = sorted((Path(__file__).parents[2] / "pages").glob("*.py"))
    st.navigation([st.Page(file, default=file.stem == "home") for file in files], position="hidden")
    st.rerun()
