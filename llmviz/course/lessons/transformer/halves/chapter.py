"""Chapter "Two halves": a translation step by step, and the words that a decoder reads.

S source length, T steps of the decoder, G heads of all layers.
"""

import numpy as np
import streamlit as st

from llmviz.course.components.two_halves.view import Translation, two_halves
from llmviz.course.lessons.transformer.halves import teacher, words
from llmviz.course.lessons.transformer.halves.model import Decoding, Looks, free, looks
from llmviz.course.lessons.transformer.halves.teacher import named
from llmviz.course.ui import engine, kit

MODEL = "pairs-seq2seq"
KEY = "transformer.halves"
GUESS = f"{KEY}.looks"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the translation, the guess about it and the looks, then both ways to feed a decoder."""
    kit.prose(words.hook)
    if not kit.models_here(MODEL):
        return
    bundled, stage = engine.load(MODEL), kit.stage("halves")
    with st.expander(kit.furniture.source, icon=":material/edit_note:"):
        sentence = kit.read_sentence(state, bundled, words.sentence)
    if sentence is None:
        return
    decoded, weights = decoding(bundled, sentence.ids), looks_of(bundled, sentence.ids)
    read = [named(token, bundled.tokenizer) for token in decoded.read[1:]]
    right = " ".join(read) == sentence.known.target
    best = best_head(sentence, decoded, weights.cross, right=right)
    source = sentence.known.source.split() if right else []
    asked, step = question(source, read, weights.cross[best])
    seen = bool(state["halfstep"])  # who steps on sees it
    guess = kit.Guess(GUESS, asked, seen, leads=f"halfstep={step}")
    with stage:
        _translation(state, bundled, sentence, best)
        shown = guess.ask()
    if shown and state["sentence"] == words.sentence:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    line = words.right if right else words.wrong
    said, known = " ".join(read), sentence.known.target
    kit.prose(line, said=kit.quote(said, 200), known=kit.quote(known, 200))
    _code(sentence, decoded, weights, bundled)
    teacher.draw(state, sentence)
    if shown:
        count = kit.count(len(sentence.ids), "word")
        kit.seen(words.end, words=count, steps=kit.count(len(decoded.read), "step"))


def question(
    source: list[str], written: list[str], cross: np.ndarray
) -> tuple[kit.Question | None, int]:
    """Ask which word of the sentence a head looked at most to write a word; None if two fit.

    Returns also the step that writes it. cross (T, S): its weights. The wrong answers are those of
    somebody to whom the words stand in one order, and of one who goes on where the word before was
    found.
    """
    looked = cross.argmax(-1).tolist()
    for at in reversed(range(1, len(written))):
        places = {looked[at]: words.ask_right, at: words.ask_same, looked[at - 1]: words.ask_before}
        if len(places) == 3 and at < len(source) and len({source[i] for i in places}) == 3:
            reasons = {source[i]: reason for i, reason in places.items()}
            share = kit.percent(float(cross[at, looked[at]]))
            right = source[looked[at]]
            word, right_word = kit.quote(written[at]), kit.quote(right)
            asked = kit.Question.among(
                words.ask, reasons, right, word=word, right_word=right_word, share=share
            )
            return asked, at + 1
    return None, 0


decoding = kit.cached(32)(kit.on_model(free))


@kit.cached(32)
def looks_of(bundled: engine.Bundled, source: tuple[int, ...]) -> Looks:
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
    state: kit.PageState, bundled: engine.Bundled, sentence: kit.Sentence, best_of: int
) -> None:
    known = (bundled, sentence.ids)
    decoded, weights = decoding(*known), looks_of(*known)
    tokenizer, config = bundled.tokenizer, bundled.model.config
    source = sentence.known.source.split()
    best = [[named(token, tokenizer) for token in row] for row in decoded.best.tolist()]
    read = [words.start, *(named(token, tokenizer) for token in decoded.read[1:])]
    output = [row[0] for row in best]
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
        chosen=best_of if head < 0 else head,
        on_change=kit.bound(
            state, KEY, step=("halfstep", kit.or_first), chosen=("halfhead", kit.or_first)
        ),
    )


def _code(
    sentence: kit.Sentence, decoded: Decoding, weights: Looks, bundled: engine.Bundled
) -> None:
    kit.show_code(
        [free, looks],
        words.snippet.format(model=MODEL, source=sentence.known.source),
        f"{bundled.tokenizer.decode(decoded.read[1:])}\n"
        f"{weights.encoder.shape} {weights.own.shape} {weights.cross.shape}",
    )
