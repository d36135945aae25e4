"""Chapter "Your own discovery": one setting, three values, a few seeds, and what luck explains."""

import streamlit as st

from llmviz.course.lessons.discoveries.own import going, outcome, plan, words
from llmviz.course.lessons.discoveries.own.outcome import Outcome
from llmviz.course.lessons.discoveries.own.own_study_folder import BUNDLED, FILE, zipped
from llmviz.course.lessons.discoveries.own.plan import KEY
from llmviz.course.lessons.discoveries.own.seed_spread import CONFIDENCE, interval, pairs
from llmviz.course.ui import kit, runs
from llmviz.paths import HOME

STAGED = True


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how much luck there is in a study, the guess about it, and what the study says."""
    kit.prose(words.hook)
    draft, found, asked = None, None, None
    with kit.stage("own", stays=False):
        try:
            draft = plan.draft_of(state)
            if (study := plan.study_of(state, draft)) is not None:
                if going.is_over(study):
                    found = Outcome(study, going.results(study))
                    asked = outcome.spread_question(found)
                    outcome.spread_rows(found, asked, KEY)
                else:
                    runs.manager().warm()
                    going.draw(study)
        except ValueError as error:
            kit.refuse(error)
        plan.varied(state, draft)
    told = asked is None or kit.predict(asked, f"{KEY}.spread", covers=True, hand=True)
    if found is not None and told:
        kit.looks(state, words.looks, f"{KEY}.looks")
        _came_out(found)
    kit.section(words.intro)
    plan.controls(state)
    plan.expectation(state)
    if found is not None and told:
        _keep(found)
        if any(found.measured):
            kit.seen(words.end, told=outcome.end_line(found))


def _came_out(found: Outcome) -> None:
    kit.section(words.results)
    for line in outcome.missing_lines(found):
        kit.prose(line)
    if not any(found.measured):
        kit.prose(words.nothing)
        return
    kit.chart(outcome.chart(found, kit.theme()), f"{KEY}.chart", bar=False)
    counts = {len(by_seed) for by_seed in found.measured}
    how = "one" if max(counts) == 1 else "many" if len(counts) == 1 else "some"
    kit.prose(words.interval[how].format(seeds=found.study.seeds))
    _verdict(found)


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
    _code(found)


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
