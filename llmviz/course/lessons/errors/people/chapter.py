"""Chapter "What the text says about people": a planted lean, and what a model makes of it."""

import math

import numpy as np
import streamlit as st

from llmviz.corpus.leaning import JOBS, LEANS, PRONOUNS, WOMEN, leaning_text
from llmviz.course.figures.scored_rows import planted_and_said
from llmviz.course.lessons.errors.association import PERMUTATIONS, association_test
from llmviz.course.lessons.errors.people import words
from llmviz.course.lessons.errors.read_leaning import (
    COMMAND,
    HEATS,
    SEEDS,
    WRITTEN,
    JobRead,
    Measured,
    bundled,
    measure,
    sharpened,
    train_one,
)
from llmviz.course.ui import kit

KEY = "errors.people"
GUESS = f"{KEY}.colder"
COLD = 0.5  # the temperature that is asked about
LUCK = 0.05  # the share of draws by chance from which on a distance may be luck
NEAR = 0.05  # shares that differ by less are called equal
APART = 0.15  # of both guessed shares together


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what becomes of a lean at lower temperatures, then where in the model it is."""
    kit.prose(words.hook)
    if not kit.is_here(words.missing, COMMAND, lambda: bundled(LEANS[0], SEEDS[0])):
        return
    lean, seed = float(state["lean"]), state["leantext"]
    model, guess = bundled(lean, seed), kit.Guess(GUESS, question(lean, seed))
    opened = guess.open
    heat = state["leantemperature"] if opened else COLD
    sample, count = samples(lean, seed)
    with kit.stage("people"):
        _rows(lean, model, heat, guess)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(state, "lean", words.lean, {str(each): ratio(each) for each in LEANS})
            kit.choose(state, "leantext", words.text, {at: str(at + 1) for at in SEEDS})
            if opened:
                st.slider(
                    words.temperature,
                    step=0.05,
                    width=240,
                    format="%.2f",
                    **state.ranged("leantemperature"),
                )
        kit.prose(words.says.format(said=kit.quote(sample[1])))
        if opened:
            caption = words.caption["warm" if heat else "cold"]
            kit.prose(caption.format(heat=heat, **numbers(lean, model, heat)))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("people", words.real)
    kit.section(words.intro, jobs=2 * JOBS, count=count)
    st.code("\n".join(sample), language=None, wrap_lines=True)
    if opened:
        _jobs(lean, seed, model, sample[0])
        _written(lean, seed, model)
        _vectors(lean, seed, model)
        _mended(state, model)
        _end(lean, seed, model)


def first_half(model: Measured, *, direct: bool) -> list[JobRead]:
    """Return the jobs of the first half that were read with pronouns, or with names alone."""
    return [job for job in model.jobs[:JOBS] if job.direct == direct]


def at_heat(model: Measured, heat: float) -> list[float]:
    """Return how often "she" is written after each job of the first half read with pronouns."""
    return [sharpened(job.probability, heat) for job in first_half(model, direct=True)]


def numbers(lean: float, model: Measured, heat: float = COLD) -> dict[str, str]:
    """Return what sentences say of the first half of the jobs."""
    return {
        "lean": kit.whole_percent(lean),
        "given": kit.percent(float(np.mean(at_heat(model, 1.0)))),
        "written": kit.percent(float(np.mean(at_heat(model, heat)))),
        "greedy": kit.percent(float(np.mean(at_heat(model, 0.0)))),
    }


def question(lean: float, seed: int) -> kit.Question | None:
    """Return the question what colder drawing makes of a lean; None where it changes too little.

    The wrong answers are those of somebody to whom colder changes variety alone, and of one to whom
    it is more sober, so fairer.
    """
    model = bundled(lean, seed)
    given, *right = (float(np.mean(at_heat(model, heat))) for heat in (1.0, COLD, 0.0))
    reasons = {
        (given, given): words.ask_same,
        (0.5 + (given - 0.5) / 2, 0.5): words.ask_fair,
        tuple(right): words.ask_right,
    }
    if min(right) <= given or sum(right) - 2 * given < APART:
        return None
    text = words.ask.format(
        text=seed + 1, given=kit.percent(given), lean=kit.whole_percent(lean), cold=COLD
    )
    return kit.Question(
        text,
        words.ask_answers,
        2,
        list(reasons.values()),
        values=list(reasons),
    )


def _rows(lean: float, model: Measured, heat: float, guess: kit.Guess) -> None:
    guess.cases(
        [
            kit.Case(words.in_text, lean, role="key"),
            *(
                kit.Case(words.writes.format(heat=at), float(np.mean(each)), dots=each)
                for at in (1.0, heat, 0.0)
                for each in [at_heat(model, at)]
            ),
        ],
        kit.Axis(0, 1, words.she_axis),
        veiled=[2, 3],
        picture=f"{KEY}.rows",
        levels=[(0.5, words.half)],
    )


def ratio(lean: float) -> str:
    """Return a share of women as "70:30"."""
    return words.lean_of.format(women=round(100 * lean), men=round(100 * (1 - lean)))


@kit.cached(len(LEANS) * len(SEEDS))
def samples(lean: float, seed: int) -> tuple[tuple[str, ...], int]:
    """Return one sentence of each kind, and how many sentences the text has."""
    text = leaning_text(lean, seed)
    return (text.documents[0], text.documents[1], text.documents[-1]), len(text.documents)


def means(model: Measured, *, direct: bool) -> tuple[float, float]:
    """Return the mean share of "she" after the jobs of the first half, and of the second."""
    halves = (model.jobs[:JOBS], model.jobs[JOBS:])
    said = [[job.probability for job in half if job.direct == direct] for half in halves]
    first, second = (sum(those) / len(those) for those in said)
    return first, second


def kept_word(planted: float, given: float, near: float = NEAR) -> str:
    """Return what becomes of a lean: the difference of both halves in the text and in the model.

    Differences that are nearer than `near` count as equal.
    """
    if abs(planted) < 1e-9:
        how = "even" if abs(given) < near else "made"
    elif abs(given - planted) < near:
        how = "kept"
    elif abs(given) < near:
        how = "gone"
    elif given * planted < 0:
        how = "turned"
    else:
        how = "stronger" if abs(given) > abs(planted) else "weaker"
    return words.kept_word[how]


def points(share: float) -> str:
    return f"{round(100 * share):d}".replace("-", "−")


def level_line(first: float, second: float) -> str:
    """Say where one pronoun is clearly ahead after the jobs of both halves; else nothing."""
    she = min(first, second) > 0.5 + NEAR
    he = max(first, second) < 0.5 - NEAR
    pronoun = PRONOUNS[0 if she else 1]
    return words.level.format(pronoun=pronoun) if she or he else ""


def _jobs(lean: float, seed: int, model: Measured, example: str) -> None:
    kit.section(words.jobs, example=example)
    kit.chart(figure(lean, seed, kit.theme()), f"{KEY}.jobs")
    kit.prose(jobs_line(lean, model))
    kit.measured(words.how_jobs, **halves_apart(lean))
    kit.show_code(
        [train_one, measure],
        words.snippet.format(lean=lean, seed=seed),
        f"{model.jobs[0].name} {model.jobs[0].planted:.2f} {model.jobs[0].probability:.4f}",
    )


def jobs_line(lean: float, model: Measured) -> str:
    """Return what becomes of the lean where jobs were read with pronouns, and with names alone."""
    planted = 2 * lean - 1
    values: dict[str, str] = {}
    for name, direct in (("direct", True), ("names", False)):
        first, second = means(model, direct=direct)
        values |= {
            f"{name}_first": kit.whole_percent(first),
            f"{name}_second": kit.whole_percent(second),
            f"{name}_word": kept_word(planted, first - second),
        }
    return words.jobs_read.format(level=level_line(*means(model, direct=False)), **values)


def halves_apart(lean: float) -> dict[str, str]:
    """Return how far the halves of the jobs are apart in the text, and in the three models."""
    found = {
        "first": kit.whole_percent(lean),
        "second": kit.whole_percent(1 - lean),
        "planted": points(2 * lean - 1),
        "near": points(NEAR),
    }
    for name, direct in (("direct", True), ("names", False)):
        each = [means(bundled(lean, at), direct=direct) for at in SEEDS]
        apart = [women - men for women, men in each]
        found[f"{name}_range"] = f"{points(min(apart))} to {points(max(apart))}"
    return found


@kit.cached(32)
def figure(lean: float, seed: int, mode: kit.Mode) -> kit.Figure:
    """Return all jobs by what was planted and what the model says."""
    groups = []
    for direct, name, role in ((True, words.direct, "weights"), (False, words.names_only, "key")):
        those = [job for job in bundled(lean, seed).jobs if job.direct == direct]
        columns = [[getattr(job, what) for job in those] for what in ("planted", "probability")]
        groups.append((name, role, [job.name for job in those], *columns))
    return planted_and_said(groups, (words.planted_axis, words.said_axis), words.equal, mode)


def written_shares(model: Measured, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many written sentences have "she" and "he" (2, 2), a row for each half.

    Last, the share of "she" among them (2,). place: of the temperature in HEATS. Jobs that were
    read with pronouns.
    """
    halves = (model.jobs[:JOBS], model.jobs[JOBS:])
    counts = np.array(
        [sum(np.array(job.written[place]) for job in half if job.direct) for half in halves]
    )
    return counts, counts[:, 0] / np.maximum(counts.sum(1), 1)


