"""Accuracy against the number of training texts, as it was measured for each way of training."""

import streamlit as st

from llmviz.course.figures.finetuning import bands
from llmviz.course.lessons.finetuning.classifier import words
from llmviz.course.lessons.finetuning.classifier.examples_curve import (
    COMMAND,
    TASK,
    Measured,
    measured,
)
from llmviz.course.ui import kit
from llmviz.finetuning.plan import BASE


def draw() -> None:
    """Show the measured curves; say how they are made where they are not in this copy."""
    try:
        measured = curves()
    except ValueError:
        kit.section(words.curve.title)
        kit.inform(words.no_curve, ":material/download:")
        st.code(COMMAND, language=None)
        return
    line = {
        "least": measured.counts[0],
        "most": f"{measured.counts[-1]:,}",
        "seeds": measured.seeds,
    }
    question = words.task_text[TASK]
    kit.section(words.curve, question=question, base=BASE, tested=measured.tested, **line)
    kit.chart(picture(kit.theme()), "finetuning.classifier.examples")
    steps = words.curve_steps.format(command=COMMAND, **measured.steps)
    kit.prose(f"{steps}\n\n{reading_of(measured)}")


curves = kit.kept(1)(measured)


def reading_of(measured: Measured) -> str:
    """Return what the chart says: where a trained model helps most, and what is left of it."""
    means = {band.way: band.mean for band in measured.bands}
    nothing = means.pop("nothing")
    gaps = {
        (way, at): share - nothing[at]
        for way, shares in means.items()
        for at, share in enumerate(shares)
    }
    best, at = max(gaps, key=gaps.__getitem__)
    return words.curve_read.format(
        count=f"{measured.counts[at]:,}",
        best=words.ways[best],
        best_share=kit.percent(means[best][at]),
        nothing_share=kit.percent(nothing[at]),
        most=f"{measured.counts[-1]:,}",
        best_most=kit.percent(means[best][-1]),
        nothing_most=kit.percent(nothing[-1]),
    )


@kit.kept(2)
def picture(mode: kit.Mode) -> kit.Figure:
    """Return the curves with their bands."""
    measured = curves()
    ways = [(words.ways[band.way], band.lowest, band.mean, band.highest) for band in measured.bands]
    return bands(measured.counts, ways, (words.curve_guess, measured.guess), words.curve_axes, mode)
