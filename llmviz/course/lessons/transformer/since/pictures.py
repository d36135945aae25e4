"""The picture of each change: what the models that differ in it compute on the learner's text.

T tokens. Every number is read by `llmviz.course.lessons.transformer.since.model`; how long a step
of training takes after a change is measured on this server when asked for.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.figures.attention import Axes
from llmviz.course.figures.since_2017 import cloud, number_table
from llmviz.course.figures.stream import over_points
from llmviz.course.lessons.transformer.since import words
from llmviz.course.lessons.transformer.since.model import CHANGES, FAMILY, READINGS, checkpoint
from llmviz.course.ui import engine, kit
from llmviz.course.ui.guess_drawn import words as hand_words
from llmviz.evaluation.step_times import ROUNDS, StepTimes, step_times
from llmviz.interpretability.writing_rounds import write_slowly
from llmviz.nn.layers import ACTIVATIONS
from llmviz.processes.background import DONE

TIMES_KEY = "transformer.since.times"
step_job = kit.job_of("llmviz.evaluation.step_times:step_times", "names", most=1)


def draw_times(state: kit.PageState, change: str) -> None:
    """Show the times, how far their measurement is, or how to begin one."""
    kit.section(words.times)
    kit.live(
        state,
        "timed",
        step_job,
        (tuple(map(checkpoint, FAMILY)),),
        lambda job: _times(job, change),
        start=words.measure,
        share=lambda job: job.results[-1].rounds / ROUNDS if job.results else 0.0,
        said=kit.JobWords(words.measures, words.measure_stopped, words.measure, repeats=True),
    )


def _times(job: kit.Job, change: str) -> None:
    if job.state != DONE:
        return
    measured = job.results[-1]
    kit.prose(times_line(change, measured))
    every = ratios(measured)
    kit.case_rows(
        [
            kit.Case(words.row.format(after=words.models[name], before=words.models[before]), ratio)
            for (name, before), ratio in every.items()
        ],
        kit.Axis(0, 1.2 * max(every.values()), words.times_axis),
        key=f"{TIMES_KEY}.ratios",
        words=hand_words.bars,
        form="figure",
        mark="dot",
        levels=[(1.0, words.as_before)],
    )
    kit.show_code(
        [step_times],
        words.snippet_times,
        f"1 {[checkpoint(name) for name in FAMILY[:2]]}",
    )


def ratios(measured: StepTimes) -> dict[tuple[str, str], float]:
    """Return each changed model's time by that of the model it is in place of."""
    times = {name: measured.milliseconds[checkpoint(name)] for name in FAMILY}
    return {
        (name, before): times[name] / times[before]
        for before, *after in CHANGES.values()
        for name in after
    }


def times_line(change: str, measured: StepTimes) -> str:
    before, *after = CHANGES[change]
    every, sides = ratios(measured), words.sides[change]
    lines = [
        words.times_read.format(
            after=side[0].upper() + side[1:], ratio=every[name, before], before=sides[0]
        )
        for name, side in zip(after, sides[1:], strict=True)
    ]
    return " ".join([*lines, words.times_note])


KEY = "transformer.since"
Ids = tuple[int, ...]
DOTS = 900  # points of a cloud at most
FULL = 0.5  # weight that has the full colour
LONG = 24  # tokens that the picture of the window has at least


def names_in(change: str) -> list[str]:
    """Return the checkpoints that the picture of a change reads."""
    names = CHANGES[change][1:] if change == "experts" else CHANGES[change]
    return [checkpoint(name) for name in names]


def readings(change: str, ids: Ids) -> list[Tensor]:
    """Return what the models of a change compute on a text, in the order of the study."""
    return [_reading(change, engine.load(name), ids) for name in names_in(change)]


@kit.cached(64)
def _reading(change: str, bundled: engine.Bundled, ids: Ids) -> Tensor:
    return READINGS[change](bundled.model, ids)


def draw(change: str, ids: Ids) -> None:
    """Draw the picture of a change on a text, and say what stands in it."""
    DRAWN[change](ids)


