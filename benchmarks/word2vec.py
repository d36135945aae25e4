"""Skip-gram vectors: ours against gensim's compiled code, words per second in one run.

    python -m benchmarks.word2vec [--words N] [--threads N] [--rounds N]

Both read the same text (words from Zipf's law, so nothing is to be learned from it) with equal
width, window, negatives and subsampling; pairs are generated inside the measured time. Prints
medians of interleaved rounds and the ratio. Run nothing beside it.
"""

import argparse
import statistics
import time

import numpy as np
import torch

from llmviz.models.word2vec import SkipGram, SkipGramConfig
from llmviz.models.word2vec_training import SkipGramTraining, train_skip_gram

VOCABULARY, WIDTH, WINDOW, NEGATIVES, SUBSAMPLE = 10_000, 100, 5, 5, 1e-3


def zipf_documents(words: int) -> list[list[int]]:
    """Documents of 1,000 word ids each."""
    weights = 1 / np.arange(1, VOCABULARY + 1)
    ids = np.random.default_rng(0).choice(VOCABULARY, size=words, p=weights / weights.sum())
    return [part.tolist() for part in np.array_split(ids, max(1, words // 1000))]


def time_ours(documents: list[list[int]], threads: int) -> float:
    """Seconds for one epoch."""
    model = SkipGram(
        SkipGramConfig(vocab_size=VOCABULARY, n_embd=WIDTH, window=WINDOW, negatives=NEGATIVES)
    )
    settings = SkipGramTraining(epochs=1, subsample=SUBSAMPLE, snapshots=1, threads=threads)
    started = time.perf_counter()
    for _ in train_skip_gram(model, documents, settings):
        pass
    return time.perf_counter() - started


def time_gensim(documents: list[list[str]], threads: int) -> float:
    """Seconds for one epoch; its vocabulary is counted before the clock starts."""
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=WIDTH,
        window=WINDOW,
        negative=NEGATIVES,
        sample=SUBSAMPLE,
        sg=1,
        min_count=1,
        workers=threads,
        seed=0,
    )
    model.build_vocab(documents)
    started = time.perf_counter()
    model.train(documents, total_examples=len(documents), epochs=1)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    documents = zipf_documents(arguments.words)
    as_text = [[str(word) for word in document] for document in documents]
    torch.set_num_threads(1)  # threads share out batches, not operations
    time_ours(documents[:20], 1)
    for threads in arguments.threads:
        ours, gensim = [], []
        for _ in range(arguments.rounds):
            ours.append(time_ours(documents, threads))
            gensim.append(time_gensim(as_text, threads))
        a, b = (arguments.words / statistics.median(times) for times in (ours, gensim))
        print(
            f"{threads} thread(s): ours {a:,.0f} words/s, gensim {b:,.0f} words/s, "
            f"ratio {a / b:.2f} (aim 0.5, at least 0.33)"
        )


if __name__ == "__main__":
    main()
