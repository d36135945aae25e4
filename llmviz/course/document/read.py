"""A document of Markdown, read into its texts by name.

What a document may hold, in any order that reads well (docs/ADDING.md has an example):

- front matter between two lines of `---`: `title`, `minutes`;
- `# …`: the one question that the chapter answers;
- `## Title {#name}` and the paragraphs below it: a section;
- `### Predict {#name}`, a paragraph and a list: a question. Each item of the list is an answer and,
  as a second paragraph, its reason; `[x]` before an answer says that it is the right one;
- a definition list: the name of a sentence and the sentence, or a list of texts; a list whose
  texts begin with a key, as "`key`: text", is a group;
- a table: its first cell names a group, each row has a key and its text, or several. The group
  `Name` is none: its rows are texts of their own;
- a fenced block, its language and a name: code;
- a quotation: which picture or control stands here, for who reads it; comments: nothing, but for
  the one at the end of a translation (see `translated.py`).

A space at the end or the beginning of a text is written `␣`, a line end inside it `\\n`. In a
table, `a / b` is key b inside the group a.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.deflist import deflist_plugin

from llmviz.course.document.values import Ask, Front, Group, Section, Sentence, group_of

SPACE = "␣"
LINE_END = r"\n"
LABELS = "Name"
FRONT = "front"
MADE_FROM = "made from"  # begins the comment that says which English a translation holds for

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HASH = re.compile(r"[0-9a-f]{8}")
_NAMED = re.compile(r"(.*?)\s*\{#([^}]*)\}")
_PIPE = re.compile(r"(?<!\\)\|")
_KEYED = re.compile(r"`([^`]+)`: ?")
_CHOICE = re.compile(r"\[([ x])\] ")
_PARSER = MarkdownIt("commonmark").enable("table").use(deflist_plugin)


class DocumentError(ValueError):
    """A document that cannot be read: the message names its file and line, and the rule."""


def read(path: Path) -> dict[str, Any]:
    """Return the texts of a document by name: what `values` has, strings and tuples of them.

    Raises DocumentError: a broken table, a repeated name, text that belongs to none.
    """
    return Reader(path).texts


class Reader:
    """A document that is read: its texts by name, and the line that each stands in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.texts: dict[str, Any] = {}
        self.lines_of: dict[str, int] = {FRONT: 1}
        self.made_from: dict[str, set[str]] = {}  # of a translation: hashes of English, by name
        # A byte-order mark and Windows line ends are an editor's, not the author's.
        source = path.read_text("utf-8-sig").replace("\r\n", "\n")
        self.lines = source.split("\n")
        title, minutes, self.offset = self._front_matter()
        body = "\n".join(self.lines[self.offset :])
        self.question = Sentence("")
        nodes = SyntaxTreeNode(_PARSER.parse(body)).children
        at = 0
        while at < len(nodes):
            at = self._block(nodes, at)
        self.texts[FRONT] = Front(title, minutes, self.question)

    def _front_matter(self) -> tuple[str, int, int]:
        if not self.lines or self.lines[0].strip() != "---":
            return "", 0, 0
        values = {"title": "", "minutes": "0"}
        for number, line in enumerate(self.lines[1:], 1):
            if line.strip() == "---":
                return values["title"], int(values["minutes"]), number + 1
            key, _, value = (part.strip() for part in line.partition(":"))
            if key not in values and line.strip():
                raise self._wrong(number + 1, f"front matter has {', '.join(values)}; got {line!r}")
            if key == "minutes" and not value.isdecimal():
                raise self._wrong(number + 1, f"minutes is a whole number; got {value!r}")
            values[key] = value
        raise self._wrong(1, "the front matter has no end")

    def _block(self, nodes: list[SyntaxTreeNode], at: int) -> int:
        """Read the block at a place and what belongs to it; return the place after it."""
        node = nodes[at]
        if node.type == "heading":
            return self._heading(nodes, at)
        if node.type == "dl":
            self._definitions(node)
        elif node.type == "table":
            self._table(node)
        elif node.type == "fence":
            self._code(node)
        elif node.type == "html_block" and node.content.lstrip().startswith("<!--"):
            self._comment(node)
        elif node.type != "blockquote":
            text = self._raw(node)
            rule = "a broken table" if text.startswith("|") else "text that belongs to no name"
            raise self._wrong(self._line(node), f"{rule}: {text[:60]!r}")
        return at + 1

    def _heading(self, nodes: list[SyntaxTreeNode], at: int) -> int:
        node = nodes[at]
        after = at + 1
        while after < len(nodes) and nodes[after].type == "paragraph":
            after += 1
        paragraphs = [self._text(paragraph) for paragraph in nodes[at + 1 : after]]
        written = self._text(node)
        if node.tag == "h1":
            if paragraphs or self.question:
                raise self._wrong(self._line(node), "one question, and no text below it")
            self.question = Sentence(written)
            return after
        named = _NAMED.fullmatch(written)
        if named is None:
            raise self._wrong(self._line(node), f"a heading ends with {{#name}}; got {written!r}")
        text = Sentence("\n\n".join(paragraphs))
        if node.tag == "h3":
            if after == len(nodes) or nodes[after].type != "bullet_list":
                answers = "a question has a list of answers, `- [x]` before the right one; "
                raise self._wrong(
                    self._line(node), f"{answers}one with computed ones is a plain text"
                )
            self._keep(named[2], self._ask(text, nodes[after]), node)
            return after + 1
        self._keep(named[2], Section(Sentence(named[1]), text), node)
        return after

    def _ask(self, text: Sentence, items: SyntaxTreeNode) -> Ask:
        answers: dict[str, str] = {}
        right: int | None = None
        for index, item in enumerate(items.children):
            written, *reasons = [self._text(child) for child in item.children]
            choice = _CHOICE.match(written)
            if choice and choice[1] == "x":
                if right is not None:
                    raise self._wrong(self._line(item), "a second right answer")
                right = index
            answer = Sentence(written[choice.end() :] if choice else written)
            if answer in answers:
                raise self._wrong(self._line(item), f"the answer {written!r} stands there twice")
            answers[answer] = Sentence("\n\n".join(reasons))
        return Ask(text, answers, right)

    def _definitions(self, node: SyntaxTreeNode) -> None:
        named = node
        for part in node.children:
            if part.type == "dt":
                named = part
            elif part.children and part.children[0].type == "bullet_list":
                self._keep(self._raw(named), self._list(part.children[0]), named)
            else:
                self._keep(self._raw(named), Sentence(self._inside(part)), named)

    def _list(self, node: SyntaxTreeNode) -> tuple[Any, ...] | Group:
        """Return the texts of a list; a group where each begins with its key, as `key`: text."""
        group: dict[str, Any] = {}
        texts = []
        for item in node.children:
            inner = item.children[-1] if item.children[-1].type == "bullet_list" else None
            blocks = item.children[:-1] if inner else item.children
            text = "\n\n".join(self._text(block) for block in blocks)
            keyed = _KEYED.match(text)
            if keyed is None:
                texts.append(Sentence(text))
            elif keyed[1] in group:
                raise self._wrong(self._line(item), f"the key {keyed[1]!r} stands there twice")
            else:
                own = Sentence(self._spaced(text[keyed.end() :]))
                group[keyed[1]] = self._list(inner) if inner else own
        if group and texts:
            raise self._wrong(self._line(node), "a list where some texts have a key and some not")
        return group_of(group) if group else tuple(texts)

    def _table(self, node: SyntaxTreeNode) -> None:
        rows = [row for part in node.children for row in part.children]
        wide = len(rows[0].children)
        for row in rows:
            line = self._line(row)
            if len(_PIPE.findall(self.lines[line - 1])) != wide + 1:
                raise self._wrong(line, f"a broken table: this row needs {wide} cells")
        group = self._text(rows[0].children[0])
        top: dict[str, Any] = {}
        for row in rows[1:]:
            key, *cells = [self._text(cell) for cell in row.children]
            texts = tuple(Sentence(cell) for cell in cells)
            value = texts[0] if len(texts) == 1 else texts
            if group == LABELS:
                self._keep(key, value, row)
                continue
            inside = top
            *outer, key = key.split(" / ")
            for level in outer:
                inside = inside.setdefault(level, {})
            if key in inside:
                raise self._wrong(self._line(row), f"the key {key!r} stands there twice")
            inside[key] = value
        if group != LABELS:
            self._keep(group, _grouped(top), node)

    def _code(self, node: SyntaxTreeNode) -> None:
        _, _, name = node.info.strip().rpartition(" ")
        text = node.content
        self._keep(name, text[:-1] if text.endswith("\n") else text, node)

    def _comment(self, node: SyntaxTreeNode) -> None:
        """Take the hashes of English texts by name; any other comment says nothing."""
        text = node.content.strip().removeprefix("<!--").removesuffix("-->").strip()
        first, *lines = text.split("\n")
        if first.strip() != MADE_FROM:
            return
        for at, line in enumerate(lines, 1):
            name, colon, hashes = line.partition(":")
            if not colon or not all(map(_HASH.fullmatch, hashes.split())):
                raise self._wrong(self._line(node) + at, f"a name and its hashes; got {line!r}")
            self.made_from[name] = set(hashes.split())

    def _inside(self, node: SyntaxTreeNode) -> str:
        return "\n\n".join(self._text(child) for child in node.children)

    def _text(self, node: SyntaxTreeNode) -> str:
        """Return the source of a block's line of text as one line, with its spaces."""
        return self._spaced(" ".join(line.strip() for line in self._raw(node).split("\n")))

    @staticmethod
    def _spaced(text: str) -> str:
        text = text.replace(LINE_END, "\n")
        if text.startswith(SPACE):
            text = " " + text[1:]
        return text[:-1] + " " if text.endswith(SPACE) else text

    def _raw(self, node: SyntaxTreeNode) -> str:
        if node.type in ("bullet_list", "ordered_list", "table", "fence", "blockquote", "hr"):
            raise self._wrong(self._line(node), f"no {node.type.replace('_', ' ')} can stand here")
        return "".join(_inline(node))

    def _line(self, node: SyntaxTreeNode) -> int:
        while node.map is None and node.parent is not None:
            node = node.parent
        return (node.map[0] if node.map else 0) + self.offset + 1

    def _keep(self, name: str, value: Any, node: SyntaxTreeNode) -> None:
        line = self._line(node)
        if not _NAME.fullmatch(name) or iskeyword(name):
            rule = "a name has small letters, digits and _, and is no keyword of Python"
            raise self._wrong(line, f"{rule}; got {name!r}")
        if name in self.lines_of:
            raise self._wrong(line, f"{name!r} stands in line {self.lines_of[name]} already")
        self.texts[name] = value
        self.lines_of[name] = line

    def wrong(self, name: str, rule: str) -> DocumentError:
        """Return the error that says what is wrong with a text, and where it stands."""
        return self._wrong(self.lines_of[name], rule)

    def _wrong(self, line: int, rule: str) -> DocumentError:
        return DocumentError(f"{self.path}, line {line}: {rule}")


def _grouped(texts: dict[str, Any]) -> Group:
    return group_of({k: _grouped(v) if isinstance(v, dict) else v for k, v in texts.items()})


def _inline(node: SyntaxTreeNode) -> Iterator[str]:
    if node.type == "inline":
        yield node.content
    else:
        for child in node.children:
            yield from _inline(child)
