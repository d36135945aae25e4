"""What a chapter shows at its default state, with what its questions cover until they are answered.

A page is run with everything shown, and again with everything covered. What only the first run
shows is covered by a question, what only the second one shows stands there in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Any

from llmviz.course.components._shared.transport import parts_at, parts_of, unpack
from llmviz.course.ui.code import OPENED
from llmviz.course.ui.common import DRAWN_IN, PARTS, Parts
from llmviz.course.ui.guess import QUESTIONS
from llmviz.course.ui.guess_drawn import HANDS, words
from llmviz.course.ui.guess_given import SHOWN
from llmviz.course.ui.placed_question import elements, guess_in, key_of, opened
from llmviz.course.ui.question import Question

_DRAWN = {"html", "bidi_component", "plotly_chart", "dataframe", "table", "code", "markdown"}
_DRAWN |= {"caption", "header", "subheader", "metric", "text", "info", "success", "warning"}


@dataclass
class Visit:
    """A page that was run: its blocks, its questions, and what these cover.

    covered: by the `id` of an element, the numbers of the questions that cover it. instead: by the
    `id` of an element, those to be shown before it until these questions are answered; under None,
    at the end. covers: the numbers of the questions that cover anything. dark: the charts of the
    dark theme by their keys. hands: by the key of a picture, the number of the question that is
    answered on it, and whether nearness is counted by powers, and by a line's shape. parts: by the
    control that opens them, the parts of the chapter.
    """

    main: Any
    questions: list[Question]
    covered: dict[int, list[int]] = field(default_factory=dict)
    instead: dict[int | None, list[tuple[Any, list[int]]]] = field(default_factory=dict)
    covers: set[int] = field(default_factory=set)
    dark: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Parts] = field(default_factory=dict)
    hands: dict[str, tuple[int, bool, bool]] = field(default_factory=dict)


def visit(
    lesson: str, chapter: str, link: Mapping[str, str] = MappingProxyType({}), *, told: bool = False
) -> Visit:
    """Run a page without a browser.

    link: controls of the page that are not at their default, as its address writes them. told: it
    is for who has seen what its questions cover.
    Raises ValueError: the page does not open.
    """
    fold = {OPENED: True, HANDS: {}}
    whole = opened(lesson, chapter, session=fold, show="1", **link)
    found = Visit(whole.main, whole.session_state[QUESTIONS], parts=whole.session_state[PARTS])
    charts = [leaf for leaf in _leaves(whole.main) if leaf.type == "plotly_chart"]
    if charts:
        dark = opened(lesson, chapter, session=fold | {DRAWN_IN: "dark"}, show="1", **link)
        for leaf in _leaves(dark.main):
            if leaf.type == "plotly_chart":
                found.dark[key_of(leaf)] = leaf.proto.spec
    for picture, hand in whole.session_state[HANDS].items():
        if hand.question in found.questions:
            found.hands[picture] = found.questions.index(hand.question), hand.log, hand.line
    if found.questions and not told:
        before = opened(lesson, chapter, session=fold, **link)
        slots = dict(_covering(before.main))
        found.covers = set(slots)
        if slots:
            _compare(found, before.main, _open_alone(lesson, chapter, slots, fold, link))
    return found


def looks(seen: Visit) -> list[str]:
    """Return the states that the passages of a page lead to, as its address writes them."""
    messages = [
        bytes(leaf.proto.bytes)
        for leaf in _leaves(seen.main)
        if leaf.type == "bidi_component" and leaf.proto.component_name == "llmviz_looks"
    ]
    passages = [line for message in messages for line in unpack(message)["passages"]]
    return list(dict.fromkeys(look for line in passages for _, look, _ in line if look))


def largest(seen: Visit) -> int:
    """Return the bytes of the page's largest picture."""
    sizes = [0]
    for leaf in _leaves(seen.main):
        if leaf.type == "bidi_component":
            message = bytes(leaf.proto.bytes)
            parts = parts_of(message)
            sizes.append(len(message) + sum(len(parts_at[address].data) for address in parts))
    return max(sizes)


def _open_alone(
    lesson: str,
    chapter: str,
    slots: dict[int, str],
    fold: dict[str, Any],
    link: Mapping[str, str],
) -> dict[int, Counter]:
    """What the page shows with one question open and the others not, for each that covers."""
    if len(slots) == 1:
        return {number: Counter() for number in slots}
    shown = {}
    for number, slot in slots.items():
        app = opened(lesson, chapter, session=fold | {slot: SHOWN}, **link)
        shown[number] = Counter(map(_sign, _leaves(app.main)))
    return shown


def _compare(found: Visit, before: Any, alone: dict[int, Counter]) -> None:
    leaves, others = list(_leaves(found.main)), list(_leaves(before))
    signs, known = [_sign(leaf) for leaf in leaves], [_sign(other) for other in others]
    every, usual = sorted(alone), Counter(known)

    def opens(sign: Any) -> list[int]:
        return [number for number in every if alone[number][sign] > usual[sign]] or every

    for tag, i, j, k, end in SequenceMatcher(None, known, signs, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for at in range(k, end):
            found.covered[id(leaves[at])] = opens(signs[at])
        for other in others[i:j]:
            # It goes when what comes in its place is there: its own kind, for the end of a
            # question may come before it.
            alike = (at for at in range(k, end) if _kind(leaves[at]) == _kind(other))
            at = next(alike, k)
            by = opens(signs[at]) if k < end else every
            place = id(leaves[at]) if at < len(leaves) else None
            found.instead.setdefault(place, []).append((other, by))


def _covering(main: Any) -> Iterator[tuple[int, str]]:
    """The questions of a page that cover something: their numbers, and their keys."""
    number = -1
    for element in elements(main):
        if guess_in(element) is not None:
            number += 1
        elif element.type == "button" and element.label == words.show:
            yield number, key_of(element).removesuffix(".show")


def _leaves(block: Any) -> Iterator[Any]:
    return (element for element in elements(block) if element.type in _DRAWN)


def _kind(element: Any) -> tuple[str, str]:
    return element.type, getattr(element.proto, "component_name", "")


def _sign(element: Any) -> tuple[str, bytes]:
    """What tells elements apart: what they show."""
    if element.type == "bidi_component":
        message = bytes(element.proto.bytes)
        ending = 4 + int.from_bytes(message[-4:], "little")  # its key, and turns of the session
        return element.proto.component_name, message[:-ending]
    return element.type, element.proto.SerializeToString()
