"""`generate`: text from a trained model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.cli.options import (
    STANDARD_INPUT,
    number,
    place,
    standard_input,
    tell,
    whole,
    write,
    write_json,
)
from llmviz.files.paths import HUB
from llmviz.files.text import read_text_file
from llmviz.sampling.kinds import STEPS, StepKind, usual_order
from llmviz.training.config import LAST_SEED

if TYPE_CHECKING:
    from llmviz.api.continuing import Continuation

MOST_SAMPLES = 1000
SEPARATOR = "---"  # a line between two samples

EXAMPLES = (
    'generate --checkpoint tiny-world-gpt --prompt "It was Saturday, and"',
    "generate --checkpoint tiny-world-gpt --temperature 0.7 --min-p 0.05",
    "generate --checkpoint names-gpt --samples 5",
    "generate --checkpoint runs/mine --prompt-file begin.txt --repetition-penalty 1.2",
)


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "generate",
        help="let a trained model continue a text",
        description="Continue a prompt with a trained model; the text appears as it is written.",
        examples=EXAMPLES,
    )
    given = parser.add_argument
    add_checkpoint(parser)
    prompts = parser.add_mutually_exclusive_group()
    prompts.add_argument(
        "--prompt",
        help="text to continue; empty, or left out = the beginning of a document; "
        f"{STANDARD_INPUT} = standard input",
    )
    prompts.add_argument(
        "--prompt-file",
        type=place,
        metavar="FILE",
        help="continue the text of this file, without the line end that closes it; "
        f"{STANDARD_INPUT} = standard input",
    )
    given(
        "--special",
        action="store_true",
        help="read the names of special tokens in the prompt, such as <|im_end|>, as these tokens",
    )
    given("--tokens", type=whole(0), default=100, help="largest number of tokens to write")
    for kind in STEPS:
        given(f"--{kind.name.replace('_', '-')}", **_option(kind))
    given(
        "--order",
        metavar="STEP,STEP,...",
        help=f"of the steps from logits to a token; default {','.join(usual_order())}",
    )
    given(
        "--samples",
        type=whole(1, MOST_SAMPLES),
        default=1,
        help="texts to write, the first with --seed, the next with the seed after it; default 1",
    )
    given(
        "--precision",
        choices=("float32", "bfloat16", "int8", "int4"),
        help=(
            "write with a packed copy of a GPT's weights: this is faster from about ten million "
            "parameters on, and faster still with fewer bits"
        ),
    )
    given("--seed", type=whole(0, LAST_SEED), default=0, help="of the random numbers; default 0")
    given("--json", action="store_true", help="one JSON object per token")
    parser.set_defaults(run=run)


def _option(kind: StepKind) -> dict[str, Any]:
    """What argparse is to know of a step's setting; None stands for a setting not given."""
    about = {"help": f"{kind.title}: {kind.hint}".replace("%", "%%")}
    if isinstance(kind.neutral, tuple):
        return about | {"nargs": "+", "type": whole(0), "metavar": "ID", "help": "ids of tokens "
                        "that are never written"}  # fmt: skip
    if kind.neutral is not None:
        about["help"] += f" Default {kind.neutral:g}."
    return about | {"type": whole(int(kind.low)) if kind.whole else number}


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Declare the option that names a trained model, as `find_model` takes it."""
    parser.add_argument(
        "--checkpoint",
        type=place,
        required=True,
        metavar="DIR|NAME",
        help="a run, a fine-tuning, a bundled checkpoint, or a published model of the type GPT-2 "
        f"or Llama: a folder, or {HUB}OWNER/NAME",
    )


def run(given: argparse.Namespace) -> int:
    """Write prompt and continuation to standard output."""
    settings = _settings(given)
    prompt = _prompt(given)  # said before torch is imported, which takes seconds

    from llmviz.api.continuing import Continuation, check_writes
    from llmviz.models.catalogue import able
    from llmviz.models.decoder import can_decode, optimize_for_inference
    from llmviz.nn.fast_linear import about_int8
    from llmviz.pretrained import find_model

    trained = find_model(given.checkpoint)
    for line in trained.notes:
        note(line)
    check_writes(trained, given.checkpoint)
    name = trained.description["model"]["name"]
    module = None
    if given.precision is not None and can_decode(trained.model):
        module = optimize_for_inference(trained.model, given.precision)
        if given.precision == "int8" and (said := about_int8()):
            note(said)
    elif given.precision is not None:
        raise ValueError(
            "--precision is for GPTs without mistakes and without experts, with norms before each "
            f"part; {given.checkpoint} is a {name}"
        )
    if able(name, "translates"):
        return _translate(trained, prompt, given)
    texts = [
        Continuation(
            trained,
            prompt,
            given.tokens,
            given.seed + i,
            module,
            special=given.special,
            **settings,
        )
        for i in range(given.samples)
    ]
    tokenizer, context = trained.tokenizer, trained.model.context_length
    _note_prompt(prompt, tokenizer, len(texts[0].from_start), context, special=given.special)
    for i, text in enumerate(texts):
        if given.json:
            _write_tokens(text, tokenizer, {"sample": i} if given.samples > 1 else {})
            continue
        if i:
            write(SEPARATOR)
        write(text.shown, end="")
        for _, piece in text:
            write(piece, end="")
        write("")
        _note_rest(text, given.tokens)
    return 0


def _settings(given: argparse.Namespace) -> dict[str, Any]:
    """The settings of the sampling steps that were given."""
    values = {kind.name: getattr(given, kind.name) for kind in STEPS}
    chosen = {name: value for name, value in values.items() if value is not None}
    if given.order is not None:
        chosen["order"] = [name.strip() for name in given.order.split(",")]
    return chosen


def _prompt(given: argparse.Namespace) -> str:
    """The text to continue: of the option, of a file, or of standard input."""
    if STANDARD_INPUT in (given.prompt, given.prompt_file):
        text = standard_input().replace("\r\n", "\n")
    elif given.prompt_file is None:
        return given.prompt or ""
    elif Path(given.prompt_file).is_dir():
        raise ValueError(f"{given.prompt_file} is a folder, not a file")
    else:
        text = read_text_file(given.prompt_file)
    return text.removesuffix("\n")


def note(line: str) -> None:
    """Say on standard error what is to be known of what is written."""
    sys.stderr.write(f"note: {line}\n")


def _write_tokens(text: Continuation, tokenizer: Any, which: dict[str, int]) -> None:
    for token, _ in text:
        data = b"" if token.id in tokenizer.ends else tokenizer.token_bytes(token.id)
        piece = data.decode("utf-8", "replace")
        write_json({**which, "id": token.id, "text": piece, "probability": token.probability})


def _note_prompt(
    text: str, tokenizer: Any, tokens: int, context: int, *, special: bool = False
) -> None:
    """Say what of a prompt the model does not read: what is unknown, what is beyond its context."""
    from llmviz.tokenizers.unread import notes_on

    for line in notes_on(tokenizer, text, "--special", special=special):
        note(line)
    if tokens > context:
        note(f"the prompt has {tokens:,} tokens; the model reads the last {context:,}")


def _note_rest(text: Continuation, most: int) -> None:
    """Say why nothing was written, or that the end of it is no whole character."""
    if most and not text.written:
        note("nothing was written: the first token that the model chose ends the text")
    elif text.is_cut:
        note("the last bytes that were written make no whole character; U+FFFD stands for them")


def _translate(trained: Any, prompt: str, given: argparse.Namespace) -> int:
    """The translation of the prompt by an encoder–decoder."""
    from llmviz.api.continuing import translation

    text = translation(trained, prompt, given.tokens)
    _note_prompt(
        prompt, trained.tokenizer, len(trained.tokenizer.encode(prompt)),
        trained.model.context_length, special=True,
    )  # fmt: skip
    chance = [kind.name for kind in STEPS] + ["order"]
    ignored = [option for option in chance if getattr(given, option) is not None]
    if ignored or given.seed or given.samples > 1:
        options = [f"--{name.replace('_', '-')}" for name in (*chance, "seed", "samples")]
        note(
            "each word of a translation is the most probable one: "
            f"{', '.join(options)} change nothing"
        )
    tell({"text": text}, text, json=given.json)
    return 0
