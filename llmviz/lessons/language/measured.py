"""The bundled measurements of tags, names and probes, read once for all chapters."""

from llmviz.language.role_scores import load_scores
from llmviz.ui import kit

card = kit.kept(1)(load_scores)
