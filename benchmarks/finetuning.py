"""Fine-tuning: a step with LoRA against a full one and against peft's; features kept or not.

    OMP_WAIT_POLICY=passive python -m benchmarks.finetuning

(A thread that waits for another one otherwise spins, which counts as CPU time.)
Ratios within one run, of CPU time (all threads' together), so that a busy machine changes them
little; each the best of some rounds, measured in turns, on one thread unless it says two:
- a LoRA step on all layers, as a share of a full step (aim: at most 0.75) and of peft's with the
  same targets (aim: at most 1), on batches of several sizes; a step is what `train` makes of it:
  forward, backward, the gradient's length, AdamW;
- what the optimizer remembers with LoRA, as a share of a full training's, beside the parameters';
- an epoch of the head on kept features, as a share of one that computes them anew;
- what a class head on 1,000 stories takes in seconds (aim: under 5), features and training apart;
- a sentence tagged, in milliseconds (aim: under 100).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

import torch
from torch import nn

from llmviz.finetuning import classifier as c
from llmviz.finetuning.labels import stories
from llmviz.language.bundle import load_tagger
from llmviz.nn.lora import add_adapter, trained_parameters
from llmviz.nn.lora_config import TARGETS, LoraConfig
from llmviz.pretrained import load_bundled
from llmviz.training import TrainConfig, train

ROUNDS, LENGTH, RANK = 9, 192, 8
BATCHES = (2, 8, 16)  # rows of LENGTH tokens


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def best(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Least CPU seconds of each, measured in turns after one round to warm up."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS + 1):
        for name, work in works.items():
            found[name].append(seconds(work))
    return {name: min(values[1:]) for name, values in found.items()}


def stepper(model: nn.Module, idx: torch.Tensor) -> tuple[Callable[[], None], torch.optim.AdamW]:
    """One update of all that the model trains."""
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)
    model.train()

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        logits = model(idx[:, :-1])[0]
        nn.functional.cross_entropy(logits.flatten(0, 1), idx[:, 1:].flatten()).backward()
        nn.utils.clip_grad_norm_(trained, 1.0, foreach=True)
        optimizer.step()

    return step, optimizer


def remembered(optimizer: torch.optim.AdamW) -> int:
    """Bytes that an optimizer keeps between steps."""
    states = (value for state in optimizer.state.values() for value in state.values())
    return sum(value.numel() * value.element_size() for value in states)


def steps() -> None:
    """A LoRA step against a full one, and against peft's."""
    from peft import LoraConfig as PeftConfig
    from peft import get_peft_model

    full = load_bundled("tiny-world-gpt")[0]
    ours, theirs = copy.deepcopy(full), copy.deepcopy(full)
    add_adapter(ours, LoraConfig(RANK, 16.0))
    config = PeftConfig(r=RANK, lora_alpha=16, target_modules=list(TARGETS), lora_dropout=0.0)
    theirs = get_peft_model(theirs, config)
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for rows in BATCHES:
            idx = torch.randint(0, full.vocab_size, (rows, LENGTH))
            models = (("full", full), ("lora", ours), ("peft", theirs))
            works = {name: stepper(model, idx) for name, model in models}
            took = best({name: step for name, (step, _) in works.items()})
            print(
                f"{rows:2} rows of {LENGTH} tokens, {threads} thread{'s'[: threads - 1]}: "
                f"LoRA / full {took['lora'] / took['full']:.2f} (aim 0.75), "
                f"LoRA / peft {took['lora'] / took['peft']:.2f} (aim 1)"
            )
    torch.set_num_threads(1)
    kept = {name: remembered(optimizer) for name, (_, optimizer) in works.items()}
    print(f"optimizer's memory, LoRA / full       {kept['lora'] / kept['full']:.4f}")
    share = trained_parameters(ours) / trained_parameters(full)
    print(f"trained parameters, LoRA / full       {share:.4f}")


def head() -> None:
    """A class head on 1,000 stories, and what it saves to keep the features."""
    base, tokenizer, _ = load_bundled("tiny-world-gpt")
    labelled = stories("about", 1200)
    parts = labelled.split(200 / 1200)
    own = c.classifier(base, len(labelled.names), "head")
    texts = c.encode(tokenizer, parts[0].texts, own.context_length)
    anew = seconds(lambda: c.features(own.body, texts))
    module, data = c.prepare_classes(own, tokenizer, *parts, "head")
    config = TrainConfig(
        steps=600, batch_size=64, learning_rate=1e-2, min_lr=1e-4, warmup_steps=20,
        weight_decay=0.0, eval_every=200, dtype="float32", threads=1, device="cpu",
    )  # fmt: skip
    training = seconds(lambda: list(train(module, data, config)))
    epoch = training / (600 * 64 / len(parts[0].texts))
    print(f"an epoch on kept features / anew      {epoch / (epoch + anew):.3f}")
    print(f"features of 1,000 stories once        {anew:.1f} s")
    print(f"training the head, 600 steps          {training:.1f} s  (aim 5 with features)")


def tagging() -> None:
    """One sentence through the bundled tagger."""
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    tagger, _ = load_tagger()
    sentence = ["Then Ramona found a huge turquoise mat under the desk."]
    took = best({"tag": lambda: tagger.read(model, tokenizer, sentence)})["tag"]
    print(f"a sentence tagged                     {1000 * took:.1f} ms  (aim 100)")


def main() -> None:
    """Print all of it."""
    torch.set_num_threads(1)
    steps()
    head()
    tagging()


if __name__ == "__main__":
    main()
