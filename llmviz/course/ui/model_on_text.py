"""A text as a model reads it, for several lessons.

T tokens. torch is not needed until a model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.ui import engine
from llmviz.course.ui.common import learner_text, refuse
from llmviz.course.ui.furniture import words
from llmviz.course.ui.notices import inform
from llmviz.course.ui.prose import quote
from llmviz.course.ui.selectable_models import label, load
from llmviz.course.ui.state import PageState
from llmviz.tokenizers import UNKNOWN, Tokenizer

START = "⟨start⟩"


@dataclass(frozen=True)
class Read:
    """A text as a model gets it: T ids, end-of-text in front, and how each token is shown."""

    bundled: engine.Bundled
    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    @property
    def targets(self) -> tuple[int, ...]:
        """What is to be predicted: every token but the first, which nothing stands before."""
        return self.ids[1:]

    @property
    def target_tokens(self) -> tuple[str, ...]:
        return self.tokens[1:]

    @property
    def text(self) -> str:
        """The text without what stands in front of it."""
        tokenizer = self.bundled.tokenizer
        return tokenizer.decode(self.ids[len(tokenizer.start) :])


def read_ids(ids: Sequence[int], bundled: engine.Bundled) -> Read:
    """Return ids as a text that a model gets."""
    return Read(bundled, tuple(ids), tuple(names_of(ids, bundled.tokenizer)))


def load_and_read(
    state: PageState,
    name: str | None,
    limit: int | None = None,
    require: Callable[[Any], object] | None = None,
    *,
    tell: bool = True,
) -> tuple[engine.Bundled, Read] | None:
    """Return a model and the learner's text as it reads it (see `read_text`).

    require: raises ValueError for a model that cannot be studied here, such as
    `study.transformers.require_sum`; left out, `require_transformer`.
    tell: see `selectable_models.load`.
    None, after one clear line, where the model is gone or cannot be studied, or there is no text;
    None as a name is none.
    """
    from llmviz.models.transformers import require_transformer

    bundled = load(name, tell=tell)
    if bundled is None:
        return None
    try:
        (require or require_transformer)(bundled.model)
    except ValueError as error:
        refuse(error)
        return None
    read = read_text(state, bundled, limit)
    return None if read is None else (bundled, read)


def read_text(
    state: PageState,
    bundled: engine.Bundled,
    limit: int | None = None,
    *,
    tell_unknown: bool = True,
) -> Read | None:
    """Return the learner's text as tokens, cut to the context or to `limit`, saying where.

    None, after one clear line, where there is no text. tell_unknown: as in `read`.
    """
    text = learner_text(state)
    return None if text is None else read(text, bundled, limit, tell_unknown=tell_unknown)


def read(
    text: str,
    bundled: engine.Bundled,
    limit: int | None = None,
    *,
    tell_unknown: bool = True,
    last_unread: bool = False,
) -> Read:
    """Return a text as tokens, cut to the context or to `limit`; the page says where.

    tell_unknown: say how many tokens the tokenizer does not know, too. last_unread: the last token
    is only predicted, so it needs no place in the context.
    """
    tokenizer, context = bundled.tokenizer, bundled.model.context_length + last_unread
    ids = tokenizer.encode_from_start(text)
    most = context if limit is None else min(limit, context)
    if len(ids) > most:
        full = most == context
        case = ("context" if full else "drawn") + ("_start" if len(tokenizer.start) == 1 else "")
        shown = most - (full and last_unread)
        last = spoken(ids[shown - 1], tokenizer)
        named = {"name": label(bundled.name), "last": last}
        line = words.cut[case].format(all=len(ids), limit=shown, **named)
        inform(line, ":material/content_cut:")
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    if tell_unknown and unknown in ids[:most]:
        line = words.unknown_tokens.format(count=ids[:most].count(unknown), token=UNKNOWN)
        inform(line, ":material/help:")
    return read_ids(ids[:most], bundled)


def placed(positions: str) -> str:
    """Return how this kind of positions is told to a model; nothing for one without a sentence."""
    return words.positions.get(positions, "")


def names_of(ids: Iterable[int], tokenizer: Tokenizer) -> list[str]:
    """Return how tokens are shown: spaces as dots, the start token as a word."""
    return [
        START if tokenizer.opens_and_ends(i) else visible_text(tokenizer.token_bytes(i))[0]
        for i in ids
    ]


def shown_bytes(ids: Sequence[int], tokenizer: Tokenizer) -> list[bytes]:
    """Return the bytes of tokens as a strip shows them: those of a special one are its name's."""
    special = tokenizer.special_tokens.values()
    return [
        name.encode() if token in special else tokenizer.token_bytes(token)
        for token, name in zip(ids, names_of(ids, tokenizer), strict=True)
    ]


def spoken(token: int, tokenizer: Tokenizer) -> str:
    """Return a token for a sentence: bytes that are no whole character are called so."""
    name = names_of([token], tokenizer)[0]
    whole = name == START or visible_text(tokenizer.token_bytes(token))[1]
    return quote(name) if whole else words.piece_of_character.format(bytes=quote(name))
