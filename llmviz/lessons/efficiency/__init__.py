"""Fast and small: what it takes to train and to serve a model for many people."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="efficiency",
    title="Fast and small",
    icon=":material/speed:",
    card="Fewer bits, less memory, many requests, many machines: each tried here, and measured.",
    promise=(
        "A model that has learned must still be used, by many people, on machines that cost money. "
        "Here you see what that takes: numbers of fewer bits, memory that is kept or computed "
        "again, requests that share a model, processes that share the work. Each idea runs here, "
        "and what it saves is measured."
    ),
    chapters=[
        Chapter("bits", "Numbers as bits", 20),
        Chapter("quantization", "Quantization", 25),
        Chapter("memory", "Training memory", 20),
        Chapter("cache", "The cache", 20),
        Chapter("flash", "Flash attention", 15),
        Chapter("serving", "Many requests", 25),
        Chapter("guess", "Guess and check", 15),
        Chapter("parallel", "Many machines", 25),
        Chapter("systems", "Which system does what", 10),
    ],
    needs_engine=True,
    needs="You need to know what a transformer's layer computes, and what training is.",
    after=("transformer", "training"),
)
