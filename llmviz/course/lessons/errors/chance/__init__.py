"""The chapter "Right, wrong, and cannot know" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside

words = beside(__file__)
