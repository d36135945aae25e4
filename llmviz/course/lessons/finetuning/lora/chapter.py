"""Chapter "LoRA": a frozen matrix and two thin ones, what they hold, what they save and write."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.figures.adapters import Curve, lines, product
from llmviz.course.lessons.finetuning import typed_beginning
from llmviz.course.lessons.finetuning.lora import words
from llmviz.course.lessons.finetuning.lora.lora_race import (
    BATCH,
    WAYS,
    RaceEnd,
    RaceStep,
    lora_parameters,
    optimizer_bytes,
    weight_shapes,
)
from llmviz.course.lessons.finetuning.lora.whole_change import HELD, WholeChange, recorded
from llmviz.course.lessons.finetuning.training_cost import tell_cost
from llmviz.course.lessons.finetuning.tuned_model import base, written
from llmviz.course.ui import engine, kit
from llmviz.course.ui.question import APART
from llmviz.files.paths import TUNED
from llmviz.finetuning.adapted import (
    BothWays,
    Spectrum,
    adapted,
    both_ways,
    change_at,
    cut,
    largest_at,
    merged_copy,
    pairs_of,
    spectrum,
)
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.models.costs import count
from llmviz.nn.lora import merge, share_kept, unmerge, use_adapter

KEY = "finetuning.lora"
GUESS = f"{KEY}.first"
MATRICES = f"{KEY}.matrices"
SIZE = 6  # rows and columns of the part whose arithmetic is shown
NAMES = ("W", "B", "A", "BA", "added", "sum")
LAYOUT = (("B", "×", "A", "=", "BA"), ("W", "+", "added", "=", "sum"))
APPEAR = (["W"], ["B", "A"], ["BA"], ["added"], ["sum"])
DRAWN = 32  # singular values of the chart
ROLES = {"whole": "value", "adapter": "weights", "all": "query", "lora": "key"}
TOKENS = 12  # that each model writes
MIB = 2**20


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what patterns of a change are worth, one matrix with its adapter, and its use."""
    kit.prose(words.hook)
    whole, lora = recorded(), tuned_card("instructions")["right"]
    guess = kit.Guess(GUESS, question(whole.right[HELD]))
    opened = guess.open
    with kit.stage("lora"):
        _rows(whole, lora, guess)
    if guess.ask():
        kit.prose(words.told, rank=HELD, lora=kit.whole_percent(lora))
    if not kit.models_here(BASE):
        return
    models = kit.or_refused(lambda: {name: beside(name) for name in words.adapters})
    if models is None:
        return
    bundled, layers = models[state["adapter"]], base().model.config.n_layer
    path = f"blocks.{min(state['adapterlayer'], layers - 1)}.{state['matrix']}"
    change, held = change_of(bundled, path), 1 - parts_of(bundled, path).left()
    rank, size = len(change.a), change.weight.shape
    kept = min(state["keptrank"], rank)
    kit.section(words.pattern)
    kit.plot(f"{KEY}.field", field, bundled, path, kept)
    share = kit.percent(kept * sum(size) / (size[0] * size[1]))
    told = {"held": kit.percent(held[kept]), "share": share, "trained": rank * sum(size)}
    case = "some" if kept < rank else "all"
    kit.prose(words.caption[case], kept=kept, whole=size[0] * size[1], **told)
    _controls(state, layers, rank)
    kit.looks(state, words.looks, f"{KEY}.looks", **elsewhere(models, layers))
    _cell(state, bundled, path)
    kit.section(words.count)
    _saved(state, state["race"])
    raced = _race(state)
    if opened:
        _spectra(state, bundled, path, raced, whole)
    _switch(state, models)
    if opened:
        shares = {"right": whole.right[HELD], "lora": lora}
        kit.seen(words.end, rank=HELD, **{k: kit.whole_percent(v) for k, v in shares.items()})


# ---- the adapters


