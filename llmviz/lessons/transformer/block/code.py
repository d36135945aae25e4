"""The code of the stage that is open, and a snippet that computes it again."""

from llmviz.lessons.transformer.block import words
from llmviz.lessons.transformer.subject import Subject
from llmviz.models.gpt import GPT, Block
from llmviz.nn.attention import attention
from llmviz.nn.attention.multihead import MultiHeadAttention
from llmviz.nn.layers import FeedForward, layer_norm_steps, rms_norm_steps
from llmviz.study.block import Steps, all_blocks, block_steps
from llmviz.ui import kit

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


def draw(subject: Subject, steps: Steps, stage: str, norm: str, head: int) -> None:
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
    lines, result = computed(subject.model, stage, norm, head)
    own = norm == config.norm
    call = f"block_steps(model, {list(subject.ids)}, {subject.layer}{'' if own else f', {norm!r}'})"
    imports = ["from llmviz.study.block import block_steps"]
    imports += [line for line in lines if line.startswith("from")]
    snippet = [
        *subject.opening(imports),
        f"steps = {call}",
        f"block = model.blocks[{subject.layer}]",
        "with torch.inference_mode():",
        *(f"    {line}" for line in lines if not line.startswith("from")),
        f'print([f"{{x:.3f}}" for x in result[-1, :{PRINTED}].tolist()])',
    ]
    numbers = steps[result]
    numbers = numbers[head] if numbers.dim() == 3 else numbers
    prints = str([f"{x:.3f}" for x in numbers[-1, :PRINTED].tolist()])
    kit.show_code([*ran, block_steps], "\n".join(snippet), prints, label=words.code)


def computed(model: GPT, stage: str, norm: str, head: int) -> tuple[list[str], str]:
    """Return the lines that compute a stage from `steps` and `block`, and which step it is."""
    attn = model.blocks[0].attn
    group = head * attn.n_kv_head // attn.n_head
    between = "norm1" if norm == "post" else "sum1"  # what the second + adds to
    first = {"pre": "norm1"}.get(norm, "input")  # what attention reads
    second = {"pre": "norm2"}.get(norm, between)  # and the feed-forward network
    before = {"norm1": "sum1", "norm2": "sum2"} if norm == "post" else NORMED
    gate = f' * block.mlp.up(steps["{second}"])' if model.config.activation == "swiglu" else ""
    lines = {
        "x": ['result = steps["input"]'],
        "qkv": [
            f'q, k, v = block.attn.queries_keys_values(steps["{first}"][None])',
            f"result = q[0, {head}]",
        ],
        "scores": [
            f'q, k = steps["attn.q"][{head}], steps["attn.k"][{group}]',
            "result = q @ k.T * block.attn.scale",
        ],
        "weights": [f'result = steps["attn.weights"][{head}] @ steps["attn.v"][{group}]'],
        "join": ['result = block.attn.projection(steps["attn.concat"])'],
        "sum1": ['result = steps["input"] + steps["attn"]'],
        "up": [f'result = block.mlp.hidden(steps["{second}"])'],
        "act": [f'result = block.mlp.activation(steps["mlp.hidden"]){gate}'],
        "down": ['result = block.mlp.output(steps["mlp.act"])'],
        "sum2": [f'result = steps["{between}"] + steps["mlp"]'],
    }
    if stage in RESULTS:
        return lines[stage], RESULTS[stage]
    name = f"{model.config.norm_kind}_norm_steps"
    learned = ["weight", "eps"] if name.startswith("rms") else ["weight", "bias", "eps"]
    given = ", ".join([f'steps["{before[stage]}"]', *(f"block.{stage}.{part}" for part in learned)])
    return [f"from llmviz.nn.layers import {name}", f"result = {name}({given}).output"], stage
