"""From a base model to a helper: what is done to a model that has learned to write."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="finetuning",
    title="From a base model to a helper",
    icon=":material/school:",
    card="A trained model taught to sort texts, to answer questions, and to prefer some answers.",
    promise=(
        "A model that has only read texts goes on writing texts. Here you take such a model, train "
        "it a little further on examples of a task, and see what that changes: which of its "
        "numbers, what it can do now, and what it forgets."
    ),
    chapters=[
        Chapter("stages", "The stages", 12),
        Chapter("classifier", "A classifier", 20),
        Chapter("lora", "LoRA", 20),
        Chapter("instructions", "Following instructions", 15),
        Chapter("preferences", "Preferences", 20),
        Chapter("fewshot", "Zero, one, few examples", 15),
    ],
    needs_engine=True,
    needs="You need to know what training and a [[cross-entropy|loss]] are.",
    after=["training"],
)
