"""The code behind the rung in force, of an example or of a trained model."""

from llmviz.lessons.attention.steps import words
from llmviz.lessons.attention.steps.rungs import Rung
from llmviz.nn.attention import attention, ladder
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.study.heads_on_text import read_by
from llmviz.ui import engine, kit

RAN = {"simple": ladder.simplified, "heads": ladder.multi_head}
SHOWN = ("scores", "scaled", "masked", "weights", "dropped", "output")  # of the last token
OF_MODEL = 4  # numbers that are printed of a model's wide rows


def draw(state: kit.PageState, drawn: Rung) -> None:
    """Show the code, and what the last token has at every step."""
    lines = (_of_model if drawn.inputs.name else _of_example)(state, drawn)
    names, several = _names(state["rung"], drawn), state["rung"] == "heads"
    at = "[0, -1]" if several else "[-1]"
    digits = 2 if drawn.inputs.name else 3
    cut = f"[:{OF_MODEL}]" if drawn.inputs.name else ""
    lines += [
        f"for name in {names}:",
        f"    row = getattr(steps, name){at}{cut}",
        f'    print(name, [f"{{x:.{digits}f}}" for x in row.tolist()])',
    ]
    prints = []
    for name in names:
        part = getattr(drawn.steps, name)
        row = (part[0] if several else part)[-1].tolist()
        if drawn.inputs.name:
            row = row[:OF_MODEL]
        prints.append(f"{name} {[f'{x:.{digits}f}' for x in row]}")
    label = words.code_heads if several else words.code
    ran = [RAN.get(state["rung"], ladder.single_head), attention]
    kit.show_code(ran, "\n".join(lines), "\n".join(prints), label=label)


def _names(rung: str, drawn: Rung) -> tuple[str, ...]:
    """The steps that a rung has: those that change nothing are left out."""
    steps: AttentionSteps = drawn.steps
    without = {"dropped"} if drawn.kept is None else set()
    if rung == "simple":
        without |= {"scaled", "masked"}
    elif bool((steps.masked == steps.scaled).all()):
        without.add("masked")
    return tuple(name for name in SHOWN if name not in without)


def _of_example(state: kit.PageState, drawn: Rung) -> list[str]:
    rung, inputs = state["rung"], drawn.inputs
    lines = ["import torch", "from llmviz.nn.attention import causal_mask, ladder", ""]
    matrices = {"x": inputs.x} | dict(zip(("w_q", "w_k", "w_v"), inputs.w, strict=True))
    if rung == "heads":
        matrices["w_o"] = inputs.projection[0]
    for name, part in matrices.items():
        if name == "x" or rung != "simple":
            lines.append(f"{name} = torch.tensor({part.tolist()}, dtype=torch.float64)")
    if drawn.kept is not None:
        lines.append(f"generator = torch.Generator().manual_seed({state['seed']})")
    call = {
        "simple": "simplified(x)",
        "qkv": "single_head(x, w_q, w_k, w_v).attention",
        "causal": "causal_head(x, w_q, w_k, w_v).attention",
        "dropout": "causal_head(x, w_q, w_k, w_v).attention",
        "heads": f"multi_head(x, w_q, w_k, w_v, {state['n']}, w_o, causal_mask(len(x))).attention",
    }[rung]
    if drawn.kept is not None:
        call = f"causal_head(x, w_q, w_k, w_v, {state['p']}, generator).attention"
    return [*lines, f"steps = ladder.{call}"]


def _of_model(state: kit.PageState, drawn: Rung) -> list[str]:
    inputs, rung, (layer, head) = drawn.inputs, state["rung"], drawn.place
    lines = [
        "import torch",
        "from llmviz.nn.attention import attention, ladder",
        "from llmviz.pretrained import load_bundled",
        "from llmviz.trace import record",
        "",
        f"model, tokenizer, card = load_bundled({inputs.name!r})",
        f"ids = torch.tensor([{list(inputs.ids)}])",
    ]
    if rung == "simple":
        tap = read_by(engine.load(inputs.name).model, layer)
        return [
            *lines,
            f'with torch.inference_mode(), record("{tap}") as trace:',
            "    model(ids)",
            f'steps = ladder.simplified(trace["{tap}"][0])',
        ]
    more = ""
    if drawn.kept is not None:
        lines.append(f"generator = torch.Generator().manual_seed({state['seed']})")
        more = f", {state['p']}, generator"
    if inputs.before:
        more += f", softmax_before_mask={inputs.before!r}"
    mask = "None"
    if rung != "qkv" and inputs.allowed is not None:
        mask = "model.visible(ids)[0]"
    which = "[0]" if rung == "heads" else f"[0, {head}]"
    return [
        *lines,
        f'taps = [f"blocks.{layer}.attn.{{part}}" for part in "qkv"]',
        "with torch.inference_mode(), record(taps) as trace:",
        "    model(ids)",
        f"q, k, v = (trace[tap]{which} for tap in taps)",
        f"steps = attention(q, k, v, {mask}, model.blocks[{layer}].attn.scale{more})",
    ]
