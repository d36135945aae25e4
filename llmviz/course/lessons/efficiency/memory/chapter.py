"""Chapter "Training memory": one step tensor by tensor, what saves memory, any model on paper."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import streamlit as st

from llmviz.course.components.byte_timeline.view import Life, Section, byte_timeline
from llmviz.course.figures.losses import compared
from llmviz.course.lessons.efficiency.memory import model, words
from llmviz.course.ui import engine, kit
from llmviz.evaluation.step_times import batch
from llmviz.models.costs import PRESET_NAMES, PRESET_SOURCES, PRESETS, TrainingMemory, count
from llmviz.models.memory_limits import byte_unit, spoken_bytes
from llmviz.models.settings import GPTConfig
from llmviz.models.training_bytes import paper_memory, saved_numbers
from llmviz.training.memory_profiler import watch_step
from llmviz.training.step_memory import Held, StepMemory

KEY, GUESS = "efficiency.memory", "efficiency.memory.peak"
FLOAT = 4  # bytes of a number
MB, GB = 1e6, 1e9
APART = 0.08  # of the largest, between the answers of the question
SIZES = {
    "paperlayers": "n_layer",
    "paperheads": "n_head",
    "paperwidth": "n_embd",
    "papervocab": "vocab_size",
}
# What a published shape has of its own only with a size of its own: else the default for the size.
FOLLOWS = {"n_head": "n_kv_head", "n_embd": "hidden_size"}


@dataclass(frozen=True)
class Chosen:
    """What the controls of the step stand for."""

    bundled: engine.Bundled
    rows: int  # texts of the batch
    tokens: int  # of each text
    pieces: int  # micro-batches
    recompute: int  # blocks of a group whose input is kept; 0 keeps everything

    @property
    def known(self) -> tuple[engine.Bundled, int, int, int, int]:
        """What a step depends on."""
        return self.bundled, self.rows, self.tokens, self.pieces, self.recompute


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the step, and the guess how much it takes; then ways to take less, and any model."""
    kit.prose(words.hook)
    stage, below = kit.stage("memory"), st.container()
    with below:
        chosen = controls(state)
    memory = None if chosen is None else kit.or_refused(memory_of, *chosen.known)
    shown = True
    if chosen is not None and memory is not None:
        with stage:
            shown = _stage(state, chosen, memory)
        if shown:
            kit.looks(state, words.looks, f"{KEY}.looks")
        _code(chosen, memory)
        _ways(state, chosen)
    _paper(state)
    if chosen is not None and memory is not None and shown:
        peak, weights = int(memory.live().sum(axis=0).max()), weights_of(chosen)
        kit.seen(
            words.end,
            peak=spoken_bytes(peak),
            weights=spoken_bytes(weights),
            times=peak / weights,
        )


