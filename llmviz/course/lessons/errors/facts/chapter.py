"""Chapter "Facts seen once": what a model says of facts that it read often, once and never."""

import streamlit as st

from llmviz.corpus.invented import (
    COUNTS,
    EACH,
    TOWNS,
    fact,
    first_names,
    namesakes,
    person_of,
    surnames,
)
from llmviz.course.figures.bars import named_bars
from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.lessons.errors.facts import answers, decline, own_fact, words
from llmviz.course.lessons.errors.facts.answers import NEVER, OFTEN, ONCE, Read
from llmviz.course.lessons.errors.read_facts import (
    CHOICES,
    COMMAND,
    PASSES,
    SEEDS,
    STORY_MODEL,
    UNKNOWN,
    Reading,
    answers_of,
    ask,
    bundled,
    by_times,
    read_world,
    world_of,
)
from llmviz.course.ui import kit

STAGED = True
KEY = "errors.facts"
GUESS = f"{KEY}.sure"
TOP = 6  # answers that are drawn


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how sure the model is of facts read often and never, then where that comes from."""
    kit.prose(words.hook, people=EACH * len(COUNTS))
    if not kit.is_here(words.missing, COMMAND, lambda: answers.read(0)):
        return
    world = state["factworld"]
    read, asked = answers.read(world), question(world)
    opened = kit.answered(asked, GUESS)
    with kit.stage("facts", stays=False):
        _rows(asked, read)
        if opened:
            kit.prose(words.caption, **numbers(world, read))
        kit.choose(state, "factworld", words.world, {seed: str(seed + 1) for seed in SEEDS})
    kit.predict(asked, GUESS, covers=True, hand=True)
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        _anybody(state, world)
    kit.section(words.intro, people=EACH * len(COUNTS), each=EACH, passes=PASSES)
    _sample(world)
    if opened:
        _chart(world, read)
        _persons(state, world, read)
        _code(world, read)
        _turned()
    opened = decline.draw(state) and opened
    own_fact.draw(state)
    if opened:
        _end(world, read)


def numbers(world: int, read: Read) -> dict[str, object]:
    """Return what sentences say of a world's answers."""
    groups = read.groups
    shares = {"often": OFTEN, "once": ONCE, "never": NEVER}
    right = {name: kit.percent(groups[times].right) for name, times in shares.items()}
    sure = {f"sure_{name}": kit.percent(groups[times].sure) for name, times in shares.items()}
    even = kit.percent(1 / len(TOWNS))
    return {"world": world + 1, "towns": len(TOWNS), "even": even, **right, **sure}


def _rows(asked: kit.Question, read: Read) -> None:
    """Show how sure the model is of its answers, a row for each count; the last one is guessed."""
    counts = sorted(COUNTS, reverse=True)
    kit.guess_cases(
        [
            kit.Case(
                words.said_times[min(times, 2)].format(times=times),
                read.groups[times].sure,
                role="key",
            )
            for times in counts
        ],
        kit.Axis(0, 1, words.sure),
        asked,
        GUESS,
        veiled=[counts.index(NEVER)],
        picture=f"{KEY}.rows",
        levels=[(1 / len(TOWNS), words.even_level)],
    )


def question(world: int) -> kit.Question:
    """Return the question how sure a model is of facts that it never read.

    The wrong answers are those of somebody to whom it then knows nothing, and of one to whom it
    always sounds the same.
    """
    groups = answers.read(world).groups
    reasons = {
        1 / len(TOWNS): words.ask_sure_even,
        groups[OFTEN].sure: words.ask_sure_same,
        groups[NEVER].sure: words.ask_sure_right,
    }
    return kit.Question.among(
        words.ask_sure,
        reasons,
        groups[NEVER].sure,
        kit.whole_percent,
        each=EACH,
        towns=len(TOWNS),
        world=world + 1,
    )


def _sample(world: int) -> None:
    """Show two documents of the text."""
    people = world_of(Reading(world)).people
    lines = [fact(next(who for who in people if who.times == times)) for times in (OFTEN, ONCE)]
    st.code("\n".join(lines), language=None, wrap_lines=True)


def _chart(world: int, read: Read) -> None:
    kit.section(words.chart)
    kit.chart(figure(kit.theme()), f"{KEY}.chart")
    kit.prose(words.chart_read, **numbers(world, read))


