"""Showing a learner's text without ever letting it act."""

from __future__ import annotations

import html
import re

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=@/])")
# A bare address becomes a link also where every sign of it is escaped: addresses are looked for
# once the escapes are gone. A sign without width in them, the word joiner, ends that.
_ADDRESS = re.compile(r"(https?:|www|@)(?=[/.\w-])", re.IGNORECASE)
_JOINER = "\u2060"


def escape_markdown(text: str) -> str:
    """Return `text` so that Streamlit's markdown shows it letter for letter.

    Links, images, colour directives, formulas and HTML in it stay plain characters. An address
    gets a character without width, so that it is no link.
    """
    parted = _ADDRESS.sub(lambda match: match[1] + _JOINER, text)
    return _MARKDOWN.sub(r"\\\1", parted).replace("\n", " ")


def escape_plotly(text: str) -> str:
    """Return `text` so that a Plotly label shows it letter for letter.

    Plotly reads a few HTML tags in its labels, and entities: both are taken away.
    """
    return html.escape(text, quote=False)


def visible(text: str) -> str:
    """Return `text` with its white space made visible: `·` space, `⏎` new line, `⇥` tab."""
    return text.replace(" ", "·").replace("\n", "⏎").replace("\t", "⇥").replace("\r", "␍")
