"""The stage of "Heads": where each head of a layer looks when the last word asks, one to guess."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz.course.components.matrix_view.view import Matrix
from llmviz.course.lessons.attention.heads import words
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import words as inputs_words
from llmviz.course.ui import engine, kit, matrix_picture, model_on_text

KEY = "attention.looks"
GUESS = f"{KEY}.head"
WORDS = 24  # of the learner's own text that are drawn
APART = 0.15  # between the shares of the two words that the head in question looks at most


def draw(state: kit.PageState) -> bool:
    """Show where the heads look, the guess and the looks; return whether all may be told."""
    bundled = kit.load(real.PICKER.name(state), tell=False)
    read, guess, layer = None, kit.Guess(GUESS, None), 0
    if bundled is not None:
        read = _read(state, bundled)
        layers = bundled.model.config.n_layer
        layer = state["layer"] if 0 <= state["layer"] < layers else layers - 1
    anna = state["who"] == "book" and read is not None and _head_0(read, layer) == "·Anna"
    kit.prose(words.hook["book" if anna else "other"])
    with kit.stage("heads"):
        if read is not None:
            guess = _picture(read, layer, f"·{state['who']}")
            with st.container(horizontal=True, gap="medium"):
                kit.choose(state, "who", words.who_label, words.who)
                slot = kit.tied(f"_{KEY}.layer", layer, state.taker("layer"))
                layers = range(read.bundled.model.config.n_layer)
                st.segmented_control(inputs_words.layer, layers, required=True, **slot)
    revealed = guess.ask()
    kit.source(state)
    if revealed and read is not None:
        _looks(state, read)
    return revealed


def _read(state: kit.PageState, bundled: engine.Bundled) -> kit.Read | None:
    if state["who"] == "own":
        return model_on_text.read_text(state, bundled, WORDS, tell_unknown=False)
    ids = bundled.tokenizer.encode_from_start(words.texts[state["who"]])
    return model_on_text.read_ids(ids[-bundled.model.context_length :], bundled)


def _head_0(read: kit.Read, layer: int) -> str:
    names, of_word = pooled(shares(read, layer)[:1], list(read.tokens))
    return names[int(of_word[0].argmax())]


def shares(read: kit.Read, layer: int) -> np.ndarray:
    """Return what the last token takes from each token by each head of a layer, (H, T)."""
    return real.traced(read.bundled, read.ids, layer)["weights"][:, -1].numpy()


def _picture(read: kit.Read, layer: int, thing: str) -> kit.Guess:
    """Draw a row for each head; return the question, where there is one."""
    weights, tokens = shares(read, layer), list(read.tokens)
    veiled = puzzle(weights, tokens, thing)
    guess = kit.Guess(GUESS, question(weights, tokens, thing) if veiled else None)
    revealed = guess.open
    answers = guess.question.answers if guess.question else []
    guess.cell(
        Matrix(
            "looks",
            weights.round(2),
            words.asks.format(asking=tokens[-1], layer=layer),
            row_labels=row_names(weights, tokens, [] if revealed else veiled),
            col_labels=tokens,
            col_axis=matrix_picture.ASKED_AXIS,
            role="weights",
            limit=1.0,
            digits=2,
        ),
        row=veiled[0] if veiled else 0,
        picture=KEY,
        veiled=veiled,
        number=lambda column: place_of(answers, tokens[column]),
        narrow=WORDS,
    )
    kit.prose(caption(weights, tokens, revealed=revealed))
    return guess


def row_names(weights: np.ndarray, tokens: list[str], veiled: Sequence[int]) -> list[str]:
    """Return what each head is called by: the word that it looks at most; weights: (H, T)."""
    names, of_word = pooled(weights, tokens)
    called = []
    for head, of_head in enumerate(of_word.round(2)):
        best = [name for name, share in zip(names, of_head, strict=True) if share == of_head.max()]
        kind = "veiled" if head in veiled else "one" if len(best) == 1 else "several"
        called.append(words.rows[kind].format(word=best[0].strip("·") or best[0]))
    return called


def pooled(weights: np.ndarray, tokens: list[str]) -> tuple[list[str], np.ndarray]:
    """Return the different words, and each head's share (H, words) of them; weights: (H, T)."""
    names = list(dict.fromkeys(tokens))
    places = [[at for at, token in enumerate(tokens) if token == name] for name in names]
    return names, np.stack([weights[:, at].sum(1) for at in places], axis=1)


