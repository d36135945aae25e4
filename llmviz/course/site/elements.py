"""The elements of a page as HTML. What only the app can do becomes a list of its settings.

A text of a page reaches the file as text: it is escaped here, or is Markdown without HTML. A table
has its numbers as the app writes them.
"""

from __future__ import annotations

import io
import json
import math
import re
import tokenize
from collections.abc import Iterator, Sequence
from html import escape, unescape
from keyword import iskeyword
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd
from markdown_it import MarkdownIt

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons import LESSONS
from llmviz.course.site.visit import Visit
from llmviz.course.site.words import words
from llmviz.course.ui.guess import told_by_hand
from llmviz.course.ui.guess_drawn import words as guess_words
from llmviz.course.ui.placed_question import OF_THE_APP, elements, guess_in, key_of
from llmviz.course.ui.prose import to_html
from llmviz.course.ui.question import Question


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


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_TINTED = re.compile(r":(\w+)-background\[([^\]]*)\]")
_NOTES = {"info", "success", "warning", "error"}
_PASSED = {"space", "progress", "empty", "spinner", "skeleton"}
_HEADS = {"title": "h1", "header": "h2", "subheader": "h3"}
_CONTROLS = {"number_input", "slider", "select_slider", "selectbox", "text_input", "toggle"}
_CONTROLS |= {"checkbox", "multiselect", "button_group", "radio", "color_picker", "text_area"}
_ACTS = {"button", "download_button", "file_uploader", "popover", "page_link"}
OFFLINE = ":material/cloud_off:"  # what this machine could not fetch


class Setting(NamedTuple):
    """A control of the app: what it is called, and what it is set to; None: it is pressed."""

    label: str
    value: str | None


Piece = str | Setting