def _written(lean: float, seed: int, model: Measured) -> None:
    """Show what the model wrote at each of HEATS, and some of it."""
    kit.section(words.wrote_section)
    st.code("\n".join(model.examples), language=None, wrap_lines=True)
    cases = [
        kit.Case(label.format(heat=heat), float(share), role=role)
        for place, heat in reversed([*enumerate(HEATS)])
        for label, role, share in zip(
            words.wrote_halves, ("query", "key"), written_shares(model, place)[1], strict=True
        )
    ]
    kit.case_rows(cases, kit.Axis(0, 1, words.she_axis), key=f"{KEY}.wrote")
    kit.prose(wrote_line(lean, model))
    jobs = sum(job.direct for job in model.jobs)
    near = points(near_of_draws(lean, jobs // 2))
    kit.measured(words.how_wrote, text=seed + 1, count=WRITTEN, jobs=jobs, near=near)


def wrote_line(lean: float, model: Measured) -> str:
    """Return whether what was written keeps the lean of the text, at each temperature."""
    jobs = sum(job.direct for job in model.jobs)
    planted, near = 2 * lean - 1, near_of_draws(lean, jobs // 2)
    lines = []
    for place, heat in enumerate(HEATS):
        first, second = written_shares(model, place)[1]
        word = kept_word(planted, first - second, near)
        apart = points(abs(first - second))
        lines.append(words.wrote_line.format(heat=heat, apart=apart, word=word))
    text = words.wrote["leaning" if planted else "level"]
    return text.format(planted=points(planted), lines=" ".join(lines))


def near_of_draws(lean: float, jobs: int) -> float:
    """Return two standard errors of the difference of two shares, WRITTEN draws for each job."""
    return 2 * math.sqrt(2 * lean * (1 - lean) / (WRITTEN * jobs))


def _vectors(lean: float, seed: int, model: Measured) -> None:
    kit.section(words.vectors)
    found = {each: [bundled(each, text).effect for text in SEEDS] for each in LEANS}
    cases = [
        kit.Case(ratio(each), float(np.mean(effects)), dots=effects, note=f"{np.mean(effects):.2f}")
        for each, effects in found.items()
    ]
    axis = kit.Axis(-2, 2, words.effect_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.vectors", mark="dot", form="figure")
    how = "apart" if model.p_value < LUCK else "luck"
    kit.prose(words.vectors_read[how], effect=model.effect, p=kit.percent(model.p_value))
    kit.measured(words.how_vectors, text=seed + 1, drawn=PERMUTATIONS)
    kit.show_code(
        [association_test],
        words.snippet_vectors.format(lean=lean, seed=seed),
        f"{model.effect:.4f} {model.p_value:.4f}",
    )


def _mended(state: kit.PageState, model: Measured) -> None:
    kit.section(words.mended)
    kit.choose(state, "leantaken", words.taken, words.takens)
    how = state["leantaken"]
    after = "removed" if how == "all" else "jobs_removed"
    agreement_after = model.agreement_removed if how == "all" else model.agreement
    rows = [
        [sum(getattr(job, what) for job in half) / JOBS for what in ("probability", after)]
        for half in (model.jobs[:JOBS], model.jobs[JOBS:])
    ]
    rows.append([model.agreement, agreement_after])
    cases = [
        kit.Case([(name, False), (when, True)], share, role=role)
        for name, shares in zip(words.mended_rows, rows, strict=True)
        for share, when, role in zip(shares, words.mended_when, ("key", "query"), strict=True)
    ]
    kit.case_rows(cases, kit.Axis(0, 1, words.share_axis), key=f"{KEY}.mended")
    kit.prose(
        words.mended_read[how].format(
            agreement=kit.percent(model.agreement),
            agreement_after=kit.percent(agreement_after),
            effect=model.effect,
            effect_after=model.effect_removed,
            others=words.others if still_apart(model) else "",
            example_name=WOMEN[0],
            first=kit.percent(rows[0][0]),
            first_after=kit.percent(rows[0][1]),
        )
    )


def still_apart(model: Measured) -> bool:
    """Whether the halves were clearly apart and without the direction still are half as far."""
    return model.p_value < LUCK and model.effect_removed >= model.effect / 2 > 0


def _end(lean: float, seed: int, model: Measured) -> None:
    found = numbers(lean, model)
    always = min(at_heat(model, 0.0)) == 1
    kit.seen(
        words.end,
        often=words.every_time if always else words.in_share.format(greedy=found["greedy"]),
        lean=found["lean"],
        agreement=kit.percent(model.agreement),
        agreement_after=kit.percent(model.agreement_removed),
    )
