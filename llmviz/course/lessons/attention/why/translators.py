"""The stage of "Why": one list of numbers for a sentence, or a list for every word."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import streamlit as st

from llmviz.corpus.language import meaning
from llmviz.course.components.token_strip.view import TokenRow, token_strip
from llmviz.course.lessons.attention.why import words
from llmviz.course.ui import engine, kit
from llmviz.interpretability.translation_trace import translated
from llmviz.models.recurrent_translator import RecurrentTranslator
from llmviz.tokenizers.base import Token

KEY = "attention.translators"
GUESS = f"{KEY}.line"
ONE_VECTOR, LOOKS_BACK = "pairs-rnn", "pairs-seq2seq"
KNOWN = 2  # lengths whose share is told before the question
APART = 0.1  # between the lines of the answers, on average

Counts = dict[int, tuple[int, int]]  # words of a sentence: how many there are, how many exact


def draw(state: kit.PageState) -> bool:
    """Show both translations of a sentence and how often each model is right, which is guessed.

    Returns whether all may be told.
    """
    kit.prose(words.hook)
    if not kit.models_here(ONE_VECTOR, LOOKS_BACK):
        return True
    counts = [by_length(engine.card(name)) for name in (ONE_VECTOR, LOOKS_BACK)]
    guess = kit.Guess(GUESS, question(counts[0]))
    with kit.stage("why"):
        snippet = _sentence(state)
        if all(counts):
            _lines(counts, guess)
    revealed = guess.ask()
    if revealed:
        kit.looks(state, words.looks, f"{KEY}.looks")
        if all(counts):
            kit.prose(report(counts))
    if snippet is not None:
        kit.show_code([RecurrentTranslator], *snippet, label=words.code_translator)
    return revealed


def by_length(card: dict[str, Any]) -> Counts:
    """Return how many held-out sentences of each length there were, and how many were exact."""
    counts = card.get("score", {}).get("by_length", {})
    return {int(length): (int(all_), int(exact)) for length, (all_, exact) in counts.items()}


def shares(counts: Counts) -> tuple[list[int], list[float]]:
    """Return the lengths of sentences, and the share of each that was exact."""
    lengths = sorted(counts)
    return lengths, [counts[length][1] / counts[length][0] for length in lengths]


translation = kit.cached(64)(kit.on_model(translated))


def _sentence(state: kit.PageState) -> tuple[str, str] | None:
    """Draw a sentence by the rules and by both models, with what is wrong in colour.

    Returns code that repeats it and what this prints; None for no sentence.
    """
    place = st.container()
    # Both translators have the same vocabulary and context.
    sentence = kit.read_sentence(state, engine.load(ONE_VECTOR))
    if sentence is None:
        return None
    known, ids = sentence
    lines = {"rules": known.target}
    for name, line in ((ONE_VECTOR, "squeezed"), (LOOKS_BACK, "looks_back")):
        bundled = engine.load(name)
        lines[line] = bundled.tokenizer.decode(translation(bundled, ids))
    wrong = {name: mistakes(text.split(), known.target.split()) for name, text in lines.items()}
    with place:
        token_strip(
            [
                _row(words.rows["source"], known.source.split(), ()),
                *(
                    _row(words.rows[name], line.split(), wrong[name])
                    for name, line in lines.items()
                ),
            ],
            key=f"{KEY}.strip",
            show_ids=False,
            value_label=words.wrong,
            value_range=(0, 1),
        )
        kit.prose(caption(lines["squeezed"], known.target, len(wrong["looks_back"])))
    snippet = words.snippet_translators.format(given=(ONE_VECTOR, LOOKS_BACK), source=known.source)
    return snippet, f"{lines['squeezed']}\n{lines['looks_back']}"


def _row(name: str, line: Sequence[str], wrong: Sequence[int]) -> TokenRow:
    tokens = [Token(-1, word.encode(), 0, 0, 0, 0) for word in line]
    details = [{words.english: meaning(word) or word} for word in line]
    return TokenRow(name, tokens, "", [float(at in wrong) for at in range(len(line))], details)


def mistakes(line: Sequence[str], right: Sequence[str]) -> list[int]:
    return [at for at, pair in enumerate(zip_longest(line, right)) if pair[0] != pair[1]]


def caption(line: str, right: str, other: int) -> str:
    """Return what to see: how many words are wrong, and what one or two of them say instead."""
    written, known = line.split(), right.split()
    wrong = mistakes(written, known)
    slots = {"wrong": kit.count(len(wrong), words.word), "count": len(known)}
    slots["other"] = other or words.no_word
    swapped = [pair for pair in zip(known, written, strict=False) if pair[0] != pair[1]]
    told = [kit.quote(meaning(word) or word) for pair in swapped[:2] for word in pair]
    slots |= zip(("meant", "said", "meant_too", "said_too"), told, strict=False)
    case = "wrong" if wrong else "none"
    if swapped:
        all_told = len(swapped) == len(wrong) <= 2
        case = ("says", "both")[len(wrong) - 1] if all_told else "more"
    return words.caption[case].format(**slots)


def _lines(counts: list[Counts], guess: kit.Guess) -> None:
    lengths, squeezed = shares(counts[0])
    known = KNOWN if guess.question is not None else len(lengths)
    guess.line(
        [kit.Drawn(words.rows["looks_back"], *shares(counts[1]), "value")],
        kit.Drawn(words.rows["squeezed"], lengths, squeezed),
        kit.Scale(lengths[0], max(lengths[-1], lengths[0] + 1), words.length_axis),
        kit.Scale(0, 1, words.exact_axis),
        known=known,
        picture=f"{KEY}.guess",
        form="percent",
    )


def question(counts: Counts) -> kit.Question | None:
    """Return the question how the share goes on with longer sentences; None where lines meet.

    The wrong answers are of somebody to whom what was learned is learned, and to whom each further
    word costs the same.
    """
    if len(counts) < KNOWN + 2:
        return None
    lengths, right = shares(counts)
    (x, y), (x1, y1) = list(zip(lengths, right, strict=True))[KNOWN - 2 : KNOWN]
    later = lengths[KNOWN:]
    lines = [
        right[KNOWN:],
        [y1] * len(later),
        [min(1.0, max(0.0, y1 + (y1 - y) / (x1 - x) * (at - x1))) for at in later],
    ]
    apart = [
        sum(abs(a - b) for a, b in zip(line, other, strict=True)) / len(later)
        for n, line in enumerate(lines)
        for other in lines[:n]
    ]
    if min(apart) < APART or lines[0][-1] > min(lines[1][-1], lines[2][-1]):
        return None
    slots = {"known": lengths[KNOWN - 1], "last": lengths[-1], "share": f"{right[-1]:.0%}"}
    return kit.Question(
        words.ask.format(**slots),
        list(words.ask_answers.values()),
        0,
        [reason.format(**slots) for reason in words.ask_reasons.values()],
        values=[tuple(map(float, line)) for line in lines],
    )


def report(counts: list[Counts]) -> str:
    """Return what the lines say: each model's share of short and of long sentences.

    counts: of the model with one vector, and of the one that looks back.
    """
    lengths = sorted(set(counts[0]) & set(counts[1]))
    middle = (lengths[0] + lengths[-1]) // 2
    short = [length for length in lengths if length <= middle]
    long = [length for length in lengths if length > middle] or short

    def share(count: Counts, part: list[int]) -> str:
        right = sum(count[n][1] for n in part) / sum(count[n][0] for n in part)
        return "100%" if right == 1 else f"{right:.1%}"

    back = [share(counts[1], part) for part in (short, long)]
    return words.exact_read["alike" if back[0] == back[1] else "apart"].format(
        middle=middle,
        one_short=share(counts[0], short),
        one_long=share(counts[0], long),
        back_short=back[0],
        back_long=back[1],
    )
