"""`language`: what of the course is translated, and PO files for translators."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from llmviz.cli.options import place, table, write


def add(commands: Any) -> None:
    """Declare the command and its parts."""
    parser = commands.add_parser(
        "language",
        help="what is translated, and files for translators",
        examples=("language status es", "language export es --out es.po", "language import es.po"),
        description=(
            "The texts of the course in other languages. A translation whose English text has "
            "changed is stale: the lessons show English there until it is translated again, or "
            "accepted as it is."
        ),
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
    status = parts.add_parser("status", help="list texts that are shown in English, by document")
    status.add_argument("language", nargs="?", metavar="LANG", help="such as es; all by default")
    status.add_argument(
        "names", nargs="*", metavar="DOCUMENT", help="such as lessons/home/lesson, or home"
    )
    status.add_argument("--all", action="store_true", help="each missing text, in all documents")
    status.set_defaults(run=_status)
    export = parts.add_parser("export", help="write a PO file with the texts of a language")
    export.add_argument("language", metavar="LANG", help="such as es")
    export.add_argument("names", nargs="*", metavar="DOCUMENT", help="as status names them")
    export.add_argument("--out", type=place, required=True, help="the PO file")
    export.set_defaults(run=_export)
    take = parts.add_parser("import", help="take the texts of a PO file into the documents")
    take.add_argument("file", type=place, metavar="FILE", help="the PO file")
    take.set_defaults(run=_import)
    accept = parts.add_parser("accept", help="say that texts hold for today's English")
    accept.add_argument("language", metavar="LANG", help="such as es")
    accept.add_argument(
        "names", nargs="*", metavar="DOCUMENT[:TEXT]", help="all of the language by default"
    )
    accept.set_defaults(run=_accept)


def _known(language: str) -> str:
    languages = import_module("llmviz.course.document.languages").LANGUAGES
    others = [short for short in languages if short != "en"]
    if language not in others:
        raise ValueError(f"there is no language {language!r}; there are {', '.join(others)}")
    return language


def _status(given: argparse.Namespace) -> int:
    """List what is stale, and what is missing in documents that are complete.

    Of the others that are translated in part a line says how much is missing.
    """
    translated = import_module("llmviz.course.document.translated")
    known_languages = import_module("llmviz.course.document.languages")
    po = import_module("llmviz.course.document.po")
    every = [short for short in known_languages.LANGUAGES if short != "en"]
    rows = []
    for language in [_known(given.language)] if given.language else every:
        for english in po.chosen(given.names):
            known = po.translation_of(english, language)
            name, found = translated.name_of(english), list(known.open())
            missing = [path for path, why in found if why == "missing"]
            rows += [(language, name, path, why) for path, why in found if why != "missing"]
            if given.all or name in known_languages.COMPLETE.get(language, ()):
                rows += [(language, name, path, "missing") for path in missing]
            elif missing and known.reader:
                counted = f"{len(missing)} of {len(known.english)} texts"
                rows.append((language, name, counted, "missing"))
    write(table(rows) if rows else "Nothing is stale or missing.")
    return 0


def _export(given: argparse.Namespace) -> int:
    po = import_module("llmviz.course.document.po")
    count = po.export(_known(given.language), Path(given.out), given.names)
    write(f"{given.out}: {count:,} texts")
    return 0


def _import(given: argparse.Namespace) -> int:
    changed = import_module("llmviz.course.document.po").take_back(Path(given.file))
    write("\n".join(map(str, changed)) or "Nothing has changed.")
    return 0


def _accept(given: argparse.Namespace) -> int:
    """Write into each document which English its texts were made from.

    A text is named as `status` names it, or by its first part for all of a list or a table.
    """
    translated = import_module("llmviz.course.document.translated")
    po = import_module("llmviz.course.document.po")
    whole = import_module("llmviz.files.whole")
    language = _known(given.language)
    named = [name.partition(":")[::2] for name in given.names]
    for english in po.chosen([document for document, _ in named]):
        known, name = po.translation_of(english, language), translated.name_of(english)
        texts = {text for document, text in named if po.is_in(document, name)} or {""}
        there = {part for path in known.own for part in (path, path.split("/")[0])}
        if missing := texts - there - {""}:
            raise ValueError(f"{name} has no text {min(missing)!r} in {language!r}")
        if known.reader is None:
            continue
        new = known.accepted(
            lambda path, texts=texts: not texts.isdisjoint(("", path, path.split("/")[0]))
        )
        target = known.reader.path
        if target.read_text("utf-8") != new:
            whole.write_whole(target, lambda to, new=new: to.write_text(new, "utf-8"))
            write(str(target))
    return 0
