"""Chapter "Grokking": sums modulo a prime are learned by heart first, and much later as a rule."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.scatter_film.view import LAST, Curve, scatter_film
from llmviz.course.components.scatter_film.view import Film as FilmPicture
from llmviz.course.figures.bars import share_bars
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.grokking import WAVES, model, words
from llmviz.course.lessons.discoveries.grokking import grokking_record as record
from llmviz.course.lessons.discoveries.grokking.grokking_record import MAIN, SEEDS, film
from llmviz.course.ui import kit

KEY = "discoveries.grokking"
SAID_AT = {"memorised": 13, "asleep": 18, "awake": 25}  # frames that the looks lead to
AROUND = 3  # answers on each side of the sum that are shown
MOST = 4000  # steps of the learner's own training
job_of = kit.job_of("llmviz.course.lessons.discoveries.grokking.model:learn", "task")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the film and its curves, the guess about them and the looks, then what goes deeper."""
    if not kit.is_here(words.missing, record.COMMAND, record.card):
        return
    kit.prose(words.hook)
    main, seen = film(), state["grokframe"] > SAID_AT["memorised"]
    guess = kit.Guess(f"{KEY}.later", question(), seen)
    shown = guess.open
    with kit.stage("grokking"):
        at = _stage(state, main, (len(frames()) if shown else SAID_AT["memorised"] + 1) - 1)
    guess.ask()
    kit.source(state)
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks", **summary())
    counts: dict[str, Any] = {
        part: int(getattr(MAIN, part).sum()) for part in ("shown", "turned", "new")
    }
    clock: dict[str, Any] = {
        "last": MAIN.modulus - 1,
        "clock": (17 + 50) % MAIN.modulus,
        "all": MAIN.modulus**2,
    }
    kit.section(words.intro, task=MAIN, **clock, **counts)
    kit.measured(words.how_clock, task=MAIN, card=record.card(), **clock, **counts)
    decided = False
    if shown:
        kit.prose(f"{curves_read(main)} {turned_read(main)}")
        kit.prose(losses_read(main))
        _circle(at)
        _angles(state, MAIN.modulus)
        strong, top = main.strongest(WAVES), model.power(main.last.rows).max().round(3)
        kit.show_code([model.power], words.snippet.format(waves=WAVES), f"{strong} {top}")
        decided = _grid(state)
    _own(state)
    if decided:
        kit.seen(words.end, count=WAVES, **end_numbers(main))


@kit.cached(1)
def frames() -> list[model.Moment]:
    """Return the moments of the main training whose rows are bundled."""
    return [moment for moment in film().moments if moment.rows is not None]


def summary() -> dict[str, Any]:
    """Return the moments that question and looks name, and what the strongest waves hold there."""
    places = np.array(film().strongest(WAVES)) - 1
    named: dict[str, Any] = {name: frames()[frame] for name, frame in SAID_AT.items()}
    held = {f"{name}_held": at.power[places].sum() for name, at in named.items()}
    return named | held | {"count": WAVES}


def question() -> kit.Question:
    """Return the question what becomes of the new sums.

    The wrong answers are those of somebody who sees nothing left to learn, and of one who believes
    in practice: a straight way from the shown sums to the end of the training.
    """
    memorised, asleep, awake = (frames()[frame] for frame in SAID_AT.values())
    length = film().last.step - memorised.step
    answers = {
        (memorised.new_right, memorised.new_right): words.ask_later_nothing,
        (asleep.new_right, awake.new_right): words.ask_later_sudden,
        tuple(
            (at.step - memorised.step) / length for at in (asleep, awake)
        ): words.ask_later_practice,
    }
    return kit.Question.among(
        words.ask_later.format(memorised=memorised),
        answers,
        (asleep.new_right, awake.new_right),
        lambda two: words.answer.format(early=two[0], late=two[1], asleep=asleep, awake=awake),
    )


def end_numbers(run: model.Film) -> dict[str, Any]:
    """Return the last moment with under a tenth of the new sums right, and what the waves hold."""
    place = max(at for at, moment in enumerate(run.moments) if moment.new_right < 0.1)
    held = run.held(WAVES)
    return {"between": run.moments[place], "held": held[place], "begin_held": held[0]}


