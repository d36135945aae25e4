"""Chapter "Learn": the film of a BPE training, and words cut by the merges so far."""

import streamlit as st

from llmviz.course.components import FilmNode, FilmStep, TokenRow, bpe_film, token_strip
from llmviz.course.components.bpe_film.view import MergeTable, merge_table
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization import words as lesson_words
from llmviz.course.lessons.tokenization.learn import words
from llmviz.course.ui import kit
from llmviz.files.text import read_text_file
from llmviz.tokenizers import NEVER, TIE_RULES, BPETokenizer, Film, WordTokenizer
from llmviz.tokenizers.training import train_steps

GUESS = "learn.piece"
PIECE = "ing"
PAIRS = 26 * 26  # of letters
BEGIN = 20  # merges that the film shows before the guess
APART = 0.03  # of the merges between the answers of the question
FOLLOWED = 8  # words
SAMPLE = 400  # characters that the film shows
STEMS_SIZE = 257 + 360  # of the vocabulary from which the slider of stems takes its merges


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the film of a training and how far the second half of it gets, then other words."""
    head, stage, under = st.container(), kit.stage("learn"), st.container()
    corpus, size = st.columns([3, 1], gap="medium")
    corpus.pills(
        words.learn_corpus,
        required=True,
        wrap=True,
        **state.named("corpus", words.corpora),
    )
    size.number_input(words.learn_size, step=64, **state.ranged("size"))
    if state["corpus"] == sources.OWN:
        _own_corpus(state)
    kit.source(state, opened=True)
    try:
        film = sources.trained(state)
        # A corpus of the learner's own is the best sample of itself.
        sample = state["own"] if state["corpus"] == sources.OWN else state[kit.LEARNER_TEXT.key]
        film = film.following(sample[:SAMPLE])
    except ValueError as error:
        kit.refuse(error)
        return
    _tell_where_it_ends(state, film)
    made = piece_made(film)
    guess = kit.Guess(GUESS, piece_question(film, made), leads=f"step={made}")
    known = guess.open
    last = len(film.steps) if known else min(BEGIN, made - 1)
    step = min(state["step"], last)
    with head:
        kit.prose(words.hook, bytes=kit.count(film.corpus_length, "byte"))
    with stage:
        if guess.question is not None:
            cases, axis = [kit.Case(words.piece_line, made)], kit.Axis(1, len(film.steps))
            guess.cases(cases, axis, veiled=[0], picture="learn.made", form="count")
        if film.steps:
            _film(state, film, step, last)
            _curve(film, step)
    with under:
        guess.ask()
    if film.steps and known:
        kit.looks(state, words.looks, "learn.looks", **halves(film))
    kit.section(words.learn)
    _subwords(state, film, step)
    _stems(state)
    _code(state, film, step)
    if film.steps and known:
        kit.seen(words.end, **end(film))


def piece_made(film: Film) -> int:
    """Return the merge that makes *ing*, or else the first piece of three letters; 0: none does."""
    pieces = [merge.new_bytes.decode("utf-8", "replace") for merge in film.steps]
    made = {piece: n for n, piece in enumerate(pieces, 1) if len(piece) > 2 and piece.isalpha()}
    return made.get(PIECE, min(made.values(), default=0))


def halves(film: Film) -> dict[str, int]:
    """Return how many tokens the first half of the merges saves, and the second."""
    middle = length_after(film, (len(film.steps) + 1) // 2)
    last = length_after(film, len(film.steps))
    return {"first": film.corpus_length - middle, "second": middle - last}


def end(film: Film) -> dict[str, object]:
    """Return what the chapter ends with, for a training of at least one merge."""
    first = film.steps[0]
    return {
        "merges": kit.count(len(film.steps), "time"),
        "bytes": kit.count(film.corpus_length, "byte"),
        "tokens": kit.count(length_after(film, len(film.steps)), "token"),
        "first": kit.quote(visible_text(first.new_bytes)[0]),
    }


def _own_corpus(state: kit.PageState) -> None:
    """Show the box and the upload for a corpus of the learner's own; a file goes into the box."""
    left, right = st.columns(2, gap="medium")
    with left:
        kit.text_area(state, "own", words.own_label, height=130)

    def take() -> None:
        file = st.session_state["_corpus_file"]
        st.session_state["_corpus_refused"] = None
        if file is not None:
            try:
                state["own"] = read_text_file(file.getvalue(), sources.CORPUS_LIMIT)
            except ValueError as error:
                st.session_state["_corpus_refused"] = error

    right.file_uploader(
        words.own_upload.format(limit=f"{sources.CORPUS_LIMIT // 1_000} kB"),
        type=["txt", "md", "csv", "py", "json"],
        key="_corpus_file",
        max_upload_size=1,
        on_change=take,
    )
    refused = st.session_state.get("_corpus_refused")
    if refused is not None:
        with right:
            kit.refuse(refused)


def _tell_where_it_ends(state: kit.PageState, film: Film) -> None:
    """Say where the corpus had no pair left before the vocabulary was full."""
    vocabulary = film.tokenizer.vocab_size
    if not film.steps:
        line = words.no_merges if film.stopped_early else words.no_room
        st.info(line.format(vocabulary=vocabulary))
    elif film.stopped_early:
        merges = kit.count(len(film.steps), "merge")
        line = words.stopped_early.format(merges=merges, vocabulary=vocabulary, size=state["size"])
        st.info(as_markdown(line))


