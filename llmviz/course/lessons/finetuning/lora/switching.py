"""Merging measured on the learner's text, and several adapters on one base."""

import time

import streamlit as st

from llmviz.course.lessons.finetuning import typed_beginning
from llmviz.course.lessons.finetuning.lora import source, words
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.finetuning.adapted import BothWays, MergedCopy, both_ways, pairs_of
from llmviz.finetuning.continuations import Continuation, continuation
from llmviz.finetuning.lora import merge, unmerge, use_adapter
from llmviz.finetuning.plan import BASE

KEY = "finetuning.lora.switching"
TOKENS = 12  # that are written
ALONE = ""  # the base without an adapter


def draw(state: kit.PageState, name: str) -> None:
    """Show both sections; name: of the adapter that is merged."""
    kit.section(words.switch)

    def take(name: str) -> None:
        state["adapted"] = words.prompts[name]

    key = f"_{KEY}.examples"
    kit.suggest(words.examples, list(words.prompts), take, key=key, label_visibility="collapsed")
    text = typed_beginning.ask(state, "adapted", words.prompt, words.empty)
    if text is None:
        return
    names = {ALONE: words.base_alone, **words.adapters}
    for column, (adapter, label) in zip(st.columns(len(names)), names.items(), strict=True):
        with column:
            st.markdown(f"**{label}**")
            st.code(
                written(_model(adapter), text).text or words.nothing, language=None, wrap_lines=True
            )
    kit.prose(memory(base()))
    beside = source.beside(name)
    difference, taken_out = compared(beside, text), source.merged(beside)
    apart = (words.merge_apart if difference.largest else words.merge_same).format(
        tokens=kit.count(len(read(text)), "token"),
        largest=kit.power_of_ten(difference.largest),
        logit=difference.logit,
    )
    line = words.merge_read.format(
        apart=apart,
        back=_back(taken_out),
        slow=1000 * difference.seconds[0],
        fast=1000 * difference.seconds[1],
    )
    kit.section(words.merge.title, f"{words.merge_text}\n\n{line}")
    _code(name, text)


def _back(taken_out: MergedCopy) -> str:
    """Return how the matrices are after the adapter was taken out again."""
    if not taken_out.back:
        return words.merge_not_back
    kind = "rounding" if taken_out.apart else "none"
    subtracted = words.merge_subtracted[kind].format(weights=kit.count(taken_out.apart, "weight"))
    return words.merge_back.format(subtracted=subtracted)


def read(text: str) -> tuple[int, ...]:
    """Return a text as the base reads it: its last tokens where the context is full."""
    bundled = base()
    return tuple(bundled.tokenizer.encode_from_start(text)[-bundled.model.context_length :])


def _model(name: str) -> engine.Bundled:
    """The base with an adapter, or alone."""
    return source.beside(name) if name else base()


@kit.kept(96)
def written(bundled: engine.Bundled, text: str) -> Continuation:
    """Return what a model writes behind a text."""
    return continuation(bundled.model, bundled.tokenizer, text, TOKENS)


@kit.kept(32)
def compared(bundled: engine.Bundled, text: str) -> BothWays:
    """Return what merging changes for a text, measured once."""
    merged = source.merged(bundled).model
    return both_ways(bundled.model, merged, read(text), time.thread_time)


@kit.kept(4)
def memory(bundled: engine.Bundled) -> str:
    """Return what the models take together, in a sentence."""
    numbers = sum(tensor.numel() for tensor in bundled.model.parameters())
    each = [
        sum(a.size + b.size for a, b in pairs_of(source.beside(name).model).values())
        for name in words.adapters
    ]
    apiece = " and ".join(f"{size:,}" for size in dict.fromkeys(each))
    return words.memory.format(
        base=f"{numbers:,}", each=apiece, models=1 + len(each), ratio=1 + sum(each) / numbers
    )


def _code(name: str, text: str) -> None:
    if len(text) > kit.IN_SNIPPET:
        return
    kit.show_code(
        [use_adapter, merge, unmerge],
        words.snippet_switching.format(
            base=BASE, adapters=list(words.adapters), text=text, tokens=TOKENS
        ),
        lambda: "\n".join(
            repr(written(_model(adapter), text).text) for adapter in (ALONE, *words.adapters)
        ),
    )
