"""What a mask changes, in words: what a token sees, how far the weights are off, what leaks."""

import numpy as np
import streamlit as st
from torch import Tensor

from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.masks import words
from llmviz.course.lessons.attention.masks.model import leak
from llmviz.course.ui import kit
from llmviz.nn.attention.steps import AttentionSteps

LISTED = 4  # differences said in words
SEEN = 0.005  # a share below this is not worth a sentence


def say_differences(inputs: Inputs, steps: AttentionSteps, right: AttentionSteps) -> None:
    """Say which tokens now see which, and how far the weights are from the right ones."""
    tokens = inputs.tokens
    now, then = steps.weights, right.weights
    new = (now > SEEN) & (then == 0)
    gone = (now == 0) & (then > SEEN)
    sentences = []
    for cells, line, share in (
        (new, words.mask_sees, now),
        (gone, words.mask_blind, then),
    ):
        places = cells.nonzero().tolist()
        for i, j in places[:LISTED]:
            asking, asked = (tokens[at].strip("·") or tokens[at] for at in (i, j))
            text = line.format(asking=asking, asked=asked, share=f"{share[i, j]:.0%}")
            sentences.append(f"- row {i}: {kit.escape_markdown(text)}")
        if len(places) > LISTED:
            sentences.append(f"- {words.mask_more.format(count=len(places) - LISTED)}")
    if sentences:
        st.markdown("\n".join(sentences))
    change = (now - then).abs().max().item()
    if change < 1e-6:
        kit.prose(words.mask_equal)
        return
    text = words.mask_changed.format(
        change=digits(change), right=then.amax(-1).mean().item(), now=now.amax(-1).mean().item()
    )
    sums = now.sum(-1)
    if (sums - 1).abs().max() > 1e-4:
        listed = ", ".join(f"{value:.2f}" for value in sums.tolist())
        text += " " + words.mask_sums.format(sums=listed)
    kit.prose(text)


def digits(change: float) -> str:
    """Return a change with three digits, however small it is.

    >>> digits(0.49875), digits(0.00001234)
    ('0.499', '0.0000123')
    """
    return np.format_float_positional(change, 3, unique=False, fractional=False, trim="k")


def say_leak(steps: AttentionSteps, mask: Tensor | None, before: str | None) -> None:
    """Say whether forbidden scores reach the allowed weights."""
    if mask is None or bool(mask.all()):
        return
    leaked = leak(steps, mask, before)
    kit.prose(words.mask_leak.format(leak=digits(leaked)) if leaked > 1e-5 else words.mask_tight)
