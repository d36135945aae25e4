"""The controls of the chapter "A classifier", as its links write them."""

from llmviz.course.lessons.finetuning.classifier import words
from llmviz.course.lessons.finetuning.classifier.class_texts import MOST_EXAMPLES
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan
from llmviz.course.ui import codec
from llmviz.training.config import LAST_SEED

FIRST = ClassPlan()
MOST_STEPS = 600

PARAMS = [
    codec.text("classfolder", "", codec.MOST_OF_A_NAME),  # a classifier of one's own, run:NAME
    codec.choice("labels", "stories", list(words.sources)),
    codec.choice("task", FIRST.task, list(words.tasks)),
    codec.choice("reads", FIRST.reads, list(words.reads)),
    codec.text("typed", words.typed, 20_000),
    codec.choice("trains", FIRST.way, list(words.ways)),
    codec.integer("examples", FIRST.examples, 10, MOST_EXAMPLES),
    codec.integer("classupdates", FIRST.steps, 10, MOST_STEPS),
    codec.number("rare", FIRST.rare, 0.02, 1.0),
    codec.flag("balanced", FIRST.balanced),
    codec.integer("classseed", FIRST.seed, 0, LAST_SEED),
    codec.flag("classtrained", False),  # a link that asks for the training
    codec.text("cell", ""),  # of the confusion matrix, "0.1"
    codec.text("sentence", words.sentence, codec.MOST_OF_A_PROMPT),
    codec.integer("explained", -1, -1, 9),  # the class, −1 the one that is chosen
]
"""Steps that suit each way on this model: a head is a small problem, the rest takes longer."""
STEPS = {"head": FIRST.steps, "last": 80, "all": 80, "nothing": 120}
