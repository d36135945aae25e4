"""The control that the chapters on training share with other pages: the learner's text."""

from llmviz.course.ui.state import LEARNER_TEXT

PARAMS = [LEARNER_TEXT]
