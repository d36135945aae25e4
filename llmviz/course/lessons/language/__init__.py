"""Words and their roles: counts, stems and lemmas, parts of speech, names, what layers know."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="language",
    words=words,
    icon=":material/abc:",
    after=("transformer",),
    names=(
        "tags",
        "probing",
    ),
    further=(
        "counts",
        "stems",
    ),
    linked_first="counts",
    moved={"lemmas": "stems#lemma", "names": "tags#entities"},
)


LIMIT = 1_500  # characters of a sentence, or of a short text
# Two sentences, in which words come again: what is counted needs them.
TEXT = "The cat sat on the mat. The kitten slept; tokenization isn't magic 🙂"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
    codec.text("sentence", words.sentence_default, LIMIT),
]
