"""The section "Spot the mistake": top-p on a cut vocabulary, and a tie at top-k."""

import streamlit as st

from llmviz.course.lessons.sampling.pipeline import model as top_mistakes
from llmviz.course.lessons.sampling.pipeline import words as words
from llmviz.course.lessons.sampling.pipeline.model import CutVocabulary, Tie
from llmviz.course.lessons.sampling.source import Prompted, logits_after
from llmviz.course.ui import engine, kit


@kit.kept(256)
def of_prompt(
    bundled: engine.Bundled, ids: tuple[int, ...]
) -> tuple[CutVocabulary | None, Tie | None]:
    """Return what both mistakes do to a model's logits after a prompt."""
    logits = logits_after(bundled, ids)
    cut = top_mistakes.cut_vocabulary(logits)
    return cut, top_mistakes.tie_at_top_k(top_mistakes.as_bfloat16(logits))


def draw(prompt: Prompted) -> None:
    """Show the mistakes that change something for this prompt."""
    cut, tie = of_prompt(prompt.bundled, prompt.ids)
    if cut is None and tie is None:
        return
    kit.section(words.mistake_intro)
    shown = True
    if cut:
        st.code(words.mistake_cut_code.format(**cut._asdict()), language="python")
        shown &= kit.predict(cut_question(cut, prompt.vocab_size), "pipeline.cut", covers=True)
    if tie:
        st.code(words.mistake_tie_code.format(**tie._asdict()), language="python")
        shown &= kit.predict(tie_question(tie, prompt), "pipeline.tie", covers=True)
    if shown:
        kit.show_code(
            [top_mistakes.cut_vocabulary, top_mistakes.tie_at_top_k],
            words.snippet_mistakes.format(name=prompt.bundled.name, text=prompt.text),
            f"{cut}\n{tie}",
        )


def cut_question(cut: CutVocabulary, vocab_size: int) -> kit.Question:
    """Ask what the program prints that cuts the vocabulary before softmax."""
    reason = words.mistake_cut_reason.format(
        left=kit.count(vocab_size - cut.shortlist, "token"),
        short=kit.count(cut.short, "token"),
        p=cut.p,
        mass=kit.percent(cut.mass),
    )
    numbers = {
        cut.short: reason,
        cut.whole: words.mistake_cut_whole,
        2 * cut.whole - cut.short: words.mistake_cut_more,  # as many too many
    }
    text = words.mistake_cut_ask.format(
        vocabulary=vocab_size, p=cut.p, whole=kit.count(cut.whole, "token")
    )
    return kit.Question.among(text, numbers, cut.short)


def tie_question(tie: Tie, prompt: Prompted) -> kit.Question:
    """Ask what the program prints that lets in all tokens of a tie."""
    last, extra = (kit.quote(prompt.token_text(token)) for token in (tie.last, tie.extra))
    numbers = {
        tie.kept: words.mistake_tie_reason.format(last=last, extra=extra, k=tie.k, value=tie.value),
        tie.k: words.mistake_tie_right,
        tie.k - 1: words.mistake_tie_less.format(k=tie.k),
    }
    return kit.Question.among(words.mistake_tie_ask, numbers, tie.kept, k=tie.k)