def puzzle(weights: np.ndarray, tokens: list[str], thing: str) -> list[int]:
    """Return the heads that look at the thing that is asked for, the surest first.

    None, where head 0 is one of them, where the others do not look at the people alone and at each
    of them, or where the surest looks at another word nearly as much. weights: (H, T).
    """
    names, of_word = pooled(weights, tokens)
    best = [names[at] for at in of_word.argmax(1)]
    looking = [head for head, word in enumerate(best) if word == thing]
    if not looking or not looking[0] or {*best} - {thing} != {*words.people}:
        return []
    looking.sort(key=lambda head: -of_word[head].max())
    first, second = np.sort(of_word[looking[0]])[:-3:-1]
    return looking if first - second >= APART else []


def named(wanted: list[str], tokens: list[str]) -> list[str]:
    """Return the answers as they are written; the last one stands for all other words."""
    known = [words.word.format(word=word.strip("·") or word) for word in wanted]
    return [*known, words.another] if set(tokens) - set(wanted) else known


def place_of(answers: Sequence[str], token: str) -> int:
    written = words.word.format(word=token.strip("·") or token)
    return answers.index(written) if written in answers else len(answers) - 1


def question(weights: np.ndarray, tokens: list[str], thing: str) -> kit.Question:
    """Return the question which word the last one still needs; see `puzzle`.

    The wrong answers are of somebody to whom heads vote, and to whom the nearest word counts.
    """
    names, of_word = pooled(weights, tokens)
    head, first = puzzle(weights, tokens, thing)[0], names[of_word[0].argmax()]
    wanted = list(dict.fromkeys([thing, first, tokens[-2]]))
    answers = named(wanted, tokens)
    reasons = [words.ask_right, words.ask_vote, *[words.ask_near] * (len(wanted) - 2)]
    reasons += [words.ask_other] * (len(answers) - len(reasons))
    slots = {"asking": kit.quote(tokens[-1]), "right": kit.quote(thing)}
    slots |= {"share": kit.whole_percent(float(of_word[head].max())), "first": kit.quote(first)}
    slots["people"] = kit.listed([kit.quote(person) for person in words.people])
    return kit.Question(
        words.ask.format(**slots),
        answers,
        0,
        [reason.format(**slots) for reason in reasons],
        values=[(at,) for at in range(len(answers))],
        write=lambda at: answers[int(at)],
    )


def caption(weights: np.ndarray, tokens: list[str], *, revealed: bool) -> str:
    """Return what to see: where head 0 looks, and once it is told, which head looks elsewhere."""
    names, of_word = pooled(weights, tokens)
    best = of_word.argmax(1)
    head = next((h for h in range(len(best)) if best[h] != best[0]), None)
    slots = {"a": kit.quote(names[best[0]]), "share": kit.whole_percent(float(of_word[0, best[0]]))}
    if not revealed:
        return words.caption["asked"].format(**slots)
    if head is None:
        return words.caption["same"].format(**slots)
    other = {
        "b": kit.quote(names[best[head]]),
        "more": kit.whole_percent(float(of_word[head].max())),
    }
    return words.caption["apart"].format(**slots, **other)


def _looks(state: kit.PageState, read: kit.Read) -> None:
    layers, passages, means = read.bundled.model.config.n_layer, [*words.looks], ("", "")
    if layers > 1:
        first, second = (float(shares(read, at).max(1).mean()) for at in (0, layers - 1))
        means = (kit.percent(first), kit.percent(second))
    else:
        del passages[1]
    kit.looks(state, passages, f"{KEY}.passages", first=means[0], last=means[1])
    kit.real_case("carrier", words.real, carryhead="23.4")