class Body:
    """The HTML of a page, with the pictures and charts that its script draws.

    pictures: their folders' names, keys and messages, and the numbers of the questions that are
    answered on them, in the order of their numbers in the HTML. hands: by these, what grades a
    guess on a picture.
    """

    def __init__(self, visit: Visit, app: str) -> None:
        self.visit, self.app = visit, app
        self.pictures: list[tuple[str, str, bytes, int | None]] = []
        self.hands: dict[int, dict[str, Any]] = {}
        self.charts: list[dict[str, Any]] = []
        self.instead_of: dict[str, str] = {}  # HTML in the place of a component
        self.left_out: set[str | int] = set()  # keys of elements, or their `id`
        self.said_elsewhere: set[str] = set()  # labels of settings
        self.settings: list[Setting] = []  # all that the page has
        self.ways: dict[str, str] = {}  # HTML in the place of a control, by the control's name
        every = list(elements(visit.main))
        keys = [key for key in map(guess_in, every) if key is not None]
        self._asked = {key: (n, visit.questions[n]) for n, key in enumerate(keys)}
        heads = ((_head_of(each), each) for each in every if each.type == "html")
        self._heads = {key: head for key, head in heads if key is not None}
        # Only a picture on which nothing is told yet can be answered on.
        veiled = {key_of(before) for some in visit.instead.values() for before, _ in some}
        self._by_hand = {at[0]: at[1:] for key, at in visit.hands.items() if key in veiled}

    def html(self) -> str:
        """Return the page from its top to its end."""
        pieces = [*self._pieces(self.visit.main), *self._instead(None)]
        return "\n".join(self._joined(pieces))

    def _pieces(self, block: Any) -> Iterator[Piece]:
        for element in block.children.values():
            yield from self._instead(id(element))
            for piece in self._piece(element):
                by = self.visit.covered.get(id(element))
                yield _held(piece, "covered", by) if by and isinstance(piece, str) else piece

    def _instead(self, place: int | None) -> Iterator[str]:
        for element, by in self.visit.instead.get(place, ()):
            for piece in self._piece(element):
                if isinstance(piece, str):
                    yield _held(piece, "instead", by)

    def _joined(self, pieces: Sequence[Piece]) -> Iterator[str]:
        """Settings that follow each other become one list."""
        settings: list[Setting] = []
        for piece in pieces:
            if isinstance(piece, Setting):
                settings.append(piece)
                continue
            if settings and piece:
                yield self._settings(settings)
                settings = []
            yield piece
        if settings:
            yield self._settings(settings)

    def _settings(self, settings: Sequence[Setting]) -> str:
        self.settings += settings
        set_to = [
            setting
            for setting in settings
            if setting.value is not None and setting.label not in self.said_elsewhere
        ]
        acts = list(dict.fromkeys(setting.label for setting in settings if setting.value is None))
        rows = "".join(
            f"<div><dt>{escape(setting.label)}</dt><dd>{escape(setting.value or '')}</dd></div>"
            for setting in set_to
        )
        if not self.app:
            return f'<div class="settings"><dl>{rows}</dl></div>' if set_to else ""
        said = f'<a class="to-app" href="{escape(self.app)}">Change this in the app</a>'
        if acts:
            more = f"{' · '.join(map(escape, acts))}"
            said = f'<a class="to-app" href="{escape(self.app)}">In the app</a>: {more}'
        if not set_to:
            return f'<p class="settings acts">{said}</p>'
        return f'<div class="settings"><dl>{rows}</dl><p>{said}</p></div>'

    def _piece(self, element: Any) -> list[Piece]:
        kind = element.type
        if kind in _PASSED or self.left_out & {key_of(element), id(element)}:
            return []
        if kind == "button" and (key_of(element).startswith("_next@") or "Back: " in element.label):
            return []
        if hasattr(element, "children"):
            return self._block(element) if element.children else []
        if kind == "button_group" and (way := self.ways.get(_control(element))):
            return [way]
        if kind in _CONTROLS:
            setting = _setting(element)
            return [setting] if setting else []
        if kind in _ACTS:
            label = getattr(element.proto, "label", "")
            known = {lesson.key for lesson in LESSONS}
            return [] if label in known or not label else [Setting(plain(label), None)]
        html = self._shown(element)
        pieces: list[Piece] = [html] if html else []
        if getattr(element.proto, "editing_mode", 0):
            pieces.append(Setting(words.edits, None))
        return pieces

    def _block(self, element: Any) -> list[Piece]:
        kind, proto = element.type, element.proto
        if (key := guess_in(element)) is not None:
            return [self._question(key, list(element.children.values()))]
        if kind == "popover":
            return [Setting(plain(proto.popover.label), None)]
        inside = list(self._pieces(element))
        if not any(isinstance(piece, str) for piece in inside):
            return inside  # a row of controls is listed with its neighbours
        body = "\n".join(self._joined(inside))
        if kind == "expander":
            return [
                f'<details class="fold"><summary>{escape(plain(element.label))}</summary>'
                f"{body}</details>"
            ]
        if kind == "column":
            return [f'<div class="column" style="flex: {element.weight:.3f} 1 12rem">{body}</div>']
        held = getattr(proto, "flex_container", None)
        names = ["box"]
        if key := key_of(element):
            names.append(f"st-key-{key}")
        if held is not None:
            if held.direction == held.Direction.HORIZONTAL:
                names.append("row")
            if held.border:
                names.append("card")
        return [f'<div class="{escape(" ".join(names))}">{body}</div>']

    def _question(self, key: str, inside: list[Any]) -> str:
        number, question = self._asked[key]
        axis, text = None, self._heads[key]
        if number in self._by_hand:
            self.hands[number] = _hand(question, *self._by_hand[number])
            on_it = [part for part in inside if key_of(part) in self.visit.hands]
            held = SimpleNamespace(children=dict(enumerate(on_it)))
            axis = "".join(piece for piece in self._pieces(held) if isinstance(piece, str))
        head = text in inside
        covers = number in self.visit.covers
        html = question_html(question, number, covers=covers, axis=axis, head=head)
        by = self.visit.covered.get(id(text))  # another one must be answered before
        return _held(html, "covered", by) if by and id(text) not in self.visit.instead else html

    def _shown(self, element: Any) -> str:
        kind, proto = element.type, element.proto
        match kind:
            case "html":
                if (key := _head_of(element)) is not None:
                    number, question = self._asked[key]
                    return head_html(question, number)
                # The style of all pages is in the site's own.
                return "" if ".block-container" in proto.body else proto.body
            case "title" | "header" | "subheader":
                tag = _HEADS[kind]
                return f"<{tag}>{_MARKDOWN.renderInline(element.value)}</{tag}>"
            case "markdown":
                return f'<div class="markdown">{markdown(element.value)}</div>'
            case "caption":
                return f'<div class="caption">{markdown(element.value)}</div>'
            case "text":
                return f'<pre class="text">{escape(element.value)}</pre>'
            case "code":
                return code_html(element.value, proto.language)
            case "metric":
                label, value = escape(element.label), escape(element.value)
                return f'<dl class="metric"><dt>{label}</dt><dd>{value}</dd></dl>'
            case "dataframe" | "table":
                return table_html(element)
            case "bidi_component":
                return self._picture(proto, key_of(element))
            case "plotly_chart":
                return self._chart(element)
        if kind in _NOTES:
            if element.icon == OFFLINE:
                return ""
            return f'<div class="note {kind}" role="note">{markdown(element.value)}</div>'
        raise ValueError(f"a page without a server cannot show a {kind!r} yet")

    def _picture(self, proto: Any, key: str) -> str:
        name = proto.component_name.removeprefix("llmviz_")
        if name in OF_THE_APP:
            return self.instead_of.get(name, "")
        number, *_ = self.visit.hands.get(key, (None,))
        self.pictures.append((name, proto.id, bytes(proto.bytes), number))
        return f'<div class="picture {name}" data-picture="{len(self.pictures) - 1}"></div>'

    def _chart(self, element: Any) -> str:
        light = json.loads(element.proto.spec)
        dark = self.visit.dark.get(key_of(element))
        height = light["layout"].get("height", 450)
        self.charts.append({"light": light, "dark": json.loads(dark) if dark else None})
        at = len(self.charts) - 1
        return f'<div class="chart" data-chart="{at}" style="min-height: {height:.0f}px"></div>'


