"""`export`: a trained model in the form of another program."""

from __future__ import annotations

import argparse
from typing import Any

from llmviz.cli.options import place, tell

FORMS = ("hf", "peft", "gguf")
TYPES = ("float32", "float16")


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "export",
        help="write a model for transformers, peft or llama.cpp",
        examples=(
            "export tiny-world-gpt --out published/tiny-world",
            "export runs/tuned --to peft --out published/adapter",
            "export runs/smol --to gguf --dtype float16 --out smol.gguf",
        ),
        description=(
            "Write a trained gpt in the form of another program. hf: a folder that transformers "
            "loads, with its tokenizer; a GPT-2 where positions are learned, else a Llama or one "
            "of its relatives. peft: the adapter of a run with --lora, with the names of the "
            "transformers model that it changes. gguf: a file for llama.cpp. Quantized weights "
            "are written as the numbers that they stand for."
        ),
    )
    given = parser.add_argument
    given(
        "checkpoint", type=place, metavar="DIR|NAME", help="a run's folder, or a bundled checkpoint"
    )
    given("--to", choices=FORMS, default=FORMS[0], help="which form; default hf")
    given("--out", type=place, required=True, help="new folder; of gguf, a new file")
    given("--json", action="store_true", help="one JSON object")
    given("--dtype", choices=TYPES, default=TYPES[0], help="of the numbers; default float32")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Read, write, say what it is."""
    from pathlib import Path

    import torch

    from llmviz.pretrained import find_model

    out, dtype = Path(given.out), getattr(torch, given.dtype)
    if given.to == "peft":
        from llmviz.publishing.adapter import export_adapter

        rank, base = export_adapter(given.checkpoint, out, dtype)
        said = {"out": str(out), "form": given.to, "rank": rank, "base": base}
        line = f"{out}: an adapter of rank {rank} for {base}"
        tell(said, line, json=given.json)
        return 0
    trained = find_model(given.checkpoint)
    if given.to == "gguf":
        from llmviz.publishing.gguf_file import export_gguf

        kind = export_gguf(trained, out, dtype)
    else:
        from llmviz.publishing.folder import export_folder

        kind = export_folder(trained, out, dtype)["model_type"]
    count = sum(parameter.numel() for parameter in trained.model.parameters())
    said = {"out": str(out), "form": given.to, "kind": kind, "parameters": count}
    line = f"{out}: a {kind} of {count:,} parameters, {trained.tokenizer.vocab_size:,} tokens"
    tell(said, line, json=given.json)
    return 0
