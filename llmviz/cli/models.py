"""`models`: the registry with parameter counts."""

from __future__ import annotations

import argparse
from typing import Any

from llmviz.cli.options import table, write, write_json


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "models",
        help="list the models that can be trained",
        examples=(
            "models",
            "models --json",
        ),
        description="The models, what they are, and how many parameters their defaults have.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write the registry to standard output."""
    from llmviz.models import MODELS, build

    listed = {}
    for name, entry in MODELS.items():
        model = build(name)
        listed[name] = {
            "description": entry.description,
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "config": model.config.to_dict(),
        }
    if given.json:
        write_json(listed)
        return 0
    rows = [("model", "parameters", "what it is")]
    rows += [(k, f"{v['parameters']:,}", v["description"]) for k, v in listed.items()]
    write(table(rows))
    write("\nParameters are counted at default sizes, with embeddings. Sizes and options: --json.")
    write(
        "\n`export --to gguf` takes a gpt over byte-level BPE; one with learned positions needs "
        "--set activation=gelu_tanh. No bundled model is such a one: train it, or import one."
    )
    return 0
