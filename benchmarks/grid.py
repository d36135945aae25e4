"""A GPT of 8 × 8 heads over 64 tokens, untrained, beside the bundled models: for timings only."""

from __future__ import annotations

import json
from pathlib import Path

HEADS, TOKENS = 8, 64


def folder_with_grid(target: Path, bundled: Path) -> Path:
    """Fill a folder of checkpoints with links to the bundled ones and with the model `grid`."""
    import torch

    from llmviz.models import GPT, GPTConfig
    from llmviz.tokenizers import load_tokenizer
    from llmviz.training import TrainConfig
    from llmviz.training.run_folder import describe
    from llmviz.training.tensors import save_tensors

    for path in bundled.iterdir():
        (target / path.name).symlink_to(path)
    tokenizer = load_tokenizer(bundled / "tiny-world-gpt" / "tokenizer.json")
    torch.manual_seed(0)
    size = {"n_layer": HEADS, "n_head": HEADS, "n_embd": 8 * HEADS, "context_length": TOKENS}
    model = GPT(GPTConfig(vocab_size=tokenizer.vocab_size, **size)).eval()
    with torch.no_grad():
        for part in model.parameters():
            if part.dim() == 2:
                part.normal_(0, 0.3)  # weights that differ from cell to cell
    folder = target / "grid"
    folder.mkdir()
    save_tensors(folder / "model.safetensors", model.state_dict(), torch.float16)
    tokenizer.save(folder / "tokenizer.json")
    about = describe("gpt", model, tokenizer, TrainConfig(), {"corpus": "tiny-world"}, "")
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    card = {"name": "grid", "model": "gpt", "corpus": "tiny-world", "steps": 0}
    card["parameters"] = about["parameters"]
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    return target
