"""Chapter "Features, judged by the truth": a sparse autoencoder on the story model's stream."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.figures.activations import signed_bars
from llmviz.course.figures.scored_rows import scored_rows
from llmviz.course.lessons.discoveries.features import (
    BUNDLED,
    MOST_OF_TEXT,
    OWN_FEATURES,
    OWN_ON,
    TEXT,
    words,
)
from llmviz.course.lessons.discoveries.features.model import (
    SOURCES,
    TOKENS,
    FeatureWrites,
    OwnFeatures,
    feature_writes,
    lacks,
    medians,
    of_kind,
    parts,
    rises,
    score_of,
    table,
    told_best,
    values_on,
    verdict,
)
from llmviz.course.lessons.discoveries.features_record import (
    BEFORE,
    CHOSEN_ON,
    COMMAND,
    MAIN,
    MEASURED_ON,
    MODEL,
    ON,
    ON_EACH,
    SIZE,
    SIZES,
    Bundle,
    bundle,
    held_out_stories,
    scores,
    weights_of,
)
from llmviz.course.ui import engine, kit
from llmviz.course.ui.guess_drawn import words as hand_words
from llmviz.interpretability.sparse_autoencoder import Dictionary, learn
from llmviz.interpretability.unit_corpus import corpus_of
from llmviz.models.transformers import require_transformer
from llmviz.tokenizers import Tokenizer, in_line
from llmviz.training.config import OWN_TEXT

KEY = "discoveries.features"
GUESS = f"{KEY}.where"
GUESSED = "word furniture"  # what the question is about
AWAY = 1000  # a guess at another token is so far from the right one
LISTED, HERE, NAMED, MOST = 8, 4, 4, 12  # tokens of bars, features of a card, names, parts


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show where a feature is on in a text and the guess about it, then how it was found."""

    def there() -> None:
        scores()
        for layer, features in BUNDLED:
            bundle(layer, features)

    if not kit.is_here(words.missing, COMMAND, there) or not kit.models_here(MODEL):
        return
    if scores().weights != weights_of(engine.folder_of(MODEL)):
        st.info(words.other_weights, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    layer, features = dictionary_of(state)
    found, feature = bundle(layer, features), feature_of(state)
    kit.prose(words.hook, features=SIZE)
    guess = kit.Guess(GUESS, question(state), by_hand=True)
    opened = guess.open
    with kit.stage("features"):
        _stage(state, found, feature, guess)
    guess.ask()
    if opened:
        f1 = dict(zip(scores().labels, score_of(MAIN, SIZE).f1, strict=True))
        named = {
            "furniture": f1[GUESSED],
            "girls": f1["word girls"],
            "places": f1["word places"],
        }
        kit.looks(state, words.looks, f"{KEY}.looks", **named, she=f1["state she"])
    width = len(found.dictionary.centre)
    kit.section(words.intro, features=SIZE, width=width, on=ON_EACH)
    kit.measured(words.how_learned, tokens=scores().learned_tokens)
    if opened:
        _replaced()
        _writes(found, feature)
        _truth(state)
        _sizes(state)
    _own(state)
    if opened:
        kit.seen(words.end, **end_numbers())


def dictionary_of(state: kit.PageState) -> tuple[int, int]:
    """Return the layer and the number of features that are chosen."""
    layer, features = state["featof"].split(".")
    return int(layer), int(features)


def feature_of(state: kit.PageState) -> int:
    layer, features = dictionary_of(state)
    if 0 <= state["feature"] < features:
        return state["feature"]
    return score_of(layer, features).best[scores().labels.index(state["featlabel"])]


def question(state: kit.PageState) -> kit.Question | None:
    """Ask where the feature for furniture is on in the first text; None elsewhere.

    The wrong answers are those of somebody to whom it expects the word, and to whom it is on at
    any thing.
    """
    first = state["feattext"] == TEXT and dictionary_of(state) == (MAIN, SIZE)
    if not first or state["feature"] >= 0 or state["featlabel"] != GUESSED:
        return None
    bundled = engine.load(MODEL)
    ids = kit.read(TEXT, bundled).ids
    right = int(on_text(bundled, ids, MAIN, SIZE)[:, feature_of(state)].argmax())
    tokens = [bundled.tokenizer.decode([token]) for token in ids[1:]]
    places = {"at": right, "before": right - 1, "thing": tokens.index("amp")}
    answers = {name: (at, AWAY * (name != "at")) for name, at in places.items()}
    named = {at: words.ask_answers[name] for name, at in places.items()}
    return kit.Question.among(
        words.ask.format(),
        {answers[name]: reason.format() for name, reason in words.ask_reasons.items()},
        answers["at"],
        lambda guess: named[int(guess[0])].format(),
    )


@kit.cached(64)
def on_text(bundled: engine.Bundled, ids: tuple[int, ...], layer: int, features: int) -> np.ndarray:
    """Return the value of each feature at each token of a text behind its start (T, N)."""
    return values_on(bundled.model, ids, layer, bundle(layer, features).dictionary)


def _stage(state: kit.PageState, found: Bundle, feature: int, guess: kit.Guess) -> None:
    """Draw a feature in the learner's text, and, but for a question, where it is strongest."""
    typed = kit.readable(state["feattext"], MOST_OF_TEXT, words.empty, "")
    if typed is not None:
        bundled, key = engine.load(MODEL), f"{KEY}.text.{guess.open}"
        ids = kit.read(typed, bundled).ids
        values = on_text(bundled, ids, found.run.layer, found.run.features)
        own = values[:, feature] * (guess.open)
        details = [strongest_here(vector) for vector in values] if guess.open else ()

        def clicked() -> None:
            at = st.session_state[key].get("selected")
            if guess.asks and at:
                place, right = int(at[1]), guess.right[0]
                guess.settle([place, AWAY * (place != right)])

        name = words.waits if guess.asks else words.text_row.format(feature=feature)
        row = token_row(ids[1:], own, bundled.tokenizer, name, details)
        rows = [replace(row, ghost=guess.missed)]
        highest = max(float(found.highest[feature]), float(own.max()), 1e-3)
        look = {"show_ids": False, "value_label": words.value, "value_range": (0.0, highest)}
        token_strip(rows, key=key, on_change=clicked, **look)
        if guess.open:
            at = kit.spoken(ids[1 + int(own.argmax())], bundled.tokenizer)
            slots = {"feature": feature, "count": int((own > 0).sum()), "tokens": len(own)}
            kit.prose(words.text_read["some" if own.any() else "none"], token=at, **slots)
    if guess.open:
        _strongest(found, feature)
        _choice(state, feature)
    kit.text_area(state, "feattext", words.text, height=140)


def _choice(state: kit.PageState, feature: int) -> None:
    anew = state.setter(feature=-1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        labels = {label: words.label_names[label] for label in scores().labels}
        st.selectbox(words.label, width=300, **state.named("featlabel", labels, anew))
        slot = kit.tied(f"_{KEY}.number", feature, state.taker("feature"))
        most = dictionary_of(state)[1] - 1
        st.number_input(words.number, min_value=0, max_value=most, width=140, **slot)
        names = {
            f"{layer}.{features}": words.dictionary_name.format(features=features, layer=layer)
            for layer, features in BUNDLED
        }
        st.selectbox(words.dictionary, width=220, **state.named("featof", names, anew))


def _strongest(found: Bundle, feature: int) -> None:
    tokenizer, rows = engine.load(MODEL).tokenizer, []
    for at in range(found.stories.shape[1]):
        ids, values = window(found, feature, at)
        name = words.row_name.format(value=float(values.max()))
        rows.append(token_row(ids, values, tokenizer, name))
    highest = max(float(found.highest[feature]), 1e-3)
    look = {"show_ids": False, "value_label": words.value, "value_range": (0.0, highest)}
    token_strip(rows, key=f"{KEY}.texts", **look)
    labels = told_best(found.run.layer, found.run.features, feature)
    named = [f"“{words.label_names[label]}” ({f1:.2f})" for label, f1 in labels]
    best = words.feature_best.format(labels=named) if named else words.feature_none
    kind = "on" if found.highest[feature] > 0 else "silent"
    slots = {"feature": feature, "share": float(found.share[feature])}
    kit.prose(f"{words.feature_read[kind].format(**slots)} {best}")


@kit.cached(1)
def story_ids() -> list[list[int]]:
    """Return the tokens of the held-out stories, each behind its start token."""
    tokenizer = engine.load(MODEL).tokenizer
    return [tokenizer.encode_from_start(text) for text in held_out_stories()]


def window(found: Bundle, feature: int, at: int) -> tuple[list[int], np.ndarray]:
    """Return the tokens of a feature's text and its values there."""
    ids = story_ids()[int(found.stories[feature, at])][1:]
    values = found.windows[feature, at]
    there = np.flatnonzero(values >= 0)
    first = int(found.places[feature, at]) - BEFORE + int(there[0])
    return ids[first : first + len(there)], values[there]


def token_row(
    ids: Sequence[int],
    values: np.ndarray,
    tokenizer: Tokenizer,
    name: str,
    details: Sequence[str] = (),
) -> TokenRow:
    """Return tokens as a strip draws them; details: a line for each token's card."""
    tokens = in_line(kit.shown_bytes(ids, tokenizer), ids)
    cards = [{words.value: kit.signed(float(value))} for value in values]
    if details:
        cards = [card | {words.on_here: line} for card, line in zip(cards, details, strict=True)]
    return TokenRow(name, tokens, values=values.tolist(), details=cards)


def strongest_here(values: np.ndarray) -> str:
    """Return the strongest features of a token, values (N,), with their values.

    >>> strongest_here(np.array([0.0, 2.0, 3.5]))
    '2: 3.50 · 1: 2.00'
    """
    order = np.argsort(-values, kind="stable")[:HERE]
    return " · ".join(f"{at}: {values[at]:.2f}" for at in order if values[at] > 0) or "–"


@kit.cached(256)
def strongest_at(layer: int, features: int, feature: int) -> str:
    """Return the tokens at which a feature of a dictionary is strongest, each once."""
    found, tokenizer = bundle(layer, features), engine.load(MODEL).tokenizer
    if not found.highest[feature] > 0:
        return "–"
    places = zip(found.stories[feature], found.places[feature], strict=True)
    ids = [story_ids()[int(story)][1 + int(place)] for story, place in places]
    shown = [name.replace("·", " ").strip() or name for name in kit.names_of(ids, tokenizer)]
    return " · ".join(list(dict.fromkeys(shown))[:NAMED])


def rise_rows(kinds: Sequence[tuple[str, int, int]], key: str) -> None:
    """Draw by how much the loss rises: a name, how many features, and how many may be on."""
    cases, highest = [], lacks()
    for name, features, on in kinds:
        every = rises(scores().of(MAIN, features, on))
        cases.append(kit.Case(name, float(np.mean(every)), dots=every))
        highest = max(highest, *every)
    levels = [(lacks(), words.lacks)]
    axis = kit.Axis(0, 1.05 * highest, words.loss_axis)
    kit.case_rows(cases, axis, key=key, words=hand_words.bars, form="figure", levels=levels)


def _replaced() -> None:
    kit.section(words.replaced, layer=MAIN, features=SIZE)
    rise_rows([(words.on_row.format(on=on), SIZE, on) for on in ON], f"{KEY}.loss")
    shares = [scores().recovered(run) for run in scores().of(MAIN)]
    rise = float(np.mean(rises(scores().of(MAIN))))
    kind = "more" if rise > lacks() else "less"
    mean = float(np.mean([score.mean_loss for score in scores().at(MAIN)]))
    slots = {"on": ON_EACH, "rise": rise, "lacks": lacks(), "mean": mean}
    kit.prose(words.replaced_read[kind], recovered=float(np.mean(shares)), **slots)


@kit.cached(128)
def writes(layer: int, features: int, feature: int) -> FeatureWrites:
    gpt = require_transformer(engine.load(MODEL).model)
    direction = bundle(layer, features).dictionary.directions[feature]
    return feature_writes(gpt, direction, scores().divisor, LISTED)


@kit.cached(64)
def writes_bars(layer: int, features: int, feature: int, mode: kit.Mode) -> go.Figure:
    """Return the tokens that a feature raises and lowers most, as bars."""
    found = writes(layer, features, feature)
    ids = [*found.more.tolist(), *reversed(found.less.tolist())]
    values = [*found.raised.tolist(), *reversed(found.lowered.tolist())]
    names = [kit.escape_plotly(name) for name in kit.names_of(ids, engine.load(MODEL).tokenizer)]
    return signed_bars(names, values, words.writes_axis, mode)


def _writes(found: Bundle, feature: int) -> None:
    which = found.run.layer, found.run.features, feature
    kit.section(words.writes, feature=feature)
    kit.plot(f"{KEY}.writes", writes_bars, *which)
    slots = dict(zip(("layer", "features", "feature"), which, strict=True))
    more = f"{writes(*which).more[:3].tolist()}"
    text = words.snippet.format(model=MODEL, **slots)
    kit.show_code([Dictionary, learn, feature_writes], text, more)


def _truth(state: kit.PageState) -> None:
    kit.section(words.truth)
    kit.choose(state, "featkind", words.kind, words.kinds)
    which = *dictionary_of(state), state["featkind"]
    kit.plot(f"{KEY}.scores", figure, *which)
    kit.prose(read_out(*which))
    kit.measured(words.how_judged, chosen=CHOSEN_ON, measured=MEASURED_ON)


def read_out(layer: int, features: int, kind: str) -> str:
    """Return how features compare with units and the rest, in sentences."""
    found = medians(layer, features, kind)
    middle = {name: f"{np.median(each):.2f}" for name, each in found.items()}
    said = words.verdict[verdict(found["feature"], found["unit"])]
    return said.format(kind=words.kinds[kind], **middle) + " " + words.verdict_rest.format(**middle)


@kit.cached(36)
def figure(layer: int, features: int, kind: str, mode: kit.Mode) -> go.Figure:
    """Return the middle F1 of the three seeds for each label of a kind."""
    at, found = of_kind(kind), table(layer, features)
    middle = {name: np.median(f1[:, at], 0) for name, f1 in found.items()}
    order = np.argsort(-middle["feature"], kind="stable")
    names = [words.label_names[scores().labels[at[k]]] for k in order]
    drawn = {
        title: middle[name][order].tolist()
        for title, name in zip(words.sources, SOURCES, strict=True)
    }
    return scored_rows(names, drawn, words.f1_axis, mode)


def parent_of(state: kit.PageState) -> int:
    """Return the feature of the link; without one, that with the most parts."""
    if 0 <= state["featparent"] < SIZES[0]:
        return state["featparent"]
    of = parts(SIZES[1])
    return int(np.bincount(of[of >= 0], minlength=SIZES[0]).argmax())


def split_cases(parent: int) -> list[kit.Case]:
    """Return a line for a feature's parts in each larger dictionary: where both are on."""
    cases, level = [], [parent]
    for larger in SIZES[1:]:
        of = parts(larger)
        level = [part for above in level for part in np.flatnonzero(of == above).tolist()]
        for part in level[:MOST]:
            label = [(words.part.format(features=larger, feature=part), False)]
            label.append((strongest_at(MAIN, larger, part), True))
            cases.append(kit.Case(label, float(bundle(MAIN, larger).shared[part])))
    return cases


def _sizes(state: kit.PageState) -> None:
    kit.section(words.split)
    rise_rows([(words.size.format(features=size), size, ON_EACH) for size in SIZES], f"{KEY}.sizes")
    parent = parent_of(state)
    slot = kit.tied(f"_{KEY}.parent", parent, state.taker("featparent"))
    st.number_input(words.parent, min_value=0, max_value=SIZES[0] - 1, width=280, **slot)
    if cases := split_cases(parent):
        axis = kit.Axis(0, 1, words.part_axis)
        kit.case_rows(cases, axis, key=f"{KEY}.parts", words=hand_words.bars)
    below = int((parts(SIZES[1]) == parent).sum())
    slots = {"feature": parent, "small": SIZES[0], "large": SIZES[1], "count": below}
    at, how = strongest_at(MAIN, SIZES[0], parent), min(below, 2)
    kit.prose(words.split_read[("gone", "same", "split")[how]], tokens=at, **slots)
    kit.measured(words.how_split)


@kit.cached(6)
def job_of(
    name: str, version: str, corpus: str, layer: int, recipe: tuple[int, int, int]
) -> kit.Job:
    """Return the training in a process of its own; the same one is run only once.

    recipe: features, how many may be on, and the seed.
    """
    return kit.training_jobs().start(
        "llmviz.course.lessons.discoveries.features.model:learn_own",
        name=name,
        corpus=corpus,
        layer=layer,
        **dict(zip(("features", "on", "seed"), recipe, strict=True)),
    )


def _own(state: kit.PageState) -> None:
    """Show features of a model or run of the learner's choice, learned while the page waits."""
    kit.section(words.own, tokens=TOKENS)
    anew = state.setter(featown=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = kit.Picker(key="featmodel").choose(state, anew)
        bundled = None if name is None else kit.load(name)
        gpt = None if bundled is None else kit.or_refused(require_transformer, bundled.model)
        if bundled is None or gpt is None:
            return
        layers = gpt.config.n_layer

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
        kind = "own_reads" if last.missed is None else "own_learns"
        kit.prose(getattr(words, kind), missed=last.missed)
        return
    found = last.found
    kit.prose(own_read(found))
    feature, most = min(state["featopen"], len(found.share) - 1), len(found.share) - 1
    slot = kit.tied(f"_{KEY}.open", feature, state.taker("featopen"))
    st.number_input(words.own_open, min_value=0, max_value=most, width=140, **slot)
    share = float(found.share[feature])
    kit.prose(words.own_feature["on" if share else "silent"], feature=feature, share=share)
    if not share:
        return
    rows = []
    for at, piece in enumerate(found.best[feature]):
        values = found.strips[feature, at].astype(float)
        values = values[values >= 0]
        name = words.row_name.format(value=float(values.max()))
        rows.append(token_row(found.pieces[piece][1:], values, tokenizer, name))
    highest = float(found.strips[feature, 0].max())
    look = {"show_ids": False, "value_label": words.value, "value_range": (0.0, highest)}
    token_strip(rows, key=f"{KEY}.own.texts", **look)


def own_read(found: OwnFeatures) -> str:
    """Return what was measured, in sentences."""
    silent = int((found.share == 0).sum())
    said = [words.own_read.format(found=found)]
    if np.isfinite(found.recovered):
        said.append(words.own_recovered.format(recovered=found.recovered))
    return " ".join([*said, words.own_silent.format(silent=silent, features=len(found.share))])


def end_numbers() -> dict[str, Any]:
    word, state = (medians(MAIN, SIZE, kind) for kind in ("word", "state"))
    middle = {"feature": word["feature"], "unit": word["unit"], "state": state["feature"]}
    middle["reading"] = state["reading"]
    return {name: float(np.median(each)) for name, each in middle.items()}
