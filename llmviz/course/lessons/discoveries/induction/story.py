"""The story model: on random tokens that come twice, and on pairs that come again in a text."""

from collections.abc import Sequence

from llmviz.course.lessons.discoveries.induction import words
from llmviz.course.lessons.discoveries.induction.induction_record import (
    STORY_MODEL,
    story_on_random,
)
from llmviz.course.lessons.discoveries.induction.pairs_again import Again, OnRandomTokens, again_in
from llmviz.course.ui import engine, kit

ROWS = 12  # pairs that are shown
MOST = 600  # characters of the text


def draw(state: kit.PageState) -> None:
    """Show what the story model does on random tokens, and on the learner's pairs."""
    kit.section(words.in_story)
    kit.prose(f"{random_read(story_on_random())} {words.random_verdict}")
    kit.text_area(state, "copytext", words.story_text, height=90)
    text = kit.readable(state["copytext"], MOST, kit.EMPTY, kit.TOO_LONG)
    bundled = None if text is None else kit.load(STORY_MODEL)
    if text is None or bundled is None:
        return
    reading = kit.read(text, bundled)
    found = pairs(bundled, reading.ids)
    kit.prose(words.pairs_read["some" if found else "none"])
    if found:
        kit.rows_table(rows_of(found, reading.tokens), words.pairs_columns)
    if len(found) > ROWS:
        kit.prose(words.pairs_more, shown=ROWS, all=len(found))


@kit.kept(64)
def pairs(bundled: engine.Bundled, ids: tuple[int, ...]) -> list[Again]:
    """Return the pairs that come again, as the story model sees them."""
    return again_in(bundled.model, ids)


def rows_of(found: Sequence[Again], tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for each of the first pairs."""
    return [
        (
            f"{tokens[pair.place]}{tokens[pair.place + 1]}",
            kit.percent(pair.chance_before),
            kit.percent(pair.chance),
            words.head.format(layer=pair.layer, head=pair.head),
            kit.percent(pair.weight),
        )
        for pair in found[:ROWS]
    ]


def random_read(found: OnRandomTokens) -> str:
    """Return what a model does on random tokens that are written twice, in sentences."""
    return words.random_read.format(
        texts=found.texts,
        block=found.block,
        induction=kit.percent(found.induction),
        head=".".join(map(str, found.which)),
        even=kit.percent(found.even),
        first=found.first,
        first_error=found.first_error,
        again=found.again,
        again_error=found.again_error,
    )
