"""Inside the transformer: the whole machine opened, and what research tools do with it."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="transformer",
    words=words,
    icon=":material/account_tree:",
    names=("block", "stream", "context", "residuals"),
    further=("patching", "halves", "units", "masked", "count", "since"),
    gone={"loop": "sampling"},
    moved={"norms": "residuals#intro", "published": "count"},
    needs_engine=True,
    after=["attention"],
    linked_first="stream",
)


TEXT = "One day Anna found a book. Samir found a candle. The book stayed with"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
    codec.text("model", ""),  # none: the one with the lowest loss
    codec.choice("of", "small", list(words.subject_subjects)),
    codec.integer("layer", 0, 0, 1_000),
]
