"""What a document says in another language, and from which English each text was made.

`chapter.es.md` has texts of `chapter.md` under the same names. At its end, a comment that programs
write lists for each name the hashes of the English texts that it was made from. A text whose
English is another one today is stale: English is shown there until somebody has looked at it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from llmviz.course.document.languages import lacks_plural
from llmviz.course.document.marks import looks, source
from llmviz.course.document.read import FRONT, MADE_FROM, Reader
from llmviz.course.document.values import Ask, Front, Section, Sentence, Translated, slots
from llmviz.files.paths import COURSE

_SLOT = re.compile(r"\{[^{}]*\}")
_CODE = re.compile("\ufdd0[^\ufdd1]*\ufdd1")
_LIST = re.compile(r"[-+*#>|]|\d+[.)]")
_LETTER = re.compile(r"[^\W\d_]")


def leaves(texts: Mapping[str, Any]) -> dict[str, str]:
    """Return each sentence of a document by its path, such as `known/yes`; code is none.

    >>> leaves({"intro": Section(Sentence("Why?"), Sentence("So."))})
    {'intro/title': 'Why?', 'intro/text': 'So.'}
    """
    found: dict[str, str] = {}
    _each(dict(texts), "", lambda path, text: found.setdefault(path, text))
    return found


def _each(value: Any, path: str, take: Callable[[str, str], str]) -> Any:
    """Return a value with each sentence as `take` gives it for its path and its English text."""

    def inside(name: str, part: Any) -> Any:
        return _each(part, f"{path}/{name}" if path else name, take)

    if isinstance(value, Sentence):
        return take(path, value)
    if isinstance(value, Front):
        title = take(f"{path}/title", value.title)
        return value._replace(title=title, question=inside("question", value.question))
    if isinstance(value, Section):
        return Section(inside("title", value.title), inside("text", value.text))
    if isinstance(value, Ask):
        answers = enumerate(value.answers.items())
        taken = {inside(f"{n}", a): inside(f"{n}/because", why) for n, (a, why) in answers}
        return value._replace(text=inside("text", value.text), answers=taken)
    if isinstance(value, Mapping):
        return type(value)({key: inside(written_key(key), part) for key, part in value.items()})  # type: ignore[call-arg]
    if isinstance(value, tuple):
        return tuple(inside(str(at), part) for at, part in enumerate(value))
    return value


def written_key(key: object) -> str:
    """Return the key of a group as a document writes it."""
    if isinstance(key, bool):
        return "yes" if key else "no"
    return f'"{key}"' if isinstance(key, str) and re.fullmatch(r"-?\d+", key) else str(key)


def is_wanted(text: str) -> bool:
    """Return whether a text has a word to translate: not only slots, signs and code."""
    return _LETTER.search(_SLOT.sub("", _CODE.sub("", text))) is not None


def hash_of(path: str, english: str) -> str:
    """Return the short name of an English text at a path, by its source."""
    said = f"{path}\0{source(english)}".encode()
    return blake2b(said, digest_size=4).hexdigest()


class Translation:
    """A document in another language beside the English texts: what holds of it, and what does not.

    path: where it stands; a file that is not there has no texts.
    """

    def __init__(self, path: Path, english: Mapping[str, Any]) -> None:
        """Read it. Raises DocumentError: it cannot be read."""
        self.wanted = path.stem.partition(".")[2]
        self.english = leaves(english)
        self.texts_in_english = english
        self.reader = Reader(path) if path.is_file() else None
        self.own = {} if self.reader is None else leaves(self.reader.texts)
        if not self.own.get("front/title"):
            self.own.pop("front/title", None)
        if not self.own.get("front/question"):
            self.own.pop("front/question", None)
        self.made_from = {} if self.reader is None else self.reader.made_from

    def holds(self, path: str) -> bool:
        """Return whether the text at a path was made from today's English."""
        known = self.made_from.get(_name(path), set())
        return path in self.english and hash_of(path, self.english[path]) in known

    def texts(self) -> dict[str, Any]:
        """Return all texts: in the other language where it holds, else in English."""
        own = self.own.items()
        fresh = {path: Translated(text) for path, text in own if self.holds(path)}
        taken: dict[str, Any] = _each(
            self.texts_in_english, "", lambda path, text: fresh.get(path, text)
        )
        return taken

    def open(self) -> Iterator[tuple[str, str]]:
        """Yield the path of each text that is shown in English, and why: missing or stale."""
        for path, text in self.english.items():
            if is_wanted(text) and not (path in self.own and self.holds(path)):
                group, _, kind = path.rpartition("/")
                if f"{group}/other" not in self.english or not lacks_plural(self.wanted, kind):
                    yield path, "stale" if path in self.own else "missing"

    def check(self, accept: Callable[[str], bool] = lambda path: False) -> None:
        """Hold its texts against the English ones.

        It may leave texts out. What was made from an English text that is gone is passed over.
        accept: whether the text at a path is taken to hold for today's English.
        Raises DocumentError naming the file, the line and the rule: a text that English never had,
        a slot too many, a slot that is missing.
        """
        for path, text in self.own.items():
            name, rule = _name(path), ""
            if path in self.english:
                if name not in self.made_from or self.holds(path) or accept(path):
                    rule = wrong_slots(self.english[path], text, path)
            elif name not in self.made_from:
                rule = f"the English document has no text named {path!r}"
            if rule and self.reader:
                raise self.reader.wrong(name, rule)

    def accepted(self, accept: Callable[[str], bool]) -> str:
        """Return its Markdown as it stands, with the comment that says what its texts hold for.

        Raises DocumentError as `check` does.
        """
        self.check(accept)
        made: dict[str, list[str]] = {}
        for path in self.own:
            if path in self.english and (accept(path) or self.holds(path)):
                made.setdefault(_name(path), []).append(hash_of(path, self.english[path]))
        for name, known in self.made_from.items():
            made.setdefault(name, [])  # a name that was accepted once
            if not accept(name):
                made[name] += sorted(known - {*made[name]})
        lines = self.reader.lines if self.reader else []
        text = "\n".join(lines)
        begin = text.rfind(f"<!-- {MADE_FROM}")
        return (text[:begin] if begin >= 0 else text).rstrip() + "\n\n" + _comment(made)


