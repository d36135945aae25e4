"""How byte-level BPE merges one piece: the lowest-ranked pair first, until none is left.

Inside this package a piece is a string with one character per token, the character's code being
the token's id. Bytes 0..255 are the characters 0..255, the token of merge number r (its rank) is
the character 256 + r. So a pair is a string of two characters and merging it is `replace`.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from operator import add
from typing import NamedTuple

NEVER = 1 << 30


class Merges:
    """The merges of a tokenizer, in rank order, in the form that `merge_passes` reads.

    Attributes:
        pairs: the two ids of each merge; merge r makes id 256 + r.
        made_from: the pair behind each new character.
        makes: the new character of each pair.
    """

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self.pairs = pairs
        self.made_from = {chr(256 + r): chr(a) + chr(b) for r, (a, b) in enumerate(pairs)}
        self.makes = {pair: new for new, pair in self.made_from.items()}


def as_word(piece: str) -> str:
    """Return a piece as a word of bytes: one character per byte.

    >>> as_word("é")
    'Ã©'
    """
    return piece if piece.isascii() else piece.encode("utf-8").decode("latin-1")


def merge_passes(word: str, merges: Merges) -> Iterator[tuple[str, list[str]]]:
    """Merge a word, yielding (new character, parts) for each pair in the order of its use.

    `parts` is the word split at the pair: the merged word is `new.join(parts)`. All places where
    the pair stands are merged at once, from the left, which gives the same as one at a time since
    a new token only makes pairs of a higher rank. Only the pairs beside a new token are new: no
    pass looks at the whole word again, so a run of 100,000 equal letters takes no time either.

    >>> list(merge_passes("aaab", Merges([(97, 97), (256, 97), (257, 98)])))
    [('Ā', ['', 'ab']), ('ā', ['', 'b']), ('Ă', ['', ''])]
    """
    makes, made_from = merges.makes.get, merges.made_from
    # Pairs are told apart by the character they make. Each is queued once: at the start, or in the
    # pass that made the younger of its two tokens.
    queue = list(filter(None, map(makes, {*map(add, word, word[1:])})))
    heapify(queue)
    while queue:
        new = heappop(queue)
        parts = word.split(made_from[new])
        if len(parts) == 1:
            continue  # an earlier merge took the pair's tokens
        yield new, parts
        word = new.join(parts)
        if len(parts) == 2:  # one place: by far the most frequent case
            left, right = parts
            if left and (following := makes(left[-1] + new)):
                heappush(queue, following)
            if right and (following := makes(new + right[0])):
                heappush(queue, following)
            continue
        fresh = {part[-1] + new for part in parts[:-1] if part}
        fresh |= {new + part[0] for part in parts[1:] if part}
        if "" in parts[1:-1]:
            fresh.add(new + new)
        for following in filter(None, map(makes, fresh)):
            heappush(queue, following)


def merge(word: str, merges: Merges) -> str:
    """Return the word after its last merge: the end of `merge_passes`."""
    new, parts = "", [word]
    for new, parts in merge_passes(word, merges):  # noqa: B007
        pass
    return new.join(parts)


class Node(NamedTuple):
    """A token in the history of one piece.

    It is visible after step k where `born <= k < died`. Bytes are born at 0 and the tokens that
    stay die at `NEVER`. `rank` is the merge that made it (-1 for a byte); `parent` is the index
    of the node that swallowed it (-1 for none), `left` and `right` are its two halves (-1 for a
    byte), `position` how many tokens stood to its left when it was born. Byte positions count from
    the start of the piece.
    """

    index: int  # type: ignore[assignment]  # hides what a tuple has of this name
    id: int
    byte_start: int
    byte_end: int
    born: int
    died: int
    rank: int
    parent: int
    left: int
    right: int
    position: int


class MergeTree(NamedTuple):
    """The whole history of one piece: `nodes` in the order of their birth, and step count."""

    piece: bytes
    nodes: tuple[Node, ...]
    n_steps: int

    def at(self, step: int) -> list[Node]:
        """Return the tokens after `step` merges, from left to right."""
        alive = [node for node in self.nodes if node.born <= step < node.died]
        return sorted(alive, key=lambda node: node.byte_start)

    @property
    def ids(self) -> list[int]:
        """The ids when all merges are done."""
        return [node.id for node in self.at(self.n_steps)]


def merge_tree(word: str, merges: Merges) -> MergeTree:
    """Return the history of a word, one step for each place where a pair was merged.

    Reference: Sennrich, Haddow and Birch (2016), "Neural Machine Translation of Rare Words with
    Subword Units", algorithm 1; on bytes as in Radford et al. (2019).
    """
    # what is known of each node at its birth: id, bytes, step, rank, halves, position
    births = [(ord(c), i, i + 1, 0, -1, -1, -1, i) for i, c in enumerate(word)]
    died = [NEVER] * len(births)
    parents = [-1] * len(births)
    row = list(range(len(word)))  # the nodes that stand now, from left to right
    step = 0
    for new, parts in merge_passes(word, merges):
        new_id = ord(new)
        next_row: list[int] = []
        position = 0
        for part in parts[:-1]:
            next_row += row[position : position + len(part)]
            position += len(part)
            left, right = row[position : position + 2]
            position += 2
            step += 1
            died[left] = died[right] = step
            parents[left] = parents[right] = len(births)
            start, end = births[left][1], births[right][2]
            next_row.append(len(births))
            births.append((new_id, start, end, step, new_id - 256, left, right, len(next_row) - 1))
            died.append(NEVER)
            parents.append(-1)
        row = next_row + row[position:]
    nodes = tuple(
        Node(i, token_id, start, end, born, died[i], rank, parents[i], left, right, position)
        for i, (token_id, start, end, born, rank, left, right, position) in enumerate(births)
    )
    return MergeTree(word.encode("latin-1"), nodes, step)


def greedy_left_to_right(word: str, merges: Merges) -> str:
    """Merge the WRONG way, for comparison: the longest token that fits, from left to right.

    BPE does not do this. It applies the lowest-ranked merge first, wherever it stands.
    """
    known = {chr(byte): chr(byte) for byte in range(256)}
    for new, pair in merges.made_from.items():
        known["".join(_spell(pair, merges))] = new
    longest = max(map(len, known))
    result: list[str] = []
    start = 0
    while start < len(word):
        for end in range(min(len(word), start + longest), start, -1):
            if (token := known.get(word[start:end])) is not None:
                result.append(token)
                start = end
                break
    return "".join(result)


def _spell(word: str, merges: Merges) -> Iterator[str]:
    """Yield the bytes (as characters) that a word of tokens spells."""
    for character in word:
        if character in merges.made_from:
            yield from _spell(merges.made_from[character], merges)
        else:
            yield character