@kit.cached(WAVES)
def places(frequency: int) -> np.ndarray:
    """Return where the numbers lie at each moment (S, P, 2), along the last moment's directions."""
    last = frames()[-1].rows
    assert last is not None
    directions = model.plane(last, frequency)
    return np.array([frame.rows @ directions.T for frame in frames()])


def neighbours(frequency: int, modulus: int) -> list[tuple[int, int]]:
    """Return the pairs of numbers that are next to each other on the wave of a frequency.

    >>> neighbours(2, 5)
    [(0, 3), (1, 4), (2, 0), (3, 1), (4, 2)]
    """
    apart = pow(frequency, -1, modulus)
    return [(n, (n + apart) % modulus) for n in range(modulus)]


def _stage(state: kit.PageState, main: model.Film, last: int) -> int:
    """Show the film and the curves up to the last frame; return the frame that is looked at."""
    p, key, seen = MAIN.modulus, f"{KEY}.circle", frames()[: last + 1]
    waves = main.strongest(WAVES)
    frequency = waves[state["grokwave"]]
    at = state["grokframe"] if 0 <= state["grokframe"] < last else LAST
    left, right = st.columns([3, 2])
    with left:
        scatter_film(
            FilmPicture(
                places(frequency)[: last + 1],
                [str(n) for n in range(p)],
                words=words.film_words,
                kinds=np.zeros(p),
                kind_names=[words.film_words["kinds"]],
                lit=[0],
                links=neighbours(frequency, p),
                captions=[words.caption.format(at=frame) for frame in seen],
                curve=Curve(words.loss_curve, [frame.new_loss for frame in seen]),
                axes=tuple(words.film_axes),
            ),
            key=key,
            step=at,
            on_step=kit.bound(
                state, key, step=("grokframe", kit.one_of([*range(last), LAST], LAST))
            ),
        )
    with right:
        kit.plot(f"{KEY}.curves.right", main_figure, seen[-1].step, seen[at].step)
        kit.choose(state, "grokwave", words.wave, {n: str(k) for n, k in enumerate(waves)})
    return at if at >= 0 else last


@kit.cached(72)
def main_figure(until: int, at: int, mode: kit.Mode) -> go.Figure:
    """Return the curves of the main training up to a step, with a line at the one looked at."""
    run = film()
    figure = right_figure(run, mode, sum(step <= until for step in run.steps))
    figure.update_xaxes(range=[0, float(np.log10(run.last.step))])
    return figure.add_vline(at, line={"width": 1, "dash": "dot"})


def right_figure(run: model.Film, mode: kit.Mode, count: int | None = None) -> go.Figure:
    """Return shares of right sums by step, and what the frequencies of the last moment hold.

    count: how many of the moments are drawn, if not all.
    """
    steps, marked = run.steps[:count], len(run.moments) < 2
    drawn = [
        Line(title, steps, run.curve(name)[:count], colour, marked=marked)
        for colour, (name, title) in enumerate(words.curve_lines.items())
    ]
    held = words.waves_line.format(count=WAVES)
    drawn.append(Line(held, steps, run.held(WAVES)[:count], 3, dashed=True, marked=marked))
    return shares(drawn, words.right_axis, mode)


def shares(drawn: list[Line], axis: str, mode: kit.Mode) -> go.Figure:
    """Return lines of shares, from 0 to 1, over the logarithm of the step."""
    axes = words.step_axis, axis
    figure = lines(drawn, axes, mode, logarithmic=(True, False), hover="%{y:.1%}")
    return figure.update_layout(yaxis_tickformat=".0%", yaxis_range=[-0.02, 1.04])


def curves_read(run: model.Film) -> str:
    """Say when a training knows the shown sums, and when the new ones."""
    first, then = run.memorised_at, run.generalised_at
    times = then / first if first and then else 0
    how = "none" if first is None else "memorised" if then is None else "both"
    if 0 < times < 1.5:
        how = "together"
    return words.curves_read[how].format(run=run, most=model.LEARNED, times=times)