def beside(name: str) -> engine.Bundled:
    """Return the base with a bundled adapter beside its matrices, the same for all visitors.

    Raises ValueError where the base or the adapter is not here, or it belongs to other weights.
    """
    return _beside(base(), name)


@kit.cached(4)
def _beside(bundled: engine.Bundled, name: str) -> engine.Bundled:
    return bundled.changed(f"{name} beside", adapted(bundled.model, BASE, TUNED / name))


change_of = kit.cached(32)(kit.on_model(change_at))
merged = kit.cached(4)(kit.on_model(merged_copy))


@kit.cached(64)
def parts_of(bundled: engine.Bundled, path: str) -> Spectrum:
    """Return what an adapter adds to a matrix, as parts of rank 1."""
    return spectrum(change_of(bundled, path).added)


# ---- the stage


def _controls(state: kit.PageState, layers: int, rank: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.kept, width=260, **state.ranged("keptrank", most=rank))
        slot = state.ranged("adapterlayer", most=layers - 1, then=state.setter(loracell=""))
        st.number_input(words.layer, width=110, **slot)
        with st.popover(words.another, icon=":material/tune:"):
            anew = state.setter(loracell="")
            kit.choose(state, "adapter", words.adapter, words.adapters, then=anew)
            kit.choose(state, "matrix", words.matrix, words.matrices, then=anew)


@kit.cached(64)
def field(bundled: engine.Bundled, path: str, kept: int, mode: kit.Mode) -> kit.Figure:
    """Return the frozen matrix, and beside it the nearest product of a rank."""
    parts = parts_of(bundled, path)
    return product(parts.u[:, :kept] * parts.s[:kept], parts.v[:kept], words.field, mode)


def question(right: float) -> kit.Question | None:
    """Return the question how many answers stay right with few patterns of the change.

    The wrong answers are of somebody to whom it is as many as numbers, and to whom each pattern
    that is lost costs answers. None where the right one is near to them.
    """
    config = base().model.config
    matrices = config.n_layer * sum(a * b for a, b in weight_shapes(config).values())
    share = lora_parameters(config, HELD, list(weight_shapes(config))) / matrices
    reasons = {share: words.ask_share, 0.5: words.ask_half, right: words.ask_right}
    if right < 0.5 + APART or abs(share - 0.5) < APART:
        return None
    slots: dict[str, Any] = {
        "rank": HELD,
        "share": kit.whole_percent(share),
        "right": kit.whole_percent(right),
    }
    return kit.Question.among(words.ask, reasons, right, kit.whole_percent, **slots)


def _rows(whole: WholeChange, lora: float, guess: kit.Guess) -> None:
    """Show how many answers are right with all of the change, and with fewer patterns of it."""
    cases = [kit.Case(words.rows["all"], whole.all)]
    for rank in sorted((rank for rank in whole.right if rank <= HELD), reverse=True):
        label = words.rows["some" if rank > 1 else "one"].format(rank=rank)
        revealed = guess.open or rank == HELD
        cases.append(
            kit.Case(label, whole.right[rank] if revealed else None, note="" if revealed else "?")
        )
    if guess.open:
        cases.append(kit.Case(words.rows["lora"].format(rank=HELD), lora, role="key"))
    axis = kit.Axis(0, 1, words.right_axis.format(questions=whole.questions))
    guess.cases(cases, axis, veiled=[1], picture=f"{KEY}.rows")


def elsewhere(models: Mapping[str, engine.Bundled], layers: int) -> dict[str, str]:
    """Return how much the first part holds in the matrices that the looks go to."""
    last = layers - 1
    places = {
        "last": ("instructions", f"blocks.{last}.attn.qkv"),
        "few": ("few-shot", f"blocks.{last}.mlp.output"),
    }
    shares = {at: 1 - parts_of(models[name], path).left()[1] for at, (name, path) in places.items()}
    return {at: kit.percent(share) for at, share in shares.items()} | {"layer": f"{last}"}


# ---- the arithmetic of a cell


