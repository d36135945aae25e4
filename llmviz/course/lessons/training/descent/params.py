"""The controls of the chapter "Descent", as its links write them."""

from llmviz.course.lessons.training import walkers

PARAMS = walkers.controls("one", [16])