def _name(path: str) -> str:
    return path.partition("/")[0]


def wrong_slots(english: str, text: str, path: str) -> str:
    """Return the rule that a translated text breaks, or "": its slots and looks are those of the
    English one, in any order."""
    try:
        wanted, given = ({f"slot {{{slot}}}" for slot in slots(said)} for said in (english, text))
    except ValueError as error:
        return f"{path!r}: {error}"
    wanted |= {f"look to {look!r}" for _, look in looks(english) if look}
    given |= {f"look to {look!r}" for _, look in looks(text) if look}
    for part in sorted(given - wanted):
        return f"the English text {path!r} has no {part}"
    for part in sorted(wanted - given):
        return f"the {part} of the English text {path!r} is missing"
    return ""


def markdown(english: Mapping[str, Any], own: Mapping[str, str], made: Mapping[str, Any]) -> str:
    """Return texts as a document, in the order and form of the English ones.

    own: each text by its path. made: by name the hashes that stand in the comment at its end.
    """
    lines: list[str] = []
    if title := own.get("front/title", ""):
        lines += ["---", f"title: {title}", "---", ""]
    if question := own.get("front/question", ""):
        lines += [f"# {source(question)}", ""]
    for name, value in english.items():
        paths = {path for path in own if _name(path) == name}
        if name != FRONT and paths:
            lines += [*_block(name, value, own), ""]
    return "\n".join([*lines, _comment(made)])


def _comment(made: Mapping[str, Any]) -> str:
    lines = [f"{name}: {' '.join(hashes)}" for name, hashes in made.items()]
    return "\n".join([f"<!-- {MADE_FROM}", *lines, "-->", ""])