def controls(state: kit.PageState) -> Chosen | None:
    """Show the controls of the step; return what they stand for, None where there is no model."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        bundled = kit.load(kit.Picker("memorymodel").choose(state))
        if bundled is None:
            return None
        anew = state.setter(memorymoment=-1)  # look at the peak
        most = {
            "memoryrows": None,
            "memorytokens": bundled.model.context_length,
            "memorypieces": min(state["memoryrows"], state.params["memorypieces"].high),
            "memoryrecompute": bundled.model.config.n_layer,
        }
        for key, label in words.step.items():
            help_ = words.step_help.get(key)
            bound = state.ranged(key, most=most[key], then=anew)
            st.number_input(label, help=help_, width=200, **bound)
    return Chosen(bundled, *(state[key] for key in words.step))


def _stage(state: kit.PageState, chosen: Chosen, memory: StepMemory) -> bool:
    guess = kit.Guess(GUESS, question(memory, weights_of(chosen)))
    shown = guess.open
    live, lives, sections, operations = picture_of(*chosen.known)
    kinds, texts = list(words.kinds.values()), words.picture
    offered = [value for (value,) in guess.question.values] if guess.question else []
    if not shown:  # the weights alone, as a stripe under what is to be guessed
        live, lives, kinds = live[:1], [life for life in lives if life.kind == 0], kinds[:1]
        texts = texts | dict.fromkeys(("peak", "all"), words.weights_alone)
    key, moment = f"{KEY}.step", state["memorymoment"]
    byte_timeline(
        live,
        lives,
        key=key,
        kinds=kinds,
        sections=sections,
        operations=operations,
        words=texts,
        chosen=moment if 0 <= moment < len(memory.moments) else None,
        least=1.0 if shown else 1.1 * MB * max(offered),
        on_change=kit.bound(
            state, key, chosen=("memorymoment", kit.one_of(range(len(memory.moments)), -1))
        ),
    )
    values = (weights_of(chosen) / MB, peak_of(memory))
    guess.cases(
        [kit.Case(name, value) for name, value in zip(words.rows, values, strict=True)],
        kit.Axis(0, 1.3 * max(*values, *offered), words.axis),
        veiled=[1],
        picture=f"{KEY}.guess",
        form="figure",
    )
    shown = guess.ask()
    if shown:
        kit.prose(f"{peak_told(memory)} {kept_told(chosen)}")
    return shown


def kept_told(chosen: Chosen) -> str:
    """Return how much a token leaves for the backward pass; "" where no formula is for the form."""
    try:
        each = saved_numbers(chosen.bundled.model.config, chosen.recompute)
    except ValueError:
        return ""
    return words.kept_told.format(each=each)


def weights_of(chosen: Chosen) -> int:
    """Return the bytes of a model's weights."""
    return FLOAT * count(chosen.bundled.model.config)


def peak_of(memory: StepMemory) -> float:
    """Return how many megabytes are alive at the peak, as they are written."""
    return round(int(memory.live().sum(axis=0).max()) / MB, 1)


def question(memory: StepMemory, weights: int) -> kit.Question | None:
    """Ask how much is alive at the peak. None where the answers are too near.

    The wrong answers: it only changes weights; a slope for each weight; the optimizer, too.
    """
    right = peak_of(memory)
    wrong = {
        round(times * weights / MB, 1): words.ask_wrong[name]
        for name, times in (("weights", 1), ("slopes", 2), ("optimizer", 4))
    }
    numbers = sorted((right, *wrong))
    if len(numbers) < 4 or min(b - a for a, b in pairwise(numbers)) < APART * numbers[-1]:
        return None
    live = memory.live()
    held = dict(zip(words.kinds, live[:, live.sum(axis=0).argmax()], strict=True))
    largest = max(words.ask_right, key=lambda kind: held[kind])
    offered = {right: words.ask_right[largest]} | wrong
    size = spoken_bytes(weights)
    return kit.Question.among(words.ask, offered, right, "{:.1f} MB".format, weights=size)


@kit.cached(24)
def memory_of(
    bundled: engine.Bundled, rows: int, tokens: int, pieces: int, recompute: int
) -> StepMemory:
    """Return the memory of one step of a model, made once for all visitors."""
    return model.watched_step(
        bundled.model, batch(bundled.tokenizer, rows, tokens), pieces, recompute
    )


@kit.cached(24)
def picture_of(
    bundled: engine.Bundled, rows: int, tokens: int, pieces: int, recompute: int
) -> tuple[np.ndarray, list[Life], list[Section], list[str]]:
    """Return a step as the time line takes it."""
    memory = memory_of(bundled, rows, tokens, pieces, recompute)
    kinds = list(words.kinds)
    lives = [
        Life(tensor_words(tensor), kinds.index(tensor.kind), tensor.bytes, tensor.born, tensor.died)
        for tensor in memory.held
        if tensor.born < tensor.died
    ]
    sections: list[Section] = []
    for i, moment in enumerate(memory.moments):
        place = words.phases[moment.phase], part_words(moment.part)
        if not sections or place != (sections[-1].phase, sections[-1].part):
            sections.append(Section(*place, i))
    operations = [operation_words(moment.operation) for moment in memory.moments]
    return memory.live(), lives, sections, operations


def part_words(part: str) -> str:
    """Return how a part of a model is called.

    >>> part_words("blocks.3"), part_words("loss")
    ('block 3', 'loss')
    """
    layer = part.removeprefix("blocks.")
    return words.block.format(layer=layer) if layer != part else words.parts.get(part, part)


