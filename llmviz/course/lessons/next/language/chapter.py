"""Chapter "Language": what the same sentence costs in other languages, and in other letters."""

import numpy as np
import streamlit as st

from llmviz.corpus.second_script import respelled
from llmviz.course.components import TokenRow
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.next.language import model, words
from llmviz.course.lessons.next.language.model import MIXTURES, SHARES, TOKENIZERS, Language
from llmviz.course.ui import kit
from llmviz.files.text import check_text
from llmviz.tokenizers import in_line

KEY = "next.language"
LISTED = 6  # signs that a sentence names
KNOWN, ASKED = "English", "Hindi"
# Beside the bar that is guessed: more, and on a phone its button is below the first screen.
FIRST = {ASKED, KNOWN, "Arabic", "Chinese", "German", "Greek"}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the sentence's price by language and the guess, then looks and what goes deeper."""
    if not kit.is_here(words.missing, model.COMMAND, model.recorded):
        return
    found = model.recorded()
    kit.prose(words.hook)
    guess = kit.Guess(f"{KEY}.hindi", question(found), state["cutter"] != TOKENIZERS[0])
    with kit.stage("language"):
        _picture(state, found, guess)
        if guess.open:
            with st.container(horizontal=True, vertical_alignment="bottom"):
                kit.choose(state, "cutter", words.cutter_label, words.cutters)
                st.toggle(words.by_cost, **state.bind("bycost"))
            kit.prose(caption(found, state["cutter"]))
    guess.ask()
    if not guess.open:
        return
    hindi = {name: found.counts(name)[ASKED] for name in TOKENIZERS}
    kit.looks(state, words.looks, f"{KEY}.looks", **hindi)
    _code()
    _pieces(state, found)
    _letters(state, found)
    _learned(found)
    kit.section(words.known)
    kit.seen(words.end, **hindi)


def question(found: Language) -> kit.Question:
    """Ask what the sentence costs in Hindi.

    The wrong answers are those of somebody who goes by the meaning, by the signs, by the bytes.
    """
    text, counts = model.sentences()[ASKED], found.counts(TOKENIZERS[0])
    costs = {"right": counts[ASKED], "same": counts[KNOWN]}
    costs |= {"signs": len(text), "bytes": len(text.encode())}
    return kit.Question.named(words.ask, words.ask_reasons, costs, tokens, scale=True)


def tokens(count: float) -> str:
    """Return how many tokens something costs, as an answer says it."""
    return kit.count(round(count), "token")


def _picture(state: kit.PageState, found: Language, guess: kit.Guess) -> None:
    counts = found.counts(state["cutter"])
    listed = [name for name in counts if guess.open or name in FIRST]
    if state["bycost"] and guess.open:
        listed = sorted(counts, key=lambda language: -counts[language])
    guess.cases(
        [
            kit.Case(words.speeches[name], counts[name], role="query" if name == ASKED else "key")
            for name in listed
        ],
        kit.Axis(0, 1.1 * len(model.sentences()[ASKED].encode()), words.tokens_axis),
        veiled=[listed.index(ASKED)],
        picture=f"{KEY}.costs",
        marked=state["cutter"] == TOKENIZERS[0],  # the one that was asked about
        form="count",
    )


def caption(found: Language, cutter: str) -> str:
    """Say what a tokenizer makes of the sentence in two languages."""
    counts = found.counts(cutter)
    hindi, english = counts[ASKED], counts[KNOWN]
    case = "more" if hindi > english else "same"
    slots = {"name": words.cutters[cutter], "hindi": hindi, "english": english}
    return words.caption[case].format(times=times(hindi / english), **slots)


def times(ratio: float) -> str:
    """Return how many times as many, as one says it.

    >>> times(10.69), times(2.0), times(1.02)
    ('10.7', '2', '1.02')
    """
    return f"{ratio:.1f}".removesuffix(".0") if round(ratio, 1) > 1 else f"{ratio:.2f}"


def _code() -> None:
    counts, texts = model.recorded().counts(TOKENIZERS[0]), model.sentences()
    lines = [f"{name} {len(text.encode())} {counts[name]}" for name, text in texts.items()]
    kit.show_code([Language.counts, Language.tokens], words.snippet, "\n".join(lines))


