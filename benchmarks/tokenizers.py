"""Training and encoding beside the compiled libraries, as ratios within one run.

    python -m benchmarks.tokenizers            1 MB of text, a few minutes
    python -m benchmarks.tokenizers --full     and 10 MB

The text is made here from a seed: words of a made-up language whose frequencies fall as in English
(Zipf), with capitals, punctuation, numbers and paragraphs. `rustbpe` takes part where it is
installed.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from llmviz.tokenizers import BPETokenizer
from llmviz.tokenizers.merging import Merges, as_word, merge
from llmviz.tokenizers.pretokenize import GPT2_PATTERN, byte_to_character, count_pieces, pretokenize

DOCUMENT = 64 * 1024  # characters; one big string makes the `tokenizers` trainer much slower


def zipf_text(size: int, seed: int = 0) -> str:
    """Return `size` characters of a made-up language with the statistics of English words."""
    rng = np.random.default_rng(seed)
    words = _made_up_words(150_000, rng)
    weights = 1 / (np.arange(len(words)) + 2.7) ** 1.12
    picks = rng.choice(len(words), size=size // 4, p=weights / weights.sum())
    forms = np.array(["{}", "{}.", "{},", "{}'s", '"{}"', "{}.\n\n{}", "{} %d"])
    shapes = rng.choice(forms, size=len(picks), p=[0.85, 0.06, 0.06, 0.01, 0.005, 0.005, 0.01])
    written = []
    sentence_starts = True
    for pick, shape in zip(picks.tolist(), shapes.tolist(), strict=True):
        word = words[pick].capitalize() if sentence_starts else words[pick]
        text = shape.replace("{}", word)
        written.append(text.replace("%d", str(pick % 2000)))
        sentence_starts = text.endswith(".")
    return " ".join(written)[:size]


def _made_up_words(count: int, rng: np.random.Generator) -> list[str]:
    onsets = " b br c ch cl d dr f fl g gr h j k l m n p pl pr r s sh sl st str t th tr v w"
    nuclei = "a e i o u a e i o u ai ea ee io ou y"
    codas = " . . . b ck d g l ll m n n nd ng nt r r s s st t t x".replace(".", "")
    parts = [kind.split(" ") for kind in (onsets, nuclei, codas)]
    words: dict[str, None] = {}
    while len(words) < count:
        rank = len(words)
        syllables = 1 + sum(rank > limit and rng.random() < 0.65 for limit in (80, 1500, 20_000))
        draws = rng.random((syllables, 3)).tolist()
        words["".join(p[int(u * len(p))] for d in draws for p, u in zip(parts, d, strict=True))] = (
            None
        )
    return list(words)


def documents_of(text: str) -> list[str]:
    """Cut a text into documents of 64 KB, each ending before a space."""
    documents = []
    start = 0
    while start < len(text):
        end = text.find(" ", start + DOCUMENT)
        end = len(text) if end < 0 else end
        documents.append(text[start:end])
        start = end
    return documents


def timed(
    function: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> tuple[float, object]:
    """Return seconds and result of one call."""
    gc.collect()
    start = clock()
    result = function()
    return clock() - start, result


class Times(dict[str, list[float]]):
    """Seconds of each function in each round."""

    def median(self, name: str) -> float:
        """Return the median seconds of one function."""
        return statistics.median(self[name])

    def ratio(self, name: str, other: str) -> float:
        """Return the median over the rounds of one function's time to another's."""
        return statistics.median(a / b for a, b in zip(self[name], self[other], strict=True))


def interleaved(
    functions: dict[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Times:
    """Time each function in turn, so many rounds, so that a busy machine slows all alike."""
    seconds = Times((name, []) for name in functions)
    for _ in range(rounds):
        for name, function in functions.items():
            seconds[name].append(timed(function, clock)[0])
    return seconds


def report(what: str, value: float, limit: float, at_least: bool = False) -> None:
    """Print one ratio beside its limit."""
    good = value >= limit if at_least else value <= limit
    sign = "≥" if at_least else "≤"
    print(f"{'ok  ' if good else 'MISS'}  {what:<66} {value:>9.3f}  {sign} {limit:g}")


def huggingface_train(documents: list[str], vocab_size: int) -> Tokenizer:
    """Train the `tokenizers` library's byte-level BPE on documents."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    return tokenizer


def huggingface_merges(tokenizer: Tokenizer) -> list[tuple[bytes, bytes]]:
    """Return its merges as pairs of byte strings."""
    byte_of = {character: byte for byte, character in enumerate(byte_to_character())}
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(bytes(byte_of[c] for c in half) for half in merge) for merge in merges]


def our_merges(tokenizer: BPETokenizer) -> list[tuple[bytes, bytes]]:
    """Return our merges as pairs of byte strings."""
    return [(tokenizer.token_bytes(a), tokenizer.token_bytes(b)) for a, b in tokenizer.merges]


def rustbpe_train(documents: list[str], vocab_size: int) -> object:
    """Train `rustbpe`, which numbers and breaks ties by raw byte value."""
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter(documents), vocab_size, pattern=GPT2_PATTERN)
    return tokenizer


