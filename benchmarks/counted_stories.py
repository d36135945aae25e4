"""Whether a million stories have the next tokens that the grammar's true distributions say.

Run: python -m benchmarks.counted_stories [STORIES], about ten minutes for a million. It prints no
times: the counts of each beginning that many stories share are held against its distribution.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
from scipy.stats import chi2
from tqdm import tqdm

from llmviz.corpus import generate
from llmviz.corpus.next_tokens import next_distribution
from llmviz.tokenizers import get_tokenizer

STORIES = 1_000_000
FIRST, SHARED = 20_000, 20  # stories of which this many share a beginning that is looked at
LETTERS, TOKENS = 60, 8  # of a story that are read
LEAST = 5  # stories that are expected of a class, for Pearson's test


def beginnings(text: str, tokenizer) -> list[tuple[int, ...]]:
    """Return the first tokens of a story, from none to all that are read but the last."""
    ids = tokenizer.encode(text[:LETTERS])[:-1][:TOKENS]  # the cut may change the last one
    return [tuple(ids[:n]) for n in range(len(ids) + 1)]


def main() -> None:
    """Count, and print the worst beginnings and the p-value of all together."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else STORIES
    tokenizer = get_tokenizer("word")
    seen = Counter(
        begun
        for story in generate(FIRST, seed=8)
        for begun in beginnings(story.text, tokenizer)[:-1]
    )
    often = {begun for begun, times in seen.items() if times >= SHARED}
    counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for story in tqdm(generate(wanted, seed=9), total=wanted, mininterval=10):
        begun = beginnings(story.text, tokenizer)
        for before, behind in pairwise(begun):
            if before in often:
                counts[before][behind[-1]] += 1
    rows = []
    for before, found in counts.items():
        truth = next_distribution(tokenizer.decode(before), tokenizer)
        impossible = set(found) - set(truth.ids.tolist())
        assert not impossible, f"{tokenizer.decode(before)!r} was followed by what cannot come"
        expected = truth.probabilities * found.total()
        counted = np.array([found[token] for token in truth.ids.tolist()])
        common = expected >= LEAST
        classes = [(counted[common], expected[common])]
        if expected[~common].sum() >= LEAST:
            classes.append(
                (counted[~common].sum(keepdims=True), expected[~common].sum(keepdims=True))
            )
        statistic = sum(float(((c - e) ** 2 / e).sum()) for c, e in classes)
        degrees = sum(len(c) for c, _ in classes) - 1
        if degrees:
            rows.append((chi2.sf(statistic, degrees), statistic, degrees, found.total(), before))
    rows.sort()
    print(f"{wanted:,} stories, {len(rows)} beginnings")
    for p, _, degrees, total, before in rows[:5]:
        print(f"p = {p:.4f}  {degrees:4} degrees, {total:9,} stories: {tokenizer.decode(before)!r}")
    together = chi2.sf(sum(row[1] for row in rows), sum(row[2] for row in rows))
    print(
        f"lowest p of {len(rows)}, corrected for their number: {min(1, rows[0][0] * len(rows)):.3f}"
    )
    print(f"all together: p = {together:.3f}")


if __name__ == "__main__":
    main()
