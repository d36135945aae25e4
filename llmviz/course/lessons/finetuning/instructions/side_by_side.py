"""The base model and the fine-tuned one on the learner's question."""

import math

import numpy as np
import streamlit as st

from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.instructions import words
from llmviz.course.lessons.finetuning.instructions.model import Example, example_of, nats_of
from llmviz.course.ui import engine, kit
from llmviz.finetuning.continuations import Continuation, continuation
from llmviz.finetuning.instructions import Instruction
from llmviz.finetuning.tuned_models import tuned_card

TUNING = "instructions"
TOKENS = 24
ASKED = 120  # questions that the score in the card is over


def draw(task: Instruction) -> None:
    """Show what both models answer, and how probable the right answer is to them.

    Raises ValueError where the adapter is not here or does not fit.
    """
    kit.section(words.side)
    models = both()
    answers = {name: answer(bundled, task.prompt) for name, bundled in models.items()}
    if answers["base"].left_out:
        kept_tokens = models["base"].model.context_length - TOKENS
        kit.inform(words.cut.format(kept=kept_tokens), ":material/content_cut:")
    titles = {"base": words.base, "tuned": words.tuned}
    for column, (name, answered) in zip(st.columns(len(answers)), answers.items(), strict=True):
        with column:
            st.markdown(f"**{titles[name]}**")
            st.code(answered.text.strip() or words.nothing, language=None, wrap_lines=True)
            ends = words.ends if answered.ended else words.stopped.format(count=TOKENS)
            st.caption(ends)
            kit.prose(verdict(answered, task))
    if task.answer:
        _chances(task)
    card = tuned_card(TUNING)
    if "right" in card:
        kinds = ", ".join(
            f"{words.kinds.get(kind, kind)} {kit.percent(share)}"
            for kind, share in card["right_by_kind"].items()
        )
        kit.prose(words.card, asked=ASKED, right=kit.percent(card["right"]), kinds=kinds)


def verdict(continuation: Continuation, task: Instruction) -> str:
    """Return whether an answer is right: its first line is the reply, capitals or not."""
    if not task.answer:
        return words.unknown
    text, reply = continuation.text.strip().casefold(), task.reply.strip().casefold()
    if text.split("\n")[0].strip() == reply:
        return words.right
    cut_off = bool(text) and not continuation.ended and reply.startswith(text)
    line = words.goes_on if text.startswith(reply) else words.too_long if cut_off else words.wrong
    return line.format(answer=kit.quote(task.answer))


def _chances(task: Instruction) -> None:
    models = both()
    try:
        known = encoded(models["base"], task)
    except ValueError:  # too long to be trained on, which the part about the mask says
        return
    counted = np.array(known.counts[1:])
    chances = {
        name: math.exp(-float(nats(model, task)[counted].sum())) for name, model in models.items()
    }
    line = {name: kit.percent(p) if p >= 1e-4 else words.tiny for name, p in chances.items()}
    kit.prose(words.chance, answer=kit.quote(task.answer), **line)


@kit.kept(64)
def answer(bundled: engine.Bundled, prompt: str) -> Continuation:
    """Return what one of the models writes after a prompt."""
    return continuation(bundled.model, bundled.tokenizer, prompt, TOKENS)


@kit.kept(64)
def encoded(bundled: engine.Bundled, task: Instruction) -> Example:
    """Return an example token by token; ValueError for one that is too long."""
    return example_of(bundled.tokenizer, task, bundled.model.context_length)


@kit.kept(64)
def nats(bundled: engine.Bundled, task: Instruction) -> np.ndarray:
    """Return what each token of an example costs one of the models, in nats."""
    return nats_of(bundled.model, encoded(bundled, task))


def both() -> dict[str, engine.Bundled]:
    """Return the base, and the base with the adapter."""
    return {"base": tuned_model.base(), "tuned": tuned_model.tuned(TUNING)}
