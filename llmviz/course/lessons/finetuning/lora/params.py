"""The controls of the chapter "LoRA", as its links write them."""

from llmviz.course.lessons.finetuning.lora import words
from llmviz.course.ui import codec
from llmviz.finetuning.labels import TASKS
from llmviz.finetuning.plan import MOST_RANK

PARAMS = [
    codec.choice("adapter", "instructions", list(words.adapters)),
    codec.integer("adapterlayer", 0, 0, 1_000),
    codec.choice("matrix", "attn.qkv", list(words.matrices)),
    codec.integer("fromrow", -1, -1, 1_000_000),  # -1: where the change is largest
    codec.integer("fromcolumn", -1, -1, 1_000_000),
    codec.text("loracell", ""),
    codec.text("loraseen", ""),  # which cells of the part are seen, "R.3,C.12"; empty: the largest
    codec.integer("lorastep", len(words.steps) - 1, 0, len(words.steps) - 1),
    codec.choice("change", "adapter", list(words.changes)),
    codec.integer("keptrank", 1, 1, MOST_RANK),
    codec.text("rankcell", ""),
    codec.integer("rank", 8, 1, MOST_RANK),
    codec.choices("targets", list(words.matrices), list(words.matrices)),
    codec.choice("sorted", "ending", list(TASKS)),
    codec.integer("updates", 40, 10, 120),
    codec.flag("race", False),
    codec.text("adapted", words.prompts["A question"], codec.MOST_OF_A_PROMPT),
]
