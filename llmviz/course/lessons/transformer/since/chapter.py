"""Chapter "What changed since 2017": what each change did here, and each where it differs."""

from collections.abc import Mapping

import streamlit as st

from llmviz.course.lessons.transformer.since import model, pictures, words
from llmviz.course.ui import kit

KEY = pictures.KEY
GUESS = f"{KEY}.rotary"
DRAWN = 24  # tokens of the text that are read
GUESSED = "rotary"
MUCH, ALL = 0.5, 1.0  # of the way: what everybody uses is half of it; it is all of it
APART, LITTLE = 0.15, 0.04  # between the right answer and half of the way, and nothing
LEAST = 0.005  # of the way, which is written as 1 %
BACK = -0.15  # where the axis begins


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what nine changes did to the loss, one of them guessed, then what each of them is."""
    found = {name: kit.card_of(model.checkpoint(name)) for name in model.FAMILY}
    cards = {name: card for name, card in found.items() if card is not None}
    missing = [name for name in found if name not in cards]
    if missing:
        name = model.checkpoint(missing[0])
        st.info(words.missing.format(name=name), icon=":material/download:")
        st.code(words.command.format(name=name), language=None)
        return
    kit.prose(words.hook)
    results = {name: model.measured(name, card) for name, card in cards.items()}
    guess, change = kit.Guess(GUESS, question(results), leads="change=positions"), state["change"]
    with kit.stage("since"):
        _dots(results, guess, change)
        kit.choose(state, "change", words.change, words.changes, parts=True)
        shown = guess.open
        if shown:
            kit.prose(effects_of(change, results))
    guess.ask()
    kit.source(state)
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    sizes = [card["parameters"] for card in cards.values()]
    kit.measured(
        words.measured,
        apart=kit.percent(max(sizes) / min(sizes) - 1),
        tokens=cards[GUESSED]["tokens"],
        floor=cards[GUESSED]["floor"]["nats_per_token"],
        over=results[model.FAMILY[0]].over,
    )
    kit.section(words.changes[change], words.about[change])
    kit.programmers(code_switches(change))
    model_and_text = kit.load_and_read(state, pictures.names_in(change)[0], DRAWN)
    if model_and_text is not None:
        read = model_and_text[1]
        pictures.draw(change, read.ids)
        _code(change, pictures.read_ids(change, read.ids))
    pictures.draw_times(state, change)
    if shown:
        kit.seen(words.end, share=kit.whole_percent(ways(results)[GUESSED]))


def ways(results: Mapping[str, model.Measured]) -> dict[str, float]:
    """Return by name how much of the way from the one before to the floor each model goes."""
    return {
        name: 1 - results[name].over / results[first].over
        for first, *after in model.CHANGES.values()
        for name in after
    }


def _dots(results: Mapping[str, model.Measured], guess: kit.Guess, change: str) -> None:
    every, names = ways(results), {}
    for each, after in words.sides.items():
        for name, side in zip(model.CHANGES[each][1:], after[1:], strict=True):
            names[name] = words.row.format(after=side, before=after[0])
    others = [share for name, share in every.items() if name != GUESSED]
    middle = sum(others) / len(others)
    cases = [
        kit.Case(words.others, middle, dots=others, note=words.eight, role="residual"),
        kit.Case(names[GUESSED], every[GUESSED]),
    ]
    if guess.open:
        chosen = [name for name in model.CHANGES[change][1:] if name != GUESSED]
        cases += [kit.Case(names[name], every[name], role="key") for name in chosen]
    levels = [(0.0, words.as_before), (1.0, words.best)]
    axis, picture = kit.Axis(BACK, 1.0, words.axis), f"{KEY}.dots"
    guess.cases(cases, axis, veiled=[1], picture=picture, mark="dot", levels=levels)


def question(results: Mapping[str, model.Measured]) -> kit.Question | None:
    """Ask how far rotary positions bring a model; None where the reasons would not hold.

    The wrong answers are of somebody to whom what everybody uses must change much, of one to whom
    it is all that was missing, and of one to whom it changes nothing in a small model.
    """
    every = ways(results)
    right = every[GUESSED]
    if not max(LITTLE, *every.values()) == right <= MUCH - APART:
        return None
    reasons = {right: words.ask_right, MUCH: words.ask_much, ALL: words.ask_all}
    reasons[0.0] = words.ask_nothing
    share = kit.whole_percent
    return kit.Question.among(words.ask, reasons, right, share, share=share(right))


def code_switches(change: str) -> str:
    """Return the sentence about the settings in which the models of a change differ."""
    before, *after = model.CHANGES[change]
    sides = [model.switched(name, before) for name in after]
    new = " or ".join(kit.quote(settings(side, 1)) for side in sides)
    return words.switch.format(switches=new, before=kit.quote(settings(sides[0], 0)))


def settings(differing: dict[str, tuple[object, object]], side: int) -> str:
    """Return settings as Python writes them; side 0 before, 1 after.

    >>> settings({"norm": ("post", "pre")}, 1)
    "norm='pre'"
    """
    return ", ".join(f"{key}={values[side]!r}" for key, values in differing.items())


def effects_of(change: str, results: dict[str, model.Measured]) -> str:
    names, sides = model.CHANGES[change], words.sides[change]
    first, every, lines = results[names[0]], ways(results), []
    for name, side in zip(names[1:], sides[1:], strict=True):
        result = results[name]
        case = "same" if abs(every[name]) < LEAST else "on" if every[name] > 0 else "back"
        share = kit.whole_percent(abs(every[name]))
        line = words.result[case].format(after=side, before=sides[0], share=share)
        if result.whole < first.whole:
            part = f"1/{round(first.whole / result.whole)}"
            line += " " + words.cache_less.format(
                part=part, tokens=model.config_of(name).context_length
            )
        lines.append(line)
    return " ".join(lines)


def _code(change: str, ids: tuple[int, ...]) -> None:
    function, names = model.READINGS[change], pictures.names_in(change)

    def prints() -> str:
        return "\n".join(
            f"{name} {tuple(values.shape)} {values.mean():.3f}"
            for name, values in zip(names, pictures.readings(change, ids), strict=True)
        )

    kit.show_code(
        [function],
        words.snippet.format(__name__=function.__name__, names=names, ids=list(ids)),
        prints,
    )