def _cell(state: kit.PageState, bundled: engine.Bundled, path: str) -> None:
    kit.section(words.cells)
    matrices, first = matrices_of(bundled, path)
    change = change_of(bundled, path)
    rank = len(change.a)
    line = {"rank": rank, "scale": change.scale, "alpha": change.scale * rank}
    captions = [text.format(**line) for text in words.steps.values()]
    shapes = {matrix.name: np.shape(matrix.values) for matrix in matrices}
    lv.matrix_view(
        matrices,
        key=MATRICES,
        layout=LAYOUT,
        steps=list(zip(APPEAR, captions, strict=True)),
        step=state["lorastep"],
        pinned=lv.cell_of(state["loracell"] or first, shapes),
        narrow=8,
        on_change=kit.bound(
            state,
            MATRICES,
            step=("lorastep", kit.one_of(range(len(captions)))),
            pinned=("loracell", kit.link_of),
        ),
    )
    share = float(np.linalg.norm(change.added) / np.linalg.norm(change.weight))
    kit.prose(words.size, share=kit.percent(share))
    row, column = largest_at(change.added, 1)
    cell = change.weight[row, column], change.added[row, column]
    more = {"base_name": base().name, "name": state["adapter"], "path": path}
    kit.show_code(
        [change_at, cut],
        words.snippet_matrices.format(**more, row=row, column=column),
        f"{change.weight.shape} {change.a.shape} {change.b.shape}\n{cell[0]:.4f} + {cell[1]:.4f}",
    )


@kit.cached(32)
def matrices_of(bundled: engine.Bundled, path: str) -> tuple[tuple[lv.Matrix, ...], str]:
    """Return the linked matrices of the part with the largest change, and that cell of it."""
    whole = change_of(bundled, path)
    row, column = largest_at(whole.added, SIZE)
    part = cut(whole, row, column, SIZE)
    rows, columns = part.weight.shape
    down: dict[str, Any] = {"row_labels": [str(row + i) for i in range(rows)]}
    across: dict[str, Any] = {"col_labels": [str(column + j) for j in range(columns)]}
    effect = part.weight + part.added
    values = (part.weight, part.b, part.a, part.product, part.added, effect)
    scaled = words.scaled.format(scale=part.scale)
    more: dict[str, Any] = {
        "W": {"role": "residual"} | across,
        "B": {"role": "value"},
        "A": {"role": "value"} | across,
        "BA": {"op": lv.matmul("B", "A")} | across,
        "added": {"op": lv.scaled("BA", part.scale, scaled), "role": "key"} | across,
        "sum": {"op": lv.add("W", "added"), "limit": float(np.abs(effect).max())} | across,
    }
    matrices = tuple(
        lv.Matrix(
            name,
            each,
            words.labels[name],
            words.formulas.get(name, ""),
            **({} if name == "A" else down) | more[name],
        )
        for name, each in zip(NAMES, values, strict=True)
    )
    at = np.unravel_index(int(np.abs(part.added).argmax()), part.added.shape)
    return matrices, f"sum.{at[0]}.{at[1]}"


# ---- what it saves


@st.fragment
def _saved(state: kit.PageState, raced: bool) -> None:
    """Show what a training keeps in memory; raced: whether the rest of the page shows a race."""
    if raced and not state["race"]:
        st.rerun()  # the race was of another rank
    config, rank, targets = base().model.config, state["rank"], tuple(state["targets"])
    if targets:
        every, adapter = count(config), lora_parameters(config, rank, targets)
        cases = [
            kit.Case(
                label.format(rank=rank, numbers=f"{numbers:,}"), optimizer_bytes(numbers) / MIB
            )
            for label, numbers in zip(words.count_rows, (every, adapter), strict=True)
        ]
        axis = kit.Axis(0, optimizer_bytes(every) / MIB, words.count_axis)
        kit.case_rows(cases, axis, key=f"{KEY}.saved", form="figure")
    else:
        kit.inform(words.no_targets, ":material/touch_app:")
    anew = state.setter(race=False)  # which trains with this rank
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        most = min(map(min, weight_shapes(config).values()))
        st.slider(words.rank, width=260, **state.ranged("rank", most=most, then=anew))
        look = {"selection_mode": "multi", "format_func": words.matrices.__getitem__, "wrap": True}
        st.pills(words.targets, list(words.matrices), **look, **state.bind("targets"))
    if targets:
        kit.prose(words.count_read, share=kit.percent(adapter / every))
        snippet = words.snippet_savings.format(name=BASE, rank=rank, targets=targets)
        kit.show_code(
            [lora_parameters, weight_shapes],
            snippet,
            f"{adapter} {optimizer_bytes(adapter)} {every}",
        )


