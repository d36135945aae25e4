"""Texts longer than any of the training, for learned and rotary positions, three models each."""

from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.figures.theme import INK
from llmviz.course.lessons.errors.asked import words
from llmviz.course.lessons.errors.asked.beyond_context import (
    BIN,
    COMMAND,
    LEARNED,
    POSITIONS,
    ROTARY,
    SEEDS,
    TEXTS,
    TIMES,
    BeyondContext,
    recorded,
)
from llmviz.course.ui import kit

KEY = "errors.asked.beyond"
ROLES = {LEARNED: "key", ROTARY: "query"}


def draw() -> None:
    """Show the section."""
    known = kit.or_refused(recorded)
    if known is None:
        return
    kit.section(
        words.beyond,
        seeds=len(SEEDS),
        context=known.context,
        texts=kit.count(TEXTS, "text"),
        times=TIMES,
        command=COMMAND,
    )
    kit.chart(figure(kit.theme()), KEY, bar=False)
    kit.prose(words.beyond_read.format(half=known.context // 2, **numbers(known)))


def numbers(known: BeyondContext) -> dict[str, str]:
    """Return the mean losses before and behind the end of the context, and their ranges."""
    found = {}
    for kind in POSITIONS:
        for part, values in zip(("in", "out"), known.around_the_end(kind), strict=True):
            found[f"{kind}_{part}"] = f"{values.mean():.2f}"
            found[f"{kind}_{part}_range"] = f"{values.min():.2f} to {values.max():.2f}"
    return found


@kit.kept(2)
def figure(mode: kit.Mode) -> kit.Figure:
    """Return the loss by place, with the range of the models and the end of the context."""
    known = recorded()
    drawn = [Ranged(words.kinds[kind], ROLES[kind], known.losses[kind]) for kind in POSITIONS]
    starts = [round(place - BIN / 2) for place in known.places]
    places = [f"{start}–{start + BIN - 1}" for start in starts]
    made = ranged_lines(places, drawn, (words.beyond_axis, words.loss_axis), mode)
    last = known.context / BIN - 0.5
    ink = INK[mode]["muted"]
    made.add_vline(
        last, line_width=1, line_dash="dot", line_color=ink, annotation_text=words.trained
    )
    return made
