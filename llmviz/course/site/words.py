"""The words that pages of the site have of their own; their document has them."""

from llmviz.course.document import beside

words = beside(__file__, "site")