def turned_read(run: model.Film) -> str:
    """Say what a training knows of the other order once it knows the shown sums, if it does."""
    place = run.first("shown_right")
    return "" if place is None else words.turned_read.format(at=run.moments[place])


def losses_read(run: model.Film) -> str:
    """Say what the losses do between the two moments, if there are both."""
    memorised, generalised = run.first("shown_right"), run.first("new_right")
    if memorised is None or generalised is None or generalised <= memorised:
        return ""
    between = slice(memorised, generalised + 1)
    worst, guess = run.curve("new_loss")[between].max(), np.log(run.task.modulus)
    return words.losses_read.format(worst=worst, guess=guess)


def _circle(at: int) -> None:
    kit.section(words.circle)
    kit.measured(words.how_circle, modulus=MAIN.modulus)
    kit.plot(f"{KEY}.circle.power", power_figure, at)
    now, first = frames()[at], frames()[0]
    held = {"now": np.sort(now.power)[-WAVES:].sum(), "before": np.sort(first.power)[-WAVES:].sum()}
    kit.prose(words.power_read, at=now, first=first, count=WAVES, all=len(now.power), **held)


@kit.cached(64)
def power_figure(at: int, mode: kit.Mode) -> go.Figure:
    """Return the share of each frequency at a moment; the strongest at the end stand out."""
    held = frames()[at].power
    top = max(float(frame.power.max()) for frame in frames())
    axes = words.frequency_axis, words.power_axis
    return share_bars(held.tolist(), film().strongest(WAVES), top, axes, mode)


@kit.cached(1)
def waves() -> tuple[np.ndarray, np.ndarray, float]:
    """Return the frequencies that stand highest in the logits (K,), how high, and what they say.

    The last is the share of the logits' differences that they explain.
    """
    every = model.heights(record.final_logits(), MAIN.modulus)
    chosen = np.sort(np.abs(every).argsort()[::-1][:WAVES])
    frequencies, high = chosen + 1, every[chosen]
    return frequencies, high, model.explained(record.final_logits(), frequencies, high)


def _angles(state: kit.PageState, p: int) -> None:
    kit.section(words.angles, modulus=p)
    kit.controls(state, groka=words.a, grokb=words.b)
    a, b = state["groka"], state["grokb"]
    kit.show(
        state,
        matrices(a, b),
        [
            ["turn", "rest"],
            [None, "angle"],
            ["heights", "waves"],
            [None, "result"],
            [None, "model"],
        ],
        key=f"{KEY}.angles.cells",
        control="grokcell",
        first=f"result.0.{AROUND}",
        numbers=True,
    )
    kit.prose(angles_read(a, b))


def matrices(a: int, b: int) -> list[lv.Matrix]:
    """Return the waves at the sum and at answers around it, as matrices that open."""
    p, (frequencies, high, _) = MAIN.modulus, waves()
    answers = (a + b + np.arange(-AROUND, AROUND + 1)) % p
    rest = (a + b - answers)[None].astype(float)
    turn = 2 * np.pi * frequencies[:, None] / p
    waved = np.cos(turn @ rest)
    own = record.final_logits()[a * p + b]
    own = (own - own.mean())[answers][None]
    down: dict[str, Any] = {"row_labels": [f"k = {k}" for k in frequencies]}
    across: dict[str, Any] = {"col_labels": [f"c = {answer}" for answer in answers]}
    wave: dict[str, Any] = {
        "role": "weights",
        "scale": "diverging",
        "limit": 1.0,
        "op": lv.function("angle", "cos"),
    }
    added: dict[str, Any] = {"role": "value", "op": lv.matmul("heights", "waves")}
    named: dict[str, Any] = {"col_labels": down["row_labels"], "role": "key"}
    return [
        lv.Matrix("turn", turn, words.turn, words.turn_formula.format(modulus=p), **down),
        lv.Matrix("rest", rest, words.rest, **across, digits=0),
        lv.Matrix(
            "angle",
            turn @ rest,
            "angle",
            words.angle_formula,
            **down,
            **across,
            op=lv.matmul("turn", "rest"),
        ),
        lv.Matrix("heights", high[None], words.height, **named),
        lv.Matrix("waves", waved, words.wave_name, "cos(angle)", **down, **across, **wave),
        lv.Matrix(
            "result", high[None] @ waved, words.result, words.result_formula, **across, **added
        ),
        lv.Matrix("model", own, words.model, **across, role="query"),
    ]


