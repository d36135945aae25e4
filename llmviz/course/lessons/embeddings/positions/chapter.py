"""Chapter "Positions": the same words in another order, with and without positions.

V vocabulary, R orders.
"""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.paired_bars.view import paired_bars
from llmviz.course.lessons.embeddings.positions import WITH, WITHOUT, words
from llmviz.course.ui import engine, kit
from llmviz.files.text import check_text
from llmviz.models.word_order import next_probabilities, shuffled, total_variation
from llmviz.tokenizers import UNKNOWN
from llmviz.training.measures import probe_shares

GUESS = "embeddings.positions.shuffle"
TOP = 6
MANY = 20  # orders that the mean is over
RULE = "opposites"  # of tiny-world: what a model says of it depends on the order of words


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what two models say behind some words, as they stand and in another order."""
    kit.prose(words.hook)
    if seen := _shuffle_test(state):
        kit.seen(words.end, **seen)


def _shuffle_test(state: kit.PageState) -> dict[str, object] | None:
    """Show the picture, the question and the looks; return what was seen, once asked."""
    missing = [name for name in (WITH, WITHOUT) if name not in engine.names()]
    if missing:
        st.info(words.no_pair, icon=":material/download:")
        for name in missing:
            st.code(words.no_pair_command.format(name=name), language=None)
        return None
    pair = [engine.load(name) for name in (WITH, WITHOUT)]
    with kit.stage("positions"):
        picture = st.container()
        _controls(state)
        ids = kit.or_refused(_ids, state, pair[0])
    if ids is None:
        return None
    many = [_predict(model, [ids, *_orders(ids)]) for model in pair]
    mean = [float(total_variation(p[:1], p[1:]).mean()) for p in many]
    seen = bool(state["order"])  # who shuffles sees it
    guess = kit.Guess(GUESS, shuffle_question(*mean), seen, leads="order=1")
    known = guess.open
    orders = [ids]
    if state["order"]:
        orders.append(shuffled(ids, state["order"], first=1))
    predictions = [_predict(model, orders) for model in pair]
    with picture:
        _strip(pair[0].tokenizer, orders)
        _bars(pair[0].tokenizer, predictions)
    guess.ask()
    if not known:
        return None
    kit.looks(state, words.looks, "embeddings.positions.looks")
    if len(orders) > 1:
        _say(pair, predictions, mean, orders[1] != ids)
    else:
        kit.prose(words.as_written)
    return {"n": MANY, "with_": _tiny(mean[0]), "without": _tiny(mean[1])}


def _orders(ids: list[int]) -> list[list[int]]:
    """Many orders of the same tokens, the same ones every time."""
    return [shuffled(ids, seed, first=1) for seed in range(1, MANY + 1)]


def _predict(bundled: engine.Bundled, rows: list[list[int]]) -> np.ndarray:
    """Return what a model says behind each row (R, V)."""
    return _predicted(bundled, tuple(map(tuple, rows)))


_predicted = kit.cached(64)(kit.on_model(next_probabilities))


def _controls(state: kit.PageState) -> None:
    def another() -> None:
        state["order"] = state["order"] + 1

    back = state.setter(order=0)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kit.text_input(state, "prompt", words.prompt, width=460)
        st.button(words.shuffle, icon=":material/shuffle:", type="primary", on_click=another)
        st.button(words.as_it_is, icon=":material/undo:", on_click=back)


def _ids(state: kit.PageState, bundled: engine.Bundled) -> list[int] | None:
    """The prompt as the models read it; None, saying why, for one that is too short."""
    text = state["prompt"]
    check_text(text)
    tokenizer = bundled.tokenizer
    ids = tokenizer.encode_from_start(text)
    unknown = ids.count(tokenizer.special_tokens[UNKNOWN])
    if unknown:
        st.info(words.unknown.format(n=kit.count(unknown, "word")), icon=":material/help:")
    if len(ids) > bundled.model.context_length:
        ids = [ids[0], *ids[-bundled.model.context_length + 1 :]]
        st.info(words.too_long.format(n=len(ids) - 1), icon=":material/content_cut:")
    if len(ids) < 4:
        st.info(words.too_short, icon=":material/edit:")
        return None
    return ids


def _strip(tokenizer: Any, lines: list[list[int]]) -> None:
    """Show the words as they stand and, in a second line, as they are shuffled."""
    rows = []
    for name, line in zip(words.orders, lines, strict=False):
        text = " ".join(tokenizer.token_bytes(i).decode("utf-8", "replace") for i in line[1:])
        rows.append(lv.TokenRow(name, tokenizer.tokens(text)))
    lv.token_strip(rows, key="embeddings.positions.order")


def _bars(tokenizer: Any, predictions: list[np.ndarray]) -> None:
    limit = max(float(p.max()) for p in predictions)
    for column, title, probabilities in zip(
        st.columns(2, gap="medium"), words.models, predictions, strict=True
    ):
        before, after = probabilities[0], probabilities[1] if len(probabilities) > 1 else None
        best = np.argsort(-probabilities.max(axis=0), kind="stable")[:TOP]
        best = best[np.argsort(-before[best], kind="stable")]
        with column:
            paired_bars(
                [tokenizer.token_bytes(int(i)).decode("utf-8", "replace") for i in best],
                before[best],
                None if after is None else after[best],
                title=title,
                names=words.orders,
                axis=words.next_axis,
                limit=limit,
                key=f"embeddings.positions.{title}",
            )


def _say(
    pair: list[engine.Bundled], predictions: list[np.ndarray], mean: list[float], changed: bool
) -> None:
    moved = [float(total_variation(p[0], p[1])) for p in predictions]
    line = words.moved if changed else words.unmoved
    kit.prose(line, with_=_tiny(moved[0]), without=_tiny(moved[1]))
    kit.prose(words.many, n=MANY, with_=_tiny(mean[0]), without=_tiny(mean[1]))
    cards = [model.card for model in pair]
    if all("score" in card for card in cards):
        losses = [card["score"]["nats_per_token"] for card in cards]
        probes = [probe_shares(card).get(RULE) for card in cards]
        kit.prose(words.losses, with_=losses[0], without=losses[1])
        with_, without = probes
        if with_ and without and with_.count == without.count:
            written = f"{with_.count:,}"
            kit.prose(words.probes, with_=with_.right, without=without.right, n=written)
    kit.prose(words.why)


def _tiny(share: float) -> str:
    """A share that is nothing but rounding is written as such."""
    return words.nothing if share < 1e-5 else kit.percent(share)


def shuffle_question(with_: float, without: float) -> kit.Question:
    """Return the question how much probability moves on average in the model with positions."""
    about = {"share": _tiny(with_), "without": _tiny(without)}
    asked = (words.ask_shuffle_right, words.ask_shuffle_less, words.ask_shuffle_more)
    reasons = [reason.format(**about) for reason in asked]
    return kit.share_question(words.ask_shuffle.format(n=MANY), with_, reasons, _tiny)
