"""Part of the chapter "Word2vec": the film of a training, and what is near the chosen words."""

import math

import numpy as np
import streamlit as st

from llmviz.course.components.scatter_film.view import MOST_CHOSEN, Curve, Film, Near, scatter_film
from llmviz.course.lessons.embeddings import words as lesson_words
from llmviz.course.lessons.embeddings.clear import stands_out
from llmviz.course.lessons.embeddings.word2vec import run as runs
from llmviz.course.lessons.embeddings.word2vec import words
from llmviz.course.lessons.embeddings.word2vec.model import WordFilm, companion, meetings
from llmviz.course.ui import kit
from llmviz.similarity import pairwise
from llmviz.similarity.film import near_film
from llmviz.training.word_vectors import Text

KEY = "embeddings.word2vec.film"
NEIGHBOURS = 8
RARELY = 0.1  # share of a word's places, below which another one hardly meets it
ENOUGH = 8  # numbers in a vector, for neighbours that make sense


def draw(state: kit.PageState, film: WordFilm) -> None:
    """Show the map, frame by frame, with the neighbours of the words that are watched."""
    chosen = watched(state, film)
    lost = [word for word in state["watch"] if word not in film.words]
    if lost and state["watch"] != state.params["watch"].default:  # somebody asked for them
        kit.prose(words.not_here, n=len(film.words), words=", ".join(map(kit.quote, lost)))
    width = film.vectors.shape[2]
    k = min(NEIGHBOURS, len(film.words) - 1)
    metric = "cosine" if width > 1 else "euclidean"
    near = [Near(i, *near_at_every_frame(film, i, k, metric)) for i in chosen] if k else []
    scatter_film(
        Film(
            film.maps,
            film.words,
            words=lesson_words.map_of_words | words.film | {"near": words.near[metric]},
            kinds=film.kinds,
            kind_names=runs.kind_names(),
            lit=[kind for kind in state["kinds"] if kind < len(runs.kind_names())],
            near=near,
            captions=captions(film),
            curve=Curve(words.loss_curve, [None if math.isnan(x) else float(x) for x in film.loss]),
            notes=[]
            if film.counts is None
            else [words.stands.format(n=kit.count(int(n), "time")) for n in film.counts],
            axes=words.axes[min(width, 3)],
        ),
        key=KEY,
        equal=width > 1,
        step=state["frame"] if state["frame"] < film.frames - 1 else -1,
        on_step=lambda: _stepped(state),
        on_act=lambda: _acted(state, film),
    )


@kit.cached(16)
def near_at_every_frame(
    film: WordFilm, i: int, k: int, metric: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids and the values (F, k) of the points nearest to one."""
    return near_film(list(film.vectors), i, k, metric)


def captions(film: WordFilm) -> list[str]:
    """Return what is known at each frame, in one line."""
    return [
        words.caption.format(read=int(read), total=film.total, rate=rate)
        + ("" if math.isnan(loss) else words.caption_loss.format(loss=_loss(loss)))
        for read, loss, rate in zip(film.read, film.loss, film.rate, strict=True)
    ]


def _loss(loss: float) -> str:
    return f"{loss:.3f}" if loss < 1000 else f"{loss:.2e}"


def watched(state: kit.PageState, film: WordFilm) -> list[int]:
    """Return the points that are watched: the words of the link, or the first if none is here."""
    places = {word: i for i, word in enumerate(film.words)}
    points = [places[word] for word in state["watch"] if word in places]
    if points or not state["watch"]:
        return points
    return [0]


def _stepped(state: kit.PageState) -> None:
    state["frame"] = int(st.session_state[KEY].get("step", -1))


def _acted(state: kit.PageState, film: WordFilm) -> None:
    act = st.session_state[KEY].get("act")
    if not isinstance(act, dict):
        return
    if "lit" in act:
        state["kinds"] = [int(kind) for kind in act["lit"]]
        return
    chosen = [film.words[i] for i in watched(state, film)]
    i = act.get("pick", act.get("drop"))
    if not isinstance(i, int) or not 0 <= i < len(film.words):
        return
    word = film.words[i]
    if "drop" in act:
        state["watch"] = [other for other in chosen if other != word]
    elif word not in chosen:
        state["watch"] = [*chosen, word][-MOST_CHOSEN:]


def _measured(value: float) -> str:
    """A cosine or a distance; small distances are not rounded away."""
    return (
        kit.signed(value) if abs(value) >= 0.1 or value == 0 else f"{value:.2g}".replace("-", "−")
    )


# ---- predict, then look


def likest_question(film: WordFilm, text: Text, i: int, window: int) -> kit.Question | None:
    """Return which word ends nearest to a word: its companion, its like, or its first neighbour.

    window: words on each side in which two words are counted as meeting. None where two of the
    answers could be called right, and for a film that is too small.
    """
    if len(film.words) < 12 or film.vectors.shape[2] < ENOUGH:
        return None
    names = film.words
    first, last = (near_film([film.vectors[at]], i, 10)[0][0] for at in (0, -1))
    beside = companion(text, names[i])
    # Words that the film does not follow are on no map: nobody could look them up there.
    if beside not in names or beside in (names[i], names[first[0]]) or first[0] in last:
        return None
    three = [names.index(beside), int(last[0]), int(first[0])]
    cosines = pairwise(film.vectors[-1][[i]], "cosine", film.vectors[-1][three])[0].tolist()
    if three[0] in last or not stands_out(cosines, 1):
        return None
    answers = [names[j] for j in three]
    times, met = meetings(text, names[i], answers[1], window)
    kind = "never" if not met else "apart" if met < RARELY * times else "together"
    return kit.Question.among(
        words.ask,
        dict(zip(answers, (words.ask_beside, words.ask_right[kind], words.ask_first), strict=True)),
        answers[1],
        word=kit.quote(names[i]),
        beside=kit.quote(answers[0]),
        cosine=kit.signed(cosines[0]),
        near=kit.quote(answers[1]),
        high=kit.signed(cosines[1]),
        window=window,
        met=met,
        times=kit.count(times, "place"),
        first=kit.quote(answers[2]),
    )


def say_neighbours(state: kit.PageState, film: WordFilm) -> str:
    """Say what the neighbours of the first watched word were and are; return it in short."""
    chosen = watched(state, film)
    if not chosen or len(film.words) < 5:
        return ""
    i, k = chosen[0], 4
    metric = "cosine" if film.vectors.shape[2] > 1 else "euclidean"
    (early, late), (_, values) = near_film([film.vectors[0], film.vectors[-1]], i, k, metric)
    about = {
        "word": kit.quote(film.words[i]),
        "early": ", ".join(kit.quote(film.words[j]) for j in early),
        "late": ", ".join(kit.quote(film.words[j]) for j in late),
    }
    kit.prose(
        words.neighbours_before_and_after,
        measure=words.measures[metric],
        value=_measured(float(values[0])),
        **about,
    )
    return words.end_learned.format(**about)
