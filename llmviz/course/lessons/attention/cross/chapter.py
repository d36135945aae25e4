"""Chapter "Cross-attention": a translation, and where each of its words comes from by the rules."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
import torch

from llmviz.course.components import head_view
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.cross import words
from llmviz.course.lessons.attention.matrices import linked_matrices as linked
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import Picture, Way, project, scale_of, weights_to_output
from llmviz.interpretability.translation_trace import TranslationTrace, translation_trace
from llmviz.nn.attention import attention
from llmviz.nn.attention.study import alignment_share

STEPS = ("scores", "scaled", "weights", "context")


crossed = kit.cached(32)(kit.on_model(translation_trace))


def cell_matrices(
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


PAIRS = "pairs-seq2seq"
KEY, GUESS = "attention.cross", "attention.cross.aligned"
APART = 0.15  # of all weight, on average, between the answers of the question


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what the words of a translation look at, and how well that fits the rules."""
    kit.prose(words.hook)
    if not kit.models_here(PAIRS):
        return
    bundled = engine.load(PAIRS)
    with kit.stage("cross"):
        bars, picture = st.container(), st.container()
        sentence = kit.read_sentence(state, bundled)
    if sentence is None:
        return
    known = sentence.known
    trace = crossed(bundled, sentence.ids)
    target = bundled.tokenizer.decode(trace.written)
    asking, asked = [*target.split(), words.end_token], known.source.split()
    right, heads = target == known.target, bundled.model.config.n_head
    places = [divmod(i, heads) for i in range(len(trace.weights))]
    names = [lesson_words.head_name.format(layer=layer, head=head) for layer, head in places]
    shares = (
        alignment_share(torch.tensor(trace.weights), known.alignment).numpy() if right else None
    )
    guess = kit.Guess(GUESS, question(shares, 1 / len(asked)) if shares is not None else None)
    revealed = guess.open
    chosen = kit.keep(state, "pair", [-1, *range(len(names))])
    if chosen < 0:
        chosen = int(np.argmax(shares)) if revealed and shares is not None else 0
    with picture:
        head_view(
            trace.weights,
            asking,
            key=KEY,
            names=names,
            key_tokens=asked,
            notes=[words.note.format(share=f"{share:.0%}") for share in shares]
            if revealed and shares is not None
            else [],
            marks=[(j, i) for i, j in known.alignment] if right else [],
            chosen=chosen,
            on_change=kit.bound(state, KEY, chosen=("pair", kit.or_first)),
        )
        line = words.caption["right" if right else "wrong"]
        kit.prose(line, written=unmarked(kit.quote(target, 200)), known=known.target)
    with bars:
        if shares is not None:
            _extremes(shares, 1 / len(asked), names, guess)
        revealed = guess.ask()
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.cells, head=names[chosen])
    matrices = cell_matrices(bundled, trace, places[chosen], asking, asked)
    linked.show(state, matrices, f"{KEY}.cells", control="crossing")
    kit.show_code(
        [attention, alignment_share, translation_trace],
        words.snippet.format(pairs=PAIRS, source=known.source, at=chosen),
        f"{target}\n{[f'{w:.2f}' for w in trace.weights[chosen][0].tolist()]}",
    )
    if revealed:
        read, written = kit.count(len(asked), "word"), kit.count(len(asking), "token")
        kit.seen(words.end, read=read, written=written)


def question(shares: np.ndarray, even: float) -> kit.Question | None:
    """Ask how much weight the best and the worst head put on the right words.

    The wrong answers are of somebody to whom all heads learn the same, and of one to whom nobody
    told them anything. None where an answer is near the right one.
    """
    best, worst, mean = (float(at) for at in (shares.max(), shares.min(), shares.mean()))
    values = {"right": (best, worst), "same": (mean, mean), "even": (even, even)}
    apart = min(
        np.abs(np.subtract(values[a], values[b])).mean()
        for a, b in (("right", "same"), ("right", "even"), ("same", "even"))
    )
    if apart < APART:
        return None
    return kit.Question(
        words.ask,
        [words.answers[name] for name in values],
        0,
        [
            words.reasons[name].format(best=kit.percent(best), worst=kit.percent(worst))
            for name in values
        ],
        values=list(values.values()),
    )


def _extremes(shares: np.ndarray, even: float, names: list[str], guess: kit.Guess) -> None:
    revealed = guess.open
    cases = [kit.Case(words.even, even, role="residual")]
    for label, at in ((words.best, shares.argmax()), (words.worst, shares.argmin())):
        named = words.named.format(which=label, head=names[at]) if revealed else label
        cases.append(kit.Case(named, float(shares[at])))
    axis = kit.Axis(0, 1, words.axis)
    guess.cases(cases, axis, veiled=[1, 2], picture=f"{KEY}.extremes")
