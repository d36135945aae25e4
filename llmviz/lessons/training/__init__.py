"""Training: runs of one's own, what their curves mean, and how weights learn."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="training",
    title="Training",
    icon=":material/model_training:",
    card="What a loss means, how an optimizer walks, and a model that you train yourself.",
    headline="Learning from mistakes",
    promise=(
        "A model learns by guessing the next [[token]], being told how wrong it was, and "
        "moving each of its numbers a little. Here you train one, watch its loss fall, pause "
        "it, break it, fork it, and take the arithmetic of a single step apart."
    ),
    chapters=[
        Chapter("runs", "Train one"),
        Chapter("curves", "Curves"),
        Chapter("loss", "What the loss is"),
        Chapter("descent", "Descent"),
        Chapter("backprop", "Backpropagation"),
        Chapter("race", "The race"),
        Chapter("overfitting", "When it goes wrong"),
    ],
)
