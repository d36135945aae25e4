"""A bundled model of names, once torch is there, and how its next token is said."""

from __future__ import annotations

from llmviz.lessons.history import words
from llmviz.tokenizers import ENDOFTEXT, Tokenizer
from llmviz.ui import engine, selectable_models
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.model_on_text import spoken
from llmviz.ui.model_picker import models_here


def load(name: str) -> engine.Bundled | None:
    """Return a bundled model; None, saying why, where it is not in this copy or torch fails."""
    if not models_here(name):
        return None
    return selectable_models.load(name) if engine_ready() else None


def spoken_next(token: int, tokenizer: Tokenizer) -> str:
    """Return a next token for a sentence; the one that ends a name is called so."""
    return (
        words.name_ends
        if token == tokenizer.special_tokens[ENDOFTEXT]
        else spoken(token, tokenizer)
    )
