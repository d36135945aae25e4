"""Chapter "Distilling": small students of the story model, taught by text or by distributions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.corpus.next_tokens import TrueTokens, true_tokens
from llmviz.course import components as lv
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.distillation import COUNTS, HEATS, WHERE, words
from llmviz.course.lessons.reasoning.distillation.distil_record import (
    BUNDLED,
    COMMAND,
    DRAWS,
    FEW,
    MANY,
    SEEDS,
    WAYS_OF,
    WORD,
    Run,
    bundled,
    recorded,
)
from llmviz.course.lessons.reasoning.distillation.distilling import (
    BATCH,
    SOFT_1,
    TEACHER,
    TESTS,
    TEXT,
    UPDATES,
    WAYS,
)
from llmviz.course.lessons.reasoning.distillation.soft_place import Place, place_of
from llmviz.course.ui import engine, kit
from llmviz.evaluation.exact_loss import story_logits
from llmviz.nn import distillation
from llmviz.tokenizers import in_line

KEY = "reasoning.distillation"
GUESS = f"{KEY}.word"
OPEN = 2.0  # bits of the place that is open at first: few enough tokens to have a column each
SEED = len(SEEDS)  # of the learner's student: its weights and stories, which no bundled one has
SURE = 2.0  # standard errors: what is less apart is called a tie
ROWS = ((TEXT, ""), (TEXT, WORD), (SOFT_1, WORD))  # ways of students, and the word they never met
Given = tuple[engine.Bundled, str, int, str, str]
"""The teacher, the story, the place, the temperature as the link writes it, the student's way."""


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show who gives a word that it never read, and the guess about it, then how that works."""
    if not kit.is_here(words.missing, COMMAND, lambda: (recorded(), *map(bundled, BUNDLED))):
        return
    kit.prose(words.hook, word=WORD, many=MANY)
    guess = kit.Guess(GUESS, question())
    opened = guess.open
    with kit.stage("distillation"):
        _word(state["distwhere"] if opened else WHERE[0], guess)
        if opened:
            kit.choose(state, "distwhere", words.where_label, words.where)
    guess.ask()
    if opened:
        must = {"teacher": recorded().teacher.word.given_certain, "soft": chances(SOFT_1, WORD)[1]}
        lacks = {"few_text": mean(TEXT, FEW), "few_soft": mean(SOFT_1, FEW)}
        kit.looks(state, words.looks, f"{KEY}.looks", **must, **lacks)
    sizes = {"teacher": engine.card(TEACHER)["parameters"], "student": parameters()}
    kit.section(words.intro, **sizes)
    _place(state)
    if opened:
        _noise()
        _runs(state)
        _live(state)
        true, told = recorded().teacher.word.true, chances(SOFT_1, WORD)[0]
        kit.seen(words.end, word=WORD, told=told, true=true, few=FEW, **lacks)


@kit.cached(1)
def parameters() -> int:
    return sum(parameter.numel() for parameter in bundled(TEXT).parameters())


def chances(way: str, without: str = "") -> tuple[float, float]:
    """Return what students give to the word at both kinds of places, on average."""
    runs = [run.measured.word for run in recorded().of(way, MANY, without)]
    given = [(word.given, word.given_certain) for word in runs]
    both = np.mean(given, 0)
    return float(both[0]), float(both[1])


def question() -> kit.Question:
    """Ask what students give to a word that they never met, taught by distributions.

    The wrong answers are those of somebody to whom a word that was never read is not known, and to
    whom hearsay is half as good as reading.
    """
    true, told = recorded().teacher.word.true, chances(SOFT_1, WORD)[0]
    return kit.Question.among(
        words.ask.format(word=WORD),
        {
            0.0: words.ask_reasons["never"],
            true / 2: words.ask_reasons["half"],
            told: words.ask_reasons["right"],
        },
        told,
        kit.percent,
        word=WORD,
        true=kit.percent(true),
        told=kit.percent(told),
    )


def _word(where: str, guess: kit.Guess) -> None:
    """Draw what the grammar, the teacher and students give to the word, in places of one kind."""
    at, teacher = WHERE.index(where), recorded().teacher.word
    known = (teacher.true, teacher.given) if at == 0 else (1.0, teacher.given_certain)
    cases = [kit.Case(words.truth[where], known[0], role="value")] if at == 0 else []
    cases.append(kit.Case(words.teacher_row, known[1], role="key"))
    for way, without in ROWS:
        runs = [run.measured.word for run in recorded().of(way, MANY, without)]
        dots = [(run.given, run.given_certain)[at] for run in runs]
        label = words.rows["without" if without else "with"][0 if way == TEXT else 1]
        cases.append(kit.Case(label.format(word=WORD), float(np.mean(dots)), dots=dots))
    axis = kit.Axis(0, 0.06 if at == 0 else 1, words.given_axis.format(word=WORD))
    if at == 0:
        veiled = [len(cases) - 1]
        guess.cases(cases, axis, veiled=veiled, picture=f"{KEY}.rows", form="chance")
    else:
        kit.case_rows(cases, axis, key=f"{KEY}.must", form="chance")
    places = teacher.possible if at == 0 else teacher.certain
    kit.prose(words.caption[where], places=places, word=WORD)


def _place(state: kit.PageState) -> None:
    """Show one place of the learner's story: three targets, and how they pull."""
    kit.section(words.place)
    teacher = kit.load(TEACHER)
    if teacher is None:
        return
    kit.text_area(state, "disttext", words.text, height=120)
    truth = truth_of(teacher, state["disttext"])
    tokens = min(truth.possible, teacher.model.context_length)
    if truth.possible < len(truth.ids):
        (token,) = kit.names_of(truth.ids[truth.possible : truth.possible + 1], teacher.tokenizer)
        kit.inform(words.stops["some" if tokens else "none"].format(token=token), ":material/help:")
    if not tokens:
        if not truth.ids:
            kit.inform(words.empty, ":material/edit:")
        return
    at, key = open_place(truth, tokens, state["distat"]), f"{KEY}.strip"
    token_strip(
        [strip_row(teacher, state["disttext"], tokens)],
        key=key,
        show_ids=False,
        value_label=words.strip_value,
        selected=TokenSelection(0, at, int(truth.ids[at])),
        on_change=kit.bound(state, key, selected=("distat", kit.second_of)),
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        heats = {heat: heat for heat in HEATS}
        st.select_slider(words.heat, width=320, **state.named("distheat", heats))
        names = {name: words.students[name] for name in BUNDLED}
        kit.choose(state, "diststudent", words.student, names)
    given = teacher, state["disttext"], at, state["distheat"], state["diststudent"]
    place = kit.or_refused(placed, given)
    if place is not None:
        _pulls(state, given, place)


@kit.cached(32)
def truth_of(teacher: engine.Bundled, text: str) -> TrueTokens:
    """Return what the grammar says of each token of a story."""
    return true_tokens(text, teacher.tokenizer)


@kit.cached(32)
def logits_of(teacher: engine.Bundled, text: str, way: str = "") -> np.ndarray:
    """Return the logits (T, V) of the teacher, or of a bundled student, before each token."""
    model = bundled(way) if way else teacher.model
    return story_logits(model, teacher.tokenizer, truth_of(teacher, text))


@kit.cached(128)
def placed(given: Given) -> Place:
    teacher, text, at, heat, way = given
    truth = truth_of(teacher, text)
    logits = (logits_of(teacher, text)[at], logits_of(teacher, text, way)[at])
    if len(logits[0]) != len(logits[1]):
        raise ValueError(words.other_teacher.format(command=COMMAND))
    return place_of(*logits, truth.following[at], truth.ids[at], float(heat))


def open_place(truth: TrueTokens, tokens: int, place: int) -> int:
    """Return the place asked for, else the one where the grammar is nearest to OPEN bits."""
    apart = [abs(chances.entropy / np.log(2) - OPEN) for chances in truth.following[:tokens]]
    return place if 0 <= place < tokens else int(np.argmin(apart))


@kit.cached(32)
def strip_row(teacher: engine.Bundled, text: str, tokens: int) -> TokenRow:
    """Return the tokens of the story, coloured by how open the grammar is before each."""
    truth = truth_of(teacher, text)
    ids = truth.ids[:tokens]
    shown = in_line(map(teacher.tokenizer.token_bytes, ids), ids)
    values = [chances.entropy / np.log(2) for chances in truth.following[:tokens]]
    return TokenRow(words.strip, shown, values=values)


def _pulls(state: kit.PageState, given: Given, place: Place) -> None:
    heated = given[3] != "1"
    layout = [["true"], ["hard"], ["student"], ["hard_pull"], ["soft"]]
    layout += [["heated"], ["apart"]] * heated + [["soft_pull"]]
    kit.show(
        state,
        matrices(given),
        layout,
        key=f"{KEY}.pulls",
        control="distcell",
        first="soft_pull.0.0",
    )
    case = "one" if place.bits["true"] == 0 else "less" if place.off < place.noise else "more"
    bits = {"plain": place.bits["plain"], "true": place.bits["true"]}
    told = words.place_read["one" if case == "one" else "many"]
    kit.prose(f"{told} {words.noise_here[case]}", noise=place.noise, off=place.off)
    outside = kit.percent(place.outside)
    kit.measured(words.how_place, heat=given[3], outside=outside, **bits)
    kit.show_code(
        [distillation.soft_targets, distillation.distillation_loss],
        words.snippet.format(heat=given[3]),
        _code_result(float(given[3])),
    )


def _code_result(heat: float) -> str:
    import torch

    student = torch.tensor([[1.0, 0.0, -1.0]], requires_grad=True)
    target = distillation.soft_targets(torch.tensor([[2.0, 1.0, 0.0]]), heat)
    distillation.distillation_loss(student, target, heat).backward()
    assert student.grad is not None
    return str([f"{abs(value):.4f}" for value in student.grad[0].tolist()])


@kit.cached(64)
def matrices(given: Given) -> tuple[lv.Matrix, ...]:
    """Return targets, predictions and pulls of a place as matrices that open."""
    place, heat = placed(given), float(given[3])
    ops = {"hard_pull": lv.subtracted("student", "hard")}
    if heat == 1:
        ops["soft_pull"] = lv.subtracted("student", "soft")
    else:
        ops["apart"] = lv.subtracted("heated", "soft")
        ops["soft_pull"] = lv.scaled("apart", heat, words.times_heat.format(heat=given[3]))
    values = {
        "true": place.true,
        "hard": place.hard,
        "student": place.student,
        "hard_pull": place.hard_pull,
        "soft": place.soft,
        "heated": place.heated,
        "apart": place.heated - place.soft,
        "soft_pull": place.soft_pull,
    }
    roles = {"student": "weights", "heated": "weights", "hard": "key", "soft": "query"}
    tokens = [*kit.names_of(place.ids.tolist(), given[0].tokenizer), words.others]
    return tuple(
        lv.Matrix(
            name,
            value[None],
            words.labels[name][0],
            words.labels[name][1].format(heat=given[3]),
            col_labels=tokens,
            role=roles.get(name, "accent" if "pull" in name else "neutral"),
            op=ops.get(name),
            scale="diverging" if "pull" in name or name == "apart" else "sequential",
            limit=None if "pull" in name or name == "apart" else 1.0,
        )
        for name, value in values.items()
    )


def _noise() -> None:
    noise = recorded().noise
    apart, sure = noise.text - noise.soft, SURE * noise.error
    told = words.batches_told["tie" if abs(apart) <= sure else "less" if apart > 0 else "more"]
    kit.section(words.noise, noise=noise)
    kit.prose(told)
    kit.measured(words.how_noise, stories=BATCH, draws=DRAWS, noise=noise)


def lack_of(run: Run) -> float:
    """Return a student's loss over the floor."""
    return run.measured.excess.value


def mean(way: str, count: int, number: Callable[[Run], float] = lack_of) -> float:
    return float(recorded().values(number, way, count).mean())


def _runs(state: kit.PageState) -> None:
    kit.section(words.runs)
    counts = {number: f"{int(number):,}" for number in COUNTS}
    kit.choose(state, "distcount", words.count, counts)
    count = int(state["distcount"])
    kit.plot(f"{KEY}.lack", figure, count)
    means = {way: mean(way, count) for way in WAYS_OF[count]}
    best = min(means, key=means.__getitem__)
    slots = {"text": means[TEXT], "soft": means[SOFT_1], "best": words.ways[best]}
    kit.prose(words.run_read, **slots)
    ends = [run.points[-1].tokens for run in recorded().runs.values()]
    tokens, floor = int(round(float(np.mean(ends)), -3)), recorded().teacher.floor.value
    kit.measured(words.how_runs, tokens=tokens, updates=UPDATES, tests=TESTS, floor=floor)
    values = str([f"{lack_of(run):.4f}" for run in recorded().of(SOFT_1, count)])
    kit.show_code([Run], words.run_snippet.format(way=SOFT_1, count=count), values)


@kit.cached(4)
def figure(count: int, mode: kit.Mode) -> go.Figure:
    """Return what students lack by the tokens that they have read, a line for each way."""
    return lines(
        curves(count), (words.tokens_axis, words.lack_axis), mode, logarithmic=(False, True)
    )


def curves(count: int) -> list[Line]:
    """Return the line of each way: the mean of three students, and their standard error."""
    drawn = []
    for at, way in enumerate(WAYS):
        if way in WAYS_OF[count]:
            runs = recorded().of(way, count)
            x = np.mean([[point.tokens for point in run.points] for run in runs], axis=0)
            y = np.array([[point.excess for point in run.points] for run in runs])
            errors = y.std(0, ddof=1) / np.sqrt(len(runs))
            drawn.append(Line(words.ways[way], x, y.mean(0), at, errors=errors.tolist()))
    return drawn


@kit.cached(12)
def job_of(way: str, updates: int) -> kit.Job:
    """Return a training in a process of its own; the same one is made only once."""
    return kit.training_jobs().start(
        "llmviz.course.lessons.reasoning.distillation.distilling:student_run",
        name=way,
        count=FEW,
        seed=SEED,
        updates=updates,
    )


def _live(state: kit.PageState) -> None:
    kit.section(words.live, few=FEW)
    anew = state.setter(distrun=False)
    kit.choose(state, "distway", words.way, {name: words.ways[name] for name in WAYS}, then=anew)
    st.slider(words.updates, step=40, width=320, **state.ranged("distupdates", then=anew))
    way, updates = state["distway"], state["distupdates"]
    kit.live(
        state,
        "distrun",
        job_of,
        (way, updates),
        lambda job: _result(job, way),
        start=words.start,
        share=lambda job: job.results[-1].step / updates if job.results else 0.0,
    )


def _result(job: kit.Job, way: str) -> None:
    if not job.results:
        return
    figure_of = run_figure(job, len(job.results), kit.theme())
    kit.chart(figure_of, f"{KEY}.live", bar=False)
    last: Any = job.results[-1]
    kit.prose(words.live_read, last=last, mean=bundled_at(way, last.tokens))


def bundled_at(way: str, tokens: int) -> float:
    """Return what the bundled students of a way lack after so many tokens, between two points."""
    runs = recorded().of(way, FEW)
    x = np.mean([[point.tokens for point in run.points] for run in runs], axis=0)
    y = np.mean([[point.excess for point in run.points] for run in runs], axis=0)
    return float(np.interp(tokens, x, y))


@kit.cached(24)
def run_figure(job: kit.Job, count: int, mode: kit.Mode) -> go.Figure:
    """Return the curve of a training so far, beside those of the bundled students."""
    points = list(job.results)[:count]
    x, y = [point.tokens for point in points], [point.excess for point in points]
    own = Line(words.live_name, x, y, len(WAYS))
    axes = words.tokens_axis, words.lack_axis
    return lines([*curves(FEW), own], axes, mode, logarithmic=(False, True))
