"""Chapter "One word more": one question in many ways, a fact in many places, long texts.

W ways to ask, K people of a story.
"""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.errors import moved_answers
from llmviz.course.lessons.errors.asked import examples, longer, own, words
from llmviz.course.ui import engine, kit
from llmviz.training.measures import Share

KEY = "errors.asked"
GUESS = f"{KEY}.order"
MOVING = "wrong first"  # the way that the question is about


def ahead() -> None:
    """Find the stories that the chapter asks about, which takes a second the first time."""
    if moved_answers.MODEL in engine.names():
        examples.stories(engine.version(moved_answers.MODEL))


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what each way to ask does to 500 answers, then to those about a story of the learner."""
    measured = kit.or_refused(moved_answers.recorded)
    if measured is None:
        return
    stories = measured.ways[moved_answers.PLAIN].stories
    kit.prose(words.hook, stories=stories)
    guess = kit.Guess(GUESS, question(measured))
    opened = guess.open
    numbers = over_numbers(measured)
    with kit.stage("asked"):
        guess.cases(
            [
                kit.Case(
                    words.ways[name],
                    way.right / way.stories,
                    Share(way.right, way.stories).interval,
                )
                for name, way in measured.ways.items()
            ],
            kit.Axis(0.5, 1, words.right_axis.format(stories=stories)),
            veiled=[[*measured.ways].index(MOVING)],
            picture=f"{KEY}.ways",
            mark="dot",
        )
        if opened:
            kit.prose(words.caption.format(**numbers))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("assistant", words.real)
    story = _story(state)
    _place(measured)
    longer.draw()
    if opened and story:
        kit.seen(words.end, **numbers)


def question(measured: moved_answers.Moved) -> kit.Question:
    """Return the question how many are right when the wrong option stands first.

    The wrong answers are those of somebody to whom the order of two names cannot matter, to whom
    two names make it easier, so half of the errors go, and to whom it throws the model off.
    """
    plain, first, right = (
        measured.ways[name].right / measured.ways[name].stories
        for name in (moved_answers.PLAIN, "right first", MOVING)
    )
    way = measured.ways[MOVING]
    reasons = {
        (1 + plain) / 2: words.ask_easier,
        first: words.ask_order_same,
        0.5: words.ask_coin,
        right: words.ask_right,
    }
    return kit.Question.among(
        words.ask,
        reasons,
        right,
        kit.whole_percent,
        first=kit.whole_percent(first),
        broken=way.broken,
        mended=way.mended,
        stories=way.stories,
    )


def over_numbers(measured: moved_answers.Moved) -> dict[str, Any]:
    """Return which way moves most answers and which the fewest, and how the plain one does."""
    others = {name: way for name, way in measured.ways.items() if name != moved_answers.PLAIN}
    most = max(others, key=lambda name: others[name].moved)
    least = min(others, key=lambda name: others[name].moved)
    plain = measured.ways[moved_answers.PLAIN]
    return {
        "stories": plain.stories,
        "plain": kit.percent(plain.right / plain.stories),
        "most": words.ways[most],
        "moved": others[most].moved,
        "broken": others[most].broken,
        "mended": others[most].mended,
        "least": words.ways[least],
        "few": others[least].moved,
    }


def _story(state: kit.PageState) -> bool:
    """Show one story and the learner's own; False where one of them cannot be asked."""
    kit.section(words.intro)
    bundled = kit.load(moved_answers.MODEL) if kit.models_here(moved_answers.MODEL) else None
    if bundled is None:
        return False
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.number_input(words.story, step=1, width=120, **state.ranged("askedstory"))
        kit.text_input(state, "askedbefore", words.sentence)
    number, sentence = state["askedstory"], state["askedbefore"].strip()
    case = examples.stories(bundled.version)[number - 1]
    chances = kit.or_refused(examples.answered, bundled.version, number, sentence)
    if chances is None:
        return False
    st.text(case.story)
    people = (case.right, *case.others)
    names = [*(words.ways[name] for name in moved_answers.WAYS), words.own_way]
    cases = [
        kit.Case(name, float(row[0]), note=words.says.format(name=people[int(row.argmax())]))
        for name, row in zip(names, chances, strict=True)
    ]
    axis = kit.Axis(0, 1, words.right_person.format(name=case.right))
    kit.case_rows(cases, axis, key=f"{KEY}.story")
    ways, wrong = len(chances), int((chances.argmax(-1) != 0).sum())
    how = words.example_wrong["all" if wrong == ways else {0: "none", 1: "one"}.get(wrong, "some")]
    kit.prose(
        words.example_read,
        right=kit.quote(case.right),
        thing=case.thing,
        wrong=how.format(ways=ways, wrong=wrong),
        own=kit.percent(float(chances[-1, 0])),
    )
    longest = max(examples.prompts(case, sentence), key=len)
    if len(bundled.tokenizer.encode_from_start(longest)) > bundled.model.context_length:
        kit.inform(words.too_long, ":material/content_cut:")
    _code(case, sentence, chances)
    own.draw(state, bundled)
    return True


