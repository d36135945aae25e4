"""`eval`: loss, perplexity and bits per byte of a model on a text, with their standard errors."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from llmviz.cli.options import (
    STANDARD_INPUT,
    named,
    standard_input,
    table,
    whole,
    write,
    write_json,
)
from llmviz.training.measures import LN2, ratio_error

if TYPE_CHECKING:
    from llmviz.training.evaluate import Score
    from llmviz.training.run_folder import Trained

BEGINNING = 40  # characters of a document in the table of all
DOCUMENTS, WINDOWS = "documents", "windows"


def add(commands: Any) -> None:
    """Declare the command."""
    from llmviz.cli.generate import add_checkpoint

    parser = commands.add_parser(
        "eval",
        help="measure a model's loss on a text",
        description=(
            "Measure loss, perplexity and bits per byte of a model on a text. Each document is "
            "read from its start; one longer than the context is read in windows that overlap, and "
            "each of its tokens is scored once. Bits per byte can be compared between tokenizers, "
            "loss and perplexity cannot."
        ),
        examples=(
            "eval --checkpoint tiny-world-gpt",
            "eval --checkpoint runs/mine --corpus my-text.txt --stride 16",
            "eval --checkpoint names-lstm --corpus names --documents 100 --each",
        ),
    )
    given = parser.add_argument
    add_checkpoint(parser)
    add_corpus(parser, "; - = standard input, as one document")
    given("--documents", type=whole(1), help="the first ones of the text; default all")
    given(
        "--stride",
        type=whole(1),
        help="tokens that a window moves by; a smaller one leaves each token more to read before "
        "it; default half the context",
    )
    given("--end", action="store_true", help="score the token that ends a document, too")
    given("--each", action="store_true", help="show each document, too")
    given("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def add_corpus(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Declare the options that name texts to measure on. more: what else may be given."""
    parser.add_argument(
        "--corpus",
        type=named,
        nargs="+",
        metavar="NAME|FILE",
        help=f"a bundled text, a file, a folder or a pattern, or several of them{more}; default: "
        "what was held out when the model was trained",
    )
    parser.add_argument(
        "--column",
        type=named,
        default="text",
        help="field of a .jsonl, or column of a .parquet, with texts",
    )


def run(given: argparse.Namespace) -> int:
    """Measure and write."""
    from llmviz.models.catalogue import able
    from llmviz.pretrained import find_model

    stdin = _standard_input() if given.corpus == [STANDARD_INPUT] else None
    trained = find_model(given.checkpoint)
    for line in trained.notes:
        sys.stderr.write(f"note: {line}\n")
    kind = trained.description["model"]["name"]
    if not able(kind, "next_token"):
        raise ValueError(f"{given.checkpoint} is a {kind}, which predicts no next token")
    if _knows_ahead(trained):
        sys.stderr.write(
            f"note: {given.checkpoint} was made with a mistake: its loss says nothing about how "
            "well it predicts\n"
        )
    documents = [stdin] if stdin is not None else _documents(given, trained)
    documents = documents[: given.documents]
    result = _measure(trained, documents, given)
    total = result.total
    if not total.tokens:
        raise ValueError("the text must have a token that is predicted; this one has none")
    if given.json:
        write_json(_json(result, given.each))
        return 0
    if given.each:
        write(_table_of_each(documents, result.each) + "\n")
    rows = [("", "value", "standard error")]
    rows += [
        (name, f"{value:.4f}", "" if error is None else f"{error:.4f}")
        for name, (value, error) in result.measures.items()
    ]
    write(table(rows))
    errors = f"errors over {result.parts}" if result.error is not None else "no error: one part"
    write(
        f"\n{total.tokens:,} tokens and {total.bytes:,} bytes in {total.documents:,} documents; "
        f"{errors}"
    )
    return 0


