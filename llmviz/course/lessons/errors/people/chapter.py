"""Chapter "What the text says about people": a planted lean, and what a model makes of it."""

import streamlit as st

from llmviz.corpus.leaning import JOBS, LEANS, PRONOUNS, WOMEN, leaning_text
from llmviz.course.figures.leaning import planted_and_said
from llmviz.course.lessons.errors.association import PERMUTATIONS, association_test
from llmviz.course.lessons.errors.people import words, written
from llmviz.course.lessons.errors.people.leans import NEAR, kept_word, mean_said, means, points
from llmviz.course.lessons.errors.read_leaning import (
    COMMAND,
    SEEDS,
    Measured,
    bundled,
    measure,
    train_one,
)
from llmviz.course.ui import kit

KEY = "errors.people"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, jobs=2 * JOBS)
    if not kit.is_here(words.missing, COMMAND, lambda: bundled(LEANS[0], SEEDS[0])):
        return
    with st.container(horizontal=True, gap="medium"):
        kit.choose(state, "lean", words.lean, {str(lean): ratio(lean) for lean in LEANS})
        kit.choose(state, "leantext", words.text, {seed: str(seed + 1) for seed in SEEDS})
    lean, seed = float(state["lean"]), state["leantext"]
    sample, count = samples(lean, seed)
    kit.prose(words.read_by_heart.format(count=count))
    st.code("\n".join(sample), language=None, wrap_lines=True)
    model = bundled(lean, seed)
    if not kit.predict(question(lean, seed), f"{KEY}.share", covers=True):
        return
    _jobs(lean, seed, model, sample[0])
    written.draw(state, lean, seed, model)
    _vectors(lean, seed, model)
    _mended(state, model)
    _end(lean, seed, model)


def question(lean: float, seed: int) -> kit.Question:
    """Return the question how much a model gives to "she" where its text said a share."""
    return kit.share_question(
        words.ask_share.format(text=seed + 1, share=kit.whole_percent(lean)),
        mean_said(bundled(lean, seed), direct=True),
        list(words.ask_share_reasons),
        kit.whole_percent,
    )


def ratio(lean: float) -> str:
    """Return a share of women as "70:30"."""
    return words.lean_of.format(women=round(100 * lean), men=round(100 * (1 - lean)))


@kit.kept(len(LEANS) * len(SEEDS))
def samples(lean: float, seed: int) -> tuple[tuple[str, ...], int]:
    """Return one sentence of each kind, and how many sentences the text has."""
    text = leaning_text(lean, seed)
    return (text.documents[0], text.documents[1], text.documents[-1]), len(text.documents)


def level_line(first: float, second: float) -> str:
    """Return whether one pronoun is clearly ahead after the jobs of both halves."""
    she = min(first, second) > 0.5 + NEAR
    he = max(first, second) < 0.5 - NEAR
    pronoun = PRONOUNS[0 if she else 1]
    return words.level["ahead" if she or he else "even"].format(pronoun=pronoun)


def _jobs(lean: float, seed: int, model: Measured, example: str) -> None:
    kit.section(words.jobs, example=example)
    kit.chart(figure(lean, seed, kit.theme()), f"{KEY}.jobs")
    kit.prose(jobs_line(lean, model))
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
            f"{name}_first": kit.percent(first),
            f"{name}_second": kit.percent(second),
            f"{name}_word": kept_word(planted, first - second),
            f"{name}_range": _range(lean, direct=direct),
        }
    return words.jobs_read.format(
        first=kit.whole_percent(lean),
        second=kit.whole_percent(1 - lean),
        planted=points(planted),
        level=level_line(*means(model, direct=False)),
        **values,
    )


def _range(lean: float, *, direct: bool) -> str:
    apart = [first - second for first, second in _all_means(lean, direct=direct)]
    return f"{points(min(apart))} to {points(max(apart))}"


def _all_means(lean: float, *, direct: bool) -> list[tuple[float, float]]:
    return [means(bundled(lean, seed), direct=direct) for seed in SEEDS]


@kit.kept(32)
def figure(lean: float, seed: int, mode: kit.Mode) -> kit.Figure:
    """Return all jobs by what was planted and what the model says."""
    groups = []
    for direct, name, role in ((True, words.direct, "weights"), (False, words.names_only, "key")):
        those = [job for job in bundled(lean, seed).jobs if job.direct == direct]
        groups.append(
            (
                name,
                role,
                [job.name for job in those],
                [job.planted for job in those],
                [job.probability for job in those],
            )
        )
    return planted_and_said(groups, (words.planted_axis, words.said_axis), words.equal, mode)


def _vectors(lean: float, seed: int, model: Measured) -> None:
    kit.section(words.vectors)
    rows = [
        [
            ratio(each),
            str(text + 1),
            kit.signed(found.effect),
            kit.percent(found.p_value),
        ]
        for each in LEANS
        for text in SEEDS
        for found in [bundled(each, text)]
    ]
    titles = (words.lean_column, words.text_column, words.effect_column, words.p_column)
    kit.rows_table(rows, titles, height="content")
    effects = [bundled(lean, text).effect for text in SEEDS]
    kit.prose(
        words.vectors_read.format(
            text=seed + 1,
            effect=model.effect,
            drawn=PERMUTATIONS,
            p=kit.percent(model.p_value),
            range=f"{min(effects):.2f} to {max(effects):.2f}".replace("-", "−"),
        )
    )
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
    halves = (model.jobs[:JOBS], model.jobs[JOBS:])
    rows = []
    for name, half in zip((words.row_first, words.row_second), halves, strict=True):
        shares = [sum(getattr(job, what) for job in half) / JOBS for what in ("probability", after)]
        rows.append([name, *map(kit.percent, shares)])
    rows.append([words.row_agreement, kit.percent(model.agreement), kit.percent(agreement_after)])
    kit.rows_table(rows, (words.what, words.before, words.after))
    kit.prose(
        words.mended_read[how].format(
            agreement=kit.percent(model.agreement),
            agreement_after=kit.percent(agreement_after),
            effect=model.effect,
            effect_after=model.effect_removed,
            others=words.others if still_apart(model) else "",
            example_name=WOMEN[0],
            first=rows[0][1],
            first_after=rows[0][2],
        )
    )


def still_apart(model: Measured) -> bool:
    """Whether the halves were clearly apart and without the direction still are half as far."""
    return model.p_value < 0.05 and model.effect_removed >= model.effect / 2 > 0


def _end(lean: float, seed: int, model: Measured) -> None:
    kit.seen(
        words.end,
        text=seed + 1,
        lean=kit.whole_percent(lean),
        direct=kit.percent(mean_said(model, direct=True)),
        greedy=kit.percent(written.written_share(model, 0.0)),
        effect=model.effect,
        agreement=kit.percent(model.agreement),
        agreement_after=kit.percent(model.agreement_removed),
    )
