"""The page of a real model, which loads its files and computes in the browser."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

import torch
from markupsafe import Markup

from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.home import REAL_TEXT
from llmviz.course.site.live import live_html, machine_said
from llmviz.course.site.live.words import words as live
from llmviz.course.site.shards import Shards, model_file, shards_of
from llmviz.obtainable.catalogue import OBTAINABLE
from llmviz.pretrained import published

SHOWN = 10  # tokens; as real_worker.js


class RealPage(NamedTuple):
    """A model that is here, as pages show it.

    example: what it made of a text, computed now. machine: what the picture of the whole machine
    says of it.
    """

    name: str
    shards: Shards
    example: dict[str, Any]
    machine: dict[str, Any]

    @property
    def title(self) -> str:
        return OBTAINABLE[self.name].title

    @property
    def what(self) -> str:
        """As a button says it."""
        return live.a_real.format(title=self.title)

    def script_data(self, part: str) -> dict[str, Any]:
        """What a chapter's script is told, which loads the whole model or its tokenizer alone."""
        if part == "model":
            return {"manifest": self.shards.manifest, "what": self.what, "machine": self.machine}
        manifest = self.shards.manifest | {"shards": [], "tensors": []}
        return {"manifest": manifest, "what": live.its_tokenizer.format(title=self.title)}

    @property
    def size_line(self) -> str:
        """How large it is, in one line."""
        most = max(len(piece.content) for piece in self.shards.pieces)
        size = self.shards.bytes
        return f"{self.name}: {size / 1e6:.1f} MB, in files of at most {most / 1e6:.1f} MB"

    def link(self, folder: str) -> str:
        """Return the link to the page. folder: where it lies, from the page with the link."""
        text = live.ask_real.format(title=escape(self.title), size=f"{self.shards.bytes / 1e6:.0f}")
        return Markup(f'<a href="{folder}real.html">{text}</a>')

    def html(self) -> str:
        """What stands on the page below its question."""
        about = OBTAINABLE[self.name]
        return live_html(
            "real.html",
            {"code": "real_model.js", "blocks": "blocks.js"},
            title=self.title,
            parameters=f"{about.parameters / 1e6:.0f}",
            maker=about.maker,
            licence=about.licence,
            example=self.example["text"],
            layers=str(self.shards.manifest["config"]["n_layer"]),
        )


def real_page(name: str) -> RealPage:
    """Return the page of a model that `get` fetched.

    Raises ValueError: the model is not here, or is none that the page's script computes.
    """
    path = model_file(name)
    shards = shards_of(name, path)
    trained = published(path)
    model, tokenizer = trained.model, trained.tokenizer
    ids = tokenizer.encode(REAL_TEXT)
    with torch.inference_mode():
        logits = model(torch.tensor([ids]))[0][0, -1]
    found = torch.softmax(logits, -1).topk(SHOWN)

    def named(token: int) -> str:
        return visible_text(tokenizer.token_bytes(token))[0]

    best = zip(found.indices.tolist(), found.values.tolist(), strict=True)
    example = {
        "text": REAL_TEXT,
        "cut": [[token, named(token)] for token in ids],
        "next": [[named(token), share] for token, share in best],
    }
    return RealPage(name, shards, example, machine_said(model, tokenizer, REAL_TEXT))
