"""A bundled model of names, once torch is there, and how its next token is said."""

from llmviz.course.lessons.history import words
from llmviz.course.ui import engine, kit, selectable_models
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.tokenizers import ENDOFTEXT, Tokenizer


def load(name: str) -> engine.Bundled | None:
    """Return a bundled model; None, saying why, where it is not in this copy or torch fails."""
    if not kit.models_here(name):
        return None
    return selectable_models.load(name) if engine_ready() else None


def spoken_next(token: int, tokenizer: Tokenizer) -> str:
    """Return a next token for a sentence; the one that ends a name is called so."""
    return (
        words.name_ends
        if token == tokenizer.special_tokens[ENDOFTEXT]
        else kit.spoken(token, tokenizer)
    )
