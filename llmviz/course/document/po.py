"""Texts of the course as a PO file, which translators' own programs read and write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polib

from llmviz.course.document.marks import marked, source
from llmviz.course.document.read import DocumentError, Reader, read
from llmviz.course.document.translated import (
    Translation,
    documents,
    hash_of,
    is_wanted,
    leaves,
    markdown,
    name_of,
    wrong_slots,
)
from llmviz.course.document.values import slots
from llmviz.files.whole import write_whole


def translation_of(english: Path, wanted: str) -> Translation:
    """Return what there is of an English document in a language."""
    return Translation(english.with_name(f"{english.stem}.{wanted}.md"), read(english))


def export(wanted: str, path: Path, names: Sequence[str] = ()) -> int:
    """Write the texts of the course, or of the documents named, as a PO file; return how many.

    Each has its document and path as context, the English as msgid, and as msgstr what there is;
    what was made from another English is marked as fuzzy.
    """
    file = polib.POFile(wrapwidth=100)
    file.metadata = {"Language": wanted, "Content-Type": "text/plain; charset=UTF-8"}
    for english in chosen(names):
        known = translation_of(english, wanted)
        lines = Reader(english).lines_of
        for place, text in known.english.items():
            if not is_wanted(text):
                continue
            flags = ["python-brace-format"] if any(slots(text)) else []
            own = known.own.get(place, "")
            entry = polib.POEntry(
                msgctxt=f"{name_of(english)}:{place}",
                msgid=source(text),
                msgstr=source(own),
                flags=flags if not own or known.holds(place) else ["fuzzy", *flags],
                occurrences=[(f"{name_of(english)}.md", str(lines[place.partition("/")[0]]))],
            )
            file.append(entry)
    write_whole(path, lambda new: file.save(str(new)))
    return len(file)


def chosen(names: Sequence[str]) -> list[Path]:
    """Return the English documents of these names or folders; all, where none is named.

    Raises ValueError: there is no such document.
    """
    known = {path: name_of(path) for path in documents()}
    for wanted in names:
        if not any(is_in(wanted, name) for name in known.values()):
            raise ValueError(
                f"there is no document {wanted!r}; one is {next(iter(known.values()))}"
            )
    return [path for path, name in known.items() if not names or any(is_in(w, name) for w in names)]


def is_in(wanted: str, name: str) -> bool:
    """Return whether a document has this name, or stands in a folder of this name.

    >>> is_in("home", "lessons/home/lesson"), is_in("home", "lessons/homework/lesson")
    (True, False)
    """
    return f"/{wanted}/" in f"/{name}/"


def take_back(path: Path) -> list[Path]:
    """Write what a PO file says into the documents of its language; return those that changed.

    An entry without a text, or one that is fuzzy, changes nothing. What was made from another
    English than today's stays stale. Nothing is written unless all can be.

    Raises DocumentError naming the file, the line and the rule.
    """
    try:
        file = polib.pofile(str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(f"{path}: {error}") from None
    wanted = file.metadata.get("Language", "")
    if not wanted.isalpha():
        raise DocumentError(f"{path}: its head names no Language")
    known = {name_of(english): english for english in documents()}
    said: dict[str, dict[str, polib.POEntry]] = {}
    for entry in file:
        name, _, place = (entry.msgctxt or "").partition(":")
        rule = "" if name in known else f"there is no document {name!r}"
        if not rule and entry.msgstr and not entry.fuzzy:
            rule = wrong_slots(marked(entry.msgid), marked(entry.msgstr), place)
            said.setdefault(name, {})[place] = entry
        if rule:
            raise DocumentError(f"{path}, line {entry.linenum}: {rule}")
    new = {}
    for name, entries in said.items():
        english = known[name]
        translation = translation_of(english, wanted)
        for place, entry in entries.items():
            if place not in translation.english:
                rule = f"{name} has no text named {place!r}"
                raise DocumentError(f"{path}, line {entry.linenum}: {rule}")
        text = _with(translation, entries)
        target = english.with_name(f"{english.stem}.{wanted}.md")
        _read_again(path, text, entries)
        if not target.is_file() or target.read_text("utf-8") != text:
            new[target] = text
    for target, text in new.items():
        write_whole(target, lambda to, text=text: to.write_text(text, "utf-8"))  # type: ignore[misc]
    return list(new)


def _with(translation: Translation, entries: Mapping[str, polib.POEntry]) -> str:
    """Return a document with the texts of entries in the place of its own."""
    own = {place: text for place, text in translation.own.items() if place in translation.english}
    own |= {place: marked(entry.msgstr) for place, entry in entries.items()}
    made: dict[str, list[str]] = {}
    for place in translation.english:
        if place not in own:
            continue
        hashes = made.setdefault(place.partition("/")[0], [])
        if place in entries:
            hashes.append(hash_of(place, marked(entries[place].msgid)))
        elif translation.holds(place):
            hashes.append(hash_of(place, translation.english[place]))
    return markdown(translation.texts_in_english, own, made)


def _read_again(path: Path, text: str, entries: Mapping[str, polib.POEntry]) -> None:
    """Raise DocumentError where a document would not be read as what it was to say."""
    with TemporaryDirectory() as folder:
        trial = Path(folder) / "trial.md"
        trial.write_text(text, "utf-8")
        try:
            back = leaves(read(trial))
        except DocumentError as error:
            back, problem = {}, str(error).partition(": ")[2]
        else:
            problem = "it would be read as something else"
    for place, entry in entries.items():
        if back.get(place, "") != marked(entry.msgstr):
            raise DocumentError(f"{path}, line {entry.linenum}: {place!r}: {problem}")
