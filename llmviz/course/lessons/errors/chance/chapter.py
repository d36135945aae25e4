"""Chapter "Right, wrong, and cannot know": the true next token beside the model's.

T tokens, V vocabulary.
"""

import numpy as np
import streamlit as st

from llmviz.corpus.next_tokens import true_tokens
from llmviz.course.components.paired_bars.view import paired_bars
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.lessons.errors.chance import parts, throws, words
from llmviz.course.lessons.errors.story import (
    ReadStory,
    divided_of,
    logits_of,
    read_story,
    story_box,
    story_reader,
    tokens_of,
    truth_of,
)
from llmviz.course.ui import engine, kit
from llmviz.evaluation.exact_loss import CERTAIN, DividedLoss, divide_logits, log_softmax

KEY = "errors.chance"
SHOWN = 8  # tokens that have bars


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    story_box(state)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = story_reader(state)
        kit.choose(state, "part_of", words.part, words.parts)
    bundled = None if name is None else kit.load(name)
    story = None if bundled is None else read_story(state, bundled)
    if story is None:
        return
    divided = divided_of(story.bundled, story.text)
    at = _strip(state, story, divided)
    _opened(story, divided, at)
    known = parts.draw(state, story, divided)
    missed = throws.draw(state, story, divided)
    _code(story, divided)
    if known and missed is not None:
        kit.seen(words.end, **parts.of_story(divided), **missed)


def opened_token(place: int, divided: DividedLoss) -> int:
    """Return the token that is open: the one asked for, else that with the highest loss."""
    return place if 0 <= place < len(divided) else int(divided.loss.argmax())


def part(divided: DividedLoss, name: str) -> np.ndarray:
    """Return the part (T,) of the loss that colours the tokens."""
    return {
        "loss": divided.loss,
        "entropy": divided.entropy,
        "divergence": divided.divergence,
        "dice": divided.dice,
    }[name]


@kit.kept(32)
def strip_row(bundled: engine.Bundled, text: str, part_of: str, tokenizer) -> TokenRow:
    """Return a story's tokens with the part that colours them and what is known of each."""
    divided = divided_of(bundled, text)
    guesses = kit.names_of(divided.guess.tolist(), tokenizer)
    details = [
        {
            words.card_true: kit.percent(float(divided.true[t])),
            words.card_given: kit.percent(float(divided.given[t])),
            words.card_entropy: f"{divided.entropy[t]:.3f}",
            words.card_divergence: f"{divided.divergence[t]:.3f}",
            words.card_dice: parts.signed(divided.dice[t]),
            words.card_guess: guesses[t],
        }
        for t in range(len(divided))
    ]
    tokens = tokens_of(divided.ids.tolist(), tokenizer)
    return TokenRow(words.strip, tokens, values=part(divided, part_of), details=details)


def _strip(state: kit.PageState, story: ReadStory, divided: DividedLoss) -> int:
    at = opened_token(state["token"], divided)
    values = part(divided, state["part_of"])
    most = max(float(np.abs(values).max()), CERTAIN)
    key = f"{KEY}.strip"
    token_strip(
        [strip_row(story.bundled, story.text, state["part_of"], story.bundled.tokenizer)],
        key=key,
        show_ids=False,
        value_label=words.strip_value,
        value_range=(-most if state["part_of"] == "dice" else 0.0, most),
        selected=TokenSelection(0, at, int(divided.ids[at])),
        on_change=kit.bound(state, key, selected=("token", kit.second_of)),
    )
    kit.prose(words.part_notes[state["part_of"]])
    return at


def _opened(story: ReadStory, divided: DividedLoss, at: int) -> None:
    ids, true, given = bars_of(story.bundled, story.text, at)
    labels = kit.names_of(ids.tolist(), story.bundled.tokenizer)
    picture, beside = st.columns([3, 2], gap="large", vertical_alignment="center")
    with picture:
        paired_bars(
            labels,
            true,
            given,
            title=words.pairs_title,
            names=(words.pairs_true, words.pairs_model),
            axis=words.pairs_axis,
            limit=float(max(true.max(), given.max())),
            key=f"{KEY}.pairs",
        )
    with beside:
        kit.prose("\n\n".join(opened_lines(story, divided, at)))


@kit.kept(128)
def bars_of(bundled: engine.Bundled, text: str, at: int) -> tuple[np.ndarray, ...]:
    """Return the tokens that are most probable by the grammar or the model, at most SHOWN.

    ids (N,), and their probabilities by both (N,), (N,).
    """
    given = np.exp(log_softmax(logits_of(bundled, text)[at : at + 1]))[0]
    true = truth_of(bundled, text).following[at].dense(len(given))
    best = np.argsort(-np.maximum(true, given), kind="stable")[:SHOWN]
    best = best[np.argsort(-true[best], kind="stable")]
    return best, true[best], given[best]


def opened_lines(story: ReadStory, divided: DividedLoss, at: int) -> list[str]:
    """Return what is said of one token: what could come, the parts of its loss, whose error."""
    following = story.truth.following[at]
    best = int(following.ids[following.probabilities.argmax()])
    numbers = {
        "number": at + 1,
        "token": story.spoken(int(divided.ids[at])),
        "options": kit.count(len(following.ids), "token"),
        "best": story.spoken(best),
        "best_p": kit.percent(float(divided.best_true[at])),
        "true": kit.percent(float(divided.true[at])),
        "given": kit.percent(float(divided.given[at])),
        "guess": story.spoken(int(divided.guess[at])),
        "guess_p": kit.percent(float(divided.guess_true[at])),
        "loss": divided.loss[at],
        "entropy": divided.entropy[at],
        "divergence": divided.divergence[at],
        "dice": parts.added(divided.dice[at]),
    }
    kind = "open" if len(following.ids) > 1 else "certain"
    case = "right"
    if divided.missed[at]:
        case = "dice" if divided.best_guess[at] else "lack"
    texts = (words.opened[kind], words.lack, words.verdict[case])
    return [text.format(**numbers) for text in texts]


def _code(story: ReadStory, divided: DividedLoss) -> None:
    names = ("loss", "entropy", "divergence", "dice")
    kit.show_code(
        [true_tokens, divide_logits],
        words.snippet.format(name=story.bundled.name, text=story.text, names=names),
        "\n".join(f"{name} {getattr(divided, name).mean():.3f}" for name in names),
    )
