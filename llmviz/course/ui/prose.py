"""A lesson's own words, with glossary terms that explain themselves under the pointer.

Only text written by the authors passes through here. What a learner typed goes to `st.text`,
`st.code` or a component as data; if it is quoted in a sentence, `quote` makes it harmless first.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from llmviz.course.document import Front, language, marks
from llmviz.course.document.marks import as_markdown
from llmviz.course.figures.theme import CODE_GROUND, INK, PRIMARY, TIP
from llmviz.course.glossary import define
from llmviz.course.ui.furniture import words

_TERM = re.compile(
    f"{marks.TERM}([^{marks.FORM}]*){marks.FORM}([^{marks.TERM_END}]*){marks.TERM_END}"
)
_TAGS = str.maketrans(
    {
        marks.CODE: "<code>",
        marks.CODE_END: "</code>",
        marks.BOLD: "<strong>",
        marks.BOLD_END: "</strong>",
        marks.ITALIC: "<em>",
        marks.ITALIC_END: "</em>",
    }
)

# Once on a page, from `shell.tidy`: a style in every paragraph would be read anew with each change.
STYLE = f"""<style>
.lv-prose {{ max-width: 72ch; line-height: 1.6; }}
.lv-prose p {{ margin: 0 0 .6rem 0; overflow-wrap: break-word; text-wrap: pretty; }}
.lv-ask {{ max-width: 110ch; line-height: 1.5; margin: -.25rem 0 -.5rem; }}
.lv-ask p {{ display: inline; margin: 0; font-weight: 600; }}
.lv-ask b {{ font-weight: 400; color: color-mix(in srgb, currentColor 70%, transparent); }}
.lv-opening p {{ margin: 0; font-size: .875rem;
  color: color-mix(in srgb, currentColor 70%, transparent); }}
.stApp.stApp h1 {{ font-size: clamp(1.5rem, 1.1rem + 1.5vw, 2.25rem); line-height: 1.15;
  padding: 0 0 .15rem; text-wrap: balance; }}
