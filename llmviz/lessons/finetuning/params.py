"""The control that chapters of the lesson share: the model that they begin from."""

from llmviz.finetuning.plan import BASE
from llmviz.ui import codec

PARAMS = [codec.text("model", BASE, shared=True)]
