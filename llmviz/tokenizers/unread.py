"""What a model does not read as it is written: unknown characters, names of special tokens."""

from __future__ import annotations

from llmviz.tokenizers.base import UNKNOWN, Tokenizer

_LISTED = 8  # that are named


def notes_on(tokenizer: Tokenizer, text: str, option: str, *, special: bool = False) -> list[str]:
    """Return a sentence for each way in which a text is read otherwise than it may be meant.

    special: whether names of special tokens are read as these tokens; option: what says so.
    """
    notes = []
    allowed = "all" if special else ()
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    if unknown is not None:
        parts = [t.data.decode() for t in tokenizer.tokens(text, allowed) if t.id == unknown]
        if parts := [part for part in parts if part != UNKNOWN or not special]:
            notes.append(
                f"the tokenizer does not know {_listed(parts)}; the model reads {UNKNOWN} there"
            )
    names = [name for name in tokenizer.special_tokens if name in text]
    if names and not special:
        notes.append(
            f"{_listed(names)} in the prompt is read as ordinary text, not as a special token; "
            f"{option} reads it as one"
        )
    return notes


def _listed(parts: list[str]) -> str:
    different = list(dict.fromkeys(parts))
    return ", ".join(map(repr, different[:_LISTED])) + (", …" * (len(different) > _LISTED))
