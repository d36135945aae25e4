"""The story that several chapters share: its box, the model that reads it, and what is true of it.

T tokens.
"""

from dataclasses import dataclass

import streamlit as st

from llmviz.corpus.next_tokens import TrueTokens, true_tokens
from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.lessons.errors import words as words
from llmviz.course.ui import engine, kit
from llmviz.evaluation.calibration import Guesses, guesses_from
from llmviz.evaluation.exact_loss import DividedLoss, divide_logits, story_logits
from llmviz.models.catalogue import able
from llmviz.tokenizers import Token, Tokenizer, in_line
from llmviz.training.held_out_texts import stories

OTHERS = 40_000  # the seeds of the stories that come next, which no bundled model was trained on
ALSO = ("drafts/tiny-world", "since-2017/learned", "errors/by-heart", "errors/by-heart-smoothed")


def reads_stories(card: kit.Card) -> bool:
    """Whether a card is that of a model that was trained to continue stories of tiny-world."""
    return able(card.get("model"), "next_token") and card.get("corpus") == "tiny-world"


def story_reader(state: kit.PageState) -> str | None:
    """Show the menu of the models whose texts have a known truth; return the one in force."""
    return kit.Picker(fits=reads_stories, also=ALSO, why_not=words.no_truth).choose(state)


def story_box(state: kit.PageState) -> None:
    take = state.taker("story")

    def tell() -> None:
        (state["story"],) = stories(1, OTHERS + state["nth"])

    with st.container(gap=None):
        kit.text_area(state, "story", words.story_label, height=150)
        text_guard(kit.furniture.half_character)
    with st.container(horizontal=True):
        kit.another(state, "nth", words.story_another, tell)
        own = state[kit.LEARNER_TEXT.key]
        st.button(words.story_mine, icon=":material/edit_note:", on_click=take, args=(own,))
        if state["story"] != words.story_default:
            again = (words.story_default,)
            st.button(words.story_own, icon=":material/undo:", on_click=take, args=again)


@dataclass(frozen=True)
class ReadStory:
    """A story as a model reads it: what is true of its T tokens, and how each is shown."""

    bundled: engine.Bundled
    text: str
    truth: TrueTokens
    names: tuple[str, ...]

    def spoken(self, token: int) -> str:
        """A token for a sentence."""
        return kit.spoken(token, self.bundled.tokenizer)


def read_story(state: kit.PageState, bundled: engine.Bundled) -> ReadStory | None:
    """Return the story as far as it has a truth and fits the model, saying what is left out.

    None, after one clear line, where no token has a truth.
    """
    text = story_text(state)
    if text is None:
        return None
    truth = kit.or_refused(truth_of, bundled, text)
    if truth is None:
        return None
    tokenizer = bundled.tokenizer
    if truth.possible < len(truth.ids):
        (token,) = kit.names_of(truth.ids[truth.possible : truth.possible + 1], tokenizer)
        if not truth.possible:
            kit.inform(words.story_never.format(token=token), ":material/help:")
            return None
        used = kit.count(truth.possible, "token")
        kit.inform(words.story_stops.format(token=token, count=used), ":material/help:")
    most = within_context(truth.possible, bundled)
    names = kit.names_of(truth.ids[:most], tokenizer)
    return ReadStory(bundled, text, truth, tuple(names))


def story_text(state: kit.PageState) -> str | None:
    """Return what stands in the box, as far as it is read; None, saying so, without any."""
    return kit.readable(state["story"], kit.LOOKED_AT, words.story_empty, words.story_too_long)


def within_context(tokens: int, bundled: engine.Bundled) -> int:
    """Return how many of the first tokens a model can read, saying so where that is not all."""
    most = min(tokens, bundled.model.context_length)
    if most < tokens:
        rest = kit.count(tokens - most, "token")
        line = words.story_context.format(name=kit.label(bundled.name), limit=most, rest=rest)
        kit.inform(line, ":material/content_cut:")
    return most


@kit.cached(32)
def truth_of(bundled: engine.Bundled, text: str) -> TrueTokens:
    """Return what the grammar says of each token of a text as a model reads it."""
    return true_tokens(text, bundled.tokenizer)


@kit.cached(32)  # up to 2 MB each
def logits_of(bundled: engine.Bundled, text: str):
    """Return a model's logits (T, V) before each token of a story that has a truth."""
    return story_logits(bundled.model, bundled.tokenizer, truth_of(bundled, text))


@kit.cached(64)
def divided_of(bundled: engine.Bundled, text: str) -> DividedLoss:
    """Return a model's loss on a story in its parts."""
    return divide_logits(logits_of(bundled, text), truth_of(bundled, text))


@kit.cached(64)
def guesses_on(bundled: engine.Bundled, text: str) -> Guesses:
    """Return a model's first guesses on a story."""
    return guesses_from(logits_of(bundled, text), truth_of(bundled, text))


def tokens_of(ids: list[int], tokenizer: Tokenizer) -> list[Token]:
    """Return ids as tokens that stand one behind the other."""
    return in_line(map(tokenizer.token_bytes, ids), ids)
