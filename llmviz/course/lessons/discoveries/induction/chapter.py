"""Chapter "A head learns to copy": attention alone on letters that repeat, with one layer and two.

T letters of a text, L layers, H heads, V letters.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.look_back.view import look_back
from llmviz.course.components.scatter_film.view import LAST, Curve, Film, scatter_film
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.induction import (
    FIRST_LETTERS,
    OWN_HEADS,
    OWN_LAYERS,
    SECOND,
    words,
)
from llmviz.course.lessons.discoveries.induction.induction_record import (
    COMMAND,
    ONE,
    SEEDS,
    TWO,
    card,
    frame_of,
    learned,
    model_at,
    story_on_random,
)
from llmviz.course.ui import kit
from llmviz.course.ui.guess_drawn import words as hand_words
from llmviz.interpretability.heads_on_text import head_maps
from llmviz.interpretability.induction import (
    HEADS,
    HELD_OUT,
    LETTERS,
    LONGEST,
    SHORTEST,
    STEPS,
    Copier,
    Learned,
    Moment,
    Pair,
    T,
    V,
    diagonal,
    floor,
    ids_of,
    next_chances,
    pair_of,
)

KEY = "discoveries.induction"
GUESS = f"{KEY}.where"
SEEN = 8  # letters and numbers that are seen of a long axis
AWAY = 100  # a guess at another letter is so far from the right one
job_of = kit.job_of("llmviz.interpretability.induction:learn", "copier")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show letters and where two heads look, the guess about it, then how they came to it."""
    if not kit.is_here(words.missing, COMMAND, card):
        return
    kit.prose(words.hook)
    try:
        ids = tuple(ids_of(state["copyletters"]))
    except ValueError as error:
        kit.refuse(error)
        ids = ()
    last = len(learned().moments) - 1
    kit.keep(state, "copyframe", [LAST, *range(last)])
    place = state["copyframe"] % (last + 1)
    first = (state["copyletters"], state["copysecond"]) == (FIRST_LETTERS, SECOND)
    # What else is looked at is not asked about.
    guess = kit.Guess(GUESS, question(ids, SECOND) if first else None, by_hand=True)
    opened = guess.open
    with kit.stage("induction"):
        if ids:
            _letters(state, ids, place, guess)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.text_input(state, "copyletters", words.letters, width=260)
            if opened:
                names = {at: f"{learned().moments[at].step:,}" for at in [*range(last), LAST]}
                st.select_slider(words.step_axis, width=320, **state.named("copyframe", names))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks", **summary())
        kit.real_case("copies", words.real)
    _letters_drawn()
    if opened:
        _curves()
        _film(state, place)
        _product(state, place)
        numbers = story_on_random()
        kit.section(words.in_story, **numbers)
        kit.measured(words.how_story, **numbers)
        _own(state)
        kit.seen(words.end, **end_numbers())


def where(ids: Sequence[int]) -> dict[str, int]:
    """Return places of a text: the last letter's earlier one, what is behind, and the newest.

    >>> where(ids_of("qmxztbqmxz"))
    {'same': 3, 'behind': 4, 'newest': 8}
    """
    *before, last = ids
    same = max((at for at, letter in enumerate(before) if letter == last), default=-2)
    return {"same": same, "behind": same + 1, "newest": len(ids) - 2}


