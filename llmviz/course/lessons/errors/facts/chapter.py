"""Chapter "Facts seen once": what a model says of facts that it read often, once and never.

Then models that learned to decline, and a fact of the learner's, read by a new model.
"""

from functools import partial

import streamlit as st

from llmviz.corpus.invented import (
    COUNTS,
    EACH,
    TOWNS,
    Person,
    fact,
    first_names,
    namesakes,
    person_of,
    surnames,
)
from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.figures.bars import named_bars
from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.lessons.errors.facts import answers, words
from llmviz.course.lessons.errors.facts.answers import FEW, NEVER, OFTEN, ONCE, Read, mean
from llmviz.course.lessons.errors.read_facts import (
    CHOICES,
    COMMAND,
    NOBODY,
    PASSES,
    SEEDS,
    STORY_MODEL,
    UNKNOWN,
    Progress,
    Reading,
    Score,
    answers_of,
    ask,
    bundled,
    by_times,
    read_world,
    scores,
    world_of,
)
from llmviz.course.ui import kit

MOST = UNKNOWN[-1]
THRESHOLDS = tuple(at / 50 for at in range(50))
STEP = 0.5  # of the slider of costs


def draw_decline(state: kit.PageState) -> bool:
    """Show both sections; return whether what the question covers is shown."""
    kit.section(words.decline)
    if not kit.Guess(f"{KEY}.cost", decline_question()).ask():
        return False
    kit.chart(declining(kit.theme()), f"{KEY}.decline")
    named = {str(unknown): str(unknown) for unknown in UNKNOWN}
    kit.choose(state, "factunknown", words.unknown, named)
    chosen = int(state["factunknown"])
    never, few = (kit.percent(mean(chosen, times, "declined")) for times in (NEVER, FEW))
    kit.prose(words.decline_read.format(chosen=chosen, never=never, five=few))
    _guess(state, chosen)
    return True


def decline_question() -> kit.Question:
    """Return the question how many facts a model is right about once it has learned to decline."""
    numbers = {
        "most": MOST,
        "declined": kit.percent(mean(MOST, NEVER, "declined")),
        "before": kit.percent(mean(0, FEW, "right")),
        "lost": kit.percent(mean(MOST, FEW, "declined")),
    }
    reasons = [reason.format(**numbers) for reason in words.ask_cost_reasons]
    text = words.ask_cost.format(**numbers)
    return kit.share_question(text, mean(MOST, FEW, "right"), reasons, kit.whole_percent)


@kit.cached(2)
def declining(mode: kit.Mode) -> kit.Figure:
    """Return how much is declined and how much is right, by how many persons nobody knows."""
    measured = ((NEVER, "declined"), (FEW, "declined"), (FEW, "right"), (OFTEN, "right"))
    roles = ("residual", "weights", "value", "query")
    curves = [
        Curve(name, UNKNOWN, [mean(unknown, *what) for unknown in UNKNOWN], role, marks=True)
        for name, what, role in zip(words.decline_lines, measured, roles, strict=True)
    ]
    return lines(curves, tuple(words.decline_axes), mode, shares=True, at=UNKNOWN)


def _guess(state: kit.PageState, unknown: int) -> None:
    kit.section(words.guess)
    st.slider(words.cost, step=STEP, width=320, format="%.1f", **state.ranged("factcost"))
    cost, world = state["factcost"], state["factworld"]
    every = tested(world, unknown, cost)
    best = best_of(every)
    ideal = cost / (1 + cost)
    heights = [score.points for score in every]
    drawn = [
        Curve(words.points_line, THRESHOLDS, heights, "weights"),
        Curve(
            words.ideal_line, (ideal, ideal), (min(heights), max(heights)), "accent", dashed=True
        ),
    ]
    kit.chart(lines(drawn, (words.threshold_axis, words.points_axis), kit.theme()), f"{KEY}.guess")
    how = "free" if not cost else "costly" if best.threshold else "all"
    found = {"best": f"{best.points:.2f}", "wrong": kit.percent(best.wrong)}
    everything = kit.signed(every[0].points)
    kit.prose(words.guess_read[how], threshold=best.threshold, all=everything, **found)
    answered = kit.percent(best.answered)
    kit.measured(words.how_guess, cost=cost, ideal=ideal, answered=answered, **found)


@kit.cached(64)
def tested(world: int, unknown: int, cost: float) -> tuple[Score, ...]:
    """Return what a model gets at each threshold."""
    return tuple(scores(list(answers.read(world, unknown).answers), cost, THRESHOLDS))


def best_of(every: tuple[Score, ...]) -> Score:
    """Return the score with the most points; of equal ones that of the lowest threshold."""
    return max(every, key=lambda score: score.points)


@kit.cached(12)
def job_of(own: Person, world: int, passes: int) -> kit.Job:
    """Return the training in a process of its own; the same one is run only once."""
    target = "llmviz.course.lessons.errors.read_facts:read_world"
    return kit.training_jobs().start(target, reading=Reading(world, passes=passes), own=own)


