"""One head of cross-attention as matrices: what is being written asks what was read.

T target length, S source length, C width, D head size, L layers, H heads.
"""

from collections.abc import Sequence

import torch

from llmviz.course.lessons.attention.cross import words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import Picture, Way, project, scale_of, weights_to_output
from llmviz.interpretability.translation_trace import TranslationTrace, translation_trace
from llmviz.nn.attention import attention

STEPS = ("scores", "scaled", "weights", "context")


crossed = kit.kept(32)(kit.on_model(translation_trace))


def matrices(
    bundled: engine.Bundled,
    trace: TranslationTrace,
    place: tuple[int, int],
    asking: Sequence[str],
    asked: Sequence[str],
) -> Picture:
    """Return one head from both sequences to what it hands the decoder, step by step.

    place: its layer and number. asking, asked: the tokens of the target and of the source.
    """
    layer, head = place
    attn, picture = bundled.model.decoder.blocks[layer].cross, Picture()
    q, k, v = (torch.tensor(part[layer, head]) for part in trace.parts)
    steps = attention(q, k, v)
    d = q.shape[-1]
    c, n = picture.window("C", trace.read.shape[1]), picture.window("N", d)
    sides = {
        "Y": (trace.asks[layer], asking, words.written),
        "E": (trace.read, asked, words.read_formula),
    }
    for name, (values, tokens, text) in sides.items():
        more = {"role": "residual", "row_labels": tokens, "windows": ("", c)}
        picture.add(name, torch.tensor(values), name, text, **more)
    picture.step(list(sides), words.steps["sides"].format(asking=len(asking), asked=len(asked)))
    biases = (None, None, None)
    if attn.qkv.bias is not None:
        biases = attn.qkv.bias.detach().view(3, attn.n_head, 1, d)[:, head]  # each (1, D)
    own = zip("QKV", "YEE", (q, k, v), attn.projections(head), biases, strict=True)
    for letter, side, values, weight, bias in own:
        names = project(picture, letter, values, side, sides[side][1], (weight, bias), (c, n))
        picture.step(names, words.steps[letter])
    weights_to_output(
        picture, asking, steps, "V", operands=("Q", "K"), way=Way(scale_of(d)), asked=asked
    )
    for name in STEPS:
        picture.step([name], words.steps[name].format(scale=scale_of(d)[1]))
    picture.layout = [
        ["Y", "W_Q", "Q"],
        ["E", "W_K", "K"],
        [None, "W_V", "V"],
        ["scores", "scaled", "weights"],
        ["context", None, None],
    ]
    return picture