def _film(state: kit.PageState, film: Film, step: int, last: int) -> None:
    bpe_film(
        merges_of(*sources.asked_training(state), last),
        [
            FilmNode(n.byte_start, n.byte_end, n.born, None if n.died == NEVER else n.died, n.id)
            for n in film.nodes
        ],
        sample=film.sample,
        key="learn.film",
        corpus_length=film.corpus_length,
        base_vocab=256,
        tie_rule=TIE_RULES["lowest-ids"],
        step=step,
        of=len(film.steps),
        on_change=kit.bound(
            state, "learn.film", step=("step", lambda at: None if at == step else at)
        ),
    )


@kit.cached(24)
def merges_of(name: str, text: str | None, size: int, last: int) -> MergeTable:
    """Return the first merges of a training as the film is sent them."""
    return merge_table(film_steps(sources.training(name, text, size))[:last])


def film_steps(film: Film) -> list[FilmStep]:
    """Return the merges with their ids spelled out as bytes."""
    spelled = [film.tokenizer.token_bytes(i) for i in range(film.tokenizer.vocab_size)]
    return [
        FilmStep(
            pair=(spelled[merge.pair[0]], spelled[merge.pair[1]]),
            token=merge.new_bytes,
            count=merge.count,
            ties=merge.n_tied,
            top=[(spelled[a], spelled[b], times) for (a, b), times in merge.top],
            corpus_length=merge.corpus_length_after,
        )
        for merge in film.steps
    ]


def length_after(film: Film, step: int) -> int:
    """Return how many tokens the corpus has after `step` merges."""
    return film.steps[step - 1].corpus_length_after if step else film.corpus_length


def _curve(film: Film, step: int) -> None:
    tokens = length_after(film, step)
    kit.prose(
        words.learn_curve,
        step=kit.count(step, "merge"),
        all=f"{len(film.steps):,}",
        bytes=kit.count(film.corpus_length, "byte"),
        tokens=kit.count(tokens, "token"),
        ratio=film.corpus_length / max(1, tokens),
    )


def _subwords(state: kit.PageState, film: Film, step: int) -> None:
    kit.section(words.subwords, merges=kit.count(step, "merge"))
    kit.text_input(state, "follow", words.subwords_words, width=460)
    then = BPETokenizer(film.tokenizer.merges[:step])
    every = list(dict.fromkeys(WordTokenizer.split(state["follow"])))
    followed = every[:FOLLOWED]
    if len(every) > FOLLOWED:
        kit.inform(
            words.subwords_cut.format(all=len(every), followed=FOLLOWED), ":material/content_cut:"
        )
    rows = _word_rows(then, followed, sources.occurrences(state, followed))
    if rows:
        token_strip(rows, key="learn.subwords", show_ids=False)


def _stems(state: kit.PageState) -> None:
    kit.section(words.stems)
    st.slider(words.stems_merges, **state.ranged("stems"))
    trained = sources.training(sources.FORMS, None, STEMS_SIZE).tokenizer
    forms = words.stems_words.split()
    then = BPETokenizer(trained.merges[: state["stems"]])
    rows = _word_rows(then, forms, sources.times_in_forms(forms))
    token_strip(rows, key="learn.stems", show_ids=False)


def _word_rows(tokenizer: BPETokenizer, listed: list[str], times: list[int]) -> list[TokenRow]:
    """Return a row for each word, as it stands behind a space, with how often it stands there."""
    rows = []
    for word, often in zip(listed, times, strict=True):
        tokens = tokenizer.tokens(" " + word)
        note = words.subwords_note.format(
            pieces=kit.count(len(tokens), "piece"), times=kit.count(often, "time")
        )
        rows.append(TokenRow(word, tokens, note))
    return rows


def piece_question(film: Film, made: int) -> kit.Question | None:
    """Return at which merge a piece is made, as a question; None where no wrong answer is far.

    The wrong answers are those of somebody who counts the glues that its letters need, and of one
    who thinks that all pairs of two letters come before.
    """
    if made < 3:
        return None
    merge, all_merges = film.steps[made - 1], len(film.steps)
    wrong = {len(merge.new_bytes) - 1: "soon", min(PAIRS, all_merges): "late"}
    kinds = {at: kind for at, kind in wrong.items() if abs(at - made) >= APART * all_merges}
    if not kinds:
        return None
    kinds[made] = "tied" if merge.n_tied > 1 else "right"
    return kit.Question.among(
        words.ask,
        {at: words.ask_reasons[kind] for at, kind in kinds.items()},
        made,
        piece=kit.quote(visible_text(merge.new_bytes)[0]),
        all=all_merges,
        before=kit.count(made - 1, "glue"),
        count=kit.count(merge.count, "time"),
        ties=merge.n_tied,
    )


def _code(state: kit.PageState, film: Film, step: int) -> None:
    builds = sources.code_for_corpus(state)
    if not film.steps:
        return
    if builds is None:
        st.caption(lesson_words.no_snippet)
        return
    at = max(step, 1) - 1
    merge = film.steps[at]
    kit.show_code(
        [train_steps],
        words.snippet.format(builds=builds, size=state["size"], at=at),
        f"{len(film.steps)} {merge.pair} {merge.count} {merge.n_tied} {merge.new_bytes!r}\n"
        f"{merge.top}\n{merge.corpus_length_after}",
    )
