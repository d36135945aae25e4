"""Speed of `llmviz eval` against a validation pass over the same text, in turns within one run.

    python -m benchmarks.evaluating [--quick] [--rounds N]

Both read held-out stories with the bundled story model, in float32 on one thread. A validation pass
reads one stream in windows as long as the context; `eval` reads each document from its start.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
from torch import Tensor

from llmviz.files.paths import BUNDLED_CHECKPOINTS
from llmviz.models.base import LanguageModel
from llmviz.training.evaluate import evaluate_documents
from llmviz.training.plan import documents_of, plan_of
from llmviz.training.run_folder import load_trained

ROWS = 32


@torch.no_grad()
def validate(model: LanguageModel, windows: Tensor, targets: Tensor) -> int:
    """Take the loss of all windows (N, T), as a training does; return the number of tokens."""
    for first in range(0, len(windows), ROWS):
        model(windows[first : first + ROWS], targets[first : first + ROWS])
    return targets.numel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="few stories: a smoke test, no figures"
    )
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    torch.set_num_threads(1)
    trained = load_trained(BUNDLED_CHECKPOINTS / "tiny-world-gpt")
    model, tokenizer = trained.model, trained.tokenizer
    documents = documents_of(plan_of(trained.description, "the model"))[1]
    documents = documents[: 20 if given.quick else 400]
    ids = [one for document in documents for one in tokenizer.encode(document)]
    context = model.context_length
    whole = (len(ids) - 1) // context * context
    windows = torch.tensor(ids[:whole]).view(-1, context)
    targets = torch.tensor(ids[1 : whole + 1]).view(-1, context)
    reading = {
        "validation pass": lambda: validate(model, windows, targets),
        "eval": lambda: evaluate_documents(model, tokenizer, documents).tokens,
    }
    rates: dict[str, list[float]] = {name: [] for name in reading}
    for round_number in range((1 if given.quick else given.rounds) + 1):
        for name, read in reading.items():
            begun = time.process_time()
            tokens = read()
            if round_number:  # the first round warms up
                rates[name].append(tokens / (time.process_time() - begun))
    for name, found in rates.items():
        pairs = zip(found, rates["validation pass"], strict=True)
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{name:16}  {statistics.median(found):8,.0f} tokens/s  {ratio:5.2f} ×")


if __name__ == "__main__":
    main()