class Result(NamedTuple):
    """The score of each document, and the errors of what all have together.

    parts: over what the errors are, documents or, of one document, its windows.
    """

    each: list[Score]
    total: Score
    error: float | None  # of the nats per token
    bits_error: float | None  # of the bits per byte
    parts: str

    @property
    def measures(self) -> dict[str, tuple[float, float | None]]:
        """Each measure with its standard error."""
        total, error = self.total, self.error
        spread = None if error is None else error * total.perplexity
        measures: dict[str, tuple[float, float | None]] = {
            "nats per token": (total.per_token, error),
            "perplexity": (total.perplexity, spread),
        }
        if total.bytes:
            measures["bits per byte"] = (total.bits_per_byte, self.bits_error)
        return measures


def _measure(trained: Trained, documents: list[str], given: argparse.Namespace) -> Result:
    from tqdm import tqdm

    from llmviz.training.evaluate import Score, score_pieces

    with tqdm(unit="window", disable=None, file=sys.stderr, leave=False) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        pieces = score_pieces(
            trained.model,
            trained.tokenizer,
            documents,
            end=given.end,
            stride=given.stride,
            tell=tell,
        )
    each = [Score.sum(parts) for parts in pieces]
    total = Score.sum(each)
    if len(each) > 1:
        nats = [score.nats for score in each]
        error = ratio_error(nats, [score.tokens for score in each])
        bits = ratio_error(nats, [score.bytes for score in each])
        return Result(each, total, error, None if bits is None else bits / LN2, DOCUMENTS)
    windows = pieces[0][1:]
    error = ratio_error([window.nats for window in windows], [window.tokens for window in windows])
    bits = None
    if total.bytes and error is not None:
        bits = error * total.tokens / total.bytes / LN2
    return Result(each, total, error, bits, WINDOWS)


def _documents(given: argparse.Namespace, trained: Trained) -> list[str]:
    """The texts to measure on. Raises ValueError where there are none."""
    from llmviz.training.plan import documents_of, plan_of

    if given.corpus is not None:
        return texts_of(given.corpus, given.column)
    if "plan" not in trained.description:
        raise ValueError("give a text with --corpus: what was held out for this model is unknown")
    return documents_of(plan_of(trained.description, "the model"))[1]


def texts_of(names: list[str], column: str) -> list[str]:
    """The documents of a bundled text, of files or folders; ValueError for pairs of sentences."""
    from llmviz.corpus import PairCorpus, load_corpora

    loaded = load_corpora(names, column=column, progress=True)
    if isinstance(loaded, PairCorpus):
        raise ValueError(f"{loaded.name} holds sentences with their translations, and no texts")
    return list(loaded.documents)


def _standard_input() -> str:
    text = standard_input()
    if not text:
        raise ValueError("standard input is empty")
    return text


def _knows_ahead(trained: Trained) -> bool:
    """Whether a model may see what it is to predict, or was trained to copy its input."""
    config = trained.model.config
    return (
        getattr(config, "mask", "causal") != "causal"
        or not getattr(config, "shift", True)
        or getattr(config, "softmax_before_mask", None) is not None
    )


def _json(result: Result, each: bool) -> dict[str, Any]:
    total = result.total
    about: dict[str, Any] = {
        "documents": total.documents,
        "tokens": total.tokens,
        "characters": total.characters,
        "bytes": total.bytes,
        "nats_per_token": total.per_token,
        "nats_per_token_error": result.error,
        "perplexity": total.perplexity if math.isfinite(total.perplexity) else None,
        "bits_per_byte": total.bits_per_byte if total.bytes else None,
        "bits_per_byte_error": result.bits_error,
        "errors_over": result.parts,
    }
    if each:
        about["each"] = [
            {"nats": score.nats, "tokens": score.tokens, "bytes": score.bytes}
            for score in result.each
        ]
    return about


def _table_of_each(documents: list[str], each: list[Score]) -> str:
    rows = [("document", "tokens", "nats per token", "bits per byte", "begins with")]
    for number, (text, score) in enumerate(zip(documents, each, strict=True), start=1):
        rows.append(
            (
                str(number),
                f"{score.tokens:,}",
                f"{score.per_token:.4f}" if score.tokens else "",
                f"{score.bits_per_byte:.4f}" if score.bytes and score.tokens else "",
                repr(text[:BEGINNING])[1:-1],
            )
        )
    return table(rows)
