"""Prefill and decoding: what they compute for each byte, and where this machine puts them."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from llmviz.course.figures.roofline import Mark, Roof, roofline_figure
from llmviz.course.lessons.efficiency.cache import words
from llmviz.course.lessons.efficiency.cache.contents import KEY
from llmviz.course.lessons.efficiency.cache.roofline import (
    BATCHES,
    DECODE,
    LARGE,
    PREFILL,
    ROUNDS,
    Point,
    Roofline,
    passes,
)
from llmviz.course.ui import engine, kit
from llmviz.models.pass_work import PassWork, pass_work
from llmviz.models.room import spoken_bytes
from llmviz.models.settings import GPTConfig

GB = 1e9
NEAR = 1.05  # times; what differs by less is called about the same


class Counted(NamedTuple):
    """A pass: its name, the new tokens of all its texts, and its work."""

    name: str
    tokens: int
    work: PassWork


@kit.kept(12)
def roofline_of(bundled: engine.Bundled) -> kit.Job:
    """Return the measuring of this machine and a model, in a process of its own."""
    return kit.training_jobs().start(
        "llmviz.course.lessons.efficiency.cache.roofline:roofline", name=bundled.name
    )


def draw(state: kit.PageState, bundled: engine.Bundled) -> None:
    """Show what is counted, and the button that measures."""
    kit.section(words.work)
    config = bundled.model.config
    counted = kit.or_refused(works, config)
    if counted is None:
        return
    slot = kit.tied(
        f"_{KEY}.batch",
        BATCHES[state["decodebatch"]],
        lambda value: state.__setitem__("decodebatch", BATCHES.index(value)),
    )
    st.select_slider(words.batch, BATCHES, **slot)
    seen = passes(config.context_length)[-1][-1]
    batch = BATCHES[state["decodebatch"]]
    if kit.predict(question(config, batch, seen), f"{KEY}.work", covers=True):
        columns = words.work_columns
        kit.rows_table(table(counted), columns, column_config=kit.grouped(columns[1:5]))
        st.caption(words.work_note.format(seen=kit.count(seen, "token")))
    work = counted[1 + state["decodebatch"]].work
    kit.prose(
        words.intensity_read,
        texts=kit.count(batch, "text"),
        intensity=work.intensity,
        prefill=counted[0].work.intensity,
    )
    _code(config, batch, seen, work)
    kit.section(words.roofline, large=spoken_bytes(LARGE))
    kit.live(
        state,
        "roofline",
        roofline_of,
        (bundled,),
        lambda job: _draw_results(state, job, seen),
        start=words.start,
        share=lambda job: len(job.results) / ROUNDS,
        said=kit.Said(words.goes, words.stopped, words.again),
    )


@kit.kept(32)
def works(config: GPTConfig) -> list[Counted]:
    """Return the passes that are measured. Raises ValueError as `pass_work`."""
    return [
        Counted(
            words.prefill_name.format(tokens=kit.count(new, "token"))
            if phase == PREFILL
            else words.decode_name.format(texts=kit.count(batch, "text")),
            batch * new,
            pass_work(config, batch, new, seen),
        )
        for phase, batch, new, seen in passes(config.context_length)
    ]


def table(counted: list[Counted]) -> list[tuple]:
    """Return a row for each pass."""
    return [
        (
            name,
            tokens,
            work.operations,
            work.weights,
            work.cache_read + work.cache_written,
            round(work.intensity, 2),
        )
        for name, tokens, work in counted
    ]


@kit.kept(64)
def question(config: GPTConfig, batch: int, seen: int) -> kit.Question:
    """Ask what twice as many texts make of the operations for each byte.

    The operations double, and of the bytes only the cache's do: there are always weights and a
    cache, so the right number lies between the one of so many texts and twice as much.
    """
    before, after = (pass_work(config, n, 1, seen).intensity for n in (batch, 2 * batch))
    values = {"fall": before / 2, "same": before, "right": after, "double": 2 * before}
    answers = told_apart(list(values.values()))
    line = {"before": answers[1], "after": answers[2], "ratio": between(after / before)}
    reasons = dict(zip(answers, (words.work_reasons[name] for name in values), strict=True))
    texts = kit.count(batch, "text")
    return kit.Question.among(words.work_ask, reasons, answers[2], texts=texts, **line)


def told_apart(values: Sequence[float]) -> list[str]:
    """Return different numbers with two digits behind the point, or as many as tell them apart.

    >>> told_apart([1.234, 2.5]), told_apart([1.001, 1.002])
    (['1.23', '2.50'], ['1.001', '1.002'])
    """
    for digits in range(2, 16):
        texts = [f"{value:.{digits}f}" for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def between(ratio: float) -> str:
    """Return a number between 1 and 2 with two digits, or as many as it takes to be neither.

    >>> between(1.234), between(1.9996), between(1.0004)
    ('1.23', '1.9996', '1.0004')
    """
    texts = (f"{ratio:.{digits}f}" for digits in range(2, 16))
    return next((text for text in texts if float(text) not in (1, 2)), str(ratio))


def _draw_results(state: kit.PageState, job: kit.Job, prompt: int) -> None:
    rooflines = [result for result in list(job.results) if isinstance(result, Roofline)]
    if not rooflines:
        return
    last, chosen = rooflines[-1], state["decodebatch"]
    kit.chart(figure(last, chosen, kit.theme()), f"{KEY}.roofline")
    kit.prose("\n\n".join(report(last, chosen)))
    rounds, tokens = kit.count(last.rounds, "round"), kit.count(prompt, "token")
    st.caption(words.roof_note.format(rounds=rounds, prompt=tokens))


@kit.kept(64)
def figure(roofline: Roofline, chosen: int, mode: kit.Mode) -> kit.Figure:
    """Return the roofline with both phases; chosen: place of the batch that is drawn large."""
    roofs = [Roof(words.roofs[0], roofline.near), Roof(words.roofs[1], roofline.far)]
    marks = []
    for phase, place in ((PREFILL, None), (DECODE, chosen)):
        own = [point for point in roofline.points if point.phase == phase]
        marks.append(
            Mark(
                words.marks[phase],
                [point.work.intensity for point in own],
                [point.speed for point in own],
                [words.mark_prefill if phase == PREFILL else str(point.batch) for point in own],
                place,
            )
        )
    return roofline_figure(roofline.operations, roofs, marks, words.axes, mode)


def report(roofline: Roofline, chosen: int) -> list[str]:
    """Return what was measured, in sentences; chosen: the place of a batch."""
    prefill, *decoded = roofline.points
    point, alone = decoded[chosen], decoded[0]
    lines = [
        words.roof_read.format(
            peak=roofline.operations / 1e9,
            near=roofline.near / GB,
            far=roofline.far / GB,
            weights=spoken_bytes(prefill.work.weights),
            ridge=roofline.ridge(),
            far_ridge=roofline.ridge(near=False),
        ),
        words.point_read.format(
            texts=kit.count(point.batch, "text"),
            milliseconds=three_digits(1000 * point.seconds),
            each=three_digits(1000 * point.seconds / point.batch),
            speed=point.speed / 1e9,
            share=_share(roofline, point),
            prefill=prefill.speed / 1e9,
            prefill_share=_share(roofline, prefill),
        ),
    ]
    if point.batch > 1:
        ratio = alone.seconds / (point.seconds / point.batch)
        faster, slower = ratio > NEAR, ratio < 1 / NEAR
        template = words.faster if faster else words.slower if slower else words.as_fast
        times = max(ratio, 1 / ratio)
        lines[-1] += " " + template.format(many=kit.count(point.batch, "text"), ratio=times)
    shares = [point.speed / roofline.roof(point.work.intensity) for point in roofline.points]
    if min(shares) < 1:
        lines.append(words.overhead)
    if max(shares) > 1:
        lines.append(words.above)
    return lines


def three_digits(number: float) -> str:
    """Return a number above 0 with three digits, or all before the point.

    >>> three_digits(0.011643), three_digits(6.3812), three_digits(12345.6)
    ('0.0116', '6.38', '12,346')
    """
    return f"{number:,.0f}" if number >= 999.5 else f"{number:.3g}"


def _share(roofline: Roofline, point: Point) -> str:
    """How much of the roof above it a point reaches."""
    return kit.percent(point.speed / roofline.roof(point.work.intensity))


def _code(config: GPTConfig, batch: int, seen: int, work: PassWork) -> None:
    settings = {
        name: getattr(config, name)
        for name in ("vocab_size", "context_length", "n_layer", "n_head", "n_embd", "hidden_size")
    } | {"n_kv_head": config.n_kv_head, "activation": config.activation, "bias": config.bias}
    settings |= {"qkv_bias": config.qkv_bias, "norm_kind": config.norm_kind, "norm": config.norm}
    settings |= {"positions": config.positions, "tied_head": config.tied_head}
    written = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    kit.show_code(
        [pass_work, PassWork],
        words.snippet_work.format(written=written, batch=batch, seen=seen),
        f"{work}\n{work.intensity:.3f}",
    )
