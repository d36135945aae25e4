"""The lesson "From counts to GPT": each kind of language model, and what it could not do."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

NAME = codec.text("name", "olivia")
PARAMS = [NAME]


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="history",
    words=words,
    icon=":material/timeline:",
    after=("tokenization",),
    names=("where", "counting", "mlp", "recurrent", "all"),
    further=("memory", "series"),
    moved={"wavenet": "mlp#tree"},
)
