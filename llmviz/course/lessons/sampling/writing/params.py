"""The controls of the chapter "Writing", as its links write them."""

from llmviz.course.lessons.sampling import params, texts
from llmviz.course.ui import codec

PARAMS = [
    codec.integer("written", 30, 0, params.MOST_TOKENS),  # tokens of the trunk
    texts.forks_param("ways"),
    codec.integer("way", 0, 0, texts.MOST_WAYS),
]
