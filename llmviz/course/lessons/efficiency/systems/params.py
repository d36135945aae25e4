"""The controls of the chapter "Which system does what", as its links write them."""

from llmviz.course.lessons.efficiency.systems.table import IDEAS, SYSTEMS
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("whosystem", SYSTEMS[0].key, [system.key for system in SYSTEMS]),
    codec.choice("whoidea", "paged", [idea.key for idea in IDEAS]),
]
