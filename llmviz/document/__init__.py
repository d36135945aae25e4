"""Texts that stand in Markdown documents beside the code that shows them."""

from llmviz.document.texts import Document, beside, texts_of
from llmviz.document.values import Ask, Front, Section, Sentence

__all__ = ["Ask", "Document", "Front", "Section", "Sentence", "beside", "texts_of"]
