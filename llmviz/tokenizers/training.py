"""How byte-level BPE learns its merges: count the pairs, merge the most frequent, again.

The corpus is counted once, as distinct pieces with their frequencies. Each merge then touches only
the pieces that hold the pair, and changes only the counts of the pairs beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from llmviz.files.text import check_text
from llmviz.tokenizers.merging import as_word
from llmviz.tokenizers.pretokenize import byte_to_character, count_pieces

TIE_RULES = {
    "lowest-ids": "of equally frequent pairs, the one with the smallest ids (bytes by their value)",
    "gpt2-alphabet": "the same, but bytes in the order of GPT-2's printable alphabet: "
    "'!' first, the space near the end",
}


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge of the training, with what the choice was made from.

    Attributes:
        index: 0 for the first merge; also the merge's rank.
        pair: the two ids that were merged.
        new_id: 256 + index.
        new_bytes: the bytes that the new token spells.
        count: how often the pair stood in the corpus at that moment.
        ties: the pairs with that same count, the chosen one first. One pair means no tie. Filled
            as far as `top` reaches; empty if `top` is 0.
        n_tied: how many pairs had that count, exactly (0 if `top` is 0).
        top: the most frequent pairs and their counts, the chosen one first.
        corpus_length_after: tokens in the corpus after this merge.
        vocab_size_after: tokens in the vocabulary after this merge, special tokens included.
    """

    index: int
    pair: tuple[int, int]
    new_id: int
    new_bytes: bytes
    count: int
    ties: tuple[tuple[int, int], ...]
    n_tied: int
    top: tuple[tuple[tuple[int, int], int], ...]
    corpus_length_after: int
    vocab_size_after: int


def train_steps(
    text_or_documents: str | Iterable[str],
    vocab_size: int,
    n_special: int = 1,
    tie: str = "lowest-ids",
    top: int = 10,
) -> Iterator[MergeStep]:
    """Yield the merges that byte-level BPE learns from a corpus, one `MergeStep` each.

    Ends when the vocabulary is full, or earlier when no pair is left: every piece of the corpus is
    then one token.

    Args:
        text_or_documents: a text, or several that no pair crosses.
        vocab_size: 256 bytes + merges + special tokens.
        n_special: how many of `vocab_size` are kept for special tokens.
        tie: which of equally frequent pairs is taken; see `TIE_RULES`.
        top: how many of the most frequent pairs each step tells; 0 is fastest.

    Raises:
        ValueError: `vocab_size` has no room for the bytes and special tokens, `tie` is not known,
            or a text cannot be encoded.

    Reference: Sennrich, Haddow and Birch (2016), algorithm 1; on bytes, Radford et al. (2019).
    """
    if vocab_size < 256 + n_special:
        raise ValueError(
            f"vocab_size must be at least {256 + n_special} (256 bytes and {n_special} special "
            f"tokens); got {vocab_size}"
        )
    if tie not in TIE_RULES:
        raise ValueError(f"tie must be one of {', '.join(TIE_RULES)}; got {tie!r}")
    documents = [text_or_documents] if isinstance(text_or_documents, str) else text_or_documents
    pieces = count_pieces(map(check_text, documents))
    return _merge_steps(pieces, vocab_size - 256 - n_special, n_special, tie, top)


def _merge_steps(
    pieces: Mapping[str, int], n_merges: int, n_special: int, tie: str, top: int
) -> Iterator[MergeStep]:
    # Characters stand for tokens as in merging.py, but in the order of the tie rule, so that
    # comparing two pairs as strings is the tie rule.
    id_of = _alphabet(tie)
    to_code = str.maketrans({chr(byte): chr(code) for code, byte in enumerate(id_of)})
    words = [as_word(piece) for piece in pieces]
    if tie != "lowest-ids":
        words = [word.translate(to_code) for word in words]
    frequency = list(pieces.values())
    length = sum(len(word) * count for word, count in zip(words, frequency, strict=True))
    counts, where = _count_pairs(words, frequency)
    # A lazy heap: an entry may be out of date, and is put right when it comes to the top.
    heap = [(-count, pair) for pair, count in counts.items()]
    heapify(heap)
    spelled = [bytes([byte]) for byte in id_of]

    def ids(pair: str) -> tuple[int, int]:
        a, b = map(ord, pair)
        return (id_of[a] if a < 256 else a), (id_of[b] if b < 256 else b)

    for index in range(n_merges):
        ranking = _most_frequent(heap, counts, max(top, 1))
        if not ranking:
            return
        count, pair = -ranking[0][0], ranking[0][1]
        tied = [ids(p) for c, p in ranking if -c == count] if top else []
        new_code = 256 + index
        spelled.append(spelled[ord(pair[0])] + spelled[ord(pair[1])])
        n_tied = list(counts.values()).count(count) if top else 0
        length -= _apply(pair, chr(new_code), words, frequency, counts, where, heap)
        yield MergeStep(
            index=index,
            pair=ids(pair),
            new_id=new_code,
            new_bytes=spelled[new_code],
            count=count,
            ties=tuple(tied),
            n_tied=n_tied,
            top=tuple((ids(p), -c) for c, p in ranking) if top else (),
            corpus_length_after=length,
            vocab_size_after=new_code + 1 + n_special,
        )


