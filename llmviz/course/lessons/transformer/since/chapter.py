"""Chapter "What changed since 2017": what each change did here, and each where it differs."""

import streamlit as st

from llmviz.course.lessons.transformer.since import model, pictures, words
from llmviz.course.ui import kit

KEY = pictures.KEY
GUESS = f"{KEY}.rotary"
DRAWN = 24  # tokens of the text that are read
ROUNDED = 3  # digits of the losses
GUESSED = "rotary"
APART = 0.03  # nats between the answers of the question


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what nine changes did to the loss, one of them guessed, then what each of them is."""
    cards = {name: kit.card_of(model.checkpoint(name)) for name in model.FAMILY}
    missing = [name for name, card in cards.items() if card is None]
    if missing:
        name = model.checkpoint(missing[0])
        st.info(words.missing.format(name=name), icon=":material/download:")
        st.code(words.command.format(name=name), language=None)
        return
    kit.prose(words.hook)
    results = {name: model.measured(name, card) for name, card in cards.items()}
    guess, change = kit.Guess(GUESS, question(results)), state["change"]
    with kit.stage("since", stays=False):
        _dots(results, guess)
        kit.choose(state, "change", words.change, words.changes, parts=True)
        shown = guess.open
        if shown:
            kit.prose(effects_of(change, results))
    guess.ask()
    kit.source(state)
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    sizes = [card["parameters"] for card in cards.values()]
    slots = {
        "apart": kit.percent(max(sizes) / min(sizes) - 1),
        "tokens": cards[GUESSED]["tokens"],
    }
    kit.section(words.intro, **slots, floor=cards[GUESSED]["floor"]["nats_per_token"])
    kit.section(words.changes[change], f"{words.about[change]} {code_switches(change)}")
    model_and_text = kit.load_and_read(state, pictures.names_in(change)[0], DRAWN)
    if model_and_text is not None:
        read = model_and_text[1]
        pictures.draw(change, read.ids)
        _code(change, pictures.read_ids(change, read.ids))
    pictures.draw_times(state, change)
    if shown:
        by = difference(results[GUESSED], results[model.CHANGES["positions"][0]])
        kit.seen(words.end, difference=written(by))


def _dots(results: dict[str, model.Measured], guess: kit.Guess) -> None:
    pairs = [
        (name, names[0], side, words.sides[change][0])
        for change, names in model.CHANGES.items()
        for name, side in zip(names[1:], words.sides[change][1:], strict=True)
    ]
    cases = [
        kit.Case(
            words.row.format(after=after, before=before),
            difference(results[name], results[first]),
        )
        for name, first, after, before in pairs
    ]
    over = results[model.CHANGES["positions"][0]].over
    guess.cases(
        cases,
        kit.Axis(-over, over / 2, words.axis),
        veiled=[[name for name, *_ in pairs].index(GUESSED)],
        picture=f"{KEY}.dots",
        form="figure",
        mark="dot",
        levels=[(0.0, words.as_before), (-over, words.floor)],
    )


def question(results: dict[str, model.Measured]) -> kit.Question | None:
    """Ask what rotary positions did to the loss; None where two answers are near.

    The wrong answers are those of somebody to whom what everybody uses must change much, and of
    one to whom nothing helps a small model.
    """
    before = results[model.CHANGES["positions"][0]]
    right = difference(results[GUESSED], before)
    reasons = {right: words.ask_right, -before.over / 2: words.ask_much, 0.0: words.ask_nothing}
    near = [abs(a - b) for a in reasons for b in reasons if a != b]
    if len(reasons) < 3 or min(near) < APART:
        return None
    return kit.Question.among(
        words.ask, reasons, right, in_digits, over=before.over, difference=written(right)
    )


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


def difference(after: model.Measured, before: model.Measured) -> float:
    """Return by how many nats a model's loss is higher than another's, as it is shown."""
    return round(round(after.over, ROUNDED) - round(before.over, ROUNDED), ROUNDED)


def written(by: float) -> str:
    return (words.less if by < 0 else words.more).format(by=abs(by)) if by else words.equal


def in_digits(by: float) -> str:
    """Return a difference with its sign.

    >>> in_digits(-0.015), in_digits(0.0)
    ('−0.015', '0.000')
    """
    return f"{by:+.{ROUNDED}f}".replace("-", "−") if by else f"{0:.{ROUNDED}f}"


def effects_of(change: str, results: dict[str, model.Measured]) -> str:
    names, sides = model.CHANGES[change], words.sides[change]
    first, lines = results[names[0]], []
    for name, side in zip(names[1:], sides[1:], strict=True):
        result = results[name]
        by = written(difference(result, first))
        line = words.result.format(after=side, before=sides[0], difference=by)
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
