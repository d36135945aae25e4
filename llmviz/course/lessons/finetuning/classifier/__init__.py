"""The chapter "A classifier" of the lesson "From a base model to a helper"."""

from llmviz.course.document import beside
from llmviz.course.lessons.finetuning.classifier.class_texts import MOST_EXAMPLES
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan
from llmviz.course.lessons.finetuning.classifier.examples_curve import COUNTS
from llmviz.course.ui import codec
from llmviz.training.config import LAST_SEED

words = beside(__file__)
FIRST = ClassPlan()
STEPS = {"head": FIRST.steps, "last": 80, "all": 80, "nothing": 120}  # that suit each way here

PARAMS = [
    codec.choice("texts", "100", [str(count) for count in COUNTS]),  # of the measured trainings
    codec.text("classfolder", "", codec.MOST_OF_A_NAME),  # a classifier of one's own, run:NAME
    codec.choice("labels", "stories", list(words.sources)),
    codec.choice("task", FIRST.task, list(words.tasks)),
    codec.choice("reads", FIRST.reads, list(words.reads)),
    codec.text("typed", words.typed, 20_000),
    codec.choice("trains", FIRST.way, list(words.ways)),
    codec.integer("examples", FIRST.examples, 10, MOST_EXAMPLES),
    codec.integer("classupdates", FIRST.steps, 10, 600),
    codec.integer("classseed", FIRST.seed, 0, LAST_SEED),
    codec.flag("classtrained", False),  # a link that asks for the training
    codec.text("cell", ""),  # of the confusion matrix, "0.1"
    codec.text("sentence", words.sentence, codec.MOST_OF_A_PROMPT),
    codec.integer("explained", -1, -1, 9),  # the class, −1 the one that is chosen
]
