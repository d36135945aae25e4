"""Chapter "It cannot see letters": other tokens for the same letters, and tokens never read."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.letter_questions import PIECES, SPELLINGS, WHOLE
from llmviz.course.figures.bars import named_bars
from llmviz.course.lessons.errors.letters import trained, words
from llmviz.course.lessons.errors.token_letters import (
    COMMAND,
    COUNTED,
    FOLDS,
    LONGEST,
    MODEL,
    Met,
    Recalled,
    TokenLetters,
    found_by_rows,
    meet,
    recall,
    recorded,
    row_of,
    spelled,
)
from llmviz.course.ui import engine, kit
from llmviz.textfile import check_text

KEY = "errors.letters"
LISTED = 60  # tokens that never came, to choose from
BYTES = 256  # the first ids are single bytes, most of which no text of the world has


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, model=MODEL)
    if not kit.models_here(MODEL):
        return
    bundled = kit.load(MODEL)
    if bundled is None:
        return
    kit.text_input(state, "spelledword", words.word, width=280)
    known = kit.or_refused(recorded)
    if known is None:
        return
    own = _spelled(state, bundled, known)
    counted = trained.draw(state)
    _probes(known)
    _never(state, bundled, known)
    if own is not None and counted is not None:
        never = sum(count == 0 for count in known.counts)
        found = known.spellings[PIECES]
        kit.seen(words.end, **own, **counted, words=found.words, found=found.right, never=never)


def _spelled(
    state: kit.PageState, bundled: engine.Bundled, known: TokenLetters
) -> dict[str, Any] | None:
    """Show the three spellings; return their numbers for the end, None while covered."""
    if not kit.predict(question(known), f"{KEY}.pieces", covers=True):
        return None
    word = state["spelledword"].strip()
    if not word:
        kit.inform(words.no_word, ":material/edit:")
        return None
    try:
        check_text(word)
        found = recalled(bundled.version, word)
    except ValueError as error:
        kit.refuse(error)
        return None
    tokens = [spelled(bundled.tokenizer, word, way) for way in SPELLINGS]
    rows = [
        (
            words.spellings[way],
            " | ".join(kit.names_of(ids, bundled.tokenizer)),
            kit.percent(found[way].probability),
            kit.names_of([found[way].guess], bundled.tokenizer)[0],
        )
        for way, ids in zip(SPELLINGS, tokens, strict=True)
    ]
    kit.rows_table(rows, words.spelled_columns)
    chances = {way: kit.percent(found[way].probability) for way in SPELLINGS}
    same = "one" if len({tuple(ids) for ids in tokens}) < len(SPELLINGS) else "none"
    line = words.spelled_read.format(word=kit.quote(word), same=words.spelled_same[same], **chances)
    right = {way: known.spellings[way].right for way in SPELLINGS}
    kit.prose(line + "\n\n" + words.over_read.format(words=known.spellings[WHOLE].words, **right))
    kit.show_code(
        [spelled, recall],
        words.snippet.format(model=MODEL, word=word),
        "\n".join(f"{way} {found[way].probability:.4f}" for way in SPELLINGS),
    )
    return {
        "word": kit.quote(word),
        "tokens": kit.count(len(tokens[0]), "token"),
        "whole": chances[WHOLE],
        "pieces": chances[PIECES],
    }


@kit.kept(64)
def recalled(version: str, word: str) -> dict[str, Recalled]:
    """Return how well the model finds a word again, by its spelling in the story."""
    bundled = engine.load(MODEL)
    return {way: recall(bundled.model, bundled.tokenizer, word, way) for way in SPELLINGS}


def question(known: TokenLetters) -> kit.Question:
    """Return the question how many places are found again when they stand in two halves."""
    pieces, whole = known.spellings[PIECES], known.spellings[WHOLE]
    numbers = {"right": pieces.right, "words": pieces.words, "whole": whole.right}
    reasons = [reason.format(**numbers) for reason in words.ask_pieces_reasons]
    text = words.ask_pieces.format(command=COMMAND, **numbers)
    return kit.share_question(text, pieces.right / pieces.words, reasons, kit.percent)


def _probes(known: TokenLetters) -> None:
    kit.section(words.probes)
    kit.rows_table(probe_rows(known), words.probe_columns)
    probes = known.probes
    kit.prose(
        words.probe_read.format(
            folds=FOLDS,
            behind=kit.percent(probes["vowel behind an article"].accuracy),
            behind_guess=kit.percent(probes["vowel behind an article"].guess),
            elsewhere=kit.percent(probes["vowel elsewhere"].accuracy),
            elsewhere_guess=kit.percent(probes["vowel elsewhere"].guess),
            first=kit.percent(probes["first"].accuracy),
            guess=kit.percent(probes["first"].guess),
            last=kit.percent(probes["last"].accuracy),
        )
    )


def probe_rows(known: TokenLetters) -> list[tuple[str, ...]]:
    """Return a row for each probe: how often it is right, and what guessing gets."""
    return [
        (
            words.probe_names[kind],
            f"{100 * probe.accuracy:.1f} ± {100 * probe.error:.1f} %",
            kit.percent(probe.guess),
            f"{probe.tokens:,}",
        )
        for kind, probe in known.probes.items()
    ]


def _never(state: kit.PageState, bundled: engine.Bundled, known: TokenLetters) -> None:
    counts = np.array(known.counts)
    if len(counts) != bundled.model.vocab_size:
        kit.inform(words.never_other.format(command=COMMAND), ":material/info:")
        return
    never = np.flatnonzero(counts == 0)
    kit.section(
        words.never,
        vocabulary=kit.count(len(counts), "token"),
        stories=f"{COUNTED:,}",
        never=len(never),
    )
    kit.chart(norm_figure(bundled.version, kit.theme()), f"{KEY}.norms", bar=False)
    kit.prose(words.never_read.format(**norm_numbers(bundled.version)))
    tokenizer = bundled.tokenizer
    offered = [int(token) for token in never if token >= BYTES][:LISTED]
    if not offered:
        return
    if state["nevertoken"] not in offered:
        state["nevertoken"] = offered[0]
    names = dict(zip(offered, kit.names_of(offered, tokenizer), strict=True))
    st.selectbox(
        words.never_token,
        offered,
        format_func=names.__getitem__,
        width=220,
        **state.bind("nevertoken"),
    )
    kit.prose(met_line(bundled, state["nevertoken"], counts))


def met_line(bundled: engine.Bundled, token: int, counts: np.ndarray) -> str:
    """Return what the model does when it meets a token that never came."""
    tokenizer = bundled.tokenizer
    row, met = row_of(table_of(bundled.version), token), met_of(bundled.version, token)
    near = [other for other, _ in row.nearest]
    unread = sum(counts[other] == 0 for other in near)
    kind = words.nearest_kind["all" if unread == len(near) else "some"]
    best, best_p = met.best[0]
    return words.met.format(
        token=kit.spoken(token, tokenizer),
        norm=row.norm,
        nearest=kit.listed([kit.spoken(other, tokenizer) for other in near]),
        kind=kind.format(count=unread, all=len(near)),
        best=kit.spoken(best, tokenizer),
        best_p=kit.percent(best_p),
        with_it=met.with_it,
        without=met.without,
    )


@kit.kept(64)
def met_of(version: str, token: int) -> Met:
    """Return what follows a token in the story."""
    bundled = engine.load(MODEL)
    return meet(bundled.model, bundled.tokenizer, token)


@kit.kept(1)
def table_of(version: str) -> np.ndarray:
    """Return the embedding table (V, C)."""
    return engine.load(MODEL).model.token.weight.detach().numpy().copy()


@kit.kept(1)
def norm_numbers(version: str) -> dict[str, Any]:
    """Return the lengths of rows that were read and not read, and how alike the latter point."""
    table, counts = table_of(version), np.array(recorded().counts)
    norms = np.linalg.norm(table, axis=1)
    unread = table[counts == 0] / norms[counts == 0, None]
    mean = unread.mean(0)
    found = found_by_rows(table, counts)
    return {
        "never": int((counts == 0).sum()),
        "some": LONGEST,
        "by_norm": kit.percent(found.by_norm),
        "by_direction": kit.percent(found.by_direction),
        "norm_never": float(norms[counts == 0].mean()),
        "norm_read": float(norms[counts > 0].mean()),
        "cosine": float((unread @ mean).mean() / np.linalg.norm(mean)),
    }


@kit.kept(2)
def norm_figure(version: str, mode: kit.Mode) -> kit.Figure:
    """Return the mean length of the rows by how often their token was read."""
    norms = np.linalg.norm(table_of(version), axis=1)
    counts = np.array(recorded().counts)
    edges = [*map(int, words.norm_bins), int(counts.max()) + 1]
    values, texts, names = [], [], []
    for name, low, high in zip(words.norm_bins.values(), edges[:-1], edges[1:], strict=True):
        inside = (counts >= low) & (counts < high)
        if inside.any():
            mean = float(norms[inside].mean())
            values.append(mean)
            names.append(name)
            tokens = kit.count(int(inside.sum()), "token")
            texts.append(words.norm_text.format(norm=mean, tokens=tokens))
    axis = {"title": {"text": words.norm_axis, "standoff": 8}, "rangemode": "tozero"}
    color = kit.role_color("weights", mode)
    return named_bars(names, values, texts, color, axis, mode, room=120)
