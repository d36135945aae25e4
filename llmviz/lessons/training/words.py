"""The words of the lesson on training: its head here, each chapter's in its own module."""

from llmviz.lessons.training.curves import words as curves

__all__ = ["curves"]