.stApp [class*="-part-"] .stButtonGroup button {{ padding-inline: .4rem; flex: none; }}
@media (max-width: 1200px) {{ .stApp [class*="-part-"] .stButtonGroup > [role="radiogroup"] {{
  flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; --more: 0px; --before: 0px;
  mask-image: linear-gradient(to right, transparent, #000 var(--before),
  #000 calc(100% - var(--more)), transparent); }} }}
.stApp :is([class*="st-key-lv-st"], h2) {{ scroll-margin-top: 3.6rem; }}
.stApp .st-key-lv-sought {{ scroll-margin-top: 4.25rem; }}
@media (min-width: 900px) and (min-height: 760px) {{
  .stApp [data-testid="stLayoutWrapper"]:has(> [class*="st-key-lv-stays"]) {{ position: sticky;
  top: 3.75rem; z-index: 20; padding: .4rem 0;
  background: light-dark({INK["light"]["surface"]}, {INK["dark"]["surface"]}); }} }}
.st-key-home-ways [data-testid="stIconMaterial"] {{ width: 1.25rem; overflow: hidden; }}
@media (max-width: 640px) {{ .stApp .st-key-home-ways {{ min-height: 9.5rem;
  align-content: flex-start; }} }}
.lv-term {{ border-bottom: 1px dotted currentColor; cursor: help; position: relative; }}
.lv-term:focus-visible {{ outline-offset: 2px;
  outline: 2px solid var(--st-primary-color, {PRIMARY["light"]}); }}
.lv-tip {{ position: absolute; left: 0; bottom: 1.7em; z-index: 50; width: max-content;
  max-width: min(19rem, 70vw); padding: .5rem .7rem; border-radius: 8px; font-size: .85rem;
  line-height: 1.4; font-style: normal; font-weight: 400; background: {TIP["ground"]};
  color: {TIP["text"]}; box-shadow: 0 4px 18px {TIP["shadow"]}; display: none;
  pointer-events: none; }}
.lv-term:hover .lv-tip, .lv-term:focus .lv-tip {{ display: block; }}
@media (max-width: 640px) {{ .lv-ask, .lv-prose p, .lv-opening p {{ position: relative; }}
  .lv-term {{ position: static; }}
  .lv-tip {{ left: 0; right: 0; top: 100%; bottom: auto; width: auto; max-width: none; }} }}
.lv-bars {{ display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; margin: .3rem 0; font-size: .8rem; }}
.lv-bars b {{ display: flex; align-items: flex-end; gap: 1px; height: 2.4rem; width: max-content;
  border-bottom: 1px solid; }}
.lv-bars i {{ width: .5rem; background: currentColor; opacity: .6; }}
.lv-bars .lv-cells {{ display: grid; border: 0; height: auto; }} .lv-cells i {{ height: .5rem; }}
.lv-bars .lv-no {{ opacity: .12; }}
.lv-prose .lv-place {{ color: inherit; font-weight: 600; text-underline-offset: 3px; }}
.lv-prose code {{ unicode-bidi: isolate; font-size: .875em; padding: .1em .3em; border-radius: 4px;
  background: {CODE_GROUND}; overflow-wrap: anywhere; }}
</style>"""


def _term(match: re.Match[str]) -> str:
    term, form = match.groups()
    # The pattern runs on escaped text; the glossary is looked up by the plain word.
    tip = html.escape(define(html.unescape(term)))
    return (
        f'<span class="lv-term" tabindex="0" role="note">{form}'
        f'<span class="lv-tip" role="tooltip">{tip}</span></span>'
    )


KEPT = (
    4_000  # characters of a paragraph that is remembered; a visitor's own may be as long as a story
)


def to_html(text: str) -> str:
    """Return a lesson's text as HTML: paragraphs, and the tags of its marks.

    What is no mark of `llmviz.course.document` is escaped: a star or a bracket that was filled
    into a sentence stays what it is.
    """
    return "".join(map(_paragraph, re.split(r"\n\s*\n", text.strip())))


def _paragraph(text: str) -> str:
    return _known_html(text, language()) if len(text) <= KEPT else _html_of(text)


@lru_cache(4096)  # most sentences are the same in every rerun of every visitor
def _known_html(text: str, wanted: str) -> str:
    return _html_of(text)


def _html_of(text: str) -> str:
    body = _TERM.sub(_term, html.escape(text.strip(), quote=False))
    return f"<p>{body.translate(_TAGS)}</p>"


def quote(text: str, limit: int = 40) -> str:
    """Return a learner's text for use inside prose: as code, shortened, with no live characters."""
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    for mark, harmless in (("\x00", "␀"), ("\n", "⏎"), ("\t", "⇥"), ("\r", "␍")):
        text = text.replace(mark, harmless)
    shown = text if text.strip() else text.replace(" ", "·") or words.nothing
    return f"{marks.CODE}{marks.cleared(shown)}{marks.CODE_END}"


def prose(text: str, /, **values: Any) -> None:
    """Show a lesson's text in a column of readable width, with `values` in its slots, if any."""
    if values:
        text = text.format(**values)
    st.html(f'<div class="lv-prose">{to_html(text)}</div>')


def opening(
    front: Front,
    names: Sequence[str] = (),
    stop: tuple[int, int, int] | None = None,
    where: str = "",
) -> None:
    """Show in one slim line where a chapter stands and how long it takes, then its question.

    names: the short names that it uses. stop: on a way, which of how many it is, and the minutes
    to stay (see `course.stop_of`). where: its lesson, and its place there.
    """
    line = [where] if where else []
    if stop:
        line.append(words.stay["stop"].format(at=stop[0], count=stop[1], minutes=stop[2]))
    elif front.minutes:
        line.append(words.stay["chapter"].format(minutes=front.minutes))
    line += [marks.term(name) for name in names]
    if line:
        st.html(f'<div class="lv-opening">{to_html(" · ".join(line))}</div>')
    if front.question:
        st.title(as_markdown(front.question), anchor=False)


def bold(text: str) -> str:
    """Return a text in bold, for use inside prose."""
    return f"{marks.BOLD}{text}{marks.BOLD_END}"
