"""The lesson "Rewards and reasoning": what a model gains by thinking first, and by rewards."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

PARAMS = [codec.text("toolasked", "437 times 86", 60)]


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="reasoning",
    words=words,
    icon=":material/psychology:",
    linked_first="chain_of_thought",
    names=(
        "conversation",
        "retrieval",
        "trust",
        "chain_of_thought",
        "reinforce",
        "reward_hacking",
    ),
    further=("tools", "best_of_n", "preference", "distillation"),
    needs_engine=True,
    after=("training", "transformer"),
    split={
        "trust": ("tools", "toollie", "toolsays", "toolmodel", "conversation/chattyped"),
    },
    moved={
        "bandit": "reinforce#arms_section",
        "distil": "distillation",
        "think": "chain_of_thought",
        "lookup": "retrieval",
        "tries": "best_of_n",
        "gamed": "reward_hacking",
    },
)
