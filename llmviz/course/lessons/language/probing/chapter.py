"""Chapter "What layers know": a linear probe for each layer, beside that of a control task.

L places of the model: the embeddings and the output of each layer.
"""

from functools import partial

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.document.marks import as_markdown
from llmviz.course.figures import language as figures
from llmviz.course.lessons.language.probing import results, words
from llmviz.course.lessons.language.probing.results import Results
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready

KEY = "language.probing"
FEW = 4  # stories of the snippet, which should take a second
CLOSE = 0.0025  # between two selectivities that rounded accuracies cannot tell apart
POLL = 1.0  # seconds between two looks at probes that are being fitted


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.prose(words.control)
    if not engine_ready():
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "probe", words.kind, words.kinds, parts=True)
        name = kit.Picker("probed", results.can_be_read).choose(state)
        st.slider(words.stories, step=10, width=240, **state.ranged("told"))
    bundled = kit.load(name)
    if bundled is None:
        return
    choice = results.Asked(bundled, state["probe"], state["told"])
    job = results.own_job(choice)
    live = job is not None and not job.over
    with st.container(horizontal=True, gap="small"):
        title = words.start if job is None else words.again
        st.button(title, icon=":material/play_arrow:", on_click=results.start, args=(choice,))
        if live:
            st.button(words.stop, icon=":material/stop:", on_click=job.stop)
    show = partial(_measured, choice, live, bundled.model.config.n_layer + 1)
    st.fragment(show, run_every=POLL if live else None)()
    _code(choice)


def _measured(choice: results.Asked, live: bool, places: int) -> None:
    """Show what is known of the asked probes, and look again while they are being fitted."""
    job = results.own_job(choice)
    probed = results.known(choice)
    if job is not None and not job.over:
        done = len(job.results)
        line = words.going.format(done=done, all=places)
        if job.state == "waiting":
            line = words.waiting.format(before=job.before)
        st.progress(min(1.0, done / places), line)
    elif live:
        st.rerun()  # which ends the looking
    if job is not None and job.state == "failed":
        kit.refuse(words.failed.format(problem=job.problem))
    if job is not None and job.state == "stopped" and job.results:
        kit.inform(words.stopped.format(done=len(job.results), all=places), ":material/stop:")
    if probed is None:
        if job is None:
            kit.inform(words.none, ":material/info:")
        return
    growing = job is not None and not job.over
    question = ask(probed) if probed.whole else None
    known = not growing and (question is None or kit.predict(question, f"{KEY}.ask", covers=True))
    _picture(probed, known)
    slots = {
        "stories": probed.stories,
        "test": probed.test,
        "model": kit.label(choice.bundled.name),
    }
    line = words.measured if probed.command else words.fitted
    st.caption(as_markdown(line.format(command=probed.command, **slots)))
    if not growing:
        kit.prose(read_line(probed) if known else words.answer_first)
    kit.prose(words.wide)
    if known and probed.whole:
        kit.seen(words.end, **best_places(probed))


def _picture(probed: Results, known: bool) -> None:
    """Draw the lines and the table; known: also the selectivity, which the question asks for."""
    figure = lines(probed.layers, probed.accuracy, probed.control, known, kit.theme())
    kit.chart(figure, f"{KEY}.lines")
    rows = [probed.accuracy, probed.control, probed.selectivity]
    texts = [[kit.percent(value) for value in row] for row in rows]
    texts[2] = [text.replace("-", "−") for text in texts[2]]
    notes = [
        [
            words.notes[row].format(value=texts[row][i], accuracy=texts[0][i], control=texts[1][i])
            for i in range(len(probed.layers))
        ]
        for row in range(3)
    ]
    lines_drawn = 3 if known else 2
    cell_grid(
        np.array(rows[:lines_drawn], dtype=np.float32),
        key=f"{KEY}.grid",
        row_names=words.lines[:lines_drawn],
        column_names=[name.removeprefix(words.after) for name in probed.layers],
        texts=texts[:lines_drawn],
        notes=notes[:lines_drawn],
        limit=1.0,
        label=words.grid,
    )


@kit.kept(32)
def lines(
    layers: tuple[str, ...],
    accuracy: tuple[float, ...],
    control: tuple[float, ...],
    known: bool,
    mode: kit.Mode,
) -> kit.Figure:
    """Return accuracy and control over the layers; known: with the selectivity, too."""
    rows = [accuracy, control]
    if known:
        rows.append(tuple(a - b for a, b in zip(accuracy, control, strict=True)))
    return figures.probe_lines(layers, rows, words.lines[: len(rows)], words.axis, mode)


def read_line(probed: Results) -> str:
    """Return which places are best, in a sentence; all of them where several are."""
    slots = best_places(probed) | {"first": kit.percent(probed.accuracy[0])}
    return (words.read if len(probed.layers) > 1 else words.read_one).format(**slots)


def best_places(probed: Results) -> dict[str, str]:
    """Return the places of the highest accuracy and selectivity, and both values."""
    best, accuracy = _best(probed.layers, probed.accuracy)
    selective, selectivity = _best(probed.layers, probed.selectivity)
    return {
        "best": best,
        "accuracy": accuracy,
        "selective": selective,
        "selectivity": selectivity,
    }


def _best(layers: tuple[str, ...], values: tuple[float, ...]) -> tuple[str, str]:
    """All places whose value is the largest as it is written, and that value."""
    texts = [kit.percent(value).replace("-", "−") for value in values]
    largest = texts[int(np.argmax(values))]
    some = [name for name, text in zip(layers, texts, strict=True) if text == largest]
    return words.both.join(some), largest


def ask(probed: Results) -> kit.Question | None:
    """Return where selectivity is highest, as a question.

    None where two places share it, or differ by less than the rounding of what is drawn above it.
    """
    written = [kit.percent(value).replace("-", "−") for value in probed.selectivity]
    best = int(np.argmax(probed.selectivity))
    others = [value for i, value in enumerate(probed.selectivity) if i != best]
    if not others or probed.selectivity[best] - max(others) < CLOSE:
        return None
    reasons = [
        words.ask_reason.format(
            selectivity=written[i],
            accuracy=kit.percent(probed.accuracy[i]),
            control=kit.percent(probed.control[i]),
        )
        for i in range(len(written))
    ]
    return kit.Question(words.ask, probed.layers, best, reasons, scale=True)


def _code(choice: results.Asked) -> None:
    from llmviz.language.probes import control_labels, probe_layers

    kit.show_code(
        [probe_layers, control_labels],
        words.snippet.format(name=choice.bundled.name, few=FEW, kind=choice.kind),
        partial(_printed, choice.bundled, choice.kind),
    )


@kit.kept(16)
def _printed(bundled: engine.Bundled, kind: str) -> str:
    """Return what the snippet prints."""
    from llmviz.language.probes import probe_layers
    from llmviz.language.tagger import tagged_stories

    stories = tagged_stories(FEW), tagged_stories(FEW, 1)
    first = next(probe_layers(bundled.model, bundled.tokenizer, *stories, kind))
    return f"{first.layer} {first.accuracy:.3f} {first.control:.3f}"
