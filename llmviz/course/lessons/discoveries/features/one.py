"""One feature: its strongest texts, what it writes, what lies near it, and the learner's text."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.components import token_strip
from llmviz.course.figures.units import signed_bars
from llmviz.course.lessons.discoveries.features import strips, words
from llmviz.course.lessons.discoveries.features.feature_reading import (
    FeatureWrites,
    feature_writes,
    neighbours,
    values_on,
)
from llmviz.course.lessons.discoveries.features.params import BUNDLED, MOST_OF_TEXT
from llmviz.course.lessons.discoveries.features_record import (
    MODEL,
    Bundle,
    RunScore,
    bundle,
    scores,
)
from llmviz.course.ui import engine, kit
from llmviz.interpretability.sparse_autoencoder import Dictionary, learn

KEY = "discoveries.features.one"
LISTED, NEAR, HERE = 8, 5, 4  # tokens of the bars, neighbours, features of a token's card


def dictionary_of(state: kit.PageState) -> tuple[int, int]:
    """Return the layer and the number of features that are chosen."""
    layer, features = state["featof"].split(".")
    return int(layer), int(features)


def score_of(layer: int, features: int) -> RunScore:
    """Return what was measured of a bundled dictionary."""
    return next(run for run in scores().of(layer, features) if run.seed == 0)


def feature_of(state: kit.PageState) -> int:
    """Return the feature that is open."""
    layer, features = dictionary_of(state)
    if 0 <= state["feature"] < features:
        return state["feature"]
    return score_of(layer, features).best[scores().labels.index(state["featlabel"])]


def draw(state: kit.PageState) -> None:
    """Show the choice of a feature, and the feature."""
    kit.section(words.one)
    found, feature = _choice(state)
    _strongest(found, feature)
    _writes(found, feature)
    _text(state, found, feature)


def _choice(state: kit.PageState) -> tuple[Bundle, int]:
    anew = state.setter(feature=-1)
    take = state.taker("feature")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {
            f"{layer}.{features}": words.dictionary_name.format(features=features, layer=layer)
            for layer, features in BUNDLED
        }
        st.selectbox(words.dictionary, width=220, **state.named("featof", names, anew))
        labels = {label: words.label_names[label] for label in scores().labels}
        st.selectbox(words.label, width=300, **state.named("featlabel", labels, anew))
        layer, features = dictionary_of(state)
        feature = feature_of(state)
        slot = kit.tied(f"_{KEY}.number", feature, take)
        st.number_input(words.number, min_value=0, max_value=features - 1, width=140, **slot)
    return bundle(layer, features), feature


def told_best(layer: int, features: int, feature: int) -> list[tuple[str, float]]:
    """Return what a feature is the best feature for, with its F1, the highest first."""
    score = score_of(layer, features)
    labels = [
        (scores().labels[k], score.f1[k])
        for k, best in enumerate(score.best)
        if best == feature and score.f1[k] > 0
    ]
    return sorted(labels, key=lambda pair: -pair[1])


def _strongest(found: Bundle, feature: int) -> None:
    on = bool(found.highest[feature] > 0)
    labels = told_best(found.run.layer, found.run.features, feature)
    read = words.feature_read["on" if on else "silent"].format(
        feature=feature,
        share=kit.percent(float(found.share[feature])),
        value=float(found.highest[feature]),
        token=strips.strongest_token(found, feature),
    )
    best = words.feature_none
    if labels:
        named = [f"“{words.label_names[label]}” ({f1:.2f})" for label, f1 in labels]
        best = words.feature_best.format(labels=kit.listed(named))
    kit.prose(f"{read}\n\n{best} {words.f1}")
    tokenizer, rows = engine.load(MODEL).tokenizer, []
    for at in range(found.stories.shape[1]):
        ids, values = strips.window(found, feature, at)
        name = words.row_name.format(value=float(values.max()))
        rows.append(strips.token_row(ids, values, tokenizer, name))
    token_strip(
        rows,
        key=f"{KEY}.texts",
        show_ids=False,
        value_label=words.value,
        value_range=(0.0, max(float(found.highest[feature]), 1e-3)),
    )


@kit.kept(128)
def writes(layer: int, features: int, feature: int) -> FeatureWrites:
    """Return what a feature adds to the logits."""
    from llmviz.models.transformers import require_transformer

    gpt = require_transformer(engine.load(MODEL).model)
    direction = bundle(layer, features).dictionary.directions[feature]
    return feature_writes(gpt, direction, scores().divisor, LISTED)


@kit.kept(64)
def writes_bars(layer: int, features: int, feature: int, mode: kit.Mode) -> go.Figure:
    """Return the tokens that a feature raises and lowers most, as bars."""
    found = writes(layer, features, feature)
    ids = [*found.more.tolist(), *reversed(found.less.tolist())]
    values = [*found.raised.tolist(), *reversed(found.lowered.tolist())]
    names = [kit.escape_plotly(name) for name in kit.names_of(ids, engine.load(MODEL).tokenizer)]
    return signed_bars(names, values, words.writes_axis, mode)


@kit.kept(128)
def near_rows(layer: int, features: int, feature: int) -> list[tuple[str, ...]]:
    """Return a row for each of the nearest features."""
    found = bundle(layer, features)
    return [
        (
            str(neighbour),
            kit.signed(cosine),
            kit.percent(float(found.share[neighbour])),
            strips.strongest_at(layer, features, int(neighbour)),
        )
        for neighbour, cosine in zip(*neighbours(found.dictionary, feature, NEAR), strict=True)
    ]


def _writes(found: Bundle, feature: int) -> None:
    kit.section(words.writes, feature=feature, divisor=scores().divisor)
    which = found.run.layer, found.run.features, feature
    kit.chart(writes_bars(*which, kit.theme()), f"{KEY}.writes")
    kit.prose(words.near)
    kit.rows_table(near_rows(*which), words.near_columns)
    _code(found, feature)


@kit.kept(64)
def on_text(bundled: engine.Bundled, ids: tuple[int, ...], layer: int, features: int) -> np.ndarray:
    """Return the value of each feature at each token of a text behind its start (T, N)."""
    return values_on(bundled.model, ids, layer, bundle(layer, features).dictionary)


def _text(state: kit.PageState, found: Bundle, feature: int) -> None:
    kit.section(words.own_text)
    kit.text_area(state, "feattext", words.text, height=120)
    typed = kit.readable(state["feattext"], MOST_OF_TEXT, words.empty, "")
    if typed is None:
        return
    bundled = engine.load(MODEL)
    ids = kit.read(typed, bundled).ids
    values = on_text(bundled, ids, found.run.layer, found.run.features)
    own = values[:, feature]
    row = strips.token_row(
        ids[1:],
        own,
        bundled.tokenizer,
        words.text_row.format(feature=feature),
        [strongest_here(vector) for vector in values],
    )
    token_strip(
        [row],
        key=f"{KEY}.text",
        show_ids=False,
        value_label=words.value,
        value_range=(0.0, max(float(found.highest[feature]), float(own.max()), 1e-3)),
    )
    count = int((own > 0).sum())
    kit.prose(
        words.text_read["some" if count else "none"].format(
            feature=feature,
            count=count,
            tokens=len(own),
            token=kit.spoken(ids[1 + int(own.argmax())], bundled.tokenizer),
            value=float(own.max()),
        )
    )


def strongest_here(values: np.ndarray) -> str:
    """Return the strongest features of a token, values (N,), with their values.

    >>> strongest_here(np.array([0.0, 2.0, 3.5]))
    '2: 3.50 · 1: 2.00'
    """
    order = np.argsort(-values, kind="stable")[:HERE]
    return " · ".join(f"{at}: {values[at]:.2f}" for at in order if values[at] > 0) or "–"


def _code(found: Bundle, feature: int) -> None:
    layer, features = found.run.layer, found.run.features
    order, cosines = neighbours(found.dictionary, feature, 3)
    more = writes(layer, features, feature).more[:3].tolist()
    kit.show_code(
        [Dictionary, learn, feature_writes],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.course.lessons.discoveries.features.feature_reading import "
        "feature_writes, neighbours\n"
        "from llmviz.course.lessons.discoveries.features_record import bundle, scores\n\n"
        f"model, tokenizer, card = load_bundled({MODEL!r})\n"
        f"dictionary = bundle({layer}, {features}).dictionary\n"
        f"order, cosines = neighbours(dictionary, {feature}, 3)\n"
        "print(order.tolist(), cosines.round(2).tolist())\n"
        f"direction = dictionary.directions[{feature}]\n"
        "print(feature_writes(model, direction, scores().divisor).more[:3].tolist())",
        f"{order.tolist()} {cosines.round(2).tolist()}\n{more}",
    )
