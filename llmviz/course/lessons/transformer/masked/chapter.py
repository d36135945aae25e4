"""Chapter "Hidden words": a hidden word, told from both sides of it and from the left alone.

N words behind the start token, T = N + 1 tokens, L layers, H heads, V vocabulary.
"""

from dataclasses import replace

import numpy as np
import streamlit as st

from llmviz.course.components.heads_grid.view import heads_grid
from llmviz.course.components.paired_bars.view import paired_bars
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.transformer.masked import model, words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.guess_drawn import words as hand_words
from llmviz.tokenizers import ENDOFTEXT, UNKNOWN, Token

HEADS_KEY = "transformer.masked.heads"


weights_of = kit.cached(64)(kit.on_model(model.all_weights))


def chosen_head(written: str, layers: int, heads: int) -> tuple[int, int]:
    """Return the head that a link names ("1.3"); the last layer's first where there is none such.

    >>> chosen_head("1.3", 3, 4), chosen_head("x", 3, 4), chosen_head("9.0", 3, 4)
    ((1, 3), (2, 0), (2, 0))
    """
    layer, head = kit.place_of(written, (layers, heads)) or (layers - 1, 0)
    return layer, head


def above(weights: np.ndarray) -> float:
    """Return the share of all weight that lies above the diagonal, on tokens to the right."""
    return float(np.triu(weights, 1).sum() / weights.sum())


def draw_attention(
    state: kit.PageState,
    both: engine.Bundled,
    left: engine.Bundled,
    read: kit.Read,
    word: int,
    name: str,
) -> None:
    """Show the heads of both on the text; name: the hidden word, as it is written in prose."""
    kit.section(words.attention)
    hidden = tuple(model.hidden_at(both.model, read.ids, word))
    hidden_tokens = list(read.tokens)
    hidden_tokens[word + 1] = words.mask
    pictures = (
        ("bothhead", words.both_heads, both, hidden, hidden_tokens),
        ("lefthead", words.left_heads, left, read.ids, list(read.tokens)),
    )
    for place, (control, line, bundled, ids, tokens) in zip(
        st.columns(2, gap="large"), pictures, strict=True
    ):
        weights = weights_of(bundled, ids)
        layers, heads = weights.shape[:2]
        with place:
            sizes = {"layers": kit.count(layers, "layer"), "heads": kit.count(heads, "head")}
            kit.prose(kit.bold(line.format(word=name, **sizes)))
            _grid(state, control, weights, tokens)
    kit.prose(words.above, both=kit.percent(above(weights_of(both, hidden))))


def _grid(state: kit.PageState, control: str, weights: np.ndarray, tokens: list[str]) -> None:
    key = f"{HEADS_KEY}.{control}"
    heads_grid(
        np.minimum(weights, 1.0),
        key=key,
        tokens=tokens,
        chosen=chosen_head(state[control], *weights.shape[:2]),
        lines=True,
        on_change=kit.bound(state, key, chosen=(control, kit.chosen_link)),
    )


BOTH, LEFT = "masked-words", "words-gpt"
KEY = "transformer.masked"
GUESS = f"{KEY}.helps"
DRAWN = 40  # tokens that are read
BEST = 6  # answers of each model


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show each word hidden in turn, the guess and the looks, then weights and other stories."""
    kit.prose(words.hook)
    if not kit.models_here(BOTH, LEFT):
        return
    both, left = engine.load(BOTH), engine.load(LEFT)
    text = kit.learner_text(state)
    sentence = None if text is None else kit.read(text, both, DRAWN)
    if text is None or sentence is None or len(sentence.ids) < 2:
        if text is not None:
            kit.inform(words.no_word, ":material/edit:")
        kit.source(state, opened=True)
        return
    ends = _hidden_word(state, both, left, text, sentence)
    _score(both)
    if ends:
        kit.seen(words.end, **ends)


@kit.cached(32)
def chances_of(
    both: engine.Bundled, left: engine.Bundled, ids: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return both models' probabilities (N, V) of each word: from both sides, from the left."""
    return model.from_both_sides(both.model, ids), model.from_the_left(left.model, ids)


@kit.cached(32)
def word_tokens(text: str, count: int, bundled: engine.Bundled) -> list[Token]:
    """Return the first words of a text as the learner wrote them, unknown ones included."""
    raw = text.encode("utf-8")
    tokens = bundled.tokenizer.tokens(text)[:count]
    return [replace(token, data=raw[token.byte_start : token.byte_end]) for token in tokens]


