"""Chapter "Cross-attention": a translation, and the alignment that is known beside it."""

import numpy as np
import streamlit as st
import torch

from llmviz.course.components import head_view
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.cross import cells as cross_cells
from llmviz.course.lessons.attention.cross import words
from llmviz.course.lessons.attention.matrices import linked_matrices as linked
from llmviz.course.lessons.attention.steps import words as steps_words
from llmviz.course.ui import engine, kit
from llmviz.interpretability.translation_trace import translation_trace
from llmviz.nn.attention import attention
from llmviz.nn.attention.study import alignment_share

PAIRS = "pairs-seq2seq"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the translation, and where each of its words comes from."""
    kit.section(words.intro)
    if not kit.models_here(PAIRS):
        return
    bundled = engine.load(PAIRS)
    sentence = kit.read_sentence(state, bundled)
    if sentence is None:
        return
    known = sentence.known
    trace = cross_cells.crossed(bundled, sentence.ids)
    target = bundled.tokenizer.decode(trace.written)
    asking, asked = [*target.split(), words.end_token], known.source.split()
    right = target == known.target
    line = words.right if right else words.wrong
    kit.prose(line, written=unmarked(kit.quote(target, 200)), known=known.target)
    flat, heads = trace.weights, bundled.model.config.n_head
    places = [divmod(i, heads) for i in range(len(flat))]
    names = [lesson_words.head_name.format(layer=layer, head=head) for layer, head in places]
    marks = [(j, i) for i, j in known.alignment] if right else []
    notes: list[str] = []
    best = 0
    if right:
        shares = alignment_share(torch.tensor(flat), known.alignment).tolist()
        notes = [words.note.format(share=f"{share:.0%}") for share in shares]
        best = int(np.argmax(shares))
    chosen = kit.keep(state, "pair", [-1, *range(len(flat))])
    chosen = best if chosen < 0 else chosen

    head_view(
        flat,
        asking,
        key="attention.cross",
        names=names,
        key_tokens=asked,
        notes=notes,
        marks=marks,
        chosen=chosen,
        on_change=kit.bound(state, "attention.cross", chosen=("pair", kit.or_first)),
    )
    st.caption(lesson_words.view_rounded)
    if right:
        kit.prose(
            words.read,
            head=names[best],
            share=f"{shares[best]:.0%}",
            count=len(known.alignment),
            even=f"{1 / len(asked):.0%}",
        )
    kit.section(words.cells, head=names[chosen])
    matrices = cross_cells.matrices(bundled, trace, places[chosen], asking, asked)
    linked.show(state, matrices, "attention.cross.cells", control="crossing")
    if matrices.windows:
        kit.prose(steps_words.windows)
    kit.show_code(
        [attention, alignment_share, translation_trace],
        words.snippet.format(pairs=PAIRS, source=known.source, at=chosen),
        f"{target}\n{[f'{w:.2f}' for w in flat[chosen][0].tolist()]}",
    )
    looks = ""
    if right:
        share = f"{shares[best]:.0%}"
        looks = words.end_looks.format(head=names[best].capitalize(), share=share)
    read, written = kit.count(len(asked), "token"), kit.count(len(asking), "token")
    kit.seen(words.end, read=read, written=written, looks=looks)
