"""Chapter "Word2vec": how word vectors are learned, watched while it happens, and kept."""

import streamlit as st

from llmviz.background import PAUSED, RUNNING, WAITING
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
from llmviz.similarity import nearest, nearest_spellings
from llmviz.similarity.table import projector_labels
from llmviz.training import run_folders
from llmviz.training.word_vectors import Text, WordVectorPlan, film


def draw_kept(run: runs.OwnRun) -> None:
    """Offer the vectors of a finished run: as files, and to the other lessons."""
    table = runs.table(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not run.kept:
            st.button(
                words.keep,
                icon=":material/bookmark:",
                on_click=_keep,
                args=(run,),
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
        kit.prose(words.kept, name=kit.quote(run.kept.removeprefix(run_folders.PREFIX)))
    if problem := st.session_state.pop("embeddings.word2vec.kept", ""):
        kit.refuse(ValueError(problem))


def _keep(run: runs.OwnRun) -> None:
    try:
        runs.keep(run)
    except ValueError as error:
        st.session_state["embeddings.word2vec.kept"] = str(error)


PACE = 0.7  # seconds between two looks at a training


ahead = plans.usual_texts  # read once, before the first visitor asks
EPOCHS_FOR = {"tiny-world": 20, "story": 50, "text": 200}


STAGED = True
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
    if state["trained"] and runs.own_run(plan, own) is None:
        runs.start(plan, own)  # a link asked for it
    runs.warm_up()
    run = runs.own_run(plan, own)
    live = run is not None and not run.job.over
    asked = _question(state) if run is None else None
    known = asked is None or kit.answered(asked, GUESS)
    with kit.stage("word2vec", stays=False):
        st.fragment(_film_part, run_every=PACE if live else None)(state, plan, own, live, known)
    if asked is not None:
        kit.predict(asked, GUESS, covers=True)
    if known:
        kit.looks(state, words.looks, "embeddings.word2vec.looks")
    _text_controls(state)
    try:
        reading = word2vec_pairs.draw(state, plan, own, text)
    except ValueError as error:
        kit.refuse(error)
        return
    kit.section(words.train_section)
    _training_controls(state)
    _check_also(plan, text)
    st.fragment(_training_part, run_every=PACE if live else None)(state, plan, own, live)
    ends = None
    if not live and known:
        if run is not None and run.end is not None:
            draw_kept(run)
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
    watched = word2vec_film.watched(state, frames) if frames is not None else []
    text = plans.text_of(runs.bundled_plan(), None)
    window = runs.bundled_plan().model_options["window"]
    return word2vec_film.likest_question(frames, text, watched[0], window) if watched else None


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
    state["frame"] = -1


def _other_corpus(state: kit.PageState) -> None:
    _changed(state)
    state["center"] = 0
    state["epochs"] = EPOCHS_FOR[state["corpus"]]


# ---- training


def _film_part(
    state: kit.PageState, plan: WordVectorPlan, own: str | None, live: bool, known: bool
) -> None:
    """The film so far, looked at again as it grows; known: whether all of it may be seen."""
    run = runs.own_run(plan, own)
    if live != (run is not None and not run.job.over):
        st.rerun()  # looking again and again begins, or ends
    picture, frames = st.container(), run.film() if run is not None else None
    if frames is None and (run is None or not run.job.over):
        frames = _bundled_film(waiting=run is not None)
    if frames is not None:
        with picture:
            word2vec_film.draw(state, frames if known else frames.beginning)


def _training_part(state: kit.PageState, plan: WordVectorPlan, own: str | None, live: bool) -> None:
    """The buttons, and how far the training is."""
    run = runs.own_run(plan, own)
    if live != (run is not None and not run.job.over):
        st.rerun()  # the film is looked at again and again from now on, or no longer
    _buttons(state, plan, own, run)
    if run is not None:
        _progress(run)


def _bundled_film(waiting: bool) -> WordFilm | None:
    """Return the film that comes with the app, saying that it is that one."""
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


def _buttons(
    state: kit.PageState, plan: WordVectorPlan, own: str | None, run: runs.OwnRun | None
) -> None:
    going = run is not None and not run.job.over
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not going:
            st.button(
                words.train if run is None else words.again,
                icon=":material/play_arrow:",
                type="primary",
                on_click=_start,
                args=(state, plan, own),
                key="embeddings.word2vec.train",
            )
            return
        assert run is not None
        held = run.job.state == PAUSED
        st.button(
            words.go_on if held else words.pause,
            icon=":material/play_arrow:" if held else ":material/pause:",
            on_click=run.job.go_on if held else run.job.pause,
            key="embeddings.word2vec.pause",
        )
        st.button(
            words.stop,
            icon=":material/stop:",
            on_click=run.job.stop,
            key="embeddings.word2vec.stop",
        )


def _start(state: kit.PageState, plan: WordVectorPlan, own: str | None) -> None:
    runs.start(plan, own)
    state["trained"] = True
    state["frame"] = -1


def _progress(run: runs.OwnRun) -> None:
    """Say how far a run is, or why it ended."""
    job = run.job
    if job.problem:
        kit.refuse_failed(job)
        return
    if job.over:
        return
    share, text = 0.0, words.starting
    if run.frames:
        last = run.frames[-1]
        share = last.read / max(1, last.total)
        text = words.progress.format(read=last.read, total=last.total)
    elif job.state == WAITING and job.before:
        text = words.queued.format(before=kit.count(job.before, "training"))
    elif run.beginning is not None:
        text = words.reading
    st.progress(min(1.0, share), text=text if job.state in (RUNNING, WAITING) else words.paused)


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
    kit.prose(held.format(n=len(frames.words), all=frames.vocabulary) + "\n\n" + about_map)
    return {
        "corpus": words.end_corpora[plan.corpus],
        "count": kit.count(frames.vocabulary, "word"),
        "learned": learned,
    }


def _code(
    state: kit.PageState, plan: WordVectorPlan, own: str | None, text: Text, run: runs.OwnRun | None
) -> None:
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