def _figures(change: str, ids: Ids) -> None:
    models = tuple(engine.load(name) for name in names_in(change))
    charts = figures(change, ids, kit.theme(), *models)
    places = [st.container()] if len(charts) == 1 else st.columns(len(charts), gap="medium")
    for n, (place, figure) in enumerate(zip(places, charts, strict=True)):
        place.plotly_chart(figure, key=f"{KEY}.{change}.{n}", theme=None)


@kit.cached(64)
def figures(
    change: str, ids: Ids, mode: kit.Mode, *models: engine.Bundled
) -> tuple[kit.Figure, ...]:
    by_model = [_reading(change, bundled, ids) for bundled in models]
    if change == "place":
        lines = [numbers.tolist() for numbers in reversed(by_model)]
        axes = (words.points_axis, words.size_axis)
        return (over_points(lines, words.sides[change][::-1], axes, mode),)
    if change == "positions":
        titles = zip(by_model, words.position_titles, strict=True)
        return tuple(_positions(numbers, title, mode) for numbers, title in titles)
    if change == "activation":
        kinds = zip(by_model, words.sides[change], words.curves, ("gelu", "swiglu"), strict=True)
        return tuple(_cloud(values, side, curve, kind, mode) for values, side, curve, kind in kinds)
    labels = [kit.escape_plotly(name) for name in kit.names_of(ids, models[0].tokenizer)]
    axes = Axes(words.looked_axis, words.looked_axis)
    return tuple(
        number_table(seen(bundled, weights), side, axes, mode, limit=FULL, labels=labels)
        for bundled, weights, side in zip(models, by_model, words.sides[change], strict=True)
    )


def seen(bundled: engine.Bundled, weights: Tensor) -> np.ndarray:
    """Return attention weights (T, T), NaN where the model's mask lets nobody look."""
    mask, _ = bundled.model.visible(torch.zeros(1, len(weights), dtype=torch.long))
    return (weights if mask is None else weights.masked_fill(~mask, np.nan)).numpy()


def _positions(numbers: Tensor, title: str, mode: kit.Mode) -> kit.Figure:
    rotary = title == words.position_titles[-1]
    axes = Axes(words.pair_axis if rotary else words.number_axis, words.place_axis)
    return number_table(numbers.numpy(), title, axes, mode)


def _cloud(numbers: Tensor, side: str, curve: str, kind: str, mode: kit.Mode) -> kit.Figure:
    before, behind = (part.flatten().numpy() for part in numbers)
    some = np.linspace(0, len(before) - 1, min(DOTS, len(before))).round().astype(int)
    x = torch.linspace(float(before.min()), float(before.max()), 80)
    bent = (x.numpy(), ACTIVATIONS[kind](x).numpy())
    names = (words.points, curve)
    return cloud(before[some], behind[some], bent, names, side, Axes(*words.bent_axes), mode)


def _place(ids: Ids) -> None:
    _figures("place", ids)
    post, pre = readings("place", ids)
    line: dict[str, Any] = {"low": float(post[1:].min()), "high": float(post[1:].max())}
    kit.prose(words.place_read, first=float(pre[0]), last=float(pre[-1]), **line)
    kit.measured(words.place_measured, tokens=kit.count(len(ids), "token"))


def _grid(
    values: np.ndarray,
    rows: list[str],
    ids: Ids,
    change: str,
    label: str,
    written: Callable[[float], str],
    **more: Any,
) -> None:
    columns = kit.names_of(ids, engine.tokenizer(names_in(change)[0]))
    texts = [[written(float(value)) for value in row] for row in values]
    key = f"{KEY}.{change}"
    cell_grid(
        values, key=key, row_names=rows, column_names=columns, texts=texts, label=label, **more
    )


def _kind(ids: Ids) -> None:
    values = np.concatenate([part.numpy() for part in readings("kind", ids)])
    rows = [row.format(side=side) for side in words.sides["kind"] for row in words.norm_rows]
    _grid(values, rows, ids, "kind", words.norm_grid, kit.signed, starts=[3], limit=1.0)
    kit.prose(words.norm_read, most=float(np.abs(values[4]).max()))


def _positions_of(ids: Ids) -> None:
    _figures("positions", ids)
    config = engine.load(names_in("positions")[-1]).model.config
    slow = config.rotary_base ** (2 / config.head_size - 1)
    line = {"width": config.n_embd, "tokens": len(ids), "fast": 1.0, "slow": slow}
    kit.prose(words.positions_read, **line)


