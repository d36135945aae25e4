"""The models of this server: a list of all, their sizes to scale, and published ones to import."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

PARAMS = [codec.text("published", "", 1_000)]  # a folder, or a name on the hub


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="models",
    words=words,
    icon=":material/deployed_code:",
)
