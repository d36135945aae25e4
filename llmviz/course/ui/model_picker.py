"""The choice of a model: which ones a control offers, its menu, what is said of one that is gone.

torch is not needed: a model is chosen by its card.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from llmviz.course.ui import engine
from llmviz.course.ui.furniture import words
from llmviz.course.ui.notices import warn
from llmviz.course.ui.selectable_models import Card, bundled_fitting, card_of, label, offered
from llmviz.course.ui.state import LINK_ICON, PageState
from llmviz.models.catalogue import CLASSIFIER, able
from llmviz.obtainable.catalogue import OBTAINABLE
from llmviz.runs import store

MADE_FIRST = "tiny-world-gpt"  # what a copy without models is told to make
NO_MODEL_COMMAND = "python -m llmviz checkpoints make {name}"
_AGAIN = "_model_picker.again"  # in the session: nobody has changed anything since the last run


def no_model(name: str) -> None:
    """Say that a model is not in this copy, and how to make it."""
    st.info(words.no_model["here"].format(name=name), icon=":material/download:")
    st.code(NO_MODEL_COMMAND.format(name=name), language=None)


def models_here(*names: str) -> bool:
    """Return whether these bundled models are in this copy, saying of the first that is not."""
    there = engine.names()
    missing = next((name for name in names if name not in there), None)
    if missing is not None:
        no_model(missing)
    return missing is None


def attends(card: Card) -> bool:
    """Whether a card is that of a transformer that continues what it reads."""
    return able(card.get("model"), "next_token", "attention")


def tells_classes(card: Card) -> bool:
    """Whether a card is that of a classifier."""
    return card.get("model") == CLASSIFIER


def looked_into(card: Card) -> bool:
    """Whether a card is that of a transformer with attention to look at, whatever its head says."""
    return attends(card) or tells_classes(card)


def reads_text(card: Card) -> bool:
    """Whether a card is that of a transformer that continues a text."""
    return attends(card) and card.get("corpus") != "names"


def continues(card: Card) -> bool:
    """Whether a card is that of a model of any kind that continues what it reads."""
    return able(card.get("model"), "next_token")


def loss_of(card: Card) -> float:
    """Return the loss that a card gives, in nats per character; infinite where it has none."""
    return card.get("score", {}).get("nats_per_character", math.inf)


def bundled_models(fits: Callable[[Card], bool] = reads_text, first: str = "") -> list[str]:
    """Return the bundled models whose card fits; no visitor is needed.

    The lowest loss comes first. With `first` that one does, and models of names come last.
    """
    cards = dict(bundled_fitting(fits))
    if first:
        return sorted(cards, key=lambda name: (name != first, name.startswith("names"), name))
    return sorted(cards, key=lambda name: (loss_of(cards[name]), name))


def losses(fits: Callable[[Card], bool] = reads_text) -> dict[str, float]:
    """Return the loss of each bundled model whose card fits, the lowest first; see `loss_of`."""
    return {name: loss_of(card_of(name) or {}) for name in bundled_models(fits)}


@dataclass(frozen=True)
class Picker:
    """What a control offers: bundled models whose card fits, then the learner's own runs.

    key: the control of the page that holds the name; empty is the first one. runs_fit: what a run's
    card must be, where that is something else. first: the bundled model at the head of the list;
    else that is the one with the lowest loss. also: bundled models that stand in folders of their
    own, such as "since-2017/experts". why_not: why another model of this copy cannot be used; its
    kind is named without it.
    """

    key: str = "model"
    fits: Callable[[Card], bool] = reads_text
    runs_fit: Callable[[Card], bool] | None = None
    first: str = ""
    also: Sequence[str] = ()
    why_not: str = ""

    def names(self, wanted: str = "") -> list[str]:
        """Return the models; wanted: that in force, a run that only its link names is offered."""
        names = bundled_models(self.fits, self.first)
        names += [name for name in self.also if (card := card_of(name)) and self.fits(card)]
        return names + offered(self.runs_fit or self.fits, wanted)

    def name(self, state: PageState) -> str | None:
        """Return the model in force; None, saying so, without any. One that is gone is replaced."""
        name, line = self._in_force(state)
        if line:
            warn(line, LINK_ICON)
        return name

    def menu(
        self, state: PageState, then: Callable[[], None] | None = None, title: str = ""
    ) -> None:
        """Show the menu, where there is a choice; then: called after a change."""
        names = self.names(state[self.key])
        if len(names) > 1:
            shown = state[self.key] or names[0]
            bound = state.bind(self.key, then, shown=shown)
            st.selectbox(title or words.model, names, format_func=label, width=260, **bound)

    def choose(self, state: PageState, then: Callable[[], None] | None = None) -> str | None:
        """Show the menu and return the model in force, as `name` does."""
        name, line = self._in_force(state)
        if name is not None:
            self.menu(state, then)
        if line:
            warn(line, LINK_ICON)
        return name

    def _in_force(self, state: PageState) -> tuple[str | None, str]:
        """The model, and what is to be said of the one that was asked for."""
        name, said_key = state[self.key], f"_{state.page}.{self.key}.told"
        names, again = self.names(name), st.session_state.pop(_AGAIN, False)
        if not names:
            no_model(self.first or MADE_FIRST)
            return None, ""
        run = store.PREFIX + name  # a run may be asked for by the name that menus show
        chosen = name if name in names else run if run in names else names[0]
        if name and name != chosen:
            if chosen != run and name != state.params[self.key].default:
                st.session_state[said_key] = _another(name, chosen, names, self.why_not)
            state[self.key] = chosen
        elif not again:
            st.session_state.pop(said_key, None)
        return chosen, st.session_state.get(said_key, "")


def _another(name: str, chosen: str, names: Sequence[str], why_not: str) -> str:
    card = card_of(name)
    kind = why_not or words.no_model["kind"]
    gone = words.no_model["not_yet" if name in OBTAINABLE else "gone"].format(name=name)
    why = kind.format(kind=card.get("model")) if card else gone
    line = {"asked": name[:60], "why": why, "chosen": label(chosen)}
    return words.no_model["another"].format(names=", ".join(map(label, names)), **line)


def run_again() -> None:
    """Run the whole page again by itself; what it said of the model that was asked for stays."""
    st.session_state[_AGAIN] = True
    st.rerun()
