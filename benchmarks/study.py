"""What it costs to read a transformer.

    python -m benchmarks.study [--rounds N]

With the bundled model of tiny-world, on one thread: the patching map of two prompts of 20 tokens,
all sites, against one pass a site (aim: 1.5 s at most, and 5 times faster); and the search of units
over what the page reads (aim: 3 s at most), the logit lens and the ledger, against a forward pass
over the same tokens. Ratios are of medians of interleaved rounds. For GPT-2's shape:
`benchmarks.gpt2_shape`.
"""

import argparse

import torch

from benchmarks.attention import medians
from llmviz.corpus import load_corpus
from llmviz.interpretability.attribution import logit_ledger
from llmviz.interpretability.lens import logit_lens
from llmviz.interpretability.patching import all_sites, patch, patch_map, read_prompt
from llmviz.interpretability.unit_corpus import LONGEST, TOKENS
from llmviz.interpretability.units import search_units, texts_within
from llmviz.pretrained import load_bundled


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    model.requires_grad_(False)
    stories = list(load_corpus("tiny-world-sample").split(0.1, 0)[0])[:300]
    texts = [tokenizer.encode(story) for story in stories]
    own, donor = (read_prompt(model, ids[:20]) for ids in texts[:2])
    sites = all_sites(model, 20)
    both = medians(
        {
            "map": lambda: patch_map(model, own, donor, [3, 5]),
            "one by one": lambda: [patch(model, own, donor, [site]) for site in sites],
        },
        rounds,
    )
    print(
        f"patching, {len(sites)} sites: {both['map']:.2f} s, "
        f"{both['one by one'] / both['map']:.1f} times faster than one pass a site"
    )
    some, ids = texts_within(texts, TOKENS, LONGEST), texts[0][:64]
    with torch.inference_mode():
        times = medians(
            {
                "forward over the texts": lambda: [model(torch.tensor([text])) for text in some],
                "units": lambda: search_units(model, some),
                "forward over 64 tokens": lambda: model(torch.tensor([ids])),
                "lens": lambda: logit_lens(model, ids),
                "ledger": lambda: logit_ledger(model, ids, 5),
            },
            rounds,
        )
    texts_once, short_once = times["forward over the texts"], times["forward over 64 tokens"]
    print(
        f"units, {TOKENS:,} tokens: {times['units']:.2f} s, "
        f"{times['units'] / texts_once:.2f} of a forward pass a text"
    )
    for name in ("lens", "ledger"):
        print(f"{name}: {times[name] / short_once:.1f} times a forward pass over 64 tokens")


if __name__ == "__main__":
    main()
