"""The merge tree of a word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llmviz.course.components._shared.transport import mount, place_of
from llmviz.course.components.token_strip.view import visible_text


@dataclass(frozen=True)
class TreeMerge:
    """One merge of a word: two children by number, and the rank of the rule that joined them.

    Leaf ``i`` is number ``i``; the j-th merge is number ``len(leaves) + j``.
    """

    left: int
    right: int
    rank: int


def merge_tree(
    leaves: Sequence[bytes],
    merges: Sequence[TreeMerge],
    *,
    key: str,
    token_ids: Sequence[int] | None = None,
    greedy: Sequence[bytes] | None = None,
    candidates: Sequence[Sequence[tuple[int, int | None]]] | None = None,
    greedy_note: str = "",
    step: int | None = None,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw the merges of one word as a tree; return the step let go at.

    ``token_ids`` holds an id per leaf and merge. ``greedy`` are the tokens that taking the
    longest known piece from the left would give. ``candidates[k]`` lists before merge k, for
    each pair of neighbours, (number of the left one, rank of their rule or None). Raises
    ValueError for a merge whose children do not exist yet.
    """
    payload = tree_payload(leaves, merges, token_ids, greedy, candidates, greedy_note)
    start = len(merges) if step is None else max(0, min(step, len(merges)))
    reported = mount("merge_tree", payload, key=key, state="step", start=start, on_change=on_change)
    return place_of(reported, len(merges) + 1, start)


def tree_payload(
    leaves: Sequence[bytes],
    merges: Sequence[TreeMerge],
    token_ids: Sequence[int] | None,
    greedy: Sequence[bytes] | None,
    candidates: Sequence[Sequence[tuple[int, int | None]]] | None,
    greedy_note: str,
) -> dict[str, Any]:
    """Return what a merge tree is sent, checked."""
    pieces = [bytes(leaf) for leaf in leaves]
    for at, merge in enumerate(merges):
        if not (0 <= merge.left < len(pieces) and 0 <= merge.right < len(pieces)):
            raise ValueError(
                f"merge {at} joins {merge.left} and {merge.right}; "
                f"only {len(pieces)} pieces exist by then"
            )
        pieces.append(pieces[merge.left] + pieces[merge.right])
    if token_ids is not None and len(token_ids) != len(pieces):
        raise ValueError(f"{len(token_ids)} token ids for {len(pieces)} pieces")
    return {
        "leaves": len(leaves),
        "texts": [visible_text(piece)[0] for piece in pieces],
        "merges": [[merge.left, merge.right, merge.rank] for merge in merges],
        "ids": None if token_ids is None else [int(i) for i in token_ids],
        "greedy": None if greedy is None else [visible_text(piece)[0] for piece in greedy],
        "candidates": None
        if candidates is None
        else [[[left, rank] for left, rank in line] for line in candidates],
        "greedyNote": greedy_note,
    }