def _block(name: str, value: Any, own: Mapping[str, str]) -> list[str]:
    def text_at(path: str) -> list[str]:
        return _paragraphs(own.get(f"{name}/{path}", ""))

    if isinstance(value, Section):
        title = " ".join(text_at("title"))
        return [
            f"## {title} {{#{name}}}",
            *(line for text in text_at("text") for line in ("", text)),
        ]
    if isinstance(value, Ask):
        lines = [f"### Predict {{#{name}}}"]
        lines += [line for text in text_at("text") for line in ("", text)]
        for at in range(len(value.answers)):
            mark = " " if value.right is None else "x" if at == value.right else " "
            box = "" if value.right is None else f"[{mark}] "
            lines += ["", f"- {box}{' '.join(text_at(str(at)))}"]
            lines += [x for text in text_at(f"{at}/because") for x in ("", f"  {text}")]
        return lines
    if isinstance(value, Sentence):
        text = own[name]
        if _LIST.match(text):  # no paragraph of Markdown may begin so
            return ["| Name | Text |", "|---|---|", _row(name, [text])]
        return [name, *_hung(_paragraphs(text))]
    rows = list(_rows(value, name, own, ()))
    if isinstance(value, tuple):
        return [name, *_hung([f"- {_line(text)}" for text in rows[0][1]], apart=False)]
    wide = max(len(cells) for _, cells in rows)
    flat = all(len(keys) == 1 and keys[0] for keys, _ in rows)
    if flat and (wide == 1 or len({len(cells) for _, cells in rows}) > 1):
        listed: list[str] = []
        for keys, cells in rows:
            listed.append(f"- `{keys[0]}`:{f' {_line(cells[0])}' if wide == 1 else ''}")
            listed += [f"  - {_line(cell)}" for cell in cells] if wide > 1 else []
        return [name, *_hung(listed, apart=False)]
    head = [_row(name, [""] * wide), "|---" * (wide + 1) + "|"]
    return head + [_row(" / ".join(keys), cells) for keys, cells in rows]


def _hung(texts: list[str], *, apart: bool = True) -> list[str]:
    """Paragraphs, or the items of a list, as what a name of a definition list says."""
    lines = [x for text in texts for x in (("", f"    {text}") if apart else (f"    {text}",))]
    lines = lines[1:] if apart else lines
    return [f":   {lines[0].strip()}", *lines[1:]]


def _row(key: str, cells: list[str]) -> str:
    return "| " + " | ".join(_line(cell).replace("|", r"\|") for cell in [key, *cells]) + " |"


def _rows(
    value: Any, path: str, own: Mapping[str, str], keys: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The texts of a group or a list that are there, with the keys that lead to them.

    Of texts beside each other all are written where one is there, the others in English.
    """
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _rows(part, f"{path}/{written_key(key)}", own, (*keys, written_key(key)))
    elif isinstance(value, tuple):
        if any(f"{path}/{at}" in own for at in range(len(value))):
            yield keys, [own.get(f"{path}/{at}", str(part)) for at, part in enumerate(value)]
    elif path in own:
        yield keys, [own[path]]


def _paragraphs(text: str) -> list[str]:
    return [_line(part) for part in text.split("\n\n")] if text else []


def _line(text: str) -> str:
    """Return a text as one line of a document."""
    text = source(text).replace("\n", r"\n")
    if text.startswith(" "):
        text = "␣" + text[1:]
    return text[:-1] + "␣" if text.endswith(" ") else text


def documents() -> list[Path]:
    """Return the English documents of the course."""
    return [path for path in sorted(COURSE.rglob("*.md")) if "." not in path.stem]


def translations(wanted: str = "*") -> list[tuple[Path, Path]]:
    """Return each document in another language, or in that one, with its English one."""
    found = sorted(COURSE.rglob(f"*.{wanted}.md"))
    return [(path, path.with_name(f"{path.stem.partition('.')[0]}.md")) for path in found]


def name_of(document: Path) -> str:
    """Return the name of an English document in lists: its place in the course."""
    return document.relative_to(COURSE).with_suffix("").as_posix()
