"""What the chapters of every lesson share: a text made safe to look at, refusals, tables.

Columns of a table go to the browser as they are, without a data frame in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import streamlit as st

from llmviz.course.components.token_strip.view import TokenRow, token_strip
from llmviz.course.document import ENGLISH, language, languages
from llmviz.course.figures.theme import Mode
from llmviz.course.ui.codec import pack_text
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.notices import inform, refuse, warn
from llmviz.course.ui.question import whole_percent
from llmviz.course.ui.state import LEARNER_TEXT, LINK_ICON, PageState
from llmviz.files.text import check_text


def rows_table(rows: Iterable[Sequence[Any]], titles: Iterable[str], **more: Any) -> None:
    """Show rows under the titles of their columns; more: as `st.dataframe` takes it.

    A pandas frame says the same, and takes the server ten times as long in every rerun.
    """
    titles, rows = list(titles), list(rows)
    columns = zip(*rows, strict=True) if rows else [()] * len(titles)
    arrays = [pa.array(values, from_pandas=True) for values in columns]  # NaN is empty
    st.dataframe(pa.table(arrays, names=titles), hide_index=True, **more)


LOOKED_AT = 10_000  # characters of the learner's text that a lesson works on
PARTS = "_parts"  # in the session, where somebody lists them: the parts of the chapter
DRAWN_IN = "_drawn_in"  # in the session: the theme of a page without a browser
IN_SNIPPET = 600  # characters of it that a snippet quotes

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Parts(NamedTuple):
    """The parts of a chapter that a control opens: the one that it begins with, and all names."""

    first: str
    names: dict[str, str]


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "token"), count(1200, "token"), count(2, "entry", "entries")
    ('1 token', '1,200 tokens', '2 entries')
    """
    forms: Mapping[str, str] = furniture.counts.get(noun, {}) if language() != ENGLISH else {}
    if forms:
        return languages.plural(number, forms).format(n=number)
    return f"{languages.number(f'{number:,}')} {noun if number == 1 else plural or noun + 's'}"