def draw_own_fact(state: kit.PageState) -> None:
    """Show the controls, the button, and what the new model says while it reads."""
    kit.section(words.own, world=state["factworld"] + 1)
    anew = state.setter(ownread=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, names in (
            ("ownfirst", words.own_first, first_names()),
            ("ownlast", words.own_last, surnames()),
            ("owntown", words.own_town, TOWNS),
        ):
            st.selectbox(label, width=180, **state.named(key, {name: name for name in names}, anew))
        st.slider(words.own_times, width=220, **state.ranged("owntimes", then=anew))
        st.slider(words.own_passes, width=160, **state.ranged("ownpasses", then=anew))
    own = Person(*(state[f"own{part}"] for part in ("first", "last", "town", "times")))
    kit.live(
        state,
        "ownread",
        job_of,
        (own, state["factworld"], state["ownpasses"]),
        partial(_draw_results, own, state["ownpasses"]),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def _draw_results(own: Person, passes: int, job: kit.Job) -> None:
    read: list[Progress] = list(job.results)
    if not read:
        return
    at = TOWNS.index(own.town)
    steps = [look.step for look in read]
    chances = [look.own for look in read if look.own is not None]
    others = [max(p for place, p in enumerate(each) if place != at) for each in chances]
    rights = [each[at] for each in chances]
    drawn = [
        Curve(words.own_right, steps, rights, "value", marks=len(read) == 1),
        Curve(words.own_best, steps, others, "key", marks=len(read) == 1),
    ]
    kit.chart(
        lines(drawn, (words.own_axis, words.own_chance), kit.theme(), shares=True), f"{KEY}.own"
    )
    kit.prose(report(own, passes, read[-1]))


def report(own: Person, passes: int, last: Progress) -> str:
    """Return what the model says of the learner's person, in a sentence."""
    chances = last.own
    assert chances is not None  # the person was in the text
    best, at = int(chances.argmax()), TOWNS.index(own.town)
    how = "declined" if best == NOBODY else "right" if best == at else "wrong"
    return words.own_read[how].format(
        steps=last.step,
        name=own.name,
        said=CHOICES[best],
        chance=kit.percent(chances[best]),
        right=kit.percent(chances[at]),
        times=often(own.times),
        passes=often(passes),
    )


def often(number: int) -> str:
    known = words.times_word
    return known[number if number in known else "more"].format(count=f"{number:,}")


KEY = "errors.facts"
GUESS = f"{KEY}.sure"
TOP = 6  # answers that are drawn
ROWS = 4  # people in the table


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how sure the model is of facts read often and never, then where that comes from."""
    kit.prose(words.hook)
    if not kit.is_here(words.missing, COMMAND, lambda: answers.read(0)):
        return
    world = state["factworld"]
    read, guess = answers.read(world), kit.Guess(GUESS, question(world))
    opened = guess.open
    with kit.stage("facts"):
        _rows(guess, read)
        if opened:
            kit.prose(words.caption, **numbers(read))
        kit.choose(state, "factworld", words.world, {seed: str(seed + 1) for seed in SEEDS})
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("knows", words.real)
        _anybody(state, world)
    kit.section(words.intro, people=EACH * len(COUNTS))
    kit.measured(words.how_invented, each=EACH, passes=PASSES)
    _sample(world)
    if opened:
        _chart(read)
        _persons(state, world, read)
        _code(world, read)
        _turned()
    opened = draw_decline(state) and opened
    draw_own_fact(state)
    if opened:
        _end(read)


def numbers(read: Read) -> dict[str, str]:
    """Return what sentences say of a world's answers."""
    once, never = read.groups[ONCE], read.groups[NEVER]
    shares = {"once": once.right, "never": never.right, "sure_never": never.confidence}
    return {name: kit.percent(share) for name, share in shares.items()}


def _rows(guess: kit.Guess, read: Read) -> None:
    """Show how sure the model is of its answers, a row for each count; the last one is guessed."""
    counts = sorted(COUNTS, reverse=True)
    guess.cases(
        [
            kit.Case(
                words.said_times[min(times, 2)].format(times=times),
                read.groups[times].confidence,
                role="key",
            )
            for times in counts
        ],
        kit.Axis(0, 1, words.sure),
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
        groups[OFTEN].confidence: words.ask_sure_same,
        groups[NEVER].confidence: words.ask_sure_right,
    }
    return kit.Question.among(
        words.ask_sure,
        reasons,
        groups[NEVER].confidence,
        kit.whole_percent,
        each=EACH,
        towns=len(TOWNS),
    )


def _sample(world: int) -> None:
    people = world_of(Reading(world)).people
    lines = [fact(next(who for who in people if who.times == times)) for times in (OFTEN, ONCE)]
    st.code("\n".join(lines), language=None, wrap_lines=True)


def _chart(read: Read) -> None:
    kit.section(words.chart)
    kit.chart(figure(kit.theme()), f"{KEY}.chart")
    kit.prose(words.chart_read, **numbers(read))


@kit.cached(2)
def figure(mode: kit.Mode) -> kit.Figure:
    """Return how right and how sure the models are, by how often they read a fact."""
    worlds = [answers.read(world).groups for world in SEEDS]
    drawn = [
        Ranged(
            name, role, [[getattr(groups[times], what) for times in COUNTS] for groups in worlds]
        )
        for what, name, role in (("right", words.right, "value"), ("confidence", words.sure, "key"))
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
    those = those[:ROWS]
    rows = [
        [
            answer.person.name,
            answer.person.town,
            answer.said,
            kit.percent(answer.confidence),
            kit.percent(answer.right),
            words.yes if answer.shared else words.no,
        ]
        for answer in those
    ]
    name = words.name.format(rows=ROWS, each=EACH)
    titles = (name, words.lives, words.says, words.probability, words.of_right)
    kit.rows_table(rows, (*titles, words.namesake))


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
    kit.case_rows(cases, kit.Axis(0, 1, words.turned_axis), key=f"{KEY}.turned")
    kit.prose(words.turned_read, learned=learned, turned=turned, pairs=pairs)


@kit.cached(len(SEEDS))
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
        f"{group.right:.4f} {group.confidence:.4f}",
    )


def _end(read: Read) -> None:
    kit.seen(words.end, **numbers(read))
