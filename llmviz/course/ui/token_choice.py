"""A token that the learner chose or typed, for the chapters that ask about one."""

from __future__ import annotations

from collections.abc import Sequence

from llmviz.course.ui.model_on_text import names_of
from llmviz.tokenizers import Tokenizer

NOT_ONE = "{text} is {count} tokens for this model: {tokens}. A logit belongs to one token."
NOTHING_TYPED = "There is no token without a character. Choose or type one."


def token_of(written: str, best: Sequence[int], tokenizer: Tokenizer) -> int:
    """Return the token that was chosen or typed; a space may be written as a dot.

    Raises ValueError: what was typed is not one token.
    """
    names = names_of(best, tokenizer)
    if written in names:
        return best[names.index(written)]
    ids = []
    for text in (written, written.replace("·", " ")):
        ids = [tokenizer.special_tokens[text]] if text in tokenizer.special_tokens else []
        ids = ids or tokenizer.encode(text)
        if len(ids) == 1:
            return ids[0]
    if not ids:
        raise ValueError(NOTHING_TYPED)
    listed = ", ".join(names_of(ids[:8], tokenizer)) + (", …" if len(ids) > 8 else "")
    raise ValueError(NOT_ONE.format(text=written[:40], count=len(ids), tokens=listed))
