"""`import`: a published model, as a run for the app and the command line."""

from __future__ import annotations

import argparse
from typing import Any

from llmviz.cli.options import place, tell, typed
from llmviz.files.paths import HUB


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "import",
        help="make a run of a published GPT-2 or Llama model",
        examples=(
            "import hub:openai-community/gpt2 --out runs/gpt2",
            "import downloads/SmolLM2-135M --out runs/smol",
            "import SmolLM2-135M-Instruct.Q4_1.gguf --out runs/smollm2",
        ),
        description=(
            "Write a published model of the type GPT-2 or Llama as a run, from a folder, a GGUF "
            "file or the hub. If the run is in the folder of runs, the app offers it in lessons."
        ),
    )
    parser.add_argument(
        "source", type=place, metavar=f"DIR|FILE.gguf|{HUB}OWNER/NAME", help="where it is"
    )
    parser.add_argument(
        "--out", type=place, required=True, help="folder of the new run, such as runs/gpt2"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Read, write, say what it is."""
    from pathlib import Path

    from llmviz.pretrained import import_gpt2
    from llmviz.training.files import removed_if_empty

    source = given.source
    origin = source.removeprefix(HUB) if source.startswith(HUB) else Path(source)
    with removed_if_empty(Path(given.out)):
        trained = import_gpt2(origin, given.out, typed(given))
    config = trained.model.config
    parameters = trained.description["parameters"]
    shape = ("n_layer", "n_head", "n_embd", "context_length")
    about = {"out": given.out, "parameters": parameters}
    tell(
        about | {name: getattr(config, name) for name in shape},
        f"{given.out}: {parameters:,} parameters, {config.n_layer} layers of {config.n_head} heads,"
        f" width {config.n_embd}, context {config.context_length}",
        json=given.json,
    )
    return 0
