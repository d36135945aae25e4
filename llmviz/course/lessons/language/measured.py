"""The bundled measurements of tags, names and probes, read once for all chapters."""

from llmviz.course.ui import kit
from llmviz.language.role_scores import load_scores

card = kit.kept(1)(load_scores)