def operation_words(name: str) -> str:
    """Return how one of torch's operations is called.

    >>> operation_words("gelu"), operation_words("gelu_backward"), operation_words("addmm")
    ('gelu', 'backward of gelu', 'matrix product')
    """
    if name in words.operations:
        return words.operations[name]
    if name.endswith("_backward"):
        of = operation_words(name.removesuffix("_backward"))
        return words.backward_of.format(operation=of)
    return name.strip("_").replace("_", " ")


def tensor_words(tensor: Held) -> str:
    shape = " × ".join(f"{size:,}" for size in tensor.shape) or words.number
    if tensor.kind == "weights":
        return words.parameter.format(name=tensor.name, shape=shape)
    if tensor.kind == "gradients":
        return words.gradient.format(name=tensor.name, shape=shape)
    if tensor.kind == "averages":
        name, _, key = tensor.name.rpartition(" ")
        return words.averages.get(key, f"{{name}} {key}").format(name=name, shape=shape)
    if tensor.kind == "batch":
        text = words.batch if tensor.name == "batch" else words.parameter
        return text.format(name=tensor.name, shape=shape)
    return words.made_by.format(
        operation=operation_words(tensor.name), part=part_words(tensor.part), shape=shape
    )


def peak_told(memory: StepMemory) -> str:
    live, peak = memory.live(), memory.peak()
    moment, column = memory.moments[peak], live[:, peak]
    most = int(column.argmax())
    return words.peak_told.format(
        peak=spoken_bytes(int(column.sum())),
        when=words.when.format(phase=words.phases[moment.phase], part=part_words(moment.part)),
        kind=list(words.kinds.values())[most],
        share=kit.percent(column[most] / column.sum()),
        rest=spoken_bytes(int(live[:3, -1].sum())),
    )


def _code(chosen: Chosen, memory: StepMemory) -> None:
    live, peak = memory.live(), memory.peak()
    name, (_, rows, tokens, pieces, recompute) = chosen.bundled.name, chosen.known
    kit.show_code(
        [model.watched_step, watch_step, StepMemory],
        words.snippet_step.format(
            name=name, rows=rows, tokens=tokens, pieces=pieces, recompute=recompute
        ),
        f"{memory.moments[peak]}\n{live[:, peak].tolist()} {live[:, peak].sum()}",
    )


@kit.cached(12)
def ways_of(bundled: engine.Bundled, rows: int, tokens: int) -> kit.Job:
    """Return the work on one batch in a process of its own; the same is done only once."""
    target = "llmviz.course.lessons.efficiency.memory.model:memory_ways"
    return kit.training_jobs().start(target, name=bundled.name, rows=rows, tokens=tokens)


def _ways(state: kit.PageState, chosen: Chosen) -> None:
    kit.section(words.ways)
    tried = 1 + len(model.group_sizes(chosen.bundled.model.config.n_layer))
    tried += sum(pieces <= chosen.rows for pieces in model.PIECES)
    kit.live(
        state,
        "memoryways",
        ways_of,
        (chosen.bundled, chosen.rows, chosen.tokens),
        _found,
        start=words.ways_start,
        share=lambda job: len(job.results) / (tried + model.ROUNDS),
        said=kit.JobWords(words.ways_goes, words.ways_stopped, words.ways_again),
    )


