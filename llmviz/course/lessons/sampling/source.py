"""Where the chapters get a model, a prompt and the logits after it from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.sampling import draws, params, words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.files.text import check_text
from llmviz.tokenizers import UNKNOWN

if TYPE_CHECKING:
    from llmviz.nn.cache import KVCache

SMALL_MODEL = "names-gpt"
SMALL = 40  # tokens of a vocabulary that counts as small
LOOKED_AT = 20_000  # characters of the prompt's end that are read


@dataclass(frozen=True)
class Prompted:
    """A model, and a prompt as it reads it: ids with the start token, the logits (V,) after it."""

    bundled: engine.Bundled
    text: str
    ids: tuple[int, ...]
    logits: np.ndarray

    def token_text(self, token: int) -> str:
        """Return a token as text that one can see."""
        return visible_text(self.bundled.tokenizer.token_bytes(int(token)))[0]

    def texts(self, ids: Sequence[int] | np.ndarray) -> list[str]:
        """Return tokens as texts that one can see."""
        return [self.token_text(token) for token in ids]

    @property
    def vocab_size(self) -> int:
        """The number of tokens that the model knows."""
        return self.logits.size

    @property
    def stop_id(self) -> int:
        """The token with which a text ends."""
        return self.bundled.tokenizer.end


# Models that go on from a prompt; runs may be of any kind.
PICKER = kit.Picker(runs_fit=kit.continues, first=params.DEFAULT_MODEL)


@dataclass(frozen=True)
class SmallPicker(kit.Picker):
    """What a control offers of models with so few tokens that all texts of a few can be scored."""

    def names(self, wanted: str = "") -> list[str]:
        """Return the models; asked: the one in force."""
        known = [name for name in engine.names() if name == SMALL_MODEL and kit.card_of(name)]
        return known + [
            run for run in kit.offered(kit.continues, wanted) if _vocabulary(run) <= SMALL
        ]


def _vocabulary(name: str) -> float:
    try:
        return engine.tokenizer(name).vocab_size
    except ValueError:
        return math.inf


def prompt_box(state: kit.PageState) -> None:
    """Show the prompt's box, the choice of a model, and the way to the learner's own text."""
    with st.container(gap=None):
        kit.text_area(state, "prompt", words.prompt_prompt_label, height=80)
        text_guard(kit.furniture.half_character)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if PICKER.names(state["model"]):  # else the chapter says that there is none
            PICKER.choose(state)
        st.button(
            words.prompt_use_my_text,
            icon=":material/edit_note:",
            on_click=state.setter(prompt=state[kit.LEARNER_TEXT.key]),
        )
        if state["prompt"] != params.PROMPT:
            take_story = state.setter(prompt=params.PROMPT)
            st.button(words.prompt_use_story, icon=":material/undo:", on_click=take_story)


def model(state: kit.PageState) -> engine.Bundled | None:
    """Return the model that `prompt_box` chose, or None after saying why there is none."""
    if not engine_ready():
        return None
    # A run may be deleted while it is selected, and a link may name what cannot go on from a text.
    return None if PICKER.name(state) is None else kit.load(state["model"])


def prompted(state: kit.PageState) -> Prompted | None:
    """Return the prompt as the chosen model reads it, or None after one clear line.

    Says what is special about it: empty, longer than the context, never seen characters.
    """
    bundled = model(state)
    if bundled is None:
        return None
    return kit.or_refused(read, bundled, state["prompt"])


def read(bundled: engine.Bundled, prompt: str) -> Prompted:
    """Return a prompt as a model reads it, saying what is special about it.

    Raises ValueError: it cannot be written as UTF-8.
    """
    text = prompt[-LOOKED_AT:]
    check_text(text)
    ids = tuple(bundled.tokenizer.encode_from_start(text))
    _say_limits(prompt, text, ids, bundled)
    return Prompted(bundled, text, ids, logits_after(bundled, ids))


def _say_limits(whole: str, text: str, ids: tuple[int, ...], bundled: engine.Bundled) -> None:
    context = bundled.model.context_length
    unknown = ids.count(bundled.tokenizer.special_tokens.get(UNKNOWN, -1))
    if not text:
        start = " ".join(kit.quote(visible_text(bundled.tokenizer.token_bytes(i))[0]) for i in ids)
        st.info(as_markdown(words.prompt_empty.format(start=start)), icon=":material/edit:")
    if len(text) < len(whole):
        st.info(words.prompt_prompt_cut.format(limit=LOOKED_AT, all=len(whole)))
    if len(ids) > context:
        st.info(
            words.prompt_slid.format(tokens=kit.count(len(ids), "token"), context=context),
            icon=":material/width:",
        )
    if unknown:
        st.info(
            words.prompt_unknown.format(unknown=kit.count(unknown, "token")), icon=":material/help:"
        )


@kit.cached(256)
def logits_after(bundled: engine.Bundled, ids: tuple[int, ...]) -> np.ndarray:
    """Return a model's logits (V,) after token ids."""
    return _read(bundled, ids)[0]


def cache_after(bundled: engine.Bundled, ids: tuple[int, ...]) -> KVCache | None:
    """Return what a model has read of token ids, but for the last one, to go on from there.

    None of a model that keeps nothing.
    """
    return _read(bundled, ids)[1]


@kit.cached(32)  # up to 2 MB each
def _read(bundled: engine.Bundled, ids: tuple[int, ...]) -> tuple[np.ndarray, KVCache | None]:
    from llmviz.sampling.generation import NextLogits

    reader = NextLogits(bundled.model)
    return reader(list(ids)).double().numpy(), reader.read_before()


random_numbers = kit.cached(64)(draws.seed_numbers)


def acted(key: str, act: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
    """Return the callback of a component that hands on what the learner did with it."""

    def run() -> None:
        done = st.session_state[key].get("act")
        if isinstance(done, dict):
            act(done)

    return run


SNIPPET = (
    "from llmviz.pretrained import load_bundled\n\n"
    "model, tokenizer, card = load_bundled({name!r})\n"
    "ids = tokenizer.encode_from_start({text!r})\n"
)


def snippet(prompt: Prompted) -> str:
    """Return Python that makes `model`, `tokenizer` and the `ids` of the prompt."""
    return SNIPPET.format(name=prompt.bundled.name, text=prompt.text)