def _place(measured: moved_answers.Moved) -> None:
    stories = measured.places[0].stories
    kit.section(words.place, fillers=moved_answers.FILLERS)
    kit.chart(place_figure(kit.theme()), f"{KEY}.place", bar=False)
    kit.prose(place_line(measured.places))
    middle = measured.places[len(measured.places) // 2]
    kit.measured(
        words.how_place,
        fillers=moved_answers.FILLERS,
        stories=stories,
        middle=middle.before,
        share=kit.percent(middle.right / middle.stories),
    )


@kit.cached(2)
def place_figure(mode: kit.Mode) -> kit.Figure:
    """Return the share of right answers by place, with its interval."""
    places = moved_answers.recorded().places
    x = [place.before for place in places]
    ends = np.array([Share(place.right, place.stories).interval for place in places])
    drawn = [
        Line(words.place_line, x, [place.right / place.stories for place in places], 0),
        Line(words.place_low, x, ends[:, 0], 6, dashed=True),
        Line(words.place_low, x, ends[:, 1], 6, dashed=True),
    ]
    axes = (words.place_axis, words.share_axis)
    figure = lines(drawn, axes, mode, level=(0.5, words.guess), hover="%{y:.1%}", ticks=x)
    figure.data[2].showlegend = False
    figure.update_layout(yaxis_tickformat=".0%")
    return figure


def place_line(places: list[moved_answers.Place]) -> str:
    """Return where the fact is found most and least often, and whether that may be chance."""
    best = max(places, key=lambda place: place.right)
    worst = min(places, key=lambda place: place.right)
    low = Share(best.right, best.stories).interval[0]
    high = Share(worst.right, worst.stories).interval[1]
    return words.place_read.format(
        best=best.before,
        best_share=kit.percent(best.right / best.stories),
        worst=worst.before,
        worst_share=kit.percent(worst.right / worst.stories),
        verdict=words.place_verdict["apart" if low > high else "tie"],
        dip=dip_line(places),
    )


def dip_line(places: list[moved_answers.Place]) -> str:
    """Return whether a fact in the middle is found less often than one at either end."""
    first, middle, last = places[0], places[len(places) // 2], places[-1]
    ends = [Share(end.right, end.stories).interval[0] for end in (first, last)]
    lost = Share(middle.right, middle.stories).interval[1] < min(ends)
    return words.place_dip["dip" if lost else "none"]


def _code(case: moved_answers.TwoOwners, sentence: str, chances: np.ndarray) -> None:
    prompt = examples.prompts(case, sentence)[-1]
    kit.show_code(
        [moved_answers.answers],
        words.snippet.format(
            model=moved_answers.MODEL,
            story=case.story,
            thing=case.thing,
            right=case.right,
            others=case.others,
            prompt=prompt,
        ),
        f"{chances[-1].round(3)}",
    )
