"""The loss on plain stories before and after, with and without some of them mixed in."""

from typing import NamedTuple

import numpy as np

from llmviz.course.figures.losses import compared
from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.instructions import words
from llmviz.course.lessons.finetuning.instructions.model import plain_stories, story_losses
from llmviz.course.ui import engine, kit
from llmviz.finetuning.recipes import TUNINGS
from llmviz.finetuning.tuned_models import tuned_card

MIXED, ALONE = "instructions", "instructions-alone"
STORIES = 16
LIKE = 0.0005  # nats per token that are no difference in the digits that are shown


class Losses(NamedTuple):
    """The loss of each story in nats per token, (STORIES,), under each model that is here."""

    base: np.ndarray
    mixed: np.ndarray
    alone: np.ndarray | None


def draw() -> dict[str, str] | None:
    """Show what fine-tuning did to plain stories; return the two losses."""
    try:
        bundled = tuned_model.base()
        losses = measured(bundled)
    except ValueError as error:
        kit.section(words.forgot_section.title)
        kit.refuse(error)
        return None
    kit.section(words.forgot_section, count=STORIES)
    kit.chart(bars(bundled, kit.theme()), "finetuning.forgot")
    kit.prose(report(losses))
    kit.prose(words.mix, share=kit.percent(TUNINGS[MIXED].plan.mix))
    if losses.alone is not None:
        kit.prose(
            words.mix_alone,
            alone=f"{losses.alone.mean():.3f}",
            alone_right=kit.percent(tuned_card(ALONE)["right"]),
            right=kit.percent(tuned_card(MIXED)["right"]),
        )
    return {"before": f"{losses.base.mean():.3f}", "after": f"{losses.mixed.mean():.3f}"}


@kit.kept(2)
def measured(bundled: engine.Bundled) -> Losses:
    """Return the losses; ValueError where the adapter is not here or does not fit."""
    stories, tokenizer = plain_stories(STORIES), bundled.tokenizer
    models = [bundled, tuned_model.tuned(MIXED)]
    if has(ALONE):
        models.append(tuned_model.tuned(ALONE))
    losses = [story_losses(model.model, tokenizer, stories) for model in models]
    return Losses(losses[0], losses[1], losses[2] if len(losses) > 2 else None)


def has(name: str) -> bool:
    """Whether a bundled fine-tuning is in this copy."""
    try:
        tuned_card(name)
    except ValueError:
        return False
    return True


def report(losses: Losses) -> str:
    """Return how the loss changed, in a sentence."""
    base, mixed = float(losses.base.mean()), float(losses.mixed.mean())
    share = abs(mixed / base - 1)
    kind = "same" if abs(mixed - base) < LIKE else "more" if mixed > base else "less"
    return words.forgot.format(
        base=f"{base:.3f}",
        tuned=f"{mixed:.3f}",
        change=words.changes[kind].format(share=kit.percent(share)),
        worse=int((losses.mixed > losses.base).sum()),
        count=len(losses.base),
    )


@kit.kept(8)
def bars(bundled: engine.Bundled, mode: kit.Mode) -> kit.Figure:
    """Return the mean losses as bars; that after questions alone, too, where it is here."""
    losses = measured(bundled)
    named = [(words.bars["base"], losses.base), (words.bars["mixed"], losses.mixed)]
    if losses.alone is not None:
        named.append((words.bars["alone"], losses.alone))
    names, values = [name for name, _ in named], [float(nats.mean()) for _, nats in named]
    return compared(names, values, 0, words.forgot_bars, mode)
