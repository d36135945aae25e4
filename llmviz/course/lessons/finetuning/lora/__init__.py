"""The chapter "LoRA" of the lesson "From a base model to a helper"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.finetuning.labels import TASKS
from llmviz.nn.lora_config import MOST_RANK

words = beside(__file__)

PARAMS = [
    codec.choice("adapter", "instructions", list(words.adapters)),
    codec.integer("adapterlayer", 0, 0, 1_000),
    codec.choice("matrix", "attn.qkv", list(words.matrices)),
    codec.integer("keptrank", 8, 1, MOST_RANK),
    codec.text("loracell", ""),
    codec.integer("lorastep", len(words.steps) - 1, 0, len(words.steps) - 1),
    codec.integer("rank", 8, 1, MOST_RANK),
    codec.choices("targets", list(words.matrices), list(words.matrices)),
    codec.choice("sorted", "ending", list(TASKS)),
    codec.integer("updates", 40, 10, 120),
    codec.flag("race", False),
    codec.text("adapted", words.prompts["A question"], codec.MOST_OF_A_PROMPT),
]
