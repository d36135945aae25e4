"""The encoding of a text, merge by merge, as a sequence of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from llmviz.tokenizers.merging import Merges, MergeTree, as_word, merge_tree


class EncodeStep(NamedTuple):
    """One merge of the encoding of a text.

    Pieces are merged one after the other; inside a piece the lowest rank comes first.

    Attributes:
        index: number of the step in the text, from 0.
        piece: which piece of the text it happens in, from 0.
        rank: of the merge, which is also its place in the training.
        pair: the two ids merged.
        new_id: the id they become.
        position: how many tokens of the piece stand to the left of the new one.
        byte_start, byte_end: the bytes of the new token, from the start of the text.
        tree, step_in_piece: the piece's history, and which of its steps this is (from 1).
    """

    index: int  # type: ignore[assignment]  # hides what a tuple has of this name
    piece: int
    rank: int
    pair: tuple[int, int]
    new_id: int
    position: int
    byte_start: int
    byte_end: int
    tree: MergeTree
    step_in_piece: int

    @property
    def ids_after(self) -> list[int]:
        """The ids of the piece after this step."""
        return [node.id for node in self.tree.at(self.step_in_piece)]


class EncodeSteps(Sequence[EncodeStep]):
    """All steps of the encoding of a text; a sequence of `EncodeStep`.

    Attributes:
        pieces: the pieces that no merge crosses.
        trees: the history of each piece.
        piece_starts: the byte where each piece starts.
        ids: what the encoding ends with, equal to `encode(text)`.
    """

    def __init__(self, pieces: list[str], trees: list[MergeTree]) -> None:
        self.pieces = pieces
        self.trees = trees
        self.piece_starts: list[int] = []
        start = 0
        for tree in trees:
            self.piece_starts.append(start)
            start += len(tree.piece)
        self._steps = list(self._number())

    @property
    def ids(self) -> list[int]:
        """The ids when all merges are done."""
        return [token_id for tree in self.trees for token_id in tree.ids]

    def ids_after(self, n_steps: int) -> list[int]:
        """Return the ids of the whole text after the first `n_steps` steps."""
        ids: list[int] = []
        for tree in self.trees:
            done = min(tree.n_steps, n_steps)
            ids.extend(node.id for node in tree.at(done))
            n_steps -= done
        return ids

    def __len__(self) -> int:
        return len(self._steps)

    def __getitem__(self, index):  # an EncodeStep, or a list of them for a slice
        return self._steps[index]

    def _number(self) -> Iterator[EncodeStep]:
        index = 0
        for piece, (tree, start) in enumerate(zip(self.trees, self.piece_starts, strict=True)):
            for node in tree.nodes:
                if node.left < 0:
                    continue
                pair = tree.nodes[node.left].id, tree.nodes[node.right].id
                yield EncodeStep(
                    index,
                    piece,
                    node.rank,
                    pair,
                    node.id,
                    node.position,
                    start + node.byte_start,
                    start + node.byte_end,
                    tree,
                    node.born,
                )
                index += 1


def explain(pieces: list[str], merges: Merges) -> EncodeSteps:
    """Return the merges of each piece as steps."""
    return EncodeSteps(pieces, [merge_tree(as_word(piece), merges) for piece in pieces])
