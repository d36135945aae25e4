"""How fast tiny-world is written, read back and scored, and what its floor is.

Run: python benchmarks/corpus.py
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from llmviz.corpus import entropy_floor, generate, parse
from llmviz.corpus.pairs import generate_pairs

MEGABYTES = 4
REQUIRED = 20  # MB of text a minute, with log-probabilities


def main() -> None:
    """Print speeds, the first also as a ratio to what is required, and the entropy floor."""
    begin = time.perf_counter()
    documents = list(generate(characters=MEGABYTES * 1_000_000, seed=1))
    writing = time.perf_counter() - begin
    size = sum(len(document.text.encode()) for document in documents) / 1e6

    begin = time.perf_counter()
    for document in documents[::10]:
        assert parse(document.text).log_prob == document.log_prob
    reading = (time.perf_counter() - begin) * 10

    begin = time.perf_counter()
    pairs = sum(1 for _ in generate_pairs(10_000, seed=1))
    pairing = time.perf_counter() - begin

    rate = size / writing * 60
    print(f"written with log-probabilities  {rate:7.1f} MB a minute = {rate / REQUIRED:.1f} × 20")
    print(f"read back (derivation found)    {size / reading * 60:7.1f} MB a minute")
    print(f"sentence pairs with alignment   {pairs / pairing:7.0f} a second")
    floor = entropy_floor(documents)
    words = sum(len(document.text.split()) for document in documents)
    print(
        f"floor: {floor.per_document:.1f} nats a document, {floor.nats / words:.3f} a word, "
        f"{floor.per_character:.4f} a character ({len(documents)} documents)"
    )


if __name__ == "__main__":
    main()
