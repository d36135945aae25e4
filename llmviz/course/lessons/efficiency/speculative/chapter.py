"""Chapter "Guess and check": speculative decoding, its rule with the numbers, and its speed."""

import streamlit as st

from llmviz.course.lessons.efficiency.speculative import rounds, speed, words
from llmviz.course.lessons.efficiency.speculative.drafts import (
    CHECKPOINT,
    COUNTS,
    NETWORK,
    draft_of,
)
from llmviz.course.lessons.efficiency.speculative.params import WRITTEN
from llmviz.course.lessons.efficiency.speculative.questions import chance_question, count_question
from llmviz.course.ui import engine, kit
from llmviz.models.base import count_parameters
from llmviz.sampling.speculative import Round, play_round, residual, speculate

KEY = rounds.KEY


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    if not kit.models_here(kit.MADE_FIRST):
        return
    bundled = kit.load(kit.MADE_FIRST)
    if bundled is None:
        return
    kit.text_area(state, "guesstext", words.prompt, height=80)
    kind = _controls(state, bundled)
    prompt = _read(state, bundled)
    if prompt is None:
        return
    given = (bundled, prompt.ids, kind, state["guesses"], state["guessheat"])
    played = None
    if kit.predict(count_question(state["guesses"]), f"{KEY}.count", covers=True):
        played = _rounds(state, (*given, state["guessluck"]), prompt.tokens)
    speed.draw(state, bundled.name, kind, bundled.model.config)
    if played is not None:
        kit.seen(words.end, **rounds.end(played))


def _rounds(
    state: kit.PageState, given: rounds.Settings, tokens: tuple[str, ...]
) -> list[Round] | None:
    """Show the rounds; return them, None while the question about them covers them."""
    kit.section(words.rounds, written=WRITTEN)
    played = rounds.rounds_of(*given)
    question = chance_question(played)
    if question is not None and not kit.predict(question, f"{KEY}.chance", covers=True):
        return None
    rounds.draw(state, given, tokens)
    kit.prose(rounds.total(played))
    _code(given, played)
    return played


def _controls(state: kit.PageState, bundled: engine.Bundled) -> str:
    """Show the controls; return the draft that can be used."""
    kit.choose(state, "draft", words.draft, words.drafts)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.guesses, width=220, **state.ranged("guesses"))
        st.slider(words.heat, step=0.1, width=220, **state.ranged("guessheat"))
        st.number_input(words.luck, width=140, help=words.luck_help, **state.ranged("guessluck"))
    kind = state["draft"]
    if kind == NETWORK:
        reason = why_not(bundled)
        if reason:
            kit.inform(words.no_network.format(reason=reason), ":material/info:")
            kind = COUNTS
    sizes = sizes_of(bundled) if kind == NETWORK else {}
    kit.prose(words.about[kind], **sizes)
    return kind


@kit.kept(8)
def why_not(bundled: engine.Bundled) -> str:
    """Return why the small network cannot guess for a model; "" where it can."""
    try:
        draft_of(NETWORK, bundled.tokenizer)
    except ValueError as error:
        return str(error)
    return ""


@kit.kept(8)
def sizes_of(bundled: engine.Bundled) -> dict[str, int | str]:
    """Return layers and parameters of the small network, and of the target it guesses for."""
    from llmviz.pretrained import load_bundled

    draft, target = load_bundled(CHECKPOINT)[0], bundled.model
    return {
        "layers": kit.count(draft.config.n_layer, "layer"),
        "parameters": count_parameters(draft),
        "target_layers": kit.count(target.config.n_layer, "layer"),
        "target": count_parameters(target),
    }


def _read(state: kit.PageState, bundled: engine.Bundled) -> kit.Read | None:
    """The beginning of the story as tokens, cut so that something can be written behind it."""
    text = kit.readable(state["guesstext"], kit.LOOKED_AT, words.empty, kit.TOO_LONG)
    if text is None:
        return None
    context = bundled.model.context_length
    return kit.read(text, bundled, max(1, context - WRITTEN))


def _code(given: rounds.Settings, played: list) -> None:
    bundled, ids, kind, k, heat, seed = given
    kit.show_code(
        [speculate, play_round, residual],
        words.snippet.format(
            name=bundled.name,
            kind=kind,
            ids=list(ids[: kit.IN_SNIPPET]),
            seed=seed,
            written=WRITTEN,
            k=k,
            heat=heat,
        ),
        str([(turn.accepted, turn.tokens) for turn in played]),
    )
