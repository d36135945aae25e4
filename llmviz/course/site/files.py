"""The files that pages share: scripts of pictures, their messages, Plotly, the search."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.course.components._shared.bundle import COMPONENTS, script
from llmviz.course.components._shared.saver.page import outside_script, script_for, theme_rules
from llmviz.course.components._shared.transport import parts_at, parts_of, whole_style
from llmviz.course.figures.theme import css_variables
from llmviz.course.ui.prose import STYLE

if TYPE_CHECKING:
    from llmviz.course.site.real_page import RealPage

HERE = Path(__file__).parent
_EXPORT = re.compile(r"^export default function", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?!default )", re.MULTILINE)


class Files:
    """A folder that fills with what the pages need; each thing is written once.

    A page opens from a disk, where a script may ask for other scripts and for nothing else. So
    every message is a script, too. kept: its pages are to be kept by browsers. real: the model that
    a page of its own loads.
    """

    def __init__(self, folder: Path, *, kept: bool = False, real: RealPage | None = None) -> None:
        self.folder, self.kept, self.real = folder, kept, real
        self._known: set[str] = set()
        self.bytes = 0
        self.pages = 0
        self._names: list[str] = []
        self._content = hashlib.blake2b(digest_size=8)

    def write(self, name: str, text: str) -> None:
        """Write a file of the site; the first one of a name stays."""
        if name in self._known:
            return
        self._known.add(name)
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8", "replace")
        path.write_bytes(data)
        self.bytes += len(data)
        self._names.append(name)
        self._content.update(data)

    def large(self, name: str, content: bytes) -> None:
        """Write bytes that a page asks for after a click alone: browsers keep none before."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._known.add(name)
        self.bytes += len(content)

    def has(self, name: str) -> bool:
        """Whether a file of this name was written."""
        return name in self._known

    def data(self, content: bytes) -> str:
        """Write bytes as a script and return the name by which a page asks for them."""
        name = hashlib.blake2b(content, digest_size=12).hexdigest()
        packed = _packed(content)
        self.write(f"assets/data/{name}.js", f'llmvizSite.bring("{name}", "{packed}");\n')
        return name

    def view(self, name: str) -> None:
        """Write the script of a component."""
        self.write(f"assets/pictures/{name}.js", view_script(name))

    def chart(self, chart: dict[str, Any]) -> dict[str, Any]:
        """Write what draws a chart, and return what its page says of it."""
        path = script_for(trace.get("type", "scatter") for trace in chart["light"]["data"])
        name = path.name.split(".")[0]
        if name not in self._known:
            self._known.add(name)
            packed = _packed(path.read_bytes())
            self.write(f"assets/{name}.js", f'llmvizSite.bring("{name}", "{packed}");\n')
        return chart | {"library": name}

    def picture(self, name: str, key: str, message: bytes, asks: int | None) -> dict[str, Any]:
        """Write what a picture needs, and return what its page says of it.

        asks: the number of the question that is answered on it.
        """
        self.view(name)
        parts = {address: self.data(parts_at[address].data) for address in parts_of(message)}
        said = {"name": name, "key": key, "asks": asks}
        return said | {"data": self.data(message), "parts": parts}

    def offline(self) -> None:
        """Write the worker that keeps all files in a visitor's browser."""
        files = [self._content.hexdigest(), self._names]
        head = f"[self.VERSION, self.FILES] = {json.dumps(files)};\n"
        self.write("offline.js", head + (HERE / "offline.js").read_text("utf-8"))

    def shared(self, index: dict[str, Any]) -> None:
        """Write what all pages have: the style, the script, Plotly, the search."""
        self.write("assets/site.css", site_style())
        own = (HERE / "site.js").read_text("utf-8")
        self.write("assets/site.js", f'"use strict";\n{outside_script()}\n{own}')
        search = _EXPORTED.sub("", (COMPONENTS / "finder" / "search.js").read_text("utf-8"))
        found = json.dumps(index, ensure_ascii=False)
        self.write(
            "assets/search.js",
            f"llmvizSite.find = (() => {{\n{search}\nconst known = {found};\n"
            "return (wanted) => hits(known, wanted);\n})();\n",
        )


def _packed(content: bytes) -> str:
    """Bytes as letters, compressed; the browser unpacks both."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def view_script(name: str) -> str:
    """Return a component as a plain script, which leaves its function in the site's list."""
    code = _EXPORT.sub("const view = function", script(name)).replace("import.meta.url", '""')
    style = json.dumps(whole_style(name))
    return (
        f'llmvizSite.view("{name}", {style}, (() => {{\n"use strict";\n{code}\n'
        "return view;\n})());\n"
    )


def site_style() -> str:
    prose = re.sub(r"</?style>", "", STYLE)
    own = (HERE / "site.css").read_text("utf-8")
    return "\n".join([theme_rules(), css_variables().replace(":host", ":root"), prose, own])
