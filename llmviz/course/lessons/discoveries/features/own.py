"""Features of a model or run of the learner's choice, learned while the page waits."""

import numpy as np
import streamlit as st

from llmviz.course.components import token_strip
from llmviz.course.lessons.discoveries.features import strips, words
from llmviz.course.lessons.discoveries.features.own_features import TOKENS, OwnFeatures
from llmviz.course.lessons.discoveries.features.params import OWN_FEATURES, OWN_ON
from llmviz.course.ui import engine, kit
from llmviz.interpretability.unit_corpus import corpus_of
from llmviz.models.transformers import require_transformer
from llmviz.tokenizers import Tokenizer
from llmviz.training.config import OWN_TEXT

KEY = "discoveries.features.own"


@kit.kept(6)
def job_of(
    name: str, version: str, corpus: str, layer: int, recipe: tuple[int, int, int]
) -> kit.Job:
    """Return the training in a process of its own; the same one is run only once.

    recipe: features, how many may be on, and the seed.
    """
    features, on, seed = recipe
    return kit.training_jobs().start(
        "llmviz.course.lessons.discoveries.features.own_features:learn_own",
        name=name,
        corpus=corpus,
        layer=layer,
        features=features,
        on=on,
        seed=seed,
    )


def draw(state: kit.PageState) -> None:
    """Show the controls, the button, and the features that are learned."""
    kit.section(words.own, tokens=TOKENS)
    anew = state.setter(featown=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = kit.Picker(key="featmodel").choose(state, anew)
        bundled = None if name is None else kit.load(name)
        if bundled is None:
            return
        try:
            layers = require_transformer(bundled.model).config.n_layer
        except ValueError as error:
            kit.refuse(error)
            return

        def take(value: int | None) -> None:
            if value is not None:
                state["featlayer"] = value
                anew()

        layer = state["featlayer"] if 0 <= state["featlayer"] < layers else layers // 2
        if layers > 1:
            slot = kit.tied(f"_{KEY}.layer", layer, take)
            st.number_input(words.own_layer, min_value=0, max_value=layers - 1, width=120, **slot)
        for key, label, texts in (
            ("featcount", words.own_features, OWN_FEATURES),
            ("featon", words.own_on, OWN_ON),
        ):
            st.selectbox(label, width=120, **state.named(key, {text: text for text in texts}, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("featseed", then=anew))
    corpus = corpus_of(str(bundled.card.get("corpus")), engine.folder_of(bundled.name) / OWN_TEXT)
    recipe = int(state["featcount"]), int(state["featon"]), state["featseed"]
    kit.live(
        state,
        "featown",
        job_of,
        (bundled.name, bundled.version, corpus, layer, recipe),
        lambda job: _results(state, job, bundled.tokenizer),
        start=words.own_start,
        share=lambda job: job.results[-1].done if job.results else 0.0,
    )


def _results(state: kit.PageState, job: kit.Job, tokenizer: Tokenizer) -> None:
    if not job.results:
        return
    last = job.results[-1]
    if last.found is None:
        learns = last.missed is not None
        kit.prose(
            words.own_learns.format(missed=kit.percent(last.missed)) if learns else words.own_reads
        )
        return
    found = last.found
    kit.prose(read_out(found))
    _feature(state, found, tokenizer)


def read_out(found: OwnFeatures) -> str:
    """Return what was measured, in sentences."""
    said = [
        words.own_read.format(
            tokens=found.tokens,
            measured=found.measured,
            explained=kit.percent(found.explained),
            loss=found.loss,
            replaced=found.replaced,
            mean=found.mean,
        )
    ]
    if np.isfinite(found.recovered):
        said.append(words.own_recovered.format(recovered=kit.percent(found.recovered)))
    silent = int((found.share == 0).sum())
    said.append(words.own_silent.format(silent=silent, features=len(found.share)))
    return " ".join(said)


def opened(found: OwnFeatures, wanted: int) -> int:
    """Return a feature that is there."""
    return min(wanted, len(found.share) - 1)


def _feature(state: kit.PageState, found: OwnFeatures, tokenizer: Tokenizer) -> None:
    feature = opened(found, state["featopen"])
    take = state.taker("featopen")
    most = len(found.share) - 1
    slot = kit.tied(f"_{KEY}.open", feature, take)
    st.number_input(words.own_open, min_value=0, max_value=most, width=140, **slot)
    on = bool(found.share[feature] > 0)
    share = kit.percent(float(found.share[feature]))
    kit.prose(words.own_feature["on" if on else "silent"].format(feature=feature, share=share))
    if not on:
        return
    rows = []
    for at, piece in enumerate(found.best[feature]):
        values = found.strips[feature, at].astype(float)
        values = values[values >= 0]
        name = words.row_name.format(value=float(values.max()))
        rows.append(strips.token_row(found.pieces[piece][1:], values, tokenizer, name))
    token_strip(
        rows,
        key=f"{KEY}.texts",
        show_ids=False,
        value_label=words.value,
        value_range=(0.0, float(found.strips[feature, 0].max())),
    )
