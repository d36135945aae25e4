"""The state of a page: kept in the session, written in the address, shared between pages.

A page names its controls once as `Param`s. `page_state` then reads the address, keeps what the
learner set on an earlier visit, and hands out keyword arguments that tie a widget to its control:

    state = page_state("sampling", [codec.number("temperature", 1.0, 0, 5)])
    st.slider("Temperature", **state.ranged("temperature"))
    logits / state["temperature"]

Every change is written to the address at once, so that copying it copies the lesson.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from llmviz.course.document import language
from llmviz.course.streamlit_parts import values_of, went_through_history
from llmviz.course.ui import class_session, codec
from llmviz.course.ui.classes import Place
from llmviz.course.ui.documents import hear_language
from llmviz.course.ui.furniture import words
from llmviz.course.ui.notices import warn
from llmviz.course.ui.rerun import once
from llmviz.files.paths import PAGES

LINK_ICON = ":material/link_off:"
DEFAULT_TEXT = "Once Anna and Samir saw a kitten. Then"
LEARNER_TEXT = codec.text("text", DEFAULT_TEXT, codec.MOST_OF_A_TEXT, shared=True)

# Controls of older links whose parts of a page are gone: nothing is said of them.
RETIRED = {"new", "deep", "learn", "smooth", "mlp", "map", "bend", "firsts", "mapseed", "mapframe"}
RETIRED |= {"clip", "depth", "penalty", "wrong", "slip", "published", "numberfrom", "bitmodel"}
RETIRED |= {"bitmatrix", "bitrow", "bitcolumn", "copyhead", "copytext", "phasedensity"}
RETIRED |= {"phaseweight", "whoview", "qaxis", "qmeasured", "curves", "tagger", "truetag"}
RETIRED |= {"giventag", "role", "fromrow", "fromcolumn", "loraseen", "change", "rankcell", "rare"}
RETIRED |= {"balanced", "cutter", "tokenizer", "batch"}
RETIRED |= {"who", "raxis", "runit", "again", "asteps", "inventing"}

# In the session: the chapter whose look has brought a text, that text, and the learner's own.
_LENT = "_look_text"


class PageState:
    """The values of one page's controls. Made by `page_state`."""

    def __init__(self, page: str, params: Sequence[codec.Param]) -> None:
        self.page = page
        self.params = {param.key: param for param in params}
        self.problems: list[str] = []
        self.locked: dict[str, str] = {}  # texts that a model writes now, and which time it is
        self.left_out: list[str] = []  # controls whose value was too long for the last address

    def _slot(self, key: str) -> str:
        return f"shared.{key}" if self.params[key].shared else f"{self.page}.{key}"

    def __getitem__(self, key: str) -> Any:
        """Return the value of a control; of a text, as many characters as are read."""
        value, most = self.whole(key), self.params[key].most
        return value if most is None else value[:most]

    def is_set(self, key: str) -> bool:
        """Return whether a hand or a link has given a control its value, be it the default."""
        return self._slot(key) in st.session_state

    def whole(self, key: str) -> Any:
        """Return all that a control holds, also what is typed beyond the limit of its text."""
        return st.session_state.get(self._slot(key), self.params[key].default)

    def __setitem__(self, key: str, value: Any) -> None:
        st.session_state[self._slot(key)] = value
        self.write_address()  # also for the same value: another page may have had the address

    def setter(self, **values: Any) -> Callable[[], None]:
        """Return a callback that gives controls these values, one after the other."""

        def put() -> None:
            for key, value in values.items():
                self[key] = value

        return put

    def take(self, look: str) -> None:
        """Give controls the values of a look, as an address has them; one that cannot is said."""
        for name, written in parse_qsl(look, keep_blank_values=True):
            try:
                self[name] = self.params[name].read(written)
            except (KeyError, ValueError) as rule:
                warn(f"{name}={written[:60]}: {rule}", LINK_ICON)

    def look(self, look: str) -> None:
        """Take the values of a look; a text that it brings is lent (see `give_back`)."""
        session, slot = st.session_state, f"shared.{LEARNER_TEXT.key}"
        own = session.get(slot)
        self.take(look)
        if own is not None and session[slot] != own:
            _, lent, before = session.get(_LENT, ("", None, None))
            session[_LENT] = self._place, session[slot], before if lent == own else own

    def give_back(self) -> None:
        """Take the learner's own text again where another chapter's look has lent one."""
        place, lent, own = st.session_state.get(_LENT, ("", None, None))
        if place not in ("", self._place):
            del st.session_state[_LENT]
            if self[LEARNER_TEXT.key] == lent:
                self[LEARNER_TEXT.key] = own

    @property
    def _place(self) -> str:
        return f"{self.page}/{self['part'] if 'part' in self.params else ''}"

    def taker(self, key: str) -> Callable[[Any], None]:
        """Return what gives a control the value that was chosen; None leaves it as it is."""

        def take(value: Any) -> None:
            if value is not None:
                self[key] = value

        return take

    def bind(
        self, key: str, then: Callable[[], None] | None = None, shown: Any = None
    ) -> dict[str, Any]:
        """Return `key` and `on_change` for a widget, so that it shows and sets this control.

        `then` is called after a change. shown: what the widget shows instead, where a value such as
        "" stands for another one. Pass the widget no default of its own.
        """

        def changed(value: Any) -> None:
            if value is None and self.params[key].default is not None:
                return  # a late message names an option as it was called before
            self[key] = value
            if then is not None:
                then()

        value = self.whole(key) if shown is None else shown
        return tied(f"_{self._slot(key)}@{self.page}", value, changed)

    def ranged(
        self,
        key: str,
        *,
        least: float | None = None,
        most: float | None = None,
        then: Callable[[], None] | None = None,
    ) -> dict[str, Any]:
        """Return `bind(key)` with the range of the number, which is that of its link.

        For `st.slider` and `st.number_input`. least, most: a smaller range, where that depends on
        the learner's text or on a chosen model; a value outside becomes the nearest one inside,
        and the page says so.
        """
        param = self.params[key]
        if param.low is None or param.high is None:
            raise TypeError(f"{key} is a control without a range")
        kind = type(param.low)
        low = param.low if least is None else max(param.low, kind(least))
        high = param.high if most is None else max(low, min(param.high, kind(most)))
        value = min(max(self[key], low), high)
        if value != self[key]:
            line = words.link["gone"]
            warn(line.format(key=key, written=self[key], other=value), LINK_ICON)
            self[key] = value
        return {"min_value": low, "max_value": high, **self.bind(key, then)}

    def named(
        self, key: str, names: Mapping[Any, str], then: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Return `bind(key, then)` with the values to choose from, each shown by its name.

        For `st.pills`, `st.segmented_control` and `st.selectbox`.
        """
        return {
            "options": list(names),
            "format_func": names.__getitem__,
            **self.bind(key, then),
        }

    def several(self, key: str) -> dict[str, Any]:
        """Return how many may be chosen, for `st.multiselect`: as many as a link may name.

        Streamlit raises an error for a choice of more than its `max_selections`.
        """
        return {"max_selections": self.params[key].at_most}

    def keep(self, key: str, options: Sequence[Any]) -> Any:
        """Return the value if it is among `options`, else the first of them, and say so.

        For controls whose range depends on the learner's text or on a chosen model.
        """
        value = self[key]
        if value in options:
            return value
        line = words.link["gone"]
        self.problems.append(line.format(key=key, written=value, other=options[0]))
        st.session_state[self._slot(key)] = options[0]
        self.write_address()
        return options[0]

    def address(self) -> dict[str, str]:
        """Return what belongs into the address: the chapter, each control not at its default.

        Those whose value is too long for a link are left out, and named in `left_out`.
        """
        slots = {self._slot(key): key for key in self.params}
        held = values_of(slots)
        values: Any = st.session_state if held is None else held
        changed = {
            key: values.get(slot, param.default)
            for slot, (key, param) in zip(slots, self.params.items(), strict=True)
            if param.always or (slot in values and values[slot] != param.default)
        }
        written = {key: self.params[key].write(value) for key, value in changed.items()}
        self.left_out = [key for key, text in written.items() if text is None]
        return {key: text for key, text in written.items() if text is not None}

    def write_address(self) -> None:
        """Bring the address up to date."""
        _hear(self.page)
        address = self.address()
        written = address | class_session.in_address()
        now = st.query_params.to_dict()
        if now != written:
            _, before = st.session_state.get(_UNHEARD) or (self.page, [now])
            st.session_state[_UNHEARD] = self.page, [*before[-_KEYS:], written]
            st.query_params.from_dict(written)
        st.session_state["_address"] = (self.page, address)
        # What was answered in this window stays here; "1" shows all who follow what is covered.
        of_class = {key: text for key, text in address.items() if key != "show" or text == "1"}
        class_session.show(self.page, of_class, {key: self[key] for key in self.left_out})

    def show_problems(self) -> None:
        """Say which parts of the link could not be used, and what the link cannot carry.

        The place of what was said stays: a browser makes anew all that is below one that goes.
        """
        place = f"_problems@{self.page}"
        if not (self.problems or self.left_out or place in st.session_state):
            return
        st.session_state[place] = True
        with st.container():
            for problem in self.problems:
                warn(problem, LINK_ICON)
            for key in self.left_out:
                st.info(words.link["long"].format(key=key), icon=":material/link:")

    def _follow(self, place: Place) -> None:
        """Take all values from a class's presenter: what is not named there is at its default."""
        for key in self.params:
            st.session_state.pop(self._slot(key), None)
        self._read_address(place.query)
        for key, text in place.texts.items():
            if key in self.params and (most := self.params[key].most) is not None:
                st.session_state[self._slot(key)] = text[:most]

    def _read_address(self, address: dict[str, str]) -> None:
        today = {param.formerly: key for key, param in self.params.items() if param.formerly}
        address = {today.get(key, key): written for key, written in address.items()}
        for key, param in self.params.items():
            if key not in address:
                continue
            try:
                st.session_state[self._slot(key)] = param.read(address[key])
            except ValueError as rule:
                said = {"key": key, "written": address[key][:60], "rule": rule}
                line = words.link["value"]
                self.problems.append(line.format(**said, default=_named(param.default)))
        for key in address.keys() - self.params.keys() - RETIRED:
            if not key.startswith("embed"):
                self.problems.append(words.link["unknown"].format(key=key))


# In the session: name of a widget -> (its present key, the value it was given, in which language).
_TIED = "_tied"
_KEYS = 16  # a late message is of a moment ago; with more names the session would only grow


def tied(name: str, value: Any, changed: Callable[[Any], None]) -> dict[str, Any]:
    """Return `key` and `on_change` for a widget that shows `value`; `changed` gets a choice.

    The key is another one each time the page, not the learner, gives the widget another value.
    A browser that has not heard of the new value yet repeats the old one with whatever it sends
    next, and a page that looks at a run each second makes it send all the time. Streamlit takes
    that for a choice: what the page had just set would be undone. Under another key the late
    message speaks of a widget that is no longer there, and nobody listens to it. So it is in
    another language, too: a browser names an option as it was called there.
    """
    known, spoken = st.session_state.setdefault(_TIED, {}), language()
    key, given, before = known.get(name, (name, value, spoken))
    widget_value = st.session_state.get(key, value)
    if (value != widget_value and value != given) or spoken != before:
        number = int(key[len(name) + 1 :] or 0)
        key = f"{name}#{(number + 1) % _KEYS}"
    known[name] = key, value, spoken
    st.session_state[key] = value

    def answer() -> None:
        if known[name][0] == key and key in st.session_state:
            changed(st.session_state[key])

    return {"key": key, "on_change": answer}


def _named(value: Any) -> str:
    text = str(value)
    if not text:  # of texts that are empty until something is typed
        return ""
    return words.link["default"].format(value=text if len(text) <= 60 else text[:57] + "…")


def page_state(page: str, params: Sequence[codec.Param]) -> PageState:
    """Return the state of a page after reading its address.

    The address wins when it is not the one that this app wrote last: a link was opened. Otherwise
    what the learner set earlier stays.
    """
    _enter_through_app()
    _hear(page)
    state = PageState(page, params)
    address = class_session.of_page(st.query_params.to_dict())
    place = class_session.take_place(page)
    last_page, last_address = st.session_state.get("_address", (None, {}))
    opened = address and (page, address) != (last_page, last_address)
    if place is not None:
        state._follow(place)
    elif opened:
        state._read_address(address)
    state.write_address()
    if place is not None:
        hear_language()  # it may be another one since this rerun began
    return state


# In the session: a page, and addresses that a browser may have until it hears of the last of them.
_UNHEARD = "_unheard"


@once
def _hear(page: str) -> None:
    """Give a request that left before the browser heard of the last address that address.

    Its own would be taken for a link to what the hand has changed since. Who goes back means the
    address that he goes to, also right after he has left it.
    """
    of, (*before, last) = st.session_state.get(_UNHEARD) or (page, [{}])
    if of != page or st.query_params.to_dict() not in before or went_through_history():
        st.session_state[_UNHEARD] = None
    elif st.query_params.to_dict() != last:
        st.query_params.from_dict(last)


THROUGH_APP = "_through_app"


def _enter_through_app() -> None:
    """Run again from `app.py` if Streamlit started this page by itself.

    On a fresh server whose first visitor opens a lesson's own address, Streamlit finds the folder
    `pages` and runs the lesson alone, for everyone from then on. Any call of `st.navigation` ends
    that mode; `app.py`, which then runs, builds the real navigation.
    """
    if st.session_state.get(THROUGH_APP):
        return
    files = sorted(PAGES.glob("*.py"))
    st.navigation([st.Page(file, default=file.stem == "home") for file in files], position="hidden")
    st.rerun()
