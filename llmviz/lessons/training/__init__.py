"""The lesson "Training": the loss, the update of weights, runs, and their curves."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="training",
    title="Training",
    icon=":material/model_training:",
    card="What a loss means, how an optimizer changes weights, and a model that you train.",
    headline="Learning from mistakes",
    promise=(
        "A model learns by predicting the next [[token]], measuring how wrong it was, and "
        "changing its numbers a little. Here you see the arithmetic of a single step, number by "
        "number. Then you train a model, watch its loss, pause it, and compare runs."
    ),
    needs=(
        "Needed before: what a token and its id are (the lesson “Text to tokens”). You should also "
        "know that a model gives each token of its vocabulary a probability. The chapter on "
        "backpropagation uses an attention head, too (the lesson “Attention”), and the product of "
        "two matrices."
    ),
    after=("tokenization", "attention"),
    linked_first="runs",
    chapters=[
        Chapter("loss", "What the loss is", minutes=20),
        Chapter("descent", "Descent", minutes=30),
        Chapter("backprop", "Backpropagation", minutes=35),
        Chapter("step", "One step of training", minutes=30),
        Chapter("runs", "Train one", minutes=20),
        Chapter("curves", "Curves", minutes=15),
        Chapter("race", "The race", minutes=15),
        Chapter("overfitting", "When it goes wrong", minutes=25),
    ],
)
