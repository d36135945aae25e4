"""The look-ups of bundled models, kept for all visitors.

V vocabulary.
"""

import numpy as np

from llmviz.corpus import Lookup
from llmviz.course.lessons.attention.trained import model as lookup_trace
from llmviz.course.lessons.attention.trained.model import Head, LookPair
from llmviz.course.ui import engine, kit
from llmviz.sampling.steps import softmax

STORIES = 16


@kit.cached(8)
def stories(bundled: engine.Bundled) -> list[Lookup]:
    """Return stories that fit a model's context and whose answers are single tokens of it."""
    context = bundled.model.context_length
    return lookup_trace.fitting_stories(bundled.tokenizer, context, STORIES)


def pair(bundled: engine.Bundled, story: Lookup) -> LookPair:
    """Return a story as the model reads it, with either question."""
    ids = (tuple(bundled.tokenizer.encode_from_start(prompt)) for prompt in story.prompts)
    return lookup_trace.pair_of(story, *(look(bundled, tokens) for tokens in ids))


look = kit.cached(32)(kit.on_model(lookup_trace.look))


def chances(bundled: engine.Bundled, pair: LookPair) -> np.ndarray:
    """Return the probability of each answer (columns) after each question (rows), (2, 2)."""
    answers = answer_ids(bundled, pair.story)
    return np.stack([softmax(reading.logits.astype(np.float64))[answers] for reading in pair.looks])


def answer_ids(bundled: engine.Bundled, story: Lookup) -> list[int]:
    """Return the token of each answer."""
    return [bundled.tokenizer.encode(answer)[0] for answer in story.answers]


def after_swap(bundled: engine.Bundled, pair: LookPair) -> np.ndarray:
    """Return the probabilities (V,) of what follows the first question.

    The heads that move give its last token what they give that of the second question.
    """
    first, second = pair.looks
    logits = _swapped(bundled, first.ids, second.ids, tuple(pair.movers))
    return softmax(logits.astype(np.float64))


@kit.cached(32)
def _swapped(
    bundled: engine.Bundled, ids: tuple[int, ...], other: tuple[int, ...], heads: tuple[Head, ...]
) -> np.ndarray:
    """Return the last logits (V,) on `ids` where heads give what they give on `other`."""
    model = bundled.model
    return lookup_trace.logits_with_heads_of(model, ids, look(bundled, other), heads)