def _held(html: str, kind: str, by: list[int] | None) -> str:
    hidden = " hidden" if kind == "covered" else ""
    return f'<div class="{kind}" data-by="{" ".join(map(str, by or ()))}"{hidden}>{html}</div>'


def _hand(question: Question, log: bool, line: bool) -> dict[str, Any]:
    """What the page needs to grade a guess on a picture, in the order of the answers.

    said: for each answer what is told to whose guess is written like it, and to all others.
    """
    answers = [unmarked(answer) for answer in question.answers]
    single = len(question.values[question.right]) == 1 and question.write is not None
    return {
        "values": [[float(at) for at in question.values[n]] for n in question.order],
        "right": question.order.index(question.right),
        "log": log,
        "line": line,
        "answers": [answers[n] for n in question.order],
        "said": [
            [
                told_by_hand(question, n, guess if single else "", line=line)
                for guess in (answers[n], "{guess}")
            ]
            for n in question.order
        ],
    }


_HEAD = re.compile(r'<div class="lv-ask" data-ask="([^"]*)">')


def _head_of(element: Any) -> str | None:
    """The key of the guess whose question an element is; None of another element."""
    found = _HEAD.match(element.proto.body) if element.type == "html" else None
    return found and unescape(found[1])


def head_html(question: Question, number: int) -> str:
    """Return a question's own words, which may stand above its picture."""
    return (
        f'<div class="lv-ask" id="q{number}"><b>{escape(guess_words.mark)}</b> '
        f"{to_html(question.text)}</div>"
    )


