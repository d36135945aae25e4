"""The words of what stands around every chapter: buttons, lines, notices; its document has them."""

from llmviz.course.document import beside

words = beside(__file__, "furniture")
