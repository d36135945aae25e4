"""The control that chapters of the lesson share: the model that they begin from."""

from llmviz.course.ui import codec
from llmviz.finetuning.plan import BASE

PARAMS = [codec.text("model", BASE, shared=True)]
