"""The whole machine in one picture: tokens as rows, from the text to the next token.

``MachineRow(text, id, position, whole=True, special=False)`` is one token; ``MachineValues`` what
a forward pass computed for the rows; ``machine(...)`` draws both. Without values only tokens and
ids are drawn and the rest says that it is on its way. Shapes: L layers, H heads, R rows, C width,
K listed predictions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared.transport import nothing, pack, renderer, starting


@dataclass(frozen=True)
class MachineRow:
    """A token as it is drawn; ``whole``: its text is whole characters, else bytes in hex."""

    text: str
    id: int
    position: int
    whole: bool = True
    special: bool = False


@dataclass(frozen=True)
class MachineValues:
    """Everything that the picture's strokes stand for, float32 unless said otherwise.

    ``vectors`` (L+1, R, C) the residual stream before and after each layer; ``weights``
    (L, H, R, R) attention weights; ``earlier`` (L, H, R) the weight on tokens that are not drawn;
    ``queries``, ``keys``, ``values`` (L, H, R) and ``attention``, ``mlp`` (L, R) lengths of
    vectors; ``top_ids`` (R, K) int32 with ``top_logits``, ``top_probabilities`` and
    ``top_texts``; ``rest`` (R,) the probability of all other tokens.
    """

    vectors: np.ndarray
    weights: np.ndarray
    earlier: np.ndarray
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    attention: np.ndarray
    mlp: np.ndarray
    top_ids: np.ndarray
    top_logits: np.ndarray
    top_probabilities: np.ndarray
    rest: np.ndarray
    top_texts: Sequence[Sequence[str]]


@dataclass(frozen=True)
class NextToken:
    """The token that will be written; ``ends`` says that it closes the text instead."""

    text: str
    id: int
    probability: float
    rank: int
    ends: bool = False
    drawn: bool = False


@dataclass(frozen=True)
class View:
    """What the learner chose to see.

    ``layer`` is drawn wide, ``heads`` has one head for each layer, ``row`` counts the drawn rows
    from 0 and is -1 for the last one, ``step`` counts the stages and is -1 for all of them.
    """

    layer: int = 0
    heads: tuple[int, ...] = ()
    row: int = -1
    step: int = -1


@dataclass(frozen=True)
class MachineEvent:
    """What was asked for by a click: a chapter's address, or how many tokens to write (0: stop)."""

    chapter: str | None = None
    write: int | None = None


def machine(
    rows: Sequence[MachineRow],
    values: MachineValues | None,
    *,
    key: str,
    vocab_size: int,
    words: Mapping[str, Any],
    view: View,
    following: NextToken | None = None,
    links: Mapping[str, str] | None = None,
    writing: tuple[int, int] | None = None,
    coming: bool = True,
    on_view: Callable[[View], None] | None = None,
) -> MachineEvent:
    """Draw the machine and return what was asked for since the last run.

    ``rows[0].position`` says how many tokens stand before the drawn ones. ``words`` are all
    sentences that the picture shows, ``links`` the address that each stage leads to (a layer is
    named ``layer 2``), ``writing`` (written, wanted) while a text is being written, ``coming``
    whether values that are not there yet are on their way. ``on_view`` is called for another view.
    ValueError: data do not fit.
    """
    payload = machine_payload(rows, values, vocab_size, words, view, following, links, writing)
    payload |= {"coming": coming, "view": starting(key, "view", payload["view"])[0]}

    def changed() -> None:
        if on_view is not None:
            new = _view(st.session_state[key].get("view"), payload)
            if new is not None:
                on_view(new)

    result = renderer("machine")(
        data=pack(payload),
        key=key,
        default={"view": None},
        on_view_change=changed,
        on_chapter_change=nothing,
        on_write_change=nothing,
    )
    chapter, write = result.get("chapter"), result.get("write")
    return MachineEvent(
        chapter if isinstance(chapter, str) else None,
        write if isinstance(write, int) and not isinstance(write, bool) else None,
    )


def machine_payload(
    rows: Sequence[MachineRow],
    values: MachineValues | None,
    vocab_size: int,
    words: Mapping[str, Any],
    view: View,
    following: NextToken | None,
    links: Mapping[str, str] | None,
    writing: tuple[int, int] | None,
) -> dict[str, Any]:
    """Return what the picture is sent, checked."""
    if not rows:
        raise ValueError("the machine needs at least one token")
    payload: dict[str, Any] = {
        "rows": [asdict(row) for row in rows],
        "vocab": vocab_size,
        "words": dict(words),
        "links": dict(links or {}),
        "next": None if following is None else asdict(following),
        "writing": None if writing is None else list(writing),
        "view": _checked(view, rows, values),
        "values": None,
    }
    if values is not None:
        payload["values"] = _arrays(values, len(rows))
    return payload


def _arrays(values: MachineValues, rows: int) -> dict[str, Any]:
    layers, heads = values.weights.shape[:2]
    listed = values.top_ids.shape[-1]
    expected = {
        "vectors": (layers + 1, rows, values.vectors.shape[-1]),
        "weights": (layers, heads, rows, rows),
        **dict.fromkeys(("earlier", "queries", "keys", "values"), (layers, heads, rows)),
        **dict.fromkeys(("attention", "mlp"), (layers, rows)),
        **dict.fromkeys(("top_ids", "top_logits", "top_probabilities"), (rows, listed)),
        "rest": (rows,),
    }
    arrays: dict[str, Any] = {}
    for name, shape in expected.items():
        array = getattr(values, name)
        if array.shape != shape:
            raise ValueError(f"{name} must have the shape {shape}; got {array.shape}")
        arrays[name] = array.astype(np.int32 if name == "top_ids" else np.float32)
        if name != "top_ids" and not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers")
    arrays["top_texts"] = [list(texts) for texts in values.top_texts]
    if [len(texts) for texts in arrays["top_texts"]] != [listed] * rows:
        raise ValueError(f"top_texts must be {rows} lists of {listed} texts")
    return arrays


def _checked(
    view: View, rows: Sequence[MachineRow], values: MachineValues | None
) -> dict[str, Any]:
    if not -1 <= view.row < len(rows):
        raise ValueError(f"row must be from -1 to {len(rows) - 1}; got {view.row}")
    if values is not None:
        layers, heads = values.weights.shape[:2]
        if not 0 <= view.layer < layers:
            raise ValueError(f"layer must be from 0 to {layers - 1}; got {view.layer}")
        if len(view.heads) != layers or not all(0 <= head < heads for head in view.heads):
            raise ValueError(f"heads must be {layers} numbers below {heads}; got {view.heads}")
    return asdict(view) | {"heads": [int(head) for head in view.heads]}


def _view(sent: Any, payload: dict[str, Any]) -> View | None:
    """The view that the browser sent, or None if it does not fit what was drawn."""
    match sent:
        case {"layer": int(layer), "heads": [*heads], "row": int(row), "step": int(step)}:
            known = payload["values"] is not None and payload["values"]["weights"].shape[:2]
            if (
                known
                and 0 <= layer < known[0]
                and len(heads) == known[0]
                and all(isinstance(head, int) and 0 <= head < known[1] for head in heads)
                and -1 <= row < len(payload["rows"])
                and -1 <= step < 2 * known[0] + 5
            ):
                return View(layer, tuple(heads), row, step)
    return None