def angles_read(a: int, b: int) -> str:
    """Say which answer is highest, for the waves and for the model."""
    p, (frequencies, high, _) = MAIN.modulus, waves()
    total, said = (a + b) % p, int(record.final_logits()[a * p + b].argmax())
    turns = 2 * np.pi * np.outer(frequencies, a + b - np.arange(p)) / p
    best = int((high @ np.cos(turns)).argmax())
    how = "right" if said == best == total else "wrong"
    return words.angles_read[how].format(a=a, b=b, sum=total, said=said, waves=best)


def _grid(state: kit.PageState) -> bool:
    """Ask what weight decay does, and show the trainings; return whether they are shown."""
    kit.section(words.grid, trainings=len(record.tasks()) - 1)
    asked = kit.Question.of(words.ask_decay, last=record.SMALL_STEPS)
    if not kit.Guess(f"{KEY}.grid.decay", asked).ask():
        return False
    kit.section(words.many)
    kit.controls(state, gridmodulus=words.modulus, gridshare=words.share, griddecay=words.decay)
    p, share, decay = (float(state[f"grid{name}"]) for name in ("modulus", "share", "decay"))
    kit.plot(f"{KEY}.grid.new", grid_figure, int(p), share, decay)
    kit.prose(grid_read(films(int(p), share, decay)))
    return True


def films(modulus: int, share: float, decay: float) -> list[model.Film]:
    """Return the three trainings of these settings."""
    return [film(record.small(modulus, share, decay, seed)) for seed in SEEDS]


@kit.cached(36)
def grid_figure(modulus: int, share: float, decay: float, mode: kit.Mode) -> go.Figure:
    """Return the share of right new sums of three trainings, by step."""
    drawn = [
        Line(
            words.seed_line.format(number=n + 1), run.steps, run.curve("new_right"), n, marked=False
        )
        for n, run in enumerate(films(modulus, share, decay))
    ]
    return shares(drawn, words.new_axis, mode)


def grid_read(every: list[model.Film]) -> str:
    """Say which of three trainings come to know the new sums, and when."""
    steps = [f"{run.generalised_at:,}" for run in every if run.generalised_at is not None]
    how = "all" if len(steps) == len(every) else "some" if steps else "none"
    last = max(run.last.step for run in every)
    most = max(run.last.new_right for run in every)
    if not steps and not most:
        how = "zero"
    slots = {"count": len(steps), "last": last, "steps": steps, "most": kit.percent(most)}
    return words.grid_read[how].format(**slots)


def _own(state: kit.PageState) -> None:
    kit.section(words.own)
    anew = state.setter(owngrok=False)
    kit.controls(state, anew, **words.own_controls)
    p, share, decay = (float(state[f"own{name}"]) for name in ("modulus", "share", "decay"))
    task = model.Sums(int(p), share, decay, state["owngrokseed"], record.SMALL_WIDTH, MOST)
    kit.live(
        state,
        "owngrok",
        job_of,
        (task,),
        lambda job: _results(task, job),
        start=words.own_start,
        share=lambda job: job.results[-1].step / task.most if job.results else 0.0,
    )


def _results(task: model.Sums, job: kit.Job) -> None:
    if not job.results:
        return
    run = model.Film(task, list(job.results))
    kit.chart(right_figure(run, kit.theme()), f"{KEY}.own.right", bar=False)
    read = f"{curves_read(run)} {turned_read(run)}"
    kit.prose(read if job.over else words.own_going.format(run=run))
    kit.prose(words.own_held, count=WAVES, run=run, held=run.held(WAVES)[-1])
