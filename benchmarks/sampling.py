"""The lesson on sampling: what a hand waits for, beside the limits that it should stay under.

    python -m benchmarks.sampling [--model NAME] [--rounds N]

Prints medians in milliseconds on one thread: one more token, 200 tokens, 10,000 draws, all stops
of all sliders, and softmax at every temperature. Run nothing beside it.
"""

from __future__ import annotations

import argparse

import torch

from benchmarks.timing import median_ms
from llmviz.course.lessons.sampling import params
from llmviz.course.lessons.sampling.pipeline.chapter import SHOWN, SLIDERS
from llmviz.pretrained import bundled, load_bundled
from llmviz.sampling import SamplingSettings, generate, sampling_steps, sweeps
from llmviz.sampling.generation import NextLogits
from llmviz.sampling.pipeline import top_ids

LIMITS = {
    "one more token": 50,
    "200 tokens": 4_000,
    "10,000 draws": 200,
    "numbers of a setting": 100,
    "all stops of all sliders": 100,
}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=params.DEFAULT_MODEL)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if given.model not in bundled():
        raise SystemExit(
            f"{given.model} is not bundled; there are {', '.join(bundled()) or 'none'}"
        )
    torch.set_num_threads(1)
    model, tokenizer, _ = load_bundled(given.model)
    ids = [tokenizer.special_tokens["<|endoftext|>"], *tokenizer.encode(params.PROMPT)]
    logits = NextLogits(model)(ids).double().numpy()
    settings = {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.02}
    settings |= {"repetition_penalty": 1.2, "banned": (), "strip": "probability"}
    settings["order"] = SamplingSettings.order
    shown = top_ids(logits, SHOWN)
    text = generate(model, ids, 10**6, **settings)

    def one_more() -> None:
        next(text)

    def stops() -> None:
        for name in SLIDERS:
            values = sweeps.stops(name, settings[name], logits.size)
            sweeps.sweep_all([settings | {name: v} for v in values], logits, ids, shown, 0.5)

    work = {
        "one more token": one_more,
        "200 tokens": lambda: list(generate(model, ids, 200, **settings)),
        "10,000 draws": lambda: sampling_steps(logits, **settings).draw_many(10_000),
        "numbers of a setting": lambda: sampling_steps(logits, previous=ids, **settings).bars(
            SHOWN
        ),
        "all stops of all sliders": stops,
    }
    for name, run in work.items():
        took = median_ms(run, given.rounds)
        print(
            f"{name:<26}{took:9.1f} ms   limit {LIMITS[name]:>6,} ms   {took / LIMITS[name]:5.2f}"
        )


if __name__ == "__main__":
    main()
