"""Texts that stand in Markdown documents beside the code that shows them."""

from llmviz.course.document.languages import ENGLISH, language
from llmviz.course.document.texts import Document, beside, texts_of
from llmviz.course.document.values import Ask, Front, Section, Sentence, sentences

__all__ = [
    "ENGLISH",
    "Ask",
    "Document",
    "Front",
    "Section",
    "Sentence",
    "beside",
    "language",
    "sentences",
    "texts_of",
]
