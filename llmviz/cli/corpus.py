"""`corpus`: list, show and download texts."""

from __future__ import annotations

import argparse
from typing import Any

from llmviz.cli.options import table, tell, whole, write, write_json


def add(commands: Any) -> None:
    """Declare the command and its parts."""
    parser = commands.add_parser(
        "corpus",
        help="list, show or download texts",
        description="The texts to learn from.",
        examples=("corpus list", "corpus show tiny-world", "corpus get tinyshakespeare"),
    )
    parts = parser.add_subparsers(
        dest="part", metavar="list|show|get", required=True, parser_class=type(parser)
    )
    listing = parts.add_parser("list", help="names and what they are")
    show = parts.add_parser("show", help="the first documents and some counts")
    get = parts.add_parser("get", help="download it if it is not here, and show its path")
    for part in (show, get):
        part.add_argument("name", metavar="NAME", help="bundled name or file")
    show.add_argument("--documents", type=whole(1), default=3, help="how many to show")
    for part, run in ((listing, run_list), (show, run_show), (get, run_get)):
        part.add_argument("--json", action="store_true", help="one JSON object")
        part.set_defaults(run=run)


def run_list(given: argparse.Namespace) -> int:
    """Write the registry of corpora."""
    from llmviz.corpus import CORPORA

    listed = {name: entry.description for name, entry in CORPORA.items()}
    tell(listed, table([("corpus", "what it is"), *listed.items()]), json=given.json)
    return 0


def run_show(given: argparse.Namespace) -> int:
    """Write the size of a corpus and its first documents."""
    corpus = _load(given.name)
    characters = sum(len(_text(document)) for document in corpus.documents)
    first = [_text(document) for document in corpus.documents[: given.documents]]
    if given.json:
        counts = {"documents": len(corpus.documents), "characters": characters}
        write_json({"name": corpus.name, **counts, "first": first})
        return 0
    write(f"{corpus.name}: {len(corpus.documents):,} documents, {characters:,} characters")
    for text in first:
        write("\n" + (text if len(text) <= 1000 else text[:1000] + " …"))
    return 0


def run_get(given: argparse.Namespace) -> int:
    """Load a corpus, downloading it if need be, and say where it lies."""
    from llmviz.corpus import corpus_file

    corpus, file = _load(given.name), corpus_file(given.name)
    count = len(corpus.documents)
    where = "made from a seed each time it is needed" if file is None else file
    about = {"name": corpus.name, "documents": count, "file": file and str(file)}
    line = f"{corpus.name}: {count:,} document{'s' * (count != 1)}, {where}"
    tell(about, line, json=given.json)
    return 0


def _load(name: str) -> Any:
    from llmviz.corpus import load_corpus

    return load_corpus(name, progress=True)


def _text(document: Any) -> str:
    return document if isinstance(document, str) else "\n".join(document)