@kit.kept(2)
def figure(mode: kit.Mode) -> kit.Figure:
    """Return how right and how sure the models are, by how often they read a fact."""
    worlds = [answers.read(world).groups for world in SEEDS]
    drawn = [
        Ranged(
            name, role, [[getattr(groups[times], what) for times in COUNTS] for groups in worlds]
        )
        for what, name, role in (("right", words.right, "value"), ("sure", words.sure, "key"))
    ]
    return ranged_lines(COUNTS, drawn, (words.times_axis, words.share_axis), mode, shares=True)


def _persons(state: kit.PageState, world: int, read: Read) -> None:
    kit.section(words.persons)
    kit.prose(words.namesakes.format(**namesakes_of(world)))
    kit.choose(
        state,
        "facttimes",
        words.times,
        {str(times): words.times_of.format(times=times) for times in COUNTS},
    )
    those = [answer for answer in read.answers if answer.person.times == int(state["facttimes"])]
    rows = [
        [
            answer.person.name,
            answer.person.town,
            answer.said,
            kit.percent(answer.sure),
            kit.percent(answer.right),
            words.yes if answer.shared else words.no,
        ]
        for answer in those
    ]
    titles = (words.name, words.lives, words.says, words.probability, words.of_right)
    kit.rows_table(rows, (*titles, words.namesake), height=320)


def _turned() -> None:
    """Show what the story model knows of capitals in both directions."""
    kit.section(words.turned)
    bundled = kit.load(STORY_MODEL)
    if bundled is None:
        return
    learned, turned, pairs = answers.both_ways(bundled)
    cases = [
        kit.Case(words.turned_rows[0], learned / pairs),
        kit.Case(words.turned_rows[1], turned / pairs),
    ]
    kit.case_rows(cases, kit.Axis(0, 1, words.turned_axis), key=f"{KEY}.turned", words={})
    kit.prose(words.turned_read, learned=learned, turned=turned, pairs=pairs)


@kit.kept(len(SEEDS))
def namesakes_of(world: int) -> dict[str, object]:
    """Return how many invented answers are the town of a namesake, and how many by chance."""
    register = world_of(Reading(world))
    those = answers.read(world).invented
    expected = sum(len(namesakes(register, answer.person)) / len(TOWNS) for answer in those)
    return {
        "count": len(those),
        "shared": kit.percent(sum(answer.shared for answer in those) / len(those)),
        "chance": kit.percent(expected / len(those)),
    }


def _anybody(state: kit.PageState, world: int) -> None:
    kit.section(words.anybody)
    with st.container(horizontal=True, gap="medium"):
        for key, label, names in (
            ("askfirst", words.first, first_names()),
            ("asklast", words.last, surnames()),
        ):
            st.selectbox(label, width=200, **state.named(key, {name: name for name in names}))
    first, last = state["askfirst"], state["asklast"]
    chances = bundled(0, world).of(first, last)
    person = person_of(world_of(Reading(world)), first, last)
    best = sorted(range(len(TOWNS)), key=lambda at: -chances[at])[:TOP]
    answer = words.answer_of.format(said=CHOICES[best[0]], chance=kit.percent(chances[best[0]]))
    how = "absent" if person is None else "read" if person.times else "never"
    town, times = (person.town, kit.count(person.times, "time")) if person else ("", "")
    name = f"{first} {last}"
    kit.prose(words.asked[how].format(name=name, town=town, times=times, answer=answer))
    kit.chart(
        named_bars(
            [TOWNS[at] for at in best],
            [chances[at] for at in best],
            [kit.percent(chances[at]) for at in best],
            [kit.role_color("value" if TOWNS[at] == town else "key", kit.theme()) for at in best],
            {"range": [0, 1], "tickformat": "~%", "title": {"text": words.ask_axis}},
            kit.theme(),
            room=64,
        ),
        f"{KEY}.anybody",
    )


def _code(world: int, read: Read) -> None:
    group = read.groups[NEVER]
    kit.show_code(
        [read_world, ask, answers_of, by_times],
        words.snippet.format(world=world),
        f"{group.right:.4f} {group.sure:.4f}",
    )


def _end(world: int, read: Read) -> None:
    most = UNKNOWN[-1]
    kit.seen(
        words.end,
        shared=namesakes_of(world)["shared"],
        most=most,
        declined=kit.percent(answers.read(world, most).groups[NEVER].declined),
        **numbers(world, read),
    )
