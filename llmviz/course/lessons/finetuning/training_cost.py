"""About how long a training takes here, told before it begins."""

from itertools import pairwise

import streamlit as st

from llmviz.course.ui import kit
from llmviz.files.paths import TUNED
from llmviz.training.reading import read_metrics

MEASURED = "instructions"  # the bundled fine-tuning whose curve says how long it took
NO_COST = "How long that takes is not known here: {reason}."


def tell_cost(template: str, texts: int, **line: object) -> None:
    """Say what a training of so many stories takes; template: with {seconds}."""
    try:
        seconds = seconds_of(texts)
    except ValueError as error:
        kit.inform(NO_COST.format(reason=error), ":material/timer_off:")
        return
    st.caption(template.format(seconds=seconds, **line))


@kit.cached(8)
def seconds_of(texts: int) -> float:
    """Return about how long a training takes that reads so many stories, by a bundled curve.

    What was measured between its updates is left out. Raises ValueError where it is not in this
    copy.
    """
    from llmviz.finetuning.recipes import TUNINGS

    curve = read_metrics(TUNED / MEASURED)
    if not curve:
        raise ValueError(f"the curve of {MEASURED} is empty")
    tokens = [0, *(point.tokens for point in curve)]
    pace = [point.tokens_per_second for point in curve]
    seconds = sum((b - a) / each for (a, b), each in zip(pairwise(tokens), pace, strict=True))
    return seconds * texts / (curve[-1].step * TUNINGS[MEASURED].plan.train.batch_size)
