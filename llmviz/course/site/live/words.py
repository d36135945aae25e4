"""The words of the pages that compute in the browser; their document has them."""

from llmviz.course.document import beside

words = beside(__file__, "live")
