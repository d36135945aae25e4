"""Chapter "Two halves": a translation step by step, the words a decoder reads, and its tensors.

S source length, T steps of the decoder, G heads of all layers.
"""

import numpy as np
import streamlit as st

from llmviz.corpus.language import translate
from llmviz.course.components.two_halves.view import Translation, two_halves
from llmviz.course.lessons.transformer.halves import small, teacher, words
from llmviz.course.lessons.transformer.halves.model import Decoding, Looks, free, looks
from llmviz.course.lessons.transformer.halves.teacher import named
from llmviz.course.ui import engine, kit

MODEL = "pairs-seq2seq"
KEY = "transformer.halves"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    if not kit.models_here(MODEL):
        return
    bundled = engine.load(MODEL)
    sentence = kit.read_sentence(state, bundled, words.sentence)
    if sentence is not None:
        steps, open_now = _translation(state, bundled, sentence)
        open_now &= teacher.draw(state, sentence)
    known = sentence.known if sentence else translate(words.sentence)
    sources = len(known.source.split())
    small.draw(sources, len(known.target.split()) + 1)
    if sentence is not None and open_now:
        kit.seen(words.end, words=kit.count(sources, "word"), steps=kit.count(steps, "step"))


decoding = kit.kept(32)(kit.on_model(free))


@kit.kept(32)
def looks_of(bundled: engine.Bundled, source: tuple[int, ...]) -> Looks:
    """Return what its heads look at meanwhile."""
    decoded = decoding(bundled, source)
    return looks(bundled.model, source, decoded.read)


def best_head(sentence: kit.Sentence, decoded: Decoding, cross: np.ndarray, *, right: bool) -> int:
    """Return the head that puts most weight on the words that are known to be right; else 0."""
    if not right:
        return 0
    pairs = [(target, source) for source, target in sentence.known.alignment]
    return int(np.mean([cross[:, t, s] for t, s in pairs], axis=0).argmax())


def captions(read: list[str], written: list[str], chances: np.ndarray, count: int) -> list[str]:
    """Return the line of each step, T + 1 of them."""
    lines = [words.caption_read.format(count=count)]
    for step, (token, word, p) in enumerate(zip(read, written, chances[:, 0], strict=True), 1):
        line = words.caption_step if step > 1 else words.caption_first
        given = {"step": step, "steps": len(read), "before": step, "count": count}
        lines.append(line.format(token=token, said=word, share=kit.percent(float(p)), **given))
    return lines


def _translation(
    state: kit.PageState, bundled: engine.Bundled, sentence: kit.Sentence
) -> tuple[int, bool]:
    """Show a translation; return its steps, and whether its question covers nothing any more."""
    known = (bundled, sentence.ids)
    decoded, weights = decoding(*known), looks_of(*known)
    tokenizer, config = bundled.tokenizer, bundled.model.config
    source = sentence.known.source.split()
    best = [[named(token, tokenizer) for token in row] for row in decoded.best.tolist()]
    read = [words.start, *(named(token, tokenizer) for token in decoded.read[1:])]
    output = [row[0] for row in best]
    written = " ".join(read[1:])
    right = written == sentence.known.target
    head = state["halfhead"]

    translation = Translation(
        source,
        read,
        encoder=weights.encoder,
        own=weights.own,
        cross=weights.cross,
        best=best,
        chances=decoded.chances,
        names=[
            words.head.format(layer=layer, head=head)
            for layer in range(config.n_layer)
            for head in range(config.n_head)
        ],
        captions=captions(read, output, decoded.chances, len(source)),
    )
    two_halves(
        translation,
        words=words.view,
        key=KEY,
        step=state["halfstep"],
        chosen=best_head(sentence, decoded, weights.cross, right=right) if head < 0 else head,
        on_change=kit.bound(
            state, KEY, step=("halfstep", kit.or_first), chosen=("halfhead", kit.or_first)
        ),
    )
    st.caption(words.note)
    line = words.right if right else words.wrong
    text = line.format(said=kit.quote(written, 200), known=kit.quote(sentence.known.target, 200))
    passes = words.passes if output[-1] == words.end_token else words.passes_cut
    kit.prose(f"{text} {passes.format(steps=kit.count(len(read), 'step'))}")
    question = seen_question(len(source), len(read))
    open_now = question is None or kit.predict(question, f"{KEY}.seen", covers=True)
    kit.show_code(
        [free, looks],
        words.snippet.format(model=MODEL, source=sentence.known.source),
        f"{tokenizer.decode(decoded.read[1:])}\n"
        f"{weights.encoder.shape} {weights.own.shape} {weights.cross.shape}",
    )
    return len(read), open_now


def seen_question(count: int, steps: int) -> kit.Question | None:
    """Return what the newest token of a step sees; None for a sentence too short to ask.

    count: words of the sentence. steps: of the decoder.
    """
    places = [step for step in range(2, steps) if step != count]
    if not places:
        return None
    step = places[len(places) // 2]
    given = {"step": step, "steps": steps, "count": count, "left": steps - step}
    answers = {
        (step, count): words.ask_right,
        (steps, count): words.ask_future,
        (step, step): words.ask_narrow,
        (count, step): words.ask_turned,
    }
    return kit.Question.among(
        words.ask,
        answers,
        (step, count),
        lambda sides: words.sees.format(own=sides[0], cross=sides[1]),
        **given,
    )
