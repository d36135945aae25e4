"""Texts longer than any of the training, for learned and rotary positions, three models each."""

from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.figures.theme import INK
from llmviz.course.lessons.errors.asked import beyond_context, words
from llmviz.course.ui import kit

KEY = "errors.asked.beyond"
ROLES = {beyond_context.LEARNED: "key", beyond_context.ROTARY: "query"}


def draw() -> None:
    known = kit.or_refused(beyond_context.recorded)
    if known is None:
        return
    kit.section(words.beyond)
    kit.chart(figure(kit.theme()), KEY, bar=False)
    found = numbers(known)
    kit.prose(words.beyond_read, context=known.context, **found)
    kit.measured(
        words.how_beyond,
        seeds=len(beyond_context.SEEDS),
        context=known.context,
        texts=kit.count(beyond_context.TEXTS, "text"),
        times=beyond_context.TIMES,
        half=known.context // 2,
        command=beyond_context.COMMAND,
        **found,
    )


def numbers(known: beyond_context.BeyondContext) -> dict[str, str]:
    """Return the mean losses before and behind the end of the context, and their ranges."""
    found = {}
    for kind in beyond_context.POSITIONS:
        for part, values in zip(("in", "out"), known.around_the_end(kind), strict=True):
            found[f"{kind}_{part}"] = f"{values.mean():.2f}"
            found[f"{kind}_{part}_range"] = f"{values.min():.2f} to {values.max():.2f}"
    return found


@kit.cached(2)
def figure(mode: kit.Mode) -> kit.Figure:
    """Return the loss by place, with the range of the models and the end of the context."""
    known = beyond_context.recorded()
    drawn = [
        Ranged(words.kinds[kind], ROLES[kind], known.losses[kind])
        for kind in beyond_context.POSITIONS
    ]
    starts = [round(place - beyond_context.BIN / 2) for place in known.places]
    places = [f"{start}–{start + beyond_context.BIN - 1}" for start in starts]
    made = ranged_lines(places, drawn, (words.beyond_axis, words.loss_axis), mode)
    last = known.context / beyond_context.BIN - 0.5
    ink = INK[mode]["muted"]
    made.add_vline(
        last, line_width=1, line_dash="dot", line_color=ink, annotation_text=words.trained
    )
    return made
