"""Second half of chapter "Beam search": its find beside every text there is."""

from collections.abc import Sequence

import streamlit as st

from llmviz.course.figures import sampling as figures
from llmviz.course.lessons.sampling import source
from llmviz.course.lessons.sampling.beam import searches, words
from llmviz.course.lessons.sampling.beam.model import Compared, continuation_count
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.ui import kit
from llmviz.sampling import Continuations, exhaustive_search
from llmviz.textfile import check_text

WIDTHS = range(1, 9)
BARS = 12
SMALL = source.SmallPicker("small", first=source.SMALL_MODEL)
MANY = 10  # tokens: all texts of so many are too many to be scored


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show this half of the chapter."""
    kit.section(words.exhaustive_intro)
    name = SMALL.name(state)
    if name is None:
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kit.text_input(state, "begin", words.exhaustive_beginning, width=220)
        st.slider(words.exhaustive_tokens, width=220, **state.ranged("letters"))
        SMALL.menu(state, title=words.exhaustive_model)
    length = state["letters"]
    bundled = kit.load(name)
    if bundled is None:
        return
    try:
        check_text(state["begin"])
        prompt = source.read(bundled, state["begin"])
        compared = searches.compared(prompt, length, WIDTHS)
    except ValueError as error:
        kit.refuse(error)
        return
    _figure(prompt, compared)
    quiz = question(prompt.vocab_size, length, can_end=prompt.stop_id is not None)
    if quiz is None or kit.predict(quiz, "exhaustive.cost", covers=True):
        _all(prompt, compared.every)
        _finds(prompt, compared)
        _code(prompt, compared.every, length)
        kit.seen(words.end, **end(prompt, compared))


def written(prompt: Prompted, tokens: list[int]) -> str:
    """Return a continuation to read, its end as a mark."""
    ends = bool(tokens) and tokens[-1] == prompt.stop_id
    text = "".join(prompt.texts(tokens[:-1] if ends else tokens))
    return text + (words.exhaustive_end if ends else "")


def _all(prompt: Prompted, every: Continuations) -> None:
    kit.prose(
        words.exhaustive_all,
        v=prompt.vocab_size,
        n=kit.count(len(every.ids), "text"),
        beginning=kit.quote(prompt.text) if prompt.text else words.exhaustive_nothing,
        mass=f"{every.probabilities.sum():.4f}",
        best=kit.quote(written(prompt, every.tokens(1))),
        p=kit.percent(float(every.probabilities[0])),
    )


def _figure(prompt: Prompted, compared: Compared) -> None:
    every, places = compared.every, compared.places
    bars = sorted({*range(1, min(BARS, len(every.ids)) + 1), *places.values()})
    texts = [written(prompt, every.tokens(place)) for place in bars]
    kit.chart(
        places_figure(
            tuple(kit.escape_plotly(text) for text in texts),
            tuple(float(every.probabilities[place - 1]) for place in bars),
            tuple(note(place, places) for place in bars),
            tuple(bars),
            kit.theme(),
        ),
        "sampling.exhaustive",
        bar=False,
    )
    if any(words.exhaustive_end in text for text in texts):
        st.caption(words.exhaustive_end_note.format(end=words.exhaustive_end))


@kit.kept(64)
def places_figure(
    texts: tuple[str, ...],
    probabilities: tuple[float, ...],
    notes: tuple[str, ...],
    listed: tuple[int, ...],
    mode: kit.Mode,
) -> kit.Figure:
    """Return the best texts and those that a search gives."""
    return figures.places(texts, probabilities, notes, listed, words.exhaustive_figure, mode)


def note(place: int, places: dict[int, int]) -> str:
    """Return what stands behind the bar of a place: which widths ended there.

    >>> note(3, {1: 3, 2: 3, 3: 1}), note(1, {1: 3, 2: 1, 3: 1, 4: 1}), note(2, {1: 3})
    ('width 1, 2', 'width 2–4', '')
    """
    widths = [width for width, own in places.items() if own == place]
    if not widths:
        return ""
    together = len(widths) > 2 and widths == list(range(widths[0], widths[-1] + 1))
    listed = f"{widths[0]}–{widths[-1]}" if together else ", ".join(map(str, widths))
    text = words.exhaustive_greedy if widths == [1] else words.exhaustive_width
    return text.format(widths=listed)


def _finds(prompt: Prompted, compared: Compared) -> None:
    every, places = compared.every, compared.places
    if 1 in compared.best:
        greedy = words.exhaustive_greedy_finds
    else:
        greedy = words.exhaustive_greedy_misses.format(
            greedy=kit.quote(written(prompt, every.tokens(places[1]))), place=places[1]
        )
    beams = beams_find(
        compared.best, max(places), compared.expanded, prompt.vocab_size, len(every.ids)
    )
    kit.prose(f"{greedy} {beams}")


def beams_find(best: Sequence[int], most: int, expanded: dict[int, int], v: int, n: int) -> str:
    """Say which widths up to `most` find the best of n texts: those in `best`.

    `expanded` holds how many beginnings each width went on from, each with all v tokens.
    """
    if not best:
        return words.exhaustive_not_found.format(most=most)
    if best[0] < most and list(best) == list(range(best[0], most + 1)):
        return words.exhaustive_found_from.format(
            width=best[0], most=most, scored=f"{expanded[best[0]] * v:,}", all=f"{n:,}"
        )
    return words.exhaustive_found_some.format(most=most, widths=", ".join(map(str, best)))


def end(prompt: Prompted, compared: Compared) -> dict[str, str]:
    """Return what the chapter ends with: where greedy choice stands among all texts."""
    every = compared.every
    found = words.end_finds if 1 in compared.best else words.end_misses
    return {
        "found": found.format(
            place=compared.places[1],
            all=kit.count(len(every.ids), "text"),
            beginning=kit.quote(prompt.text) if prompt.text else words.exhaustive_nothing,
        ),
        "n": kit.count(MANY, "token"),
        "many": kit.count(
            continuation_count(prompt.vocab_size, MANY, can_end=prompt.stop_id is not None), "text"
        ),
        "beam": f"{_scored(prompt.vocab_size, MANY):,}",
    }


def _scored(v: int, n: int) -> int:
    """Return how many continuations a beam of width 3 scores at most in n steps."""
    return v + 3 * v * (n - 1)


def question(v: int, n: int, *, can_end: bool) -> kit.Question | None:
    """Return the question how many texts of up to n tokens there are with v tokens.

    `can_end`: whether one of them ends a text. None with fewer than 3 tokens, which hardly
    multiply, and for a single token, of which there are v.
    """
    if v < 3 or n < 2:
        return None
    right, going = continuation_count(v, n, can_end=can_end), v - 1 if can_end else v
    text = words.exhaustive_ask_reason if can_end else words.exhaustive_ask_reason_no_end
    numbers = {"v": v, "n": n, "going": going, "full": f"{going**n:,}"}
    beam = f"{_scored(v, n):,}"
    reasons = {
        right: text.format(early=f"{right - going**n:,}", beam=beam, **numbers),
        n * v: words.exhaustive_ask_linear,
        v**n: words.exhaustive_ask_power.format(**numbers),
    }
    if not can_end:
        reasons = {**reasons, right: text.format(beam=beam, **numbers)}
        reasons[n + v] = words.exhaustive_ask_linear
    text = words.exhaustive_ask.format(n=n, v=v)
    return kit.Question.among(text, reasons, right, lambda number: kit.count(number, "text"))


def _code(prompt: Prompted, every: Continuations, length: int) -> None:
    tokenizer = prompt.bundled.tokenizer
    greedy = searches.searched(prompt, 1, length).tokens()
    kit.show_code(
        [exhaustive_search],
        source.snippet(prompt) + words.snippet_exhaustive.format(length=length),
        f"{len(every.ids)} {tokenizer.decode(every.tokens(1))!r} {every.place(greedy)}",
    )
