"""The code of the stage that is open, and a snippet that computes it again."""

from llmviz.course.lessons.transformer.block import words
from llmviz.course.lessons.transformer.subject import Subject
from llmviz.course.ui import kit
from llmviz.interpretability.block import all_blocks, block_steps
from llmviz.models.gpt import GPT, Block
from llmviz.nn.attention import attention
from llmviz.nn.attention.multihead import MultiHeadAttention
from llmviz.nn.layers import FeedForward, layer_norm_steps, rms_norm_steps

# Which step of the trace a stage ends with, and what norms before the parts read.
RESULTS = {
    "x": "input",
    "qkv": "attn.q",
    "scores": "attn.scaled",
    "weights": "attn.output",
    "join": "attn",
    "sum1": "sum1",
    "up": "mlp.hidden",
    "act": "mlp.act",
    "down": "mlp",
    "sum2": "sum2",
}
NORMED = {"norm1": "input", "norm2": "sum1"}
PRINTED = 4  # numbers of the last token's row


def draw(subject: Subject, stage: str, head: int) -> None:
    """Show the functions that ran in a stage, and what the last token has after it."""
    config = subject.model.config
    kind = layer_norm_steps if config.norm_kind == "layer" else rms_norm_steps
    ran = {
        "x": [all_blocks],
        "norm1": [kind],
        "norm2": [kind],
        "qkv": [MultiHeadAttention.queries_keys_values],
        "scores": [attention],
        "weights": [attention],
        "join": [MultiHeadAttention.forward],
        "sum1": [Block.forward],
        "sum2": [Block.forward],
    }.get(stage, [FeedForward])
    line, result = computed(subject.model, stage, head)
    imports = words.code_import
    if stage in NORMED:
        imports = f"{words.norm_import.format(name=kind.__name__)}\n{imports}"
    snippet = subject.opening(imports) + words.snippet.format(
        ids=list(subject.ids),
        layer=subject.layer,
        computed=line,
        printed=PRINTED,
    )
    numbers = subject.steps[result]
    numbers = numbers[head] if numbers.dim() == 3 else numbers
    prints = str([f"{x:.3f}" for x in numbers[-1, :PRINTED].tolist()])
    kit.show_code([*ran, block_steps], snippet, prints, label=words.code)


def computed(model: GPT, stage: str, head: int) -> tuple[str, str]:
    """Return the lines that compute a stage from `steps` and `block`, and which step it is."""
    attn, config = model.blocks[0].attn, model.config
    norm = config.norm
    between = "norm1" if norm == "post" else "sum1"  # what the second + adds to
    before = {"norm1": "sum1", "norm2": "sum2"} if norm == "post" else NORMED
    gated = stage == "act" and config.activation == "swiglu"
    line = words.computed["gated" if gated else config.norm_kind if stage in NORMED else stage]
    slots = {
        "first": {"pre": "norm1"}.get(norm, "input"),  # what attention reads
        "second": {"pre": "norm2"}.get(norm, between),  # and the feed-forward network
        "between": between,
        "before": before.get(stage),
        "head": head,
        "group": head * attn.n_kv_head // attn.n_head,
    }
    return line.format(stage=stage, **slots), RESULTS.get(stage, stage)