def bench_training(text: str, sizes: list[int], rounds: int) -> None:
    """Compare trainers on one text at several vocabulary sizes."""
    documents = documents_of(text)
    pieces = count_pieces(documents)
    megabytes = len(text) / 1e6
    print(f"\ntraining, {megabytes:g} MB, {len(pieces):,} distinct pieces")
    try:
        import rustbpe  # noqa: F401

        with_rust = True
    except ImportError:
        with_rust = False
    for size in sizes:
        runs = {
            "ours": lambda size=size: BPETokenizer.train(documents, size, special_tokens=()),
            "tokenizers": lambda size=size: huggingface_train(documents, size),
        }
        if with_rust:
            runs["rustbpe"] = lambda size=size: rustbpe_train(documents, size)
        seconds = interleaved(runs, rounds)
        label = f"train {megabytes:g} MB to {size:,}: "
        print(f"      {label}" + "  ".join(f"{k} {seconds.median(k):.3f} s" for k in seconds))
        report(
            label + "ours / tokenizers",
            seconds.ratio("ours", "tokenizers"),
            1.0 if size <= 1024 else 1.2,
        )
        matched = BPETokenizer.train(documents, size, special_tokens=(), tie="gpt2-alphabet")
        theirs = huggingface_merges(huggingface_train(documents, size))
        differ = sum(a != b for a, b in zip(our_merges(matched), theirs, strict=True))
        report(label + "merges that differ from tokenizers", differ, 0)
        if with_rust:
            print(f"      {label}ours / rustbpe {seconds.ratio('ours', 'rustbpe'):.2f}")
            by_value = BPETokenizer.train(documents, size, special_tokens=())
            ranks = rustbpe_train(documents, size).get_mergeable_ranks()
            theirs = [bytes(b) for b, rank in sorted(ranks, key=lambda item: item[1])][256:]
            mine = [by_value.token_bytes(i) for i in range(256, size)]
            differ = sum(a != b for a, b in zip(mine, theirs, strict=True))
            report(label + "merges that differ from rustbpe", differ, 0)
        if len(text) <= 1_000_000:
            recount = recount_seconds(text, matched) * len(matched.merges)
            what = label + "recounting all pairs each time / ours"
            report(what, recount / seconds.median("ours"), 200, at_least=True)


def recount_seconds(text: str, trained: BPETokenizer) -> float:
    """Return the mean seconds of one merge when all pairs of the text are counted again each time.

    Timed at the first merge, half way and at the last, with the text as it is at that moment.
    """
    seconds = []
    for done in (0, len(trained.merges) // 2, len(trained.merges) - 1):
        merges = Merges(trained.merges[:done])
        words = [list(map(ord, merge(as_word(p), merges))) for p in pretokenize(text)]
        seconds.append(timed(lambda words=words: recount_merge(words))[0])
    return statistics.mean(seconds)


def recount_merge(words: list[list[int]]) -> list[list[int]]:
    """Count all pairs, take the best, and merge it everywhere: one step of the plain algorithm."""
    counts: Counter[tuple[int, int]] = Counter()
    for ids in words:
        counts.update(pairwise(ids))
    best = max(counts, key=counts.__getitem__)
    merged = []
    for ids in words:
        new, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                new.append(-1)
                i += 2
            else:
                new.append(ids[i])
                i += 1
        merged.append(new)
    return merged


def bench_encoding(text: str, vocab_size: int, rounds: int) -> None:
    """Compare encoders on one text."""
    megabytes = len(text) / 1e6
    print(f"\nencoding, {megabytes:g} MB, {vocab_size:,} tokens")
    ours = BPETokenizer.train(documents_of(text)[:160], vocab_size, special_tokens=())
    exported = ours.to_tiktoken()
    real = tiktoken.Encoding(
        "reference",
        pat_str=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        mergeable_ranks={ours.token_bytes(i): i for i in range(ours.vocab_size)},
        special_tokens={},
    )
    if not ours.encode(text) == exported.encode_ordinary(text) == real.encode_ordinary(text):
        print("MISS  the encoders disagree")
    seconds = interleaved(
        {
            "cold": lambda: BPETokenizer(ours.merges, ()).encode(text),
            "warm": lambda: ours.encode(text),
            "exported": lambda: exported.encode_ordinary(text),
            "tiktoken": lambda: real.encode_ordinary(text),
        },
        rounds,
        time.process_time,  # each runs in one thread: what else the machine does is left out
    )
    print("      " + "  ".join(f"{k} {megabytes / seconds.median(k):.1f} MB/s" for k in seconds))
    report(
        "bulk through to_tiktoken() / tiktoken, time",
        seconds.ratio("exported", "tiktoken"),
        1.05,
    )
    report("our encoder cold / tiktoken, speed", seconds.ratio("tiktoken", "cold"), 5 / 23, True)
    report("our encoder warm / tiktoken, speed", seconds.ratio("tiktoken", "warm"), 12 / 23, True)
    short, long = "a" * 50_000, "a" * 400_000
    seconds = interleaved(
        {"short": lambda: ours.encode(short), "long": lambda: ours.encode(long)},
        5,
        time.process_time,
    )
    report(
        "one letter 400,000 times / 50,000 times (8 is linear)",
        seconds.ratio("long", "short"),
        12,
    )
    sample = text[1000:1200]
    seconds = interleaved({"steps": lambda: ours.encode_steps(sample)}, 50, time.process_time)
    report("explaining encoder, 200 characters, all steps, ms", 1000 * seconds.median("steps"), 5)


def main() -> None:
    """Run the benchmarks and print the ratios."""
    parser = argparse.ArgumentParser(description="Tokenizers: speed beside the compiled libraries.")
    parser.add_argument("--full", action="store_true", help="train on 10 MB as well")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, interleaved")
    arguments = parser.parse_args()
    bench_training(zipf_text(1_000_000), [512, 1024, 4096], arguments.rounds)
    large = zipf_text(10_000_000)
    if arguments.full:
        bench_training(large, [512, 1024, 4096], arguments.rounds)
    bench_encoding(large, 4096, arguments.rounds)


if __name__ == "__main__":
    main()