# ---- the same task, both ways


@kit.cached(12)
def race_of(task: str, updates: int, rank: int) -> kit.Job:
    """Return both trainings in a process of their own; the same ones are run only once."""
    target = "llmviz.course.lessons.finetuning.lora.lora_race:lora_race"
    given = {"task": task, "steps": updates, "rank": rank, "alpha": 2.0 * rank, "base": BASE}
    return kit.training_jobs().start(target, **given)


def _race(state: kit.PageState) -> Mapping[str, RaceEnd]:
    """Show two trainings; return what each way came to, nothing before both have ended."""
    kit.section(words.race)
    anew, updates = state.setter(race=False), state["updates"]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        look = {"format_func": words.tasks.__getitem__, "width": 260}
        st.selectbox(words.task, list(words.tasks), **look, **state.bind("sorted", then=anew))
        st.slider(words.updates, step=10, width=260, **state.ranged("updates", then=anew))
    tell_cost(words.race_cost, len(WAYS) * BATCH * updates, batch=BATCH, updates=updates)
    given = (state["sorted"], updates, state["rank"])
    kit.live(
        state,
        "race",
        race_of,
        given,
        _draw_results,
        start=words.race_start,
        share=lambda job: len(job.results) / (len(WAYS) * (updates + 1)),
    )
    if not state["race"]:
        return {}
    job = kit.job_for(state, "race", race_of, given)
    ends = ends_of(job)
    return ends if job.over and len(ends) == len(WAYS) else {}


def ends_of(job: kit.Job) -> dict[str, RaceEnd]:
    """Return what each way came to, as far as it has."""
    return {end.way: end for end in list(job.results) if isinstance(end, RaceEnd)}


def _draw_results(job: kit.Job) -> None:
    if steps := tuple(step for step in list(job.results) if isinstance(step, RaceStep)):
        kit.chart(curves(steps, kit.theme()), f"{KEY}.race.curves")
    ends = ends_of(job)
    if len(ends) < len(WAYS):
        return
    cases = [
        kit.Case(words.ended.format(way=words.ways[way], trained=f"{end.trained:,}"), end.accuracy)
        for way, end in ends.items()
    ]
    lora, every = (ends[way] for way in WAYS)
    axis = kit.Axis(0, 1, words.ended_axis.format(tested=lora.tested))
    kit.case_rows(cases, axis, key=f"{KEY}.race.ends", form="percent")
    ratio, share = f"{lora.seconds / every.seconds:.2f}", kit.percent(lora.trained / every.trained)
    kit.prose(words.race_ratio, ratio=ratio, share=share)


@kit.cached(32)
def curves(steps: tuple[RaceStep, ...], mode: kit.Mode) -> kit.Figure:
    """Return the losses of a race so far, two lines a way."""
    drawn = []
    for way in WAYS:
        own = [update for update in steps if update.way == way]
        checked = [update for update in own if update.held_out is not None]
        held_out, batch = (name.format(way=words.ways[way]) for name in words.race_names)
        x, y = [update.step for update in checked], [update.held_out or 0.0 for update in checked]
        drawn.append(Curve(held_out, x, y, ROLES[way], marks=True))
        x, y = [update.step for update in own], [update.loss for update in own]
        drawn.append(Curve(batch, x, y, ROLES[way], dashed=True))
    return lines(drawn, words.race_axes, mode)


