"""`tokenize`: a text as tokens."""

from __future__ import annotations

import argparse
from typing import Any

from llmviz.cli.options import STANDARD_INPUT, standard_input, table, tell, write, write_json


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "tokenize",
        help="cut a text into tokens",
        examples=(
            'tokenize --tokenizer bpe "the cat sat"',
            "tokenize --tokenizer gpt2 -",
            "tokenize --fetch",
        ),
        description=(
            "Cut a text into tokens and show id, text and position of each. A word or character "
            "that the tokenizer does not know is shown as <|unk|>."
        ),
    )
    parser.add_argument("--tokenizer", metavar="NAME", help="such as bpe or gpt2")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--fetch",
        action="store_true",
        help=(
            "cut no text; download the files of a tokenizer, or of all if --tokenizer is left out, "
            "for use without a network"
        ),
    )
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the text; - reads standard input")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write the tokens to standard output."""
    if given.fetch:
        return _fetch(given)
    if given.tokenizer is None or given.text is None:
        raise ValueError("give --tokenizer NAME and a text, or --fetch")
    from pathlib import Path

    from llmviz.tokenizers import get_tokenizer, load_tokenizer

    saved = Path(given.tokenizer)
    is_file = saved.suffix == ".json" and saved.is_file()
    tokenizer = load_tokenizer(saved) if is_file else get_tokenizer(given.tokenizer)
    text = given.text
    if text == STANDARD_INPUT:
        text = standard_input()
    tokens = tokenizer.tokens(text)
    texts = [_text(tokenizer.token_bytes(token.id)) for token in tokens]  # what the ids stand for
    if given.json:
        write_json(
            {
                "tokenizer": tokenizer.name,
                "ids": [token.id for token in tokens],
                "tokens": texts,
                "bytes": [list(token.data) for token in tokens],
                "byte_spans": [[token.byte_start, token.byte_end] for token in tokens],
            }
        )
        return 0
    rows = [("id", "token", "bytes")]
    for token, text in zip(tokens, texts, strict=True):
        covered = _text(token.data)
        name = repr(text) if text == covered else f"{text} for {covered!r}"
        rows.append((str(token.id), name, f"{token.byte_start}:{token.byte_end}"))
    write(table(rows))
    return 0


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _fetch(given: argparse.Namespace) -> int:
    """Download what tokenizers need; write where it is."""
    from llmviz.tokenizers import TOKENIZERS, TokenizerUnavailable
    from llmviz.tokenizers.tiktoken_bridge import fetch

    if given.text is not None:
        raise ValueError("--fetch cuts no text; leave the text out")
    names = list(TOKENIZERS) if given.tokenizer is None else [given.tokenizer]
    if names[0] not in TOKENIZERS:
        raise ValueError(f"tokenizer must be one of {', '.join(TOKENIZERS)}; got {names[0]!r}")
    files, problems = {}, []
    for name in names:
        try:
            files[name] = [] if TOKENIZERS[name].file else list(map(str, fetch(name)))
        except TokenizerUnavailable as problem:
            problems.append(problem)
    rows = [(name, file) for name in files for file in files[name] or ["bundled"]]
    tell(files, table([("tokenizer", "file"), *rows]), json=given.json)
    if problems:
        raise ValueError("; ".join(map(str, TokenizerUnavailable.by_reason(problems))))
    return 0