def chances(ids: tuple[int, ...], p: np.ndarray, unknown: int) -> np.ndarray:
    """Return the probability (N,) of each word that stands there; 0 for one that is unknown."""
    own = np.array(ids[1:])
    return np.where(own == unknown, 0.0, p[np.arange(len(own)), own])


def hidden_word(place: int, gain: np.ndarray) -> int:
    """Return which word is hidden: the one asked for, else the one where both sides help most.

    >>> hidden_word(1, np.array([0.5, 0.0])), hidden_word(-1, np.array([0.5, 0.0]))
    (1, 0)
    >>> hidden_word(7, np.array([0.5, 0.0]))
    0
    """
    return place if 0 <= place < len(gain) else int(gain.argmax())


def _hidden_word(
    state: kit.PageState, both: engine.Bundled, left: engine.Bundled, text: str, read: kit.Read
) -> dict[str, str] | None:
    """Show one word hidden; return what the end says of it, or None while that is covered."""
    ids, tokenizer = read.ids, both.tokenizer
    unknown = tokenizer.special_tokens[UNKNOWN]
    p = chances_of(both, left, ids)
    own = [chances(ids, probs, unknown) for probs in p]
    tokens = word_tokens(text, len(ids) - 1, both)
    texts = [token.data.decode("utf-8", "replace") for token in tokens]
    word = hidden_word(state["hide"], gains(texts, own))
    guess = kit.Guess(
        GUESS,
        question(texts, own),
        by_hand=True,
        leads="hide=-1",
    )
    open_now = guess.open
    with kit.stage("masked"):
        _strip(state, tokens, own, ids, word, guess)
        if open_now:
            _bars(p, ids, word, tokens, tokenizer)
            _read(p, own, ids, word, tokens, tokenizer)
        else:
            kit.prose(words.before)
        guess.ask()
    kit.source(state)
    if not open_now:
        return None
    kit.looks(state, words.looks, f"{KEY}.looks", last=len(tokens) - 1)
    kit.section(words.intro)
    name = kit.quote(tokens[word].data.decode("utf-8", "replace"))
    draw_attention(state, both, left, read, word, name)
    shares = [f"{probs[word, ids[word + 1]]:.3f}" for probs in p]
    kit.show_code(
        [model.from_both_sides, model.from_the_left],
        words.snippet.format(ids=list(ids), word=word, both=BOTH, left=LEFT),
        "\n".join(
            f"{tokenizer.decode([int(probs[word].argmax())])} {share}"
            for probs, share in zip(p, shares, strict=True)
        ),
    )
    return end_of(ids, unknown, own, word, name)


def end_of(
    ids: tuple[int, ...], unknown: int, own: list[np.ndarray], word: int, name: str
) -> dict[str, str] | None:
    """Return what the end says of the hidden word; None for a text of unknown words alone.

    own: both models' probabilities (N,) of the words that stand there.
    """
    known = np.array(ids[1:]) != unknown
    if not known.any():
        return None
    means = [kit.percent(float(probs[known].mean())) for probs in own]
    read_both, read_left = kit.count(len(ids) - 1, "token"), kit.count(word + 1, "token")
    slots = {"word": name, "both": read_both, "left": read_left}
    return slots | {"mean_both": means[0], "mean_left": means[1]}


def gains(texts: list[str], own: list[np.ndarray]) -> np.ndarray:
    """Return by how much reading on helps at each word (N,); a mark is no word, and never first.

    >>> gains(["a", "."], [np.array([0.5, 0.9]), np.array([0.25, 0.1])])
    array([0.25, -inf])
    """
    return np.where([any(map(str.isalnum, text)) for text in texts], own[0] - own[1], -np.inf)


def question(texts: list[str], own: list[np.ndarray]) -> kit.Question | None:
    """Ask at which word reading on helps most; None where it is the last or the longest one.

    own: both models' probabilities (N,) of the words that stand there. The wrong answers are those
    of somebody to whom the largest word tells most, and of one to whom the last one does.
    """
    gain = gains(texts, own)
    right, last = int(gain.argmax()), len(texts) - 1
    longest = max(range(len(texts)), key=lambda at: len(texts[at]))
    if len({right, last, longest}) < 3 or gain[right] <= 0:
        return None
    reasons = {longest: words.ask_longest, last: words.ask_last, right: words.ask_right}
    slots = {"both": kit.percent(float(own[0][right])), "left": kit.percent(float(own[1][right]))}

    def write(at: float) -> str:
        return words.ask_answer.format(word=texts[int(at)], place=int(at) + 1)

    return kit.Question.among(words.ask, reasons, right, write, scale=True, **slots)


