"""A text as a model reads it, for several lessons.

T tokens. torch is not needed until a model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.ui import engine
from llmviz.course.ui.common import learner_text, refuse
from llmviz.course.ui.notices import inform
from llmviz.course.ui.prose import quote
from llmviz.course.ui.selectable_models import label, load
from llmviz.course.ui.state import PageState
from llmviz.tokenizers import UNKNOWN, Tokenizer

if TYPE_CHECKING:
    from torch import nn

START = "⟨start⟩"
BYTES = "{bytes}, a piece of a character"
CUT = (
    "Your text is {all:,} tokens long{included}. {reason} only the first "
    "{limit:,}, up to {last}. The rest is left out."
)
INCLUDED = ", the start token included"
CUT_CONTEXT = "The context of {name} holds"
CUT_DRAWN = "The picture shows"
UNKNOWN_TOKENS = "{count:,} of the tokens are unknown to this model's tokenizer: {token}."


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
    require: Callable[[nn.Module], object] | None = None,
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
        reason = CUT_CONTEXT.format(name=label(bundled.name)) if full else CUT_DRAWN
        shown = most - (full and last_unread)
        last = spoken(ids[shown - 1], tokenizer)
        included = INCLUDED if len(tokenizer.start) == 1 else ""
        line = CUT.format(all=len(ids), included=included, reason=reason, limit=shown, last=last)
        inform(line, ":material/content_cut:")
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    if tell_unknown and unknown in ids[:most]:
        line = UNKNOWN_TOKENS.format(count=ids[:most].count(unknown), token=UNKNOWN)
        inform(line, ":material/help:")
    return read_ids(ids[:most], bundled)


def names_of(ids: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    """Return how tokens are shown: spaces as dots, the start token as a word."""
    return [
        START if tokenizer.opens_and_ends(i) else visible_text(tokenizer.token_bytes(i))[0]
        for i in ids
    ]


def spoken(token: int, tokenizer: Tokenizer) -> str:
    """Return a token for a sentence: bytes that are no whole character are called so."""
    name = names_of([token], tokenizer)[0]
    whole = name == START or visible_text(tokenizer.token_bytes(token))[1]
    return quote(name) if whole else BYTES.format(bytes=quote(name))
