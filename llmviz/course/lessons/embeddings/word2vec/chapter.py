"""Chapter "Word2vec": how word vectors are learned, watched while it happens, and kept."""

from functools import partial
from typing import Any

import streamlit as st

from llmviz.course.lessons.embeddings.word2vec import (
    DIMENSIONS,
    EPOCHS,
    MOST_NEGATIVES,
    RATES,
    words,
)
from llmviz.course.lessons.embeddings.word2vec import film as word2vec_film
from llmviz.course.lessons.embeddings.word2vec import pairs as word2vec_pairs
from llmviz.course.lessons.embeddings.word2vec import plan as plans
from llmviz.course.lessons.embeddings.word2vec import run as runs
from llmviz.course.lessons.embeddings.word2vec.model import WordFilm
from llmviz.course.ui import engine, kit
from llmviz.models.word2vec_training import train_skip_gram
from llmviz.runs import store
from llmviz.similarity import nearest, nearest_spellings
from llmviz.similarity.table import projector_labels
from llmviz.training.word_vectors import Frame, Text, WordVectorPlan, film


def draw_kept(run: runs.OwnRun, plan: WordVectorPlan) -> None:
    """Offer the vectors of a finished run: as files, and to the other lessons."""
    table = runs.table(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not run.kept:
            st.button(
                words.keep,
                icon=":material/bookmark:",
                on_click=_keep,
                args=(run, plan),
                key="embeddings.word2vec.keep",
            )
        names = [table.bytes_of[row].decode("utf-8", "replace") for row in range(table.size)]
        for label, name, data in (
            (words.csv, "word2vec.csv", lambda: table.csv(names)),
            (words.tsv, "word2vec-vectors.tsv", table.tsv),
            (words.tsv_labels, "word2vec-words.tsv", lambda: projector_labels(names)),
        ):
            st.download_button(
                label, data, name, icon=":material/download:", key=name, on_click="ignore"
            )
    if run.kept:
        kit.prose(words.kept, name=kit.quote(run.kept.removeprefix(store.PREFIX)))
    if problem := st.session_state.pop("embeddings.word2vec.kept", ""):
        kit.refuse(ValueError(problem))


def _keep(run: runs.OwnRun, plan: WordVectorPlan) -> None:
    try:
        runs.keep(run, plan)
    except ValueError as error:
        st.session_state["embeddings.word2vec.kept"] = str(error)


ahead = plans.usual_texts  # read once, before the first visitor asks
EPOCHS_FOR = {"tiny-world": 20, "story": 50, "text": 200}


GUESS = "embeddings.word2vec.ask"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the film and the guess where a word goes, then how its vectors are learned."""
    kit.prose(words.hook)
    try:
        plan, own = plans.plan_of(state), plans.own_text(state)
        text = plans.text_of(plan, own)
    except ValueError as error:
        _text_controls(state)
        kit.refuse(error)
        return
    kit.training_jobs().warm_up(runs.FILM.partition(":")[0])  # torch takes longer than the training
    run = runs.own_run(state, plan, own)
    live = run is not None and not run.job.over
    guess = kit.Guess(GUESS, _question(state) if run is None else None)
    known = guess.open
    with kit.stage("word2vec"):
        film = partial(_film_part, state, plan, own, known)
        kit.polled(film, lambda: run is not None and not run.job.over)
    guess.ask()
    if known:
        kit.looks(state, words.looks, "embeddings.word2vec.looks")
        kit.real_case("meanings", words.real)
    _text_controls(state)
    try:
        reading = word2vec_pairs.draw(state, plan, own, text)
    except ValueError as error:
        kit.refuse(error)
        return
    kit.section(words.train_section)
    _training_controls(state)
    _check_also(plan, text)
    kit.live(
        state,
        "trained",
        runs.job_of,
        runs.given_of(plan, own),
        lambda job: None,  # the film is drawn above
        start=words.train,
        share=_share,
        said=kit.JobWords(stopped=words.stopped, pauses=True, then=lambda: _rewound(state)),
    )
    ends = None
    if not live and known:
        if run is not None and run.end is not None:
            draw_kept(run, plan)
        ends = _after(state, plan, run)
    if not live:
        word2vec_pairs.loss_of_a_pair(state, plan, text, reading, run)
    kit.prose(words.relatives)
    if known:
        _code(state, plan, own, text, run)
    if ends:
        kit.seen(words.end, **ends)


def _question(state: kit.PageState) -> kit.Question | None:
    """Return what becomes of the first watched word in the bundled film, as a question."""
    try:
        frames = runs.bundled()
    except ValueError:
        return None  # said where the film stands
    watched = [] if frames is None else word2vec_film.watched(state, frames)
    if frames is None or not watched:
        return None
    text = plans.text_of(runs.bundled_plan(), None)
    window = runs.bundled_plan().model_options["window"]
    return word2vec_film.likest_question(frames, text, watched[0], window)


def _text_controls(state: kit.PageState) -> None:
    kit.section(words.intro)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "corpus", words.corpus, words.corpora, then=lambda: _other_corpus(state))
        st.slider(words.window, width=220, **state.ranged("window", then=lambda: _changed(state)))
    if state["corpus"] == "text":
        kit.text_box(state)


def _training_controls(state: kit.PageState) -> None:
    def control(kind: str, label: str, key: str, *rest: object, **more: object) -> None:
        getattr(st, kind)(label, *rest, **more, **state.bind(key, then=lambda: _changed(state)))

    def stops(label: str, key: str, offered: tuple[float, ...], **more: object) -> None:
        control("select_slider", label, key, sorted({*offered, state[key]}), width=200, **more)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        stops(words.dimension, "dim", DIMENSIONS)
        control("slider", words.negatives, "negatives", 1, MOST_NEGATIVES, width=180)
        stops(words.rate, "rate", RATES, format_func="{:g}".format)
        stops(words.epochs, "epochs", EPOCHS)
        control("number_input", words.seed, "seed", 0, 2**31 - 1, step=1, width=120)
        control("text_input", words.also, "also", width=300, help=words.also_help)


def _check_also(plan: WordVectorPlan, text: Text) -> None:
    """Say which of the words that the film is to hold the text does not have, and what is like."""
    for word in plan.also:
        if word not in text.tokenizer.vocabulary:
            like = nearest_spellings(word, text.tokenizer.vocabulary, 3)
            lost = words.also_lost.format(word=kit.quote(word))
            near = words.also_like.format(words=", ".join(map(kit.quote, like))) if like else ""
            kit.prose(lost + near)


def _changed(state: kit.PageState) -> None:
    state["trained"] = False
    _rewound(state)


def _rewound(state: kit.PageState) -> None:
    state["frame"] = -1  # a film that grows is followed


def _other_corpus(state: kit.PageState) -> None:
    _changed(state)
    state["center"] = 0
    state["epochs"] = EPOCHS_FOR[state["corpus"]]


# ---- training


def _film_part(
    state: kit.PageState, plan: WordVectorPlan, own: str | None, known: bool, going: bool
) -> None:
    """The film so far; known: whether all of it may be seen."""
    run = runs.own_run(state, plan, own)
    picture, frames = st.container(), run.film() if run is not None else None
    if frames is None and (run is None or going):
        frames = _bundled_film(waiting=run is not None)
    if frames is not None:
        with picture:
            word2vec_film.draw(state, frames if known else frames.beginning)


def _share(job: kit.Job) -> float:
    last = job.results[-1] if job.results else None
    return last.read / max(1, last.total) if isinstance(last, Frame) else 0.0


def _bundled_film(waiting: bool) -> WordFilm | None:
    try:
        frames = runs.bundled()
    except ValueError as error:
        kit.refuse(error)
        return None
    if frames is None:
        if not waiting:
            st.info(words.no_film, icon=":material/download:")
            st.code(words.no_film_command, language=None)
    elif waiting:
        st.caption(words.until)
    else:
        plan = runs.bundled_plan()
        about = {"corpus": words.corpora[plan.corpus], "rate": plan.train.learning_rate}
        st.caption(words.bundled_film.format(**about, **plan.model_options))
    return frames


def _after(
    state: kit.PageState, plan: WordVectorPlan, run: runs.OwnRun | None
) -> dict[str, str] | None:
    """Show the text under a whole film; return what was seen."""
    if run is None:
        frames, plan = runs.bundled(), runs.bundled_plan()
    else:
        frames = run.film()
        if frames is not None and run.frames[-1].seconds > 0 and not run.job.problem:
            last = run.frames[-1]
            speed = last.read / last.seconds
            kit.prose(words.took, words=last.read, seconds=last.seconds, speed=speed)
    if frames is None:
        return None
    learned = word2vec_film.say_neighbours(state, frames)
    width = frames.vectors.shape[2]
    held = words.held if len(frames.words) < frames.vocabulary else words.held_all
    about_map = words.about_map[min(width, 3)].format(width=width, n=len(frames.words))
    kit.prose(held.format(n=len(frames.words), all=frames.vocabulary))
    (kit.prose if width < 3 else kit.measured)(about_map)
    return {
        "corpus": words.end_corpora[plan.corpus],
        "count": kit.count(frames.vocabulary, "word"),
        "learned": learned,
    }


def _code(
    state: kit.PageState, plan: WordVectorPlan, own: str | None, text: Text, run: runs.OwnRun | None
) -> None:
    names: Any
    if run is not None and run.end is not None and len(own or "") <= kit.IN_SNIPPET:
        vectors, names, snippet = run.end.word, text.tokenizer, words.snippet_own
        filled = {"plan": plan.to_dict(), "text": own}
    elif runs.BUNDLED in engine.names():
        bundled = engine.load(runs.BUNDLED)
        vectors, names, snippet = bundled.model.vectors(), bundled.tokenizer, words.snippet
        filled = {"name": runs.BUNDLED}
    else:
        return
    word = next((w for w in state["watch"] if w in names.vocabulary), names.vocabulary[-1])
    row = names.vocabulary.index(word)
    near = nearest(vectors, vectors[row], min(5, len(vectors) - 1), exclude=[row])
    kit.show_code(
        [train_skip_gram, film],
        snippet.format(word=word, **filled),
        str([names.token_bytes(int(i)).decode() for i in near.ids]),
    )