def question_html(
    question: Question, number: int, *, covers: bool, axis: str | None = None, head: bool = True
) -> str:
    """Return a question that the page grades; each answer has its reason beside it, unseen.

    axis: of a question that is answered on a picture, what stands in the place of its answers.
    head: whether its own words stand here, too.
    """
    answers = [] if axis is None else [axis]
    for at in question.order:
        right = ' data-right=""' if at == question.right else ""
        if axis is None:
            answers.append(
                f'<label><input type="radio" name="q{number}"{right}>'
                f"<span>{to_html(question.answers[at])}</span></label>"
            )
        answers.append(f'<div class="why" hidden>{to_html(question.reasons[at])}</div>')
    show = ""
    if covers:
        show = f'<button type="button" class="plain show">{escape(guess_words.show)}</button>'
    role = "radiogroup" if axis is None else "group"
    return (
        f'<section class="card question" data-question="{number}">'
        f'{head_html(question, number) if head else ""}<div class="answers" role="{role}" '
        f'aria-labelledby="q{number}">{"".join(answers)}</div>{show}'
        '<div class="grade" role="status"></div></section>'
    )


def markdown(text: str) -> str:
    """Return Markdown as HTML, with the tinted words of the app."""
    tinted: list[str] = []

    def aside(match: re.Match[str]) -> str:
        tinted.append(f'<mark class="{match[1]}">{escape(match[2])}</mark>')
        return f"\ufdd9{len(tinted) - 1}\ufdd9"

    html = _MARKDOWN.render(_TINTED.sub(aside, text))
    html = html.replace("<table>", '<div class="table" tabindex="0"><table>')
    html = html.replace("</table>", "</table></div>")
    return re.sub("\ufdd9(\\d+)\ufdd9", lambda match: tinted[int(match[1])], html)


def plain(label: str) -> str:
    """Return a label as text, without its marks.

    >>> plain("**Q & K**")
    'Q & K'
    """
    return unescape(re.sub(r"<[^>]*>", "", _MARKDOWN.renderInline(label))).strip()


def _control(element: Any) -> str:
    """The name of a control as links have it: of `_attention.rung@attention` it is `rung`."""
    return key_of(element).partition("@")[0].rpartition(".")[2]


def _setting(element: Any) -> Setting | None:
    """A control with its value; None for a row of suggestions, of which none is chosen."""
    label = plain(element.proto.label) or "Setting"
    if element.type == "button_group":
        chosen = list(element.proto.raw_values)
        if not chosen or key_of(element).startswith("_examples"):
            return None
        return None if ".part@" in key_of(element) else Setting(label, ", ".join(chosen))
    value, raw = element.value, element.proto
    if element.type == "multiselect":
        value = list(raw.raw_values)
    elif element.type == "select_slider":  # by the names of the options, not their values
        value = list(raw.raw_value)
    elif element.type == "selectbox" and element.index is not None:
        value = raw.options[element.index]
    if isinstance(value, bool):
        value = "on" if value else "off"
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(str, value))
    if value is None or value == "":
        return None
    return Setting(label, f"{value:,}" if isinstance(value, int) else str(value))


def code_html(text: str, language: str) -> str:
    """Return a program or what it prints."""
    body = "".join(_coloured(text)) if language == "python" else escape(text)
    kind = "code" if language in ("python", "javascript") else "output"
    return f'<pre class="{kind}" tabindex="0"><code>{body}</code></pre>'


def _coloured(text: str) -> Iterator[str]:
    """Python with its keywords, texts and comments marked; what cannot be read stays plain."""
    lines = text.splitlines(keepends=True)
    row, column = 1, 0

    def up_to(to_row: int, to_column: int) -> str:
        nonlocal row, column
        parts = []
        while row < to_row and row <= len(lines):
            parts.append(lines[row - 1][column:])
            row, column = row + 1, 0
        if row <= len(lines):
            parts.append(lines[row - 1][column:to_column])
        column = to_column
        return escape("".join(parts), quote=False)

    kinds = {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NUMBER: "number"}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = kinds.get(token.type)
            if token.type == tokenize.NAME and iskeyword(token.string):
                kind = "keyword"
            if kind:
                yield up_to(*token.start)
                yield f'<i class="{kind}">{up_to(*token.end)}</i>'
    except (tokenize.TokenError, IndentationError):
        pass
    yield up_to(len(lines) + 1, 0)
