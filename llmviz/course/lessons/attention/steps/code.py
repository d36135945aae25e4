"""The code behind the rung in force, of an example or of a trained model."""

from llmviz.course.lessons.attention.steps import words
from llmviz.course.lessons.attention.steps.rungs import Rung
from llmviz.course.ui import engine, kit
from llmviz.interpretability.heads_on_text import read_by
from llmviz.nn.attention import attention, ladder
from llmviz.nn.attention.steps import AttentionSteps

RAN = {"simple": ladder.simplified, "heads": ladder.multi_head}
SHOWN = ("scores", "scaled", "masked", "weights", "dropped", "output")  # of the last token
OF_MODEL = 4  # numbers that are printed of a model's wide rows


def draw(state: kit.PageState, drawn: Rung) -> None:
    """Show the code, and what the last token has at every step."""
    names, several = _names(state["rung"], drawn), state["rung"] == "heads"
    digits, cut = (2, f"[:{OF_MODEL}]") if drawn.inputs.name else (3, "")
    at = "[0, -1]" if several else "[-1]"
    text = (_of_model if drawn.inputs.name else _of_example)(state, drawn)
    shown = words.snippet_prints.format(names=names, at=at, cut=cut, digits=digits)
    prints = []
    for name in names:
        part = getattr(drawn.steps, name)
        row = (part[0] if several else part)[-1].tolist()
        row = row[:OF_MODEL] if drawn.inputs.name else row
        prints.append(f"{name} {[f'{x:.{digits}f}' for x in row]}")
    label = words.code_heads if several else words.code
    ran = [RAN.get(state["rung"], ladder.single_head), attention]
    kit.show_code(ran, f"{text}\n{shown}", "\n".join(prints), label=label)


def _names(rung: str, drawn: Rung) -> tuple[str, ...]:
    """The steps that a rung has: those that change nothing are left out."""
    steps: AttentionSteps = drawn.steps
    without = {"dropped"} if drawn.kept is None else set()
    if rung == "simple":
        without |= {"scaled", "masked"}
    elif bool((steps.masked == steps.scaled).all()):
        without.add("masked")
    return tuple(name for name in SHOWN if name not in without)


def _seeded(state: kit.PageState, drawn: Rung) -> tuple[str, str]:
    """What dropout adds to code: a line, and what is handed over."""
    if drawn.kept is None:
        return "", ""
    return words.seeded.format(seed=state["seed"]), f", {state['p']}, generator"


def _of_example(state: kit.PageState, drawn: Rung) -> str:
    rung, inputs, (seeded, dropout) = state["rung"], drawn.inputs, _seeded(state, drawn)
    matrices = {"x": inputs.x}
    if rung != "simple":
        matrices |= dict(zip(("w_q", "w_k", "w_v"), inputs.w, strict=True))
    if rung == "heads":
        matrices["w_o"] = inputs.projection[0]
    lines = (
        f"{name} = torch.tensor({part.tolist()}, dtype=torch.float64)"
        for name, part in matrices.items()
    )
    call = words.example_calls[rung].format(heads=state["n"], dropout=dropout)
    call += "" if rung == "simple" else ".attention"
    return words.snippet_example.format(matrices="\n".join(lines), seeded=seeded, call=call)


def _of_model(state: kit.PageState, drawn: Rung) -> str:
    inputs, rung, (layer, head) = drawn.inputs, state["rung"], drawn.place
    text = f"{words.snippet_model.format(name=inputs.name, ids=list(inputs.ids))}\n"
    if rung == "simple":
        tap = read_by(engine.load(inputs.name).model, layer)
        return text + words.snippet_simple.format(tap=tap)
    seeded, more = _seeded(state, drawn)
    if inputs.before:
        more += f", softmax_before_mask={inputs.before!r}"
    masked = rung != "qkv" and inputs.allowed is not None
    return text + words.snippet_steps.format(
        seeded=seeded,
        layer=layer,
        which="[0]" if rung == "heads" else f"[0, {head}]",
        mask="model.visible(ids)[0]" if masked else "None",
        more=more,
    )