def _most_frequent(
    heap: list[tuple[int, str]], counts: dict[str, int], n: int
) -> list[tuple[int, str]]:
    """Return the `n` best (-count, pair) entries that are true; the first is off the heap."""
    best: list[tuple[int, str]] = []
    while heap and len(best) < n:
        entry = heappop(heap)
        count = counts.get(entry[1], 0)
        if count == -entry[0]:
            best.append(entry)
        elif count > 0:
            heappush(heap, (-count, entry[1]))
    for entry in best[1:]:
        heappush(heap, entry)
    return best


def _apply(
    pair: str,
    new: str,
    words: list[str],
    frequency: list[int],
    counts: dict[str, int],
    where: dict[str, list[int]],
    heap: list[tuple[int, str]],
) -> int:
    """Merge `pair` into `new` in every word that holds it; return how many places there were."""
    before: dict[str, list[int]] = defaultdict(list)  # token to the left -> words, once per place
    after: dict[str, list[int]] = defaultdict(list)  # token to the right -> words
    twice: list[int] = []  # words where the pair stands beside itself
    places = 0
    index = -1
    for holder in where.pop(pair):
        if holder == index:
            continue  # named once for each place
        index = holder
        parts = words[index].split(pair)
        if len(parts) == 1:
            continue  # an earlier merge took the pair's tokens
        words[index] = new.join(parts)
        places += frequency[index] * (len(parts) - 1)
        if len(parts) == 2:  # one place: by far the most frequent case
            left, right = parts
            if left:
                before[left[-1]].append(index)
            if right:
                after[right[0]].append(index)
            continue
        for left in filter(None, parts[:-1]):
            before[left[-1]].append(index)
        for right in filter(None, parts[1:]):
            after[right[0]].append(index)
        twice += [index] * parts[1:-1].count("")
    first, second = pair[0], pair[1]
    changes = [(left + first, left + new, holders) for left, holders in before.items()]
    changes += [(second + right, new + right, holders) for right, holders in after.items()]
    if twice:
        changes.append((second + first, new + new, twice))
    del counts[pair]
    for old, fresh, holders in changes:
        moved = sum(map(frequency.__getitem__, holders))
        if old != pair:  # "aa" in "aaaa" stands beside itself
            counts[old] -= moved
            if not counts[old]:
                del counts[old], where[old]
        counts[fresh] = moved
        where[fresh] = holders
        heappush(heap, (-moved, fresh))
    return places


def _count_pairs(
    words: list[str], frequency: list[int]
) -> tuple[dict[str, int], dict[str, list[int]]]:
    """Count the neighbouring bytes of all words, and note which words hold each pair."""
    codes = np.frombuffer("".join(words).encode("latin-1"), dtype=np.uint8)
    sizes = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    word_of = np.repeat(np.arange(len(words)), sizes)
    inside = word_of[1:] == word_of[:-1]
    pair_codes = (codes[:-1].astype(np.uint16) << 8 | codes[1:])[inside]
    word_of = word_of[1:][inside]
    weights = np.array(frequency, dtype=np.int64)[word_of]
    order = np.argsort(pair_codes, kind="stable")
    present, starts = np.unique(pair_codes[order], return_index=True)
    totals = np.add.reduceat(weights[order], starts) if len(starts) else weights
    holders = np.split(word_of[order], starts[1:])
    counts: dict[str, int] = {}
    where: dict[str, list[int]] = {}
    for code, total, holder in zip(present.tolist(), totals.tolist(), holders, strict=False):
        pair = chr(code >> 8) + chr(code & 255)
        counts[pair] = total
        where[pair] = holder.tolist()
    return counts, where


def _alphabet(tie: str) -> list[int]:
    """Return the bytes in the order in which the tie rule compares them."""
    if tie == "lowest-ids":
        return list(range(256))
    return sorted(range(256), key=lambda byte: ord(byte_to_character()[byte]))