@kit.cached(64)
def results(ids: tuple[int, ...], frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the next letter's probabilities of both models (V,), and the maps of two layers."""
    two = model_at(frame=frame)
    maps = head_maps(two, ids).maps
    return next_chances(two, ids), next_chances(model_at(ONE), ids), np.asarray(maps)


def question(ids: tuple[int, ...], head: int) -> kit.Question | None:
    """Ask where a head of the second layer looks; None where it does not look where it should.

    The wrong answers are those of somebody to whom it looks for the letter itself, and to whom the
    newest letter counts most.
    """
    if len(ids) < 2:
        return None
    at = where(ids)
    looks = int(results(ids, -1)[2][1, head, -1].argmax())
    if at["same"] < 0 or len(set(at.values())) < 3 or looks != at["behind"]:
        return None
    slots = {name: LETTERS[ids[place]] for name, place in at.items()}
    answers = {name: (place, AWAY * (name != "behind")) for name, place in at.items()}
    names = {place: words.ask_answers[name].format(**slots) for name, place in at.items()}
    return kit.Question.among(
        words.ask.format(last=LETTERS[ids[-1]]),
        {answers[name]: text.format(**slots) for name, text in words.ask_reasons.items()},
        answers["behind"],
        lambda guess: names[int(guess[0])],
    )


def _letters(state: kit.PageState, ids: tuple[int, ...], place: int, guess: kit.Guess) -> None:
    """Draw where a head of each layer looks, and what comes next; or only ask."""
    frame, shown = frame_of(place)
    of_two, of_one, maps = results(ids, frame)
    heads = [(0, state["copyfirst"]), (1, state["copysecond"])]
    key = f"{KEY}.look.{guess.open}"

    def clicked() -> None:
        at = st.session_state[key].get("asking")
        if guess.asks and isinstance(at, int) and at < len(ids) - 1:
            behind = guess.right[0]
            guess.settle([at, AWAY * (at != behind)])

    look_back(
        np.stack([maps[head] for head in heads]),
        [LETTERS[letter] for letter in ids],
        key=key,
        names=[words.head.format(layer=layer, head=head) for layer, head in heads],
        words=words.look,
        covered=() if guess.open else (1,),
        ghost=None if guess.missed is None else (1, guess.missed),
        on_change=clicked,
    )
    if guess.asks:
        return
    at, step = where(ids), learned().moments[shown].step
    again = at["same"] >= 0
    target = ids[at["behind"]] if again else int(of_two.argmax())
    cases = [
        kit.Case(words.two_now.format(step=step), float(of_two[target])),
        kit.Case(words.one_last, float(of_one[target]), role="residual"),
    ]
    axis = kit.Axis(0, 1, words.chance_axis.format(letter=LETTERS[target]))
    kit.case_rows(cases, axis, key=f"{KEY}.next", words=hand_words.bars, form="chance")
    looks = maps[heads[1]][-1]
    kit.prose(
        words.caption["again" if again else "new"],
        step=step,
        head=f"1.{heads[1][1]}",
        weight=float(looks[at["behind"]] / (255 if looks.dtype == np.uint8 else 1)),
        letter=LETTERS[target],
        last=LETTERS[ids[-1]],
        share=float(of_two[target]),
    )


def summary() -> dict[str, Any]:
    """Return what the looks name: the losses at two moments, and without the first head."""
    moments = learned().moments
    return {"before": moments[26], "after": moments[30], "last": learned().last}


def _letters_drawn() -> None:
    kit.section(words.intro, guess=log(V))
    drawn = {"shortest": SHORTEST, "longest": LONGEST, "length": T, "heads": HEADS, "steps": STEPS}
    sizes = {"two": card(TWO)["parameters"], "one": card(ONE)["parameters"]}
    kit.measured(words.how_learned, **drawn, **sizes)


def _curves() -> None:
    kit.section(words.curves, held=HELD_OUT)
    kit.plot(f"{KEY}.loss", curves_figure)
    kit.prose(step_read(learned(), ends_of(TWO), ends_of(ONE)))


@kit.cached(2)
def curves_figure(mode: kit.Mode) -> go.Figure:
    """Return the loss on letters that repeat of all bundled trainings, by step."""
    kinds = ((TWO, words.two_line), (ONE, words.one_line))
    return losses_figure(
        [
            (learned(replace(copier, seed=seed)), title.format(number=seed + 1), colour)
            for colour, (copier, title) in enumerate(kinds)
            for seed in SEEDS
        ],
        mode,
    )


def losses_figure(runs: Sequence[tuple[Learned, str, int]], mode: kit.Mode) -> go.Figure:
    """Return the losses on letters that repeat; step 0 has no logarithm. One layer is dashed."""
    drawn = [
        Line(
            title,
            run.steps[1:],
            run.curve("repeat_loss")[1:],
            colour,
            dashed=run.copier.layers == 1,
            marked=False,
        )
        for run, title, colour in runs
    ]
    return lines(drawn, (words.step_axis, words.loss_axis), mode, logarithmic=(True, False))


def ends_of(copier: Copier) -> Sequence[float]:
    """Return the last losses of the trainings of a model, sorted."""
    return sorted(learned(replace(copier, seed=seed)).last.repeat_loss for seed in SEEDS)


def step_read(run: Learned, twos: Sequence[float], ones: Sequence[float]) -> str:
    """Return when the loss falls fastest, and where both kinds of model end, in sentences."""
    before, after = run.moments[run.steepest - 1], run.moments[run.steepest]
    ends = {"most": f"{max(twos):.3f}", "least": f"{min(ones):.2f}"}
    return words.step_read.format(before=before, after=after, **ends)


def _film(state: kit.PageState, place: int) -> None:
    """Show the heads as points, what is lost without each, and the loss by place."""
    kit.section(words.film)
    run, key = learned(), f"{KEY}.film"
    last = len(run.moments) - 1
    both = np.stack([run.curve("previous"), run.curve("induction")], -1)
    names = head_names(run.copier)
    scatter_film(
        Film(
            both.reshape(len(both), -1, 2),
            names,
            words=words.film_words,
            kinds=np.array([int(name[0]) for name in names]),
            kind_names=words.film_kinds,
            lit=(0, 1),
            captions=[words.film_caption.format(at=moment) for moment in run.moments],
            curve=Curve(words.loss_curve, run.curve("repeat_loss").tolist()),
            axes=tuple(words.film_axes),
        ),
        key=key,
        step=place if place < last else LAST,
        on_step=kit.bound(state, key, step=("copyframe", kit.one_of([*range(last), LAST], LAST))),
    )
    moment = run.moments[place]
    kit.prose(words.off_intro, at=moment)
    _heads_off(moment, run.copier, f"{KEY}.off")
    kit.plot(f"{KEY}.place", by_place, place)


def head_names(copier: Copier) -> list[str]:
    """Return the heads of a model: layer, point, head.

    >>> head_names(Copier(layers=2, heads=2))
    ['0.0', '0.1', '1.0', '1.1']
    """
    return [f"{layer}.{head}" for layer in range(copier.layers) for head in range(copier.heads)]


def _heads_off(moment: Moment, copier: Copier, key: str) -> None:
    cases = [
        kit.Case(words.without.format(head=name), float(loss))
        for name, loss in zip(head_names(copier), moment.off.ravel(), strict=True)
    ]
    axis = kit.Axis(0, max(1.1 * float(moment.off.max()), log(V)), words.loss_axis)
    levels = [(moment.repeat_loss, words.all_on)]
    look: dict[str, Any] = {"form": "figure", "mark": "dot", "levels": levels}
    kit.case_rows(cases, axis, key=key, words=hand_words.bars, **look)


@kit.cached(90)
def by_place(place: int, mode: kit.Mode) -> go.Figure:
    """Return the loss of each letter from the second on, beside the least that is possible."""
    least, two = floor(), learned().moments[place]
    places = np.arange(2, len(least) + 2)
    drawn = [
        Line(words.two_now.format(step=two.step), places, two.by_place, 0),
        Line(words.one_last, places, learned(ONE).last.by_place, 1),
        Line(words.floor_line, places, least, 2, dashed=True, marked=False),
    ]
    return lines(drawn, (words.place_axis, words.by_place_axis), mode, height=320)


def _product(state: kit.PageState, place: int) -> None:
    """Show two heads, one behind the other, as a product of matrices whose cells open."""
    first, second = state["copyfirst"], state["copysecond"]
    kit.section(words.product, first=f"0.{first}", second=f"1.{second}")
    with st.container(horizontal=True, gap="medium"):
        for key, label, layer in (("copyfirst", words.first, 0), ("copysecond", words.second, 1)):
            kit.choose(state, key, label, {head: f"{layer}.{head}" for head in range(HEADS)})
    frame, shown = frame_of(place)
    pair = pair_at(frame, first, second)
    size = pair.keys.shape[1]
    kit.show(
        state,
        matrices(pair),
        [["asks", "keys", "match"], ["adds", "head", "copies"]],
        key=f"{KEY}.cells",
        control="copycell",
        first="match.4.4",
        numbers=True,
        windows={
            "V": lv.Window(V, SEEN),
            "D": lv.Window(size, min(size, SEEN)),
            "C": lv.Window(pair.adds.shape[1], SEEN),
        },
    )
    kit.prose(
        words.product_read,
        step=learned().moments[shown].step,
        letters=V,
        match=diagonal(pair.match),
        copies=diagonal(pair.copies),
        both=diagonal(
            np.sum([pair_at(frame, first, head).copies for head in range(HEADS)], axis=0)
        ),
        first=f"0.{first}",
        second=f"1.{second}",
    )
    now = pair_of(model_at(), first, second)
    kit.show_code(
        [pair_of],
        words.snippet.format(first=first, second=second),
        f"{now.match.shape} {diagonal(now.match)} {diagonal(now.copies)}",
    )


@kit.cached(64)
def pair_at(frame: int, first: int, second: int) -> Pair:
    """Return two heads as matrices, of the weights of a bundled moment."""
    return pair_of(model_at(frame=frame), first, second)


def matrices(pair: Pair) -> list[lv.Matrix]:
    """Return the matrices of two heads as ones that open."""
    made = []
    keys = pair.keys / np.sqrt(pair.keys.shape[1])
    for name, values, role, axis in (
        ("asks", pair.asks, "query", "D"),
        ("keys", keys, "key", "D"),
        ("match", pair.match, "weights", "V"),
        ("adds", pair.adds, "value", "C"),
        ("head", pair.head, "neutral", "C"),
        ("copies", pair.copies, "weights", "V"),
    ):
        more: dict[str, Any] = {"windows": ("V", axis), "role": role}
        if axis == "V":
            parts = ("asks", "keys") if name == "match" else ("adds", "head")
            more |= {"col_labels": list(LETTERS), "scale": "diverging"}
            more["op"] = lv.matmul(*parts, transpose_b=True)
        title, _, formula = words.matrices[name].partition(" = ")
        made.append(lv.Matrix(name, values, title, formula, list(LETTERS), **more))
    return made


def _own(state: kit.PageState) -> None:
    """Show a model of the learner's that learns to copy, or does not."""
    kit.section(words.own)
    anew = state.setter(copyown=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, texts in (
            ("copylayers", words.own_layers, OWN_LAYERS),
            ("copyheads", words.own_heads, OWN_HEADS),
        ):
            st.selectbox(label, width=160, **state.named(key, {text: text for text in texts}, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("copyseed", then=anew))
    copier = Copier(int(state["copylayers"]), int(state["copyheads"]), seed=state["copyseed"])
    kit.live(
        state,
        "copyown",
        job_of,
        (copier,),
        lambda job: _results(copier, job),
        start=words.own_start,
        share=lambda job: job.results[-1].step / copier.steps if job.results else 0.0,
    )


def _results(copier: Copier, job: kit.Job) -> None:
    if not job.results:
        return
    own, kinds = Learned(copier, list(job.results)), ((TWO, words.two_line), (ONE, words.one_line))
    if len(own.moments) > 1:
        drawn = [
            (learned(kind), title.format(number=1), n) for n, (kind, title) in enumerate(kinds)
        ]
        figure = losses_figure([*drawn, (own, words.own_line, 2)], kit.theme())
        kit.chart(figure, f"{KEY}.own.loss", bar=False)
    if not job.over:
        kit.prose(words.own_going, at=own.last, steps=copier.steps)
        return
    _heads_off(own.last, copier, f"{KEY}.own.off")
    previous, copying = float(own.last.previous.max()), float(own.last.induction.max())
    kit.prose(words.own_read, at=own.last, previous=previous, induction=copying)


def end_numbers() -> dict[str, Any]:
    """Return when most of the fall came, and the highest score of a head of each layer."""
    run = learned(TWO)
    loss, last = run.curve("repeat_loss"), run.last
    since = np.flatnonzero(loss >= 0.8 * loss[0])[-1]
    until = np.flatnonzero(loss <= 0.2 * loss[0])[0]
    return {
        "since": run.moments[since].step,
        "until": run.moments[until].step,
        "steps": last.step,
        "two": last.repeat_loss,
        "one": learned(ONE).last.repeat_loss,
        "previous": float(last.previous[0].max()),
        "induction": float(last.induction[1].max()),
    }
