"""Chapter "Your own discovery": one setting, three values, a few seeds, and what luck explains."""

import streamlit as st

from llmviz.course.lessons.discoveries.own import going, outcome, plan, words
from llmviz.course.lessons.discoveries.own.outcome import Outcome
from llmviz.course.lessons.discoveries.own.own_study import Study
from llmviz.course.lessons.discoveries.own.own_study_folder import BUNDLED, FILE, NUMBERS, zipped
from llmviz.course.lessons.discoveries.own.plan import KEY
from llmviz.course.lessons.discoveries.own.seed_spread import CONFIDENCE, interval, pairs
from llmviz.course.ui import kit, runs
from llmviz.paths import HOME


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    plan.controls(state)
    try:
        draft = plan.draft_of(state)
        plan.same_in_all(draft)
        study = plan.expectation(state, draft)
        if study is None:
            return
        over = going.is_over(study)
        if not over:
            runs.manager().warm()
    except ValueError as error:
        kit.refuse(error)
        return
    if not over:
        kit.section(words.runs)
        going.draw(study)
        return
    _came_out(Outcome(study, going.results(study)))


def _came_out(found: Outcome) -> None:
    for line in outcome.missing_lines(found):
        kit.prose(line)
    if not any(found.measured):
        kit.prose(words.nothing)
        _keep(found)
        return
    question = outcome.spread_question(found)
    if question is not None and not kit.predict(question, f"{KEY}.spread", covers=True):
        return
    kit.section(words.results)
    kit.chart(outcome.chart(found, kit.theme()), f"{KEY}.chart", bar=False)
    counts = {len(by_seed) for by_seed in found.measured}
    how = "one" if max(counts) == 1 else "many" if len(counts) == 1 else "some"
    kit.prose(words.interval[how].format(seeds=found.study.seeds))
    rows, titles = outcome.table(found)
    kit.rows_table(rows, titles)
    question = outcome.pairs_question(found)
    if question is not None and not kit.predict(question, f"{KEY}.pairs", covers=True):
        return
    _verdict(found)
    _keep(found)
    kit.seen(words.end, told=outcome.end_line(found))


def _verdict(found: Outcome) -> None:
    kit.section(words.verdict, level=f"{100 * (1 - (1 - CONFIDENCE) / len(found.pairs)):.1f}")
    for pair in found.pairs:
        kit.prose(outcome.verdict_line(found, pair))
    kit.prose(outcome.expected_line(found.study))
    kit.prose(outcome.outcome_line(found))
    kit.prose(words.here, steps=found.study.base.train.steps)


def _keep(found: Outcome) -> None:
    study = found.study
    try:
        folder = going.settled(study)
    except ValueError as error:
        kit.refuse(error)
        return
    kit.section(words.keep)
    kit.prose(words.again)
    place = BUNDLED.relative_to(HOME).as_posix() if folder == BUNDLED else folder.name
    st.code(f"python -m llmviz study run {place}/{FILE}", language="sh")
    st.download_button(
        words.save,
        lambda: zipped(folder),
        f"{study.key}.zip",
        "application/zip",
        icon=":material/download:",
        on_click="ignore",
    )
    box = kit.fold(words.all_numbers, f"_{KEY}.numbers", ":material/table:")
    if box is not None:
        with box:
            kit.rows_table(*_every_number(found, study))
    _code(found)


def _every_number(found: Outcome, study: Study) -> tuple[list[list[str]], list[str]]:
    titles = [words.settings[study.setting], *words.more_columns]
    titles += [words.numbers[name] for name in NUMBERS]
    rows = []
    for run in found.results:
        numbers = [run.numbers[name] for name in NUMBERS]
        rows.append(
            [
                outcome.name_of(study, run.place),
                str(run.seed),
                run.ended,
                f"{run.steps:,}",
                *("" if number is None else outcome.written(number) for number in numbers),
            ]
        )
    return rows, titles


def _code(found: Outcome) -> None:
    measured = found.measured

    def printed() -> str:
        return "\n".join(
            f"{pair.first} {pair.second} {pair.difference.mean:.6g} {pair.how}"
            for pair in pairs(measured)
        )

    kit.show_code(
        [interval, pairs],
        "from llmviz.course.lessons.discoveries.own.seed_spread import pairs\n\n"
        f"measured = {measured!r}\n"
        "for pair in pairs(measured):\n"
        '    print(f"{pair.first} {pair.second} {pair.difference.mean:.6g} {pair.how}")',
        printed,
    )
