"""Chapter "Grokking": sums modulo a prime are learned by heart first, and much later as a rule.

P the modulus, C the width of the embedding, S moments.
"""

from typing import Any

import streamlit as st

from llmviz.course.lessons.discoveries.grokking import angles, circle, curves, grid, own, words
from llmviz.course.lessons.discoveries.grokking.grokking_record import COMMAND, MAIN, card, film
from llmviz.course.lessons.discoveries.grokking.model import Film, power
from llmviz.course.lessons.discoveries.grokking.params import WAVES
from llmviz.course.ui import kit

KEY = "discoveries.grokking"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    try:
        parameters = card()["parameters"]
    except ValueError:
        kit.section(words.intro.title)
        st.info(words.missing, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    kit.section(
        words.intro,
        modulus=MAIN.modulus,
        last=MAIN.modulus - 1,
        clock=(17 + 50) % MAIN.modulus,
        parameters=parameters,
        all=len(MAIN.shown),
        shown=int(MAIN.shown.sum()),
        turned=int(MAIN.turned.sum()),
        new=int(MAIN.new.sum()),
    )
    opened, decided = kit.predict(question(), f"{KEY}.new", covers=True), False
    if opened:
        curves.draw()
        circle.draw(state)
        angles.draw(state)
        _code()
        decided = grid.draw(state)
    own.draw(state)
    if opened and decided:
        kit.seen(words.end, **end_numbers())


def question() -> kit.Question:
    """Return the question how many new sums are right when the shown ones are known by heart."""
    at = film().moments[film().first("shown_right")]
    return kit.share_question(
        words.ask_new.format(step=at.step, right=kit.percent(at.shown_right)),
        at.new_right,
        words.ask_new_reasons,
        kit.whole_percent,
    )


def end_numbers() -> dict[str, Any]:
    """Return the numbers that the chapter ends with."""
    main = film()
    held, place = main.held(WAVES), between(main)
    moment = main.moments[place]
    return {
        "modulus": main.task.modulus,
        "heart": main.step_of("shown_right"),
        "new": main.step_of("new_right"),
        "count": WAVES,
        "between": moment.step,
        "between_right": kit.whole_percent(moment.new_right),
        "between_held": kit.whole_percent(float(held[place])),
        "begin_held": kit.whole_percent(float(held[0])),
    }


def between(run: Film) -> int:
    """Return the place of the last moment at which less than a tenth of the new sums is right."""
    return max(place for place, at in enumerate(run.moments) if at.new_right < 0.1)


def _code() -> None:
    shares = power(film().last.rows)
    strong = film().strongest(WAVES)
    kit.show_code(
        [power],
        "from llmviz.course.lessons.discoveries.grokking.model import power\n"
        "from llmviz.course.lessons.discoveries.grokking.grokking_record import film\n\n"
        "shares = power(film().last.rows)\n"
        f"print(film().strongest({WAVES}), shares.max().round(3))",
        f"{strong} {shares.max().round(3)}",
    )
