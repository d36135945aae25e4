"""A lesson's own words, with glossary terms that explain themselves under the pointer.

Only text written by the authors passes through here. What a learner typed goes to `st.text`,
`st.code` or a component as data; if it is quoted in a sentence, `quote` makes it harmless first.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache

import streamlit as st

from llmviz.figures.theme import CODE_GROUND, PRIMARY, TIP
from llmviz.ui.glossary import define

_TERM = re.compile(r"\[\[([^\]|]+)(?:\|([^\]]+))?\]\]")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_ITALIC = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)")
_CODE = re.compile(r"`([^`]+)`")

# Once on a page, from `shell.tidy`: a style in every paragraph would be read anew with each change.
STYLE = f"""<style>
.lv-prose {{ max-width: 72ch; line-height: 1.6; }}
.lv-prose p {{ margin: 0 0 .6rem 0; }}
.lv-term {{ border-bottom: 1px dotted currentColor; cursor: help; position: relative; }}
.lv-term:focus-visible {{ outline-offset: 2px;
  outline: 2px solid var(--st-primary-color, {PRIMARY["light"]}); }}
.lv-tip {{ position: absolute; left: 0; bottom: 1.7em; z-index: 50; width: max-content;
  max-width: min(19rem, 70vw); padding: .5rem .7rem; border-radius: 8px; font-size: .85rem;
  line-height: 1.4; font-style: normal; font-weight: 400; background: {TIP["ground"]};
  color: {TIP["text"]}; box-shadow: 0 4px 18px {TIP["shadow"]}; display: none;
  pointer-events: none; }}
.lv-term:hover .lv-tip, .lv-term:focus .lv-tip {{ display: block; }}
@media (max-width: 640px) {{ .lv-prose p {{ position: relative; }} .lv-term {{ position: static; }}
  .lv-tip {{ left: 0; right: 0; top: 100%; bottom: auto; width: auto; max-width: none; }} }}
.lv-prose code {{ font-size: .875em; padding: .1em .3em; border-radius: 4px;
  background: {CODE_GROUND}; overflow-wrap: anywhere; }}
</style>"""


def _term(match: re.Match[str]) -> str:
    term, form = match.group(1), match.group(2) or match.group(1)
    # The pattern runs on escaped text; the glossary is looked up by the plain word.
    tip = html.escape(define(html.unescape(term)))
    return (
        f'<span class="lv-term" tabindex="0" role="note">{form}'
        f'<span class="lv-tip" role="tooltip">{tip}</span></span>'
    )


@lru_cache(4096)  # most sentences are the same in every rerun of every visitor
def to_html(text: str) -> str:
    """Return a lesson's text as HTML: paragraphs, **bold**, *italic*, `code` and [[terms]].

    `[[merge]]` explains a term of the glossary, `[[merge|merges]]` shows another form of it.
    Everything else is escaped.
    """
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        # Code spans are set aside so that a star or bracket in them stays what it is.
        codes: list[str] = []

        def aside(match: re.Match[str], codes: list[str] = codes) -> str:
            codes.append(f"<code>{match.group(1)}</code>")
            return f"\x00{len(codes) - 1}\x00"

        body = _CODE.sub(aside, html.escape(paragraph.strip(), quote=False))
        body = _TERM.sub(_term, body)
        body = _ITALIC.sub(r"<em>\1</em>", _BOLD.sub(r"<strong>\1</strong>", body))
        for index, code in enumerate(codes):
            body = body.replace(f"\x00{index}\x00", code)
        paragraphs.append(f"<p>{body}</p>")
    return "".join(paragraphs)


def quote(text: str, limit: int = 40) -> str:
    """Return a learner's text for use inside prose: as code, shortened, with no live characters."""
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    for mark, harmless in (("`", "ˋ"), ("\x00", "␀"), ("\n", "⏎"), ("\t", "⇥"), ("\r", "␍")):
        text = text.replace(mark, harmless)
    return f"`{text}`" if text.strip() else f"`{text.replace(' ', '·') or '(nothing)'}`"


def prose(text: str) -> None:
    """Show a lesson's text in a column of readable width."""
    st.html(f'<div class="lv-prose">{to_html(text)}</div>')
