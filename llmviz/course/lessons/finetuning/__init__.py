"""From a base model to a helper: what is done to a model that has learned to write."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson
from llmviz.finetuning.plan import BASE

PARAMS = [codec.text("model", BASE, shared=True)]


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="finetuning",
    words=words,
    icon=":material/school:",
    names=("stages", "fewshot", "instructions", "preferences"),
    further=("lora", "classifier"),
    needs_engine=True,
    after=("training", "transformer"),
)