def _found(job: kit.Job) -> None:
    if not job.results:
        return
    last: model.Ways = job.results[-1]
    cases = way_cases(last.ways)
    axis = kit.Axis.over(cases, words.peak_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.ways", form="figure")
    if last.rounds:
        worst = max(way.difference for way in last.ways)
        kit.prose(words.not_equal if worst else words.equal)
        rounds = kit.count(last.rounds, "step")
        kit.measured(words.how_ways, rounds=rounds, difference=kit.power_of_ten(worst))


def way_cases(ways: tuple[model.Way, ...]) -> list[kit.Case]:
    """Return the peak of each way as a bar, with how long its step takes where it is measured."""
    first, cases = ways[0].milliseconds, []
    for way in ways:
        name = words.way_plain
        if way.recompute:
            name = words.way_recompute[min(way.recompute, 2) - 1].format(every=way.recompute)
        elif way.pieces > 1:
            name = words.way_pieces.format(pieces=way.pieces)
        note = f"{way.peak / MB:.1f}"
        if first and way.milliseconds is not None:
            note = words.way_note.format(peak=note, ratio=way.milliseconds / first)
        cases.append(kit.Case(name, way.peak / MB, note=note))
    return cases


def _paper(state: kit.PageState) -> None:
    def take() -> None:
        for key, field in SIZES.items():
            state[key] = PRESETS[state["papershape"]][field]

    kit.section(words.paper_section)
    picture = st.container()
    named = state.named("papershape", PRESET_NAMES, then=take)
    st.pills(words.shape, required=True, help=PRESET_SOURCES, **named)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label in words.paper.items():
            st.number_input(label, width=200, **state.ranged(key))
        st.selectbox(words.dtype, width=330, **state.named("paperdtype", words.dtype_names))
        st.selectbox(words.optimizer, width=200, **state.named("paperoptimizer", words.optimizers))
        kit.choose(state, "paperattention", words.attention, words.attentions)
    try:
        config, given = settings_of(state)
        memory = paper_memory(config, state["paperrows"], state["papertokens"], **given)
    except ValueError as rule:
        kit.refuse(rule)
        return
    with picture:
        kit.chart(bars(memory, kit.theme()), f"{KEY}.paper")
        tokens = state["paperrows"] * state["papertokens"]
        kit.prose(report(memory, count(config), tokens, state["papergb"]))
    kit.measured(words.how_paper, hidden=config.feed_forward_size, kv_heads=config.kv_heads)
    kit.show_code(
        [paper_memory],
        words.snippet_paper.format(
            config=config.to_dict(),
            rows=state["paperrows"],
            tokens=state["papertokens"],
            more=", ".join(f"{key}={value!r}" for key, value in given.items()),
        ),
        f"{memory}\n{memory.total}",
    )


def settings_of(state: kit.PageState) -> tuple[GPTConfig, dict]:
    """Return the settings that the controls stand for. Raises ValueError naming a broken rule."""
    sizes = {field: state[key] for key, field in SIZES.items()}
    shape = dict(PRESETS[state["papershape"]])
    for field, follows in FOLLOWS.items():
        if sizes[field] != shape[field]:
            shape.pop(follows, None)
    shape["context_length"] = max(shape["context_length"], state["papertokens"])
    config = GPTConfig.from_dict(shape | sizes)
    return config, {
        "dtype": state["paperdtype"],
        "optimizer": state["paperoptimizer"],
        "recompute": state["paperrecompute"],
        "pieces": state["paperpieces"],
        "explicit": state["paperattention"] == "explicit",
    }


@kit.cached(64)
def bars(memory: TrainingMemory, mode: kit.Mode) -> kit.Figure:
    """Return how many bytes each kind takes, in the unit that fits the largest."""
    size, unit = byte_unit(max(memory))
    values = [getattr(memory, name) / size for name in words.paper_kinds]
    most = values.index(max(values))
    return compared(list(words.paper_kinds.values()), values, most, unit, mode, digits=2)


def report(memory: TrainingMemory, parameters: int, tokens: int, gb: float) -> str:
    """Return the sum, its largest share, and whether it fits into so many gigabytes."""
    most = max(words.paper_kinds, key=lambda kind: getattr(memory, kind))
    room = gb * GB - memory.total
    template = words.fits if room >= 0 else words.fits_not
    size = spoken_bytes(round(abs(room)))
    verdict = template.format(gb=f"{gb:,.3f}".rstrip("0").rstrip(".") + " GB", left=size, over=size)
    return words.paper_read.format(
        parameters=parameters,
        tokens=tokens,
        total=spoken_bytes(round(memory.total)),
        share=kit.percent(getattr(memory, most) / memory.total),
        kind=words.paper_kinds[most],
        verdict=verdict,
    )
