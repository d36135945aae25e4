"""Chapter "Guess and check": speculative decoding, its rule with the numbers, and its speed."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.efficiency.guess import rounds, speed, words
from llmviz.lessons.efficiency.guess.params import WRITTEN
from llmviz.lessons.efficiency.guess.questions import chance_question, count_question
from llmviz.models.base import count_parameters
from llmviz.sampling.speculative import Round, play_round, residual, speculate
from llmviz.study.drafts import CHECKPOINT, COUNTS, NETWORK, draft_of
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.common import IN_SNIPPET, LOOKED_AT, TOO_LONG, choose, count, readable
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section, seen
from llmviz.ui.model_on_text import Read, read
from llmviz.ui.model_picker import MADE_FIRST, models_here
from llmviz.ui.notices import inform
from llmviz.ui.prose import prose
from llmviz.ui.question import predict
from llmviz.ui.selectable_models import load
from llmviz.ui.state import PageState
from llmviz.ui.text_field import text_area

KEY = rounds.KEY


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    if not models_here(MADE_FIRST):
        return
    bundled = load(MADE_FIRST)
    if bundled is None:
        return
    text_area(state, "guesstext", words.prompt, height=80)
    kind = _controls(state, bundled)
    prompt = _read(state, bundled)
    if prompt is None:
        return
    given = (bundled, prompt.ids, kind, state["guesses"], state["guessheat"])
    played = None
    if predict(count_question(state["guesses"]), f"{KEY}.count", covers=True):
        played = _rounds(state, (*given, state["guessluck"]), prompt.tokens)
    speed.draw(state, bundled.name, kind, bundled.model.config)
    if played is not None:
        seen(words.end, **rounds.end(played))


def _rounds(
    state: PageState, given: rounds.Settings, tokens: tuple[str, ...]
) -> list[Round] | None:
    """Show the rounds; return them, None while the question about them covers them."""
    section(words.rounds, written=WRITTEN)
    played = rounds.rounds_of(*given)
    question = chance_question(played)
    if question is not None and not predict(question, f"{KEY}.chance", covers=True):
        return None
    rounds.draw(state, given, tokens)
    prose(rounds.total(played))
    _code(given, played)
    return played


def _controls(state: PageState, bundled: engine.Bundled) -> str:
    """Show the controls; return the draft that can be used."""
    choose(state, "draft", words.draft, words.drafts)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.guesses, width=220, **state.ranged("guesses"))
        st.slider(words.heat, step=0.1, width=220, **state.ranged("guessheat"))
        st.number_input(words.luck, width=140, help=words.luck_help, **state.ranged("guessluck"))
    kind = state["draft"]
    if kind == NETWORK:
        reason = why_not(bundled)
        if reason:
            inform(words.no_network.format(reason=reason), ":material/info:")
            kind = COUNTS
    sizes = sizes_of(bundled) if kind == NETWORK else {}
    prose(words.about[kind], **sizes)
    return kind


@kept(8)
def why_not(bundled: engine.Bundled) -> str:
    """Return why the small network cannot guess for a model; "" where it can."""
    try:
        draft_of(NETWORK, bundled.tokenizer)
    except ValueError as error:
        return str(error)
    return ""


@kept(8)
def sizes_of(bundled: engine.Bundled) -> dict[str, int | str]:
    """Return layers and parameters of the small network, and of the target it guesses for."""
    from llmviz.pretrained import load_bundled

    draft, target = load_bundled(CHECKPOINT)[0], bundled.model
    return {
        "layers": count(draft.config.n_layer, "layer"),
        "parameters": count_parameters(draft),
        "target_layers": count(target.config.n_layer, "layer"),
        "target": count_parameters(target),
    }


def _read(state: PageState, bundled: engine.Bundled) -> Read | None:
    """The beginning of the story as tokens, cut so that something can be written behind it."""
    text = readable(state["guesstext"], LOOKED_AT, words.empty, TOO_LONG)
    if text is None:
        return None
    context = bundled.model.context_length
    return read(text, bundled, max(1, context - WRITTEN))


def _code(given: rounds.Settings, played: list) -> None:
    bundled, ids, kind, k, heat, seed = given
    show_code(
        [speculate, play_round, residual],
        "import torch\n"
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.sampling import SamplingSettings\n"
        "from llmviz.sampling.speculative import speculate\n"
        "from llmviz.study.drafts import draft_of\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"draft = draft_of({kind!r}, tokenizer)\n"
        f"ids = {list(ids[:IN_SNIPPET])}\n"
        f"luck = torch.Generator().manual_seed({seed})\n"
        "end = tokenizer.end\n"
        f"rounds = speculate(model.eval(), draft, ids, {WRITTEN}, {k}, "
        f"SamplingSettings({heat}), luck, end)\n"
        "print([(one.accepted, one.tokens) for one in rounds])",
        str([(one.accepted, one.tokens) for one in played]),
    )