def _strip(
    state: kit.PageState,
    tokens: list[Token],
    own: list[np.ndarray],
    ids: tuple[int, ...],
    word: int,
    guess: kit.Guess,
) -> None:
    """Show the words of both models; a click hides one, or answers where that is asked."""
    key = f"{KEY}.strip"
    rows = [
        TokenRow(
            name,
            tokens,
            values=[0.0] * len(tokens) if guess.asks else shares.tolist(),
            details=[{} if guess.asks else {words.detail: kit.percent(float(x))} for x in shares],
            ghost=guess.missed,
        )
        for name, shares in zip(words.rows, own, strict=True)
    ]
    clicked = st.session_state.get(key, {}).get("selected")
    row = clicked[0] if clicked and clicked[1] == word else 0
    hide = kit.bound(state, key, selected=("hide", kit.second_of))

    def selected() -> None:
        hide()
        if guess.asks and 0 <= state["hide"] < len(tokens):
            guess.settle([state["hide"]])

    token_strip(
        rows,
        key=key,
        show_ids=False,
        value_label=words.value,
        value_range=(0.0, 1.0),
        selected=None if guess.asks else TokenSelection(row, word, ids[word + 1]),
        on_change=selected,
    )


def best_answers(p: tuple[np.ndarray, np.ndarray], word: int, answer: int | None) -> list[int]:
    """Return the ids that either model gives most to, the word itself among them, best first."""
    listed = [int(i) for probs in p for i in probs[word].argsort()[::-1][:BEST]]
    listed = list(dict.fromkeys([*([] if answer is None else [answer]), *listed]))
    return sorted(listed, key=lambda i: -max(float(probs[word, i]) for probs in p))


def _bars(
    p: tuple[np.ndarray, np.ndarray],
    ids: tuple[int, ...],
    word: int,
    tokens: list[Token],
    tokenizer,
) -> None:
    unknown = tokenizer.special_tokens[UNKNOWN]
    answer = None if ids[word + 1] == unknown else ids[word + 1]
    listed = best_answers(p, word, answer)
    special = {i: text for text, i in tokenizer.special_tokens.items() if text != ENDOFTEXT}
    labels = [special.get(i) or unmarked(kit.spoken(i, tokenizer)) for i in listed]
    values = [np.minimum(probs[word, listed], 1.0) for probs in p]
    paired_bars(
        labels,
        *values,
        title=words.bars_title.format(word=tokens[word].data.decode("utf-8", "replace")),
        names=words.rows,
        axis=words.bars_axis,
        limit=max(float(probs.max()) for probs in values),
        key=f"{KEY}.bars",
    )


def _read(
    p: tuple[np.ndarray, np.ndarray],
    own: list[np.ndarray],
    ids: tuple[int, ...],
    word: int,
    tokens: list[Token],
    tokenizer,
) -> None:
    best = [int(probs[word].argmax()) for probs in p]
    guesses = [kit.spoken(token, tokenizer) for token in best]
    shares = [kit.percent(float(probs[word, i])) for probs, i in zip(p, best, strict=True)]
    known = ids[word + 1] != tokenizer.special_tokens[UNKNOWN]
    line = (words.read if known else words.read_unknown).format(
        word=kit.quote(tokens[word].data.decode("utf-8", "replace")),
        both=guesses[0],
        both_share=shares[0],
        left=guesses[1],
        left_share=shares[1],
        own_both=kit.percent(float(own[0][word])),
        own_left=kit.percent(float(own[1][word])),
    )
    last = word == len(tokens) - 1
    following = " ".join(token.data.decode("utf-8", "replace") for token in tokens[word + 1 :])
    kit.prose(f"{line} {words.last if last else words.right_of.format(right=kit.quote(following))}")


def _score(both: engine.Bundled) -> None:
    """Say what the encoder gets right on other stories, with the right side and without it."""
    score, ended = both.card.get("score", {}), both.card.get("without_right_side", {})
    if "share_right" not in score or "share_right" not in ended:
        return
    kit.section(words.score_section, tokens=score["tokens"])
    shares = zip(words.score_rows, (score["share_right"], ended["share_right"]), strict=True)
    kit.case_rows(
        [kit.Case(name, share) for name, share in shares],
        kit.Axis(0, 1, words.score_axis),
        key=f"{KEY}.shares",
        words=hand_words.bars,
    )
    kit.prose(words.score_read)