# ---- singular values


def _spectra(
    state: kit.PageState,
    bundled: engine.Bundled,
    path: str,
    raced: Mapping[str, RaceEnd],
    whole: WholeChange,
) -> None:
    """Show how fast the parts of each change shrink: of every weight, the adapter, and a race."""
    held = kit.whole_percent(whole.held[path])
    kit.section(words.rank_section, rank=HELD, held=held)
    found = {"whole": whole.values[path], "adapter": parts_of(bundled, path).s}
    found |= {way: end.values[path] for way, end in raced.items()}
    ranks = {"adapter": len(change_of(bundled, path).a), "lora": state["rank"]}
    drawn = []
    for whose, values in found.items():
        label = words.spectrum_names[whose].format(rank=ranks.get(whose))
        relative = values[:DRAWN] / values[0]  # their sizes differ; what matters is how they fall
        drawn.append(Curve(label, range(1, len(relative) + 1), relative, ROLES[whose], marks=True))
    kit.chart(lines(drawn, words.spectrum_axes, kit.theme()), f"{KEY}.values")
    parts = parts_of(bundled, path)
    kit.show_code(
        [spectrum, Spectrum, share_kept],
        words.snippet_ranks.format(base_name=BASE, name=state["adapter"], path=path),
        f"{[f'{value:.3f}' for value in parts.s[:4]]}\n"
        f"{[f'{share:.3f}' for share in parts.left()[:4]]}",
    )


# ---- several adapters on one base


def _switch(state: kit.PageState, models: Mapping[str, engine.Bundled]) -> None:
    """Show what the base writes alone and with each adapter, and what merging changes."""
    kit.section(words.switch)

    def take(name: str) -> None:
        state["adapted"] = words.prompts[name]

    key = f"_{KEY}.examples"
    kit.suggest(words.examples, list(words.prompts), take, key=key, label_visibility="collapsed")
    text = typed_beginning.ask(state, "adapted", words.prompt, words.empty)
    if text is None:
        return
    whole = {words.base_alone: base()}
    whole |= {label: models[name] for name, label in words.adapters.items()}
    for column, (label, model) in zip(st.columns(len(whole)), whole.items(), strict=True):
        with column:
            st.markdown(f"**{label}**")
            reply = written(model, text, TOKENS).text or words.nothing
            st.code(reply, language=None, wrap_lines=True)
    numbers = count(base().model.config)
    each = [sum(a.size + b.size for a, b in pairs_of(m.model).values()) for m in models.values()]
    apiece = " and ".join(f"{size:,}" for size in dict.fromkeys(each))
    room = {"base": f"{numbers:,}", "each": apiece, "ratio": f"{1 + sum(each) / numbers:.2f}"}
    kit.prose(words.memory, models=1 + len(each), **room)
    bundled = models[state["adapter"]]
    apart, back = compared(bundled, text), merged(bundled).back
    line = words.merge_apart if apart.largest else words.merge_same
    kit.prose(
        f"{words.merge_text} {line} {words.merge_back if back else words.merge_not_back}",
        largest=kit.power_of_ten(apart.largest),
        logit=f"{apart.logit:.1f}",
    )
    if len(text) <= kit.IN_SNIPPET:
        given = {"base": BASE, "adapters": list(words.adapters), "text": text, "tokens": TOKENS}
        kit.show_code(
            [use_adapter, merge, unmerge],
            words.snippet_switching.format(**given),
            lambda: "\n".join(repr(written(model, text, TOKENS).text) for model in whole.values()),
        )


@kit.cached(32)
def compared(bundled: engine.Bundled, text: str) -> BothWays:
    """Return what merging changes for a text, as far as the base reads it."""
    ids = bundled.tokenizer.encode_from_start(text)[-bundled.model.context_length :]
    return both_ways(bundled.model, merged(bundled).model, tuple(ids), time.thread_time)
