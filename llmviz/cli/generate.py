"""`generate`: text from a trained model."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from llmviz.cli.options import HUB, number, place, whole, write, write_json
from llmviz.training.config import LAST_SEED

LISTED = 8  # unknown parts of a prompt that are named
# What chance has to do with, and what it is where nobody asked.
CHANCE = {"temperature": 1.0, "top_k": None, "top_p": None, "seed": 0}


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "generate",
        help="let a trained model continue a text",
        description="Continue a prompt with a trained model; the text appears as it is written.",
    )
    given = parser.add_argument
    add_checkpoint(parser)
    given("--prompt", default="", help="text to continue; empty = the beginning of a document")
    given("--tokens", type=whole(0), default=100, help="largest number of tokens to write")
    given(
        "--temperature",
        type=number,
        default=CHANCE["temperature"],
        help="0 = always the most probable token",
    )
    given("--top-k", type=whole(1), help="only the k most probable tokens")
    given(
        "--top-p",
        type=number,
        help="only the most probable tokens that together reach this probability",
    )
    given(
        "--precision",
        choices=("float32", "bfloat16", "int8"),
        help=(
            "write with a packed copy of a GPT's weights: this is faster from about ten million "
            "parameters on, and faster still with fewer bits"
        ),
    )
    given("--seed", type=whole(0, LAST_SEED), default=0, help="of the random numbers")
    given("--json", action="store_true", help="one JSON object per token")
    parser.set_defaults(run=run)


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Declare the option that names a trained model, for `trained_of`."""
    parser.add_argument(
        "--checkpoint",
        type=place,
        required=True,
        metavar="DIR|NAME",
        help="a run, a bundled checkpoint, or a published model of the type GPT-2 or Llama: "
        f"a folder, or {HUB}OWNER/NAME",
    )


def run(given: argparse.Namespace) -> int:
    """Write prompt and continuation to standard output."""
    import torch

    from llmviz.models.catalogue import able
    from llmviz.models.decoder import can_decode, optimize_for_inference
    from llmviz.sampling import generate
    from llmviz.training.data import end_id, padding_ids

    trained = trained_of(given.checkpoint)
    for line in trained.notes:
        note(line)
    name = trained.description["model"]["name"]
    end_id(trained.tokenizer)  # it must have one
    ends = trained.tokenizer.ends
    generator = torch.Generator().manual_seed(given.seed)
    if able(name, "word_vectors"):
        raise ValueError(f"{name} has a vector for each word and writes no text; {_writers()}")
    if able(name, "hidden_words"):
        raise ValueError(
            f"{given.checkpoint} is a {name}: it says which word is hidden and continues no text; "
            + _writers()
        )
    model = trained.model
    if given.precision is not None and not can_decode(model):
        raise ValueError(
            "--precision is for GPTs of the usual kind, without rotary positions or mistakes; "
            f"{given.checkpoint} is a {name}"
        )
    if able(name, "translates"):
        return _translate(trained, given)
    if given.precision is not None:
        model = optimize_for_inference(model, given.precision)
    read = trained.tokenizer.encode(given.prompt)
    prompt = trained.tokenizer.behind_start(read)
    _note_prompt(given.prompt, trained.tokenizer, len(prompt), model.context_length)
    tokens = generate(
        model,
        prompt,
        given.tokens,
        given.temperature,
        given.top_k,
        given.top_p,
        banned=padding_ids(trained.tokenizer),
        generator=generator,
        stop_id=ends,
    )
    ids, printed = list(read), ""
    if not given.json:
        write(printed := trained.tokenizer.decode(ids), end="")
    for token in tokens:
        if given.json:
            piece = "" if token.id in ends else trained.tokenizer.decode([token.id])
            write_json({"id": token.id, "text": piece, "probability": token.probability})
        elif token.id not in ends:
            ids.append(token.id)
            text = trained.tokenizer.decode(ids)
            if not text.endswith("\ufffd"):  # a character whose last bytes are still to come
                write(text[len(printed) :], end="")
                printed = text
    if not given.json:
        write("")
        _note_rest(ids[len(read) :], trained.tokenizer, given.tokens)
    return 0


def note(line: str) -> None:
    """Say on standard error what is to be known of what is written."""
    sys.stderr.write(f"note: {line}\n")


def _note_prompt(text: str, tokenizer: Any, tokens: int, context: int) -> None:
    """Say what of a prompt the model does not read: what is unknown, what is beyond its context."""
    from llmviz.tokenizers import UNKNOWN

    unknown = tokenizer.special_tokens.get(UNKNOWN)
    parts = [one.data.decode() for one in tokenizer.tokens(text) if one.id == unknown]
    if parts:
        different = list(dict.fromkeys(parts))
        listed = ", ".join(map(repr, different[:LISTED])) + (", …" * (len(different) > LISTED))
        note(f"the tokenizer does not know {listed}; the model reads {UNKNOWN} there")
    if tokens > context:
        note(f"the prompt has {tokens:,} tokens; the model reads the last {context:,}")


def _note_rest(written: list[int], tokenizer: Any, most: int) -> None:
    """Say why nothing was written, or that the end of it is no whole character."""
    if most and not written:
        note("nothing was written: the first token that the model chose ends the text")
    elif tokenizer.decode(written).endswith("\ufffd"):
        note("the last bytes that were written make no whole character; they are left out")


def _writers() -> str:
    """Which bundled models continue a text, for a message on one that does not."""
    from llmviz.models.catalogue import able
    from llmviz.pretrained import bundled, read_card

    names = [name for name in bundled() if able(read_card(name)["model"], "next_token")]
    return f"those that do: {', '.join(names)}"


def trained_of(checkpoint: str) -> Any:
    """The model that a name or a folder stands for, with its tokenizer and what it is."""
    from llmviz.models.published import is_published
    from llmviz.pretrained import published
    from llmviz.training.recipes import find_checkpoint
    from llmviz.training.runs import load_trained

    if checkpoint.startswith(HUB):
        return published(checkpoint.removeprefix(HUB))
    folder = find_checkpoint(checkpoint)
    return published(folder) if is_published(folder) else load_trained(folder)


def _translate(trained: Any, given: argparse.Namespace) -> int:
    """The translation of the prompt by an encoder–decoder."""
    import torch

    from llmviz.training.data import padding_ids

    if not given.prompt.strip():
        raise ValueError("this model translates: give it a sentence with --prompt")
    ids = trained.tokenizer.encode(given.prompt)
    _note_prompt(given.prompt, trained.tokenizer, len(ids), trained.model.context_length)
    if any(getattr(given, one) != value for one, value in CHANCE.items()):
        options = ", ".join(f"--{one.replace('_', '-')}" for one in CHANCE)
        note(f"each word of a translation is the most probable one: {options} change nothing")
    translated = (
        trained.model.translate(torch.tensor([ids]), given.tokens)[0] if given.tokens else []
    )
    unwritten = padding_ids(trained.tokenizer)
    text = trained.tokenizer.decode(id for id in translated if id not in unwritten)
    write_json({"text": text}) if given.json else write(text)
    return 0
