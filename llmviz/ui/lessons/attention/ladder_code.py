"""The code behind the rung in force, of an example or of a trained model."""

from __future__ import annotations

from llmviz.nn.attention import attention, causal_mask, ladder
from llmviz.ui import engine
from llmviz.ui.lesson import show_code
from llmviz.ui.lessons.attention import real
from llmviz.ui.lessons.attention.sources import Inputs
from llmviz.ui.state import PageState

RAN = {"simple": ladder.simplified, "heads": ladder.multi_head}


def draw(state: PageState, inputs: Inputs, place: tuple[int, int]) -> None:
    """Show the code; `place` is the layer and the head of a model."""
    text, prints = snippet(state, inputs, place)
    show_code([RAN.get(state["rung"], ladder.single_head), attention], text, prints)


def snippet(state: PageState, inputs: Inputs, place: tuple[int, int]) -> tuple[str, str]:
    """Return code that computes the rung by itself, and what it prints."""
    if inputs.name:
        return _of_model(inputs, *place)
    rung, n = state["rung"], state["n"]
    x, w = inputs.x.float(), [part.float() for part in inputs.w]
    lines = ["import torch", "from llmviz.nn.attention import causal_mask, ladder", ""]
    lines.append(f"x = torch.tensor({inputs.x.tolist()})")
    if rung == "simple":
        call, output = "ladder.simplified(x)", ladder.simplified(x).output
    else:
        for name, part in zip(("w_q", "w_k", "w_v"), inputs.w, strict=True):
            lines.append(f"{name} = torch.tensor({part.tolist()})")
        mask = causal_mask(len(x))
        if rung == "heads":
            w_o = inputs.projection[0]
            lines.append(f"w_o = torch.tensor({w_o.tolist()})")
            call = f"ladder.multi_head(x, w_q, w_k, w_v, {n}, w_o, causal_mask(len(x)))"
            output = ladder.multi_head(x, *w, n, w_o.float(), mask).output
        elif rung == "qkv":
            call = "ladder.single_head(x, w_q, w_k, w_v)"
            output = ladder.single_head(x, *w).output
        else:
            call, output = "ladder.causal_head(x, w_q, w_k, w_v)", ladder.causal_head(x, *w).output
    lines += [f"steps = {call}", 'print([f"{c:.3f}" for c in steps.output[-1].tolist()])']
    return "\n".join(lines), str([f"{c:.3f}" for c in output[-1].tolist()])


def _of_model(inputs: Inputs, layer: int, head: int) -> tuple[str, str]:
    bundled = engine.load(inputs.name)
    found = real.traced(inputs.name, real.stamp(bundled), inputs.ids, layer)
    tap = f"blocks.{layer}.attn.weights"
    text = (
        "import torch\nfrom llmviz.pretrained import load_bundled\n"
        "from llmviz.trace import record\n\n"
        f"model, tokenizer, card = load_bundled({inputs.name!r})\n"
        f"ids = torch.tensor([{list(inputs.ids)}])\n"
        f'with torch.inference_mode(), record("{tap}") as trace:\n'
        "    model(ids)\n"
        f'row = trace["{tap}"][0, {head}, -1]\n'
        'print([f"{w:.2f}" for w in row.tolist()])'
    )
    return text, str([f"{w:.2f}" for w in found["weights"][head][-1].tolist()])