def _pieces(state: kit.PageState, found: Language) -> None:
    kit.section(words.pieces)
    cutter, language = state["cutter"], state["speech"]
    pieces = found.tokens(cutter, language)
    st.selectbox(words.speech, width=190, **state.named("speech", dict(words.speeches)))
    kit.prose(words.sentence, text=model.sentences()[language])
    row = row_of(f"{words.cutters[cutter]}: {words.speeches[language]}", pieces)
    kit.value_strip([row], f"{KEY}.pieces", words.ends)
    kit.prose(pieces_read(pieces))


def pieces_read(pieces: list[bytes]) -> str:
    """Say how many of some tokens are no whole signs."""
    broken = sum(not visible_text(piece)[1] for piece in pieces)
    case = "none" if not broken else "all" if broken == len(pieces) else "some"
    return words.pieces_read[case].format(broken=broken, tokens=len(pieces))


def row_of(name: str, pieces: list[bytes]) -> TokenRow:
    """Return pieces of a text as chips, lit where they are no whole signs."""
    lit = [float(not visible_text(piece)[1]) for piece in pieces]
    return TokenRow(name, in_line(pieces), tokens(len(pieces)), lit)


def _letters(state: kit.PageState, found: Language) -> None:
    kit.section(words.letters)
    with kit.stage("letters"):
        _own(state["respelt"], float(state["mixed"]))
        kit.choose(state, "mixed", words.mixed_label, words.shares)
        kit.text_input(state, "respelt", words.own_text)
    few, some, many = map(model.spelling_other, SHARES)
    slots = {"vocabulary": found.vocabulary, "few": few, "some": some, "many": many}
    kit.looks(state, words.letter_looks, f"{KEY}.letters", **slots)
    cases = [
        kit.Case.mean(words.share_row.format(share=words.shares[f"{share:g}"]), found.times(share))
        for share in SHARES
    ]
    axis = kit.Axis.over(cases, words.story_axis)
    level = [(1.0, words.fair)]
    kit.case_rows(cases, axis, key=f"{KEY}.times", form="figure", levels=level)
    kit.prose(words.letters_read)
    kit.measured(words.how_letters, stories=found.stories, characters=found.characters, **slots)


def _own(text: str, share: float) -> None:
    if not text.strip():
        kit.inform(words.no_text, ":material/edit:")
    elif kit.or_refused(check_text, text) is not None:
        both = (text, respelled(text))
        cut = [[token.data for token in model.tokenizer_of(share).tokens(t)] for t in both]
        kit.value_strip([*map(row_of, (words.latin, words.other), cut)], f"{KEY}.own", words.ends)
        kit.prose(own_read(*map(len, cut)))
        if alone := left_alone(text):
            more = " …" if len(alone) > LISTED else ""
            kit.prose(words.left_alone, signs=" ".join(alone[:LISTED]) + more)


def own_read(first: int, second: int) -> str:
    """Compare the tokens of a text in two scripts."""
    case = "same" if first == second else "more" if second > first else "fewer"
    slots = {"first": first, "second": tokens(second)}
    return words.own_read[case].format(times=times(second / first), **slots)


def left_alone(text: str) -> list[str]:
    """Return the signs of other scripts, and letters with marks, in the order of the text."""
    return [*dict.fromkeys(sign for sign in text if not sign.isascii() and sign.isalpha())]


def _learned(found: Language) -> None:
    kit.section(words.learned)
    cases = []
    for cut, share in sorted(MIXTURES, key=lambda pair: (pair[1], pair[0] != pair[1])):
        row, slots = found.learned[cut][share], {"share": words.shares[f"{share:g}"]}
        slots["cut"] = words.shares[f"{cut:g}"]
        if cut == share:
            cases.append(_case("latin", row.first, "key", slots))
            cases.append(_case("other", row.second, "query", slots))
        else:
            cases.append(_case("crossed", row.second, "value", slots))
    axis = kit.Axis.over(cases, words.lost_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.lost", form="count")
    rare = found.learned[SHARES[0]][SHARES[0]]
    said = {"rare": np.mean(rare.second), "common": np.mean(rare.first)}
    kit.prose(words.learned_read, **said)
    kit.prose(words.crossed_read)
    slots = {"budget": found.budget, "stories": found.stories, "grammar": found.grammar}
    kit.measured(words.how_learned, **slots)


def _case(name: str, losses: tuple[float, ...], role: str, slots: dict[str, str]) -> kit.Case:
    label = words.lost_rows[name].format(**slots)
    return kit.Case.mean(label, losses, role=role)