def _activation(ids: Ids) -> None:
    _figures("activation", ids)
    st.caption(words.cloud_note.format(most=DOTS))
    kit.prose(words.activation_read)


def _heads(ids: Ids) -> None:
    by_model = readings("heads", ids)
    rows: list[Any] = []
    starts: list[int] = []
    for side, lengths, name in zip(words.sides["heads"], by_model, names_in("heads"), strict=True):
        share = engine.load(name).model.config.n_head // len(lengths)
        starts.append(len(rows))
        for group in range(len(lengths)):
            heads = ", ".join(str(group * share + n) for n in range(share))
            line = (words.one_head if share == 1 else words.more_heads).format(heads=heads)
            rows.append(words.key_row.format(side=side, heads=line))
    values = np.concatenate([part.numpy() for part in by_model])
    scale = (words.keys_scale[0], words.keys_scale[1].format(most=float(values.max())))
    notes = [[words.key_note.format(value=float(v)) for v in row] for row in values]
    more: dict[str, Any] = {"starts": starts[1:], "scale": scale, "notes": notes, "role": "key"}
    _grid(values, rows, ids, "heads", words.keys_grid, lambda v: f"{v:.1f}", **more)
    counts = [f"{part.numel():,}" for part in by_model]
    either = f"{', '.join(counts[:-1])} or {counts[-1]}"
    kit.prose(words.keys_read, tokens=kit.count(len(ids), "token"), counts=either)


def _experts(ids: Ids) -> None:
    (shares,) = readings("experts", ids)  # (L, T, E)
    layers, tokens, experts = shares.shape
    rows = [
        words.expert_row.format(layer=layer, expert=expert)
        for layer in range(layers)
        for expert in range(experts)
    ]
    values = shares.transpose(1, 2).reshape(layers * experts, tokens).numpy()

    def note(share: float) -> str:
        return words.expert_note.format(share=kit.percent(share)) if share else words.expert_nothing

    more: dict[str, Any] = {
        "starts": [experts * layer for layer in range(1, layers)],
        "scale": words.experts_scale,
        "notes": [[note(float(share)) for share in row] for row in values],
        "role": "value",
        "limit": 1.0,
    }
    _grid(
        values,
        rows,
        ids,
        "experts",
        words.experts_grid,
        lambda share: f"{100 * share:.0f} %" if share else "",
        **more,
    )
    lines = [
        words.experts_layer.format(
            layer=layer, counts=listed(counts), tokens=kit.count(tokens, "token")
        )
        for layer, counts in enumerate((shares > 0).sum(1).tolist())
    ]
    kit.prose(words.experts_read, layers=" ".join(lines))


def listed(numbers: list[int]) -> str:
    """Return numbers as a sentence lists them.

    >>> listed([3, 4, 5])
    '3, 4 and 5'
    """
    return ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"


@kit.cached(64)
def longer(bundled: engine.Bundled, ids: Ids) -> Ids:
    """Return a text, made longer by a model where it has fewer tokens than the window's picture."""
    rounds = write_slowly(bundled.model, ids, max(0, LONG - len(ids)))
    return (*ids, *(turn.pick for turn in rounds))


def read_ids(change: str, ids: Ids) -> Ids:
    if change != "window":
        return ids
    return longer(engine.load(names_in("window")[0]), ids)


def _window(ids: Ids) -> None:
    whole = read_ids("window", ids)
    _figures("window", whole)
    window = engine.load(names_in("window")[1]).model.config.window
    seen = len(whole) * (len(whole) + 1) // 2
    closed = sum(max(0, n - window) for n in range(1, len(whole) + 1))
    line = words.window_read.format(seen=seen, closed=closed, window=window)
    if len(whole) > len(ids):
        line += " " + words.window_longer.format(own=kit.count(len(ids), "token"), all=len(whole))
    kit.prose(line)


DRAWN = {
    "place": _place,
    "kind": _kind,
    "positions": _positions_of,
    "activation": _activation,
    "heads": _heads,
    "experts": _experts,
    "window": _window,
}