def listed(names: list[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["MLP", "RNN", "GPT"])
    'MLP, RNN and GPT'
    """
    if language() != ENGLISH:
        return languages.joined(names)
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def learner_text(state: PageState, limit: int = LOOKED_AT) -> str | None:
    """Return the learner's text as far as a lesson looks at it, saying so where that is not all.

    Returns None, after one clear line, where there is nothing to look at: no text, or one that
    cannot be written as UTF-8. The box keeps what the learner typed.
    """
    return readable(state[LEARNER_TEXT.key], limit, furniture.empty_text, furniture.too_long)


def readable(text: str, limit: int, empty: str, too_long: str) -> str | None:
    """Return the first `limit` characters of a text; None, after one clear line, without any.

    empty: what is said of no text. too_long: what is said of a longer one, with {all} and {limit}.
    """
    if not text:
        inform(empty, ":material/edit:")
        return None
    try:
        check_text(text)
    except ValueError as error:
        refuse(error)
        return None
    if len(text) > limit:
        inform(too_long.format(all=len(text), limit=limit), ":material/content_cut:")
    return text[:limit]


def keep(state: PageState, key: str, options: Sequence[Any]) -> Any:
    """Return `state.keep(key, options)`, showing here and now what it has to say."""
    known = len(state.problems)
    value = state.keep(key, options)
    for problem in state.problems[known:]:
        warn(problem, LINK_ICON)
    return value


def choose(
    state: PageState,
    key: str,
    label: str,
    names: Mapping[Any, str],
    then: Callable[[], None] | None = None,
    *,
    parts: bool = False,
    **more: Any,
) -> None:
    """Show a control's options, by name, as buttons beside each other, of which one is pressed.

    then: called after a change. parts: whether each is a part of the chapter, with words and
    pictures of its own. more: as `st.segmented_control` takes it.
    """
    if parts:
        list_parts(state, key, names)
    st.segmented_control(
        label, required=True, wrap=True, **more, **state.named(key, names, then=then)
    )


def value_strip(
    rows: Sequence[TokenRow], key: str, label: str | tuple[str, str], low: float = 0.0
) -> None:
    """Draw rows of chips, each coloured by its value from `low` to 1.

    label: what a value is, or what its two ends are.
    """
    token_strip(rows, key=key, show_ids=False, value_label=label, value_range=(low, 1.0))


def list_parts(state: PageState, key: str, names: Mapping[str, str]) -> None:
    """Tell who lists them that a control opens parts of the chapter, and how they are called."""
    listed = st.session_state.get(PARTS)
    if listed is not None:
        listed[key] = Parts(state.params[key].default, dict(names))


def controls(state: PageState, then: Callable[[], None] | None = None, /, **labels: str) -> None:
    """Show declared controls beside each other: numbers as boxes, choices as buttons."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label in labels.items():
            if options := state.params[key].options:
                choose(state, key, label, {option: option for option in options}, then)
            else:
                st.number_input(label, step=1, width=120, **state.ranged(key, then=then))


def choose_below_title(
    state: PageState,
    key: str,
    label: str,
    names: Mapping[Any, str],
    then: Callable[[], None] | None = None,
    *,
    parts: bool = False,
) -> None:
    """Show what there is to choose as a row of names; the label is for screen readers.

    parts: as for `choose`.
    """
    if parts:
        list_parts(state, key, names)
    st.pills(
        label,
        required=True,
        wrap=True,
        label_visibility="collapsed",
        **state.named(key, names, then),
    )


def suggest(
    label: str, options: Sequence[Any], take: Callable[[Any], None], *, key: str, **more: Any
) -> None:
    """Show options as buttons, of which none stays pressed.

    take: called with the one that is pressed. more: as `st.pills` takes it.
    """

    def pressed() -> None:
        option = st.session_state.get(key)
        if option is not None:
            take(option)
            st.session_state[key] = None

    st.pills(label, options, key=key, on_change=pressed, **more)


def another(
    state: PageState, key: str, label: str, then: Callable[[], None] | None = None, **more: Any
) -> None:
    """Show a button that gives a control its next whole number, behind the last one the first.

    then: what is done besides. more: as `st.button` takes it.
    """
    param = state.params[key]
    low, high = int(param.low or 0), int(param.high or 0)

    def go_on() -> None:
        state[key] = low + (state[key] + 1 - low) % (high + 1 - low)
        if then is not None:
            then()

    st.button(label, icon=":material/casino:", on_click=go_on, **more)


def chart(figure: Any, key: str, *, bar: bool = True, **more: Any) -> None:
    """Show a figure of `llmviz.course.figures` in its own colours.

    bar: whether Plotly's buttons stand above it. more: as `st.plotly_chart` takes it.
    """
    if not bar:
        more["config"] = {"displayModeBar": False}
    st.plotly_chart(figure, key=key, theme=None, **more)


def plot(key: str, figure: Callable[..., Any], *given: Any) -> None:
    """Show what a kept figure draws of these arguments, in the visitor's colours."""
    chart(figure(*given, theme()), key, bar=False)


def chapter_link(
    lesson: str, part: str, label: str, icon: str = ":material/arrow_forward:", **more: str
) -> None:
    """Show a link to a chapter. more: what its address says besides."""
    st.page_link(f"pages/{lesson}.py", label=label, icon=icon, query_params={"part": part, **more})


def head_link(label: str, text: str, model: str, layer: int, head: int) -> None:
    """Show a link to the weights of a head of a trained model on a text."""
    more = {"text": pack_text(text) or "", "model": model, "layer": str(layer), "head": str(head)}
    chapter_link("attention", "trained", label, ":material/hub:", **more)


def theme() -> Mode:
    """Return "dark" or "light", as the learner's page is now.

    What is drawn without a browser says it in the session (DRAWN_IN).
    """
    return st.session_state.get(DRAWN_IN) or (
        "dark" if st.context.theme.type == "dark" else "light"
    )


def percent(share: float) -> str:
    """Return a share as a percentage with three digits or so, which no line break tears apart.

    A share above 0 is not rounded to 0.

    >>> percent(0.5), percent(0.0), percent(0.00002)
    ('50.0\xa0%', '0.0\xa0%', 'less than 0.01\xa0%')
    """
    size = 100 * share
    if 0 < size < 0.005:
        return furniture.less_than.format(share=languages.share("0.01\u00a0%"))
    written = f"{size:.1f}\u00a0%" if size >= 10 or size == 0 else f"{size:.2f}\u00a0%"
    return languages.share(written)


def near_percent(share: float) -> str:
    """Return a share in whole percent, but never 0 or 100 for what is only near.

    >>> near_percent(0.144), near_percent(0.9999), near_percent(1.0)
    ('14\xa0%', '99.9\xa0%', '100\xa0%')
    """
    whole = round(100 * share) not in (0, 100) or share in (0, 1)
    return whole_percent(share) if whole else percent(min(share, 0.999))


def duration(seconds: float) -> str:
    """Return a time as one says it.

    >>> duration(3.2), duration(75), duration(5000)
    ('3 s', '75 s', '1 h 23 min')
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"


def signed(value: float, digits: int = 2) -> str:
    """Return a number with so many digits and a true minus sign, which no zero has.

    >>> signed(-1.5), signed(2, 3), signed(-1e-9)
    ('−1.50', '2.000', '0.00')
    """
    return languages.number(f"{value:z.{digits}f}".replace("-", "−"))


def raised(power: int) -> str:
    """Return a whole number as an exponent.

    >>> "2" + raised(-24)
    '2⁻²⁴'
    """
    return str(power).translate(_RAISED)


def power_of_ten(number: float, digits: int = 2) -> str:
    """Return a number with so many digits and its power of ten.

    >>> power_of_ten(4.2e23), power_of_ten(-1.234e-7, 3), power_of_ten(0)
    ('4.2·10²³', '−1.23·10⁻⁷', '0')
    """
    if not number:
        return "0"
    mantissa, power = f"{number:.{digits - 1}e}".replace("-", "−", int(number < 0)).split("e")
    return f"{languages.number(mantissa)}·10{raised(int(power))}"


def roughly(number: float) -> str:
    """Return a positive number as one says it: whole from ten on, below with two digits.

    >>> roughly(113.6), roughly(9.96), roughly(0.0271)
    ('114', '10', '0.027')
    """
    return languages.number(f"{number:,.0f}" if number >= 9.95 else f"{number:.2g}")


def operand(written: str) -> str:
    """Return a written number as it stands after −, +, × or ÷: a negative one in brackets.

    >>> operand("3.2"), operand("-3.2"), operand("−0.5")
    ('3.2', '(−3.2)', '(−0.5)')
    """
    text = written.replace("-", "−")
    return f"({text})" if text.startswith("−") else text
