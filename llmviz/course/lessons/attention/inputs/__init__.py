"""What several chapters of the lesson share: inputs."""

from llmviz.course.document import beside

words = beside(__file__, "inputs")
