"""Chapter "Maps": many dimensions drawn in two or three, and how far such a drawing is true."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings import words as page_words
from llmviz.course.lessons.embeddings.maps import (
    DEFAULT_VECTORS,
    GRAPH,
    PERPLEXITIES,
    POINTS,
    of_snippet,
    picture,
    words,
)
from llmviz.course.lessons.embeddings.maps import picture as maps_clusters
from llmviz.course.lessons.embeddings.maps.atlas import (
    Ground,
    Request,
    atlas,
    flat_map,
    ground,
    judged,
)
from llmviz.course.lessons.embeddings.word_maps import Judged, mapped, of_own_kind
from llmviz.course.ui import kit
from llmviz.similarity import project, trustworthiness
from llmviz.similarity.trust import trust_of_points


def say(here: Ground, judged: Judged, method: str, request: Request) -> None:
    """Say how true a map is as a whole, and what its method does."""
    k, n = judged.k, here.size
    kept = float(judged.kept.mean())
    paragraphs = [
        words.trust_of_map.format(
            name=words.methods[method],
            trust=float(judged.trust.mean()),
            kept=kept,
            k=k,
            share=kit.percent(kept / k),
            chance=k / (n - 1) * k,
        )
    ]
    paragraphs.append(_own_kind(here, judged))
    paragraphs.append(words.about[method].format(d=request.dimensions))
    kit.prose("\n\n".join(filter(None, paragraphs)))


def _own_kind(here: Ground, judged: Judged) -> str:
    """How many neighbours of a word are of its own kind, before training or after it."""
    share, chance = of_own_kind(here, judged.k)
    if np.isnan(share):
        return ""
    untrained = here.name[-1]
    line = words.own_kind_before if untrained else words.own_kind
    return line.format(k=judged.k, share=kit.percent(share), chance=kit.percent(chance))


def neighbour_question(
    here: Ground, judged: Judged, spots: list[int], method: str
) -> tuple[kit.Question, int] | None:
    """Return a question how many of a point's neighbours on the map are true, and which point.

    It is none of the chosen ones, whose lines are drawn. None where no point is fit.
    """
    free = [i for i in range(0, here.size, 7) if i not in spots]
    for i in sorted(free, key=lambda j: abs(int(judged.kept[j]) - judged.k / 3)):
        question = kept_question(here, judged, i, method)
        if question is not None:
            return question, i
    return None


def end(here: Ground, judged: Judged, method: str) -> None:
    """Say what was seen, on this map."""
    kit.seen(
        words.end,
        name=words.methods[method],
        n=here.size,
        c=kit.count(here.vectors.shape[1], "number"),
        d=judged.points.shape[1],
        kept=float(judged.kept.mean()),
        k=judged.k,
        worst=int(judged.kept.min()),
    )


def kept_question(here: Ground, judged: Judged, i: int, method: str) -> kit.Question | None:
    """Return the question how many neighbours of point i on a map are true ones.

    None where the k nearest are not one set, on the map or in truth, because the last of them and
    the next are equally far; and where the answers would be too near each other.
    """
    k, right = judged.k, int(judged.kept[i])
    if not (_one_set(here.vectors, i, k) and _one_set(judged.points, i, k)):
        return None
    others = [n for n in dict.fromkeys((k, 0, k // 2, k - 2)) if abs(n - right) >= 2][:2]
    if len(others) < 2:
        return None
    true = ", ".join(kit.quote(here.labels[j]) for j in judged.true[i][:4])
    c, d = here.vectors.shape[1], judged.points.shape[1]
    about = {"n": right, "k": k, "true": true, "name": words.methods[method], "c": c, "d": d}
    fewer = words.ask_fewer if c > d else words.ask_fewer_flat
    reasons = {n: fewer if n > right else words.ask_more for n in others}
    return kit.Question.among(
        words.ask,
        {right: words.ask_right, **reasons},
        right,
        lambda n: words.ask_answer.format(n=n, k=k),
        word=kit.quote(here.labels[i]),
        **about,
    )


def _one_set(points: np.ndarray, i: int, k: int) -> bool:
    """Whether the k points nearest to one of (N, d) are one set: no tie at the last of them."""
    far = np.sort(np.linalg.norm(points - points[i], axis=1))
    return len(far) <= k + 1 or far[k + 1] - far[k] > 1e-9 * max(far[k], 1e-300)


def code(state: kit.PageState, request: Request, judged: Judged) -> None:
    kit.show_code(
        [mapped, project, trustworthiness, trust_of_points],
        words.snippet.format(
            **of_snippet(state),
            arguments=request.arguments(),
            k=judged.k,
        ),
        f"{judged.trust.mean():.3f}",
    )


KEY, GUESS = "embeddings.maps", "embeddings.maps.ask"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the map and its controls, the guess about it, and what is true of it."""
    kit.prose(words.hook)
    if not _vectors(state):
        return
    kit.prepare_umap()  # returns at once
    with kit.stage("maps"):
        bars_here, map_here = st.container(), st.container()
        kit.choose(state, "map", words.method, words.methods)
    with st.expander(words.more, icon=":material/tune:"):
        _controls(state)
    try:
        here = ground(state["of"], state["points"], state["by"], untrained=_untrained(state))
        if here.size < 5:
            raise ValueError(words.too_few.format(n=here.size))
        request = _request(state, here)
    except ValueError as error:
        kit.refuse(error)
        return
    drawing = None if request.method == "pca" else atlas().ask(here, request)
    if drawing is not None:
        kit.watch_only(KEY, drawing.job)

    def going() -> bool:
        return drawing is not None and not drawing.job.over

    with map_here:
        kit.polled(lambda _: _map_part(state, here, request), going)
    if going():
        kit.Guess(GUESS, None).ask()
        kit.looks(state, words.looks, f"{KEY}.looks")
        return
    points, method = _points(here, request)
    truth = judged(here, points, state["near"])
    spots = chosen_spots(state, here)
    shown = _ask(here, truth, spots, method, bars_here)
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.trusted)
    if shown:
        say(here, truth, method, request)
    maps_clusters.say(state, here, maps_clusters.colours(state, here))
    code(state, request, truth)
    if shown:
        end(here, truth, method)


def _ask(
    here: Ground, truth: Judged, spots: list[int], method: str, bars_here: DeltaGenerator
) -> bool:
    """Ask how many of a point's neighbours on the map are true; return whether all may be told."""
    question, *at = neighbour_question(here, truth, spots, method) or (None,)
    guess = kit.Guess(GUESS, question)
    cases = [_case(here, truth, spot) for spot in (*spots, *at)]
    axis = kit.Axis(0, truth.k, words.kept_axis.format(k=truth.k))
    with bars_here:
        if cases:
            guess.cases(
                cases, axis, veiled=[len(spots)] if at else [], picture=f"{KEY}.kept", form="count"
            )
    return guess.ask()


def _case(here: Ground, truth: Judged, i: int) -> kit.Case:
    return kit.Case(here.labels[i], int(truth.kept[i]))


def _points(here: Ground, request: Request) -> tuple[np.ndarray, str]:
    """The points that are drawn, and the method that they come from: PCA until another is there."""
    if request.method != "pca":
        job = atlas().ask(here, request).job
        if job.results and (job.over or len(job.results) > 1):
            return job.results[-1], request.method
    return flat_map(here, request.dimensions), "pca"


def _vectors(state: kit.PageState) -> bool:
    known = sources.names(state["of"])
    if not known:
        st.info(page_words.no_table, icon=":material/download:")
        st.code(page_words.no_table_command.format(name=DEFAULT_VECTORS), language=None)
        return False
    if state["of"] == DEFAULT_VECTORS and DEFAULT_VECTORS not in known:
        state["of"] = known[0]
    kit.keep(state, "of", known)
    return True


def _untrained(state: kit.PageState) -> bool:
    """Whether the table before training is asked for, of a model whose beginning is known."""
    return state["untrained"] and sources.can_begin(state["of"])


def _controls(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        known = sources.names(state["of"])
        st.selectbox(
            page_words.vectors, known, format_func=kit.label, width=240, **state.bind("of")
        )
        if sources.can_begin(state["of"]):
            st.toggle(words.untrained, help=words.untrained_help, **state.bind("untrained"))
        kit.choose(state, "space", words.space, words.spaces)
        kit.choose(state, "by", words.by, words.nearness)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        _stops(words.points, POINTS, state, "points")
        if state["map"] == "tsne":
            _stops(words.perplexity, PERPLEXITIES, state, "perplexity")
        if state["map"] == "umap":
            _stops(words.graph, GRAPH, state, "graph")
        if state["map"] != "pca" or state["shade"] == "cluster":
            st.number_input(words.seed, step=1, width=110, **state.ranged("mapseed"))
        st.slider(words.near, width=200, **state.ranged("near"))
        kit.choose(state, "shade", words.shade, words.shades)
        if state["shade"] == "cluster":
            st.number_input(words.clusters, step=1, width=110, **state.ranged("clusters"))


def _stops(label: str, stops: tuple[int, ...], state: kit.PageState, key: str) -> None:
    options = sorted({*stops, state[key]})
    st.select_slider(label, options, width=200, **state.bind(key))


def _request(state: kit.PageState, here: Ground) -> Request:
    """What is to be drawn; settings that do not reach the map do not make it another one."""
    method = state["map"]
    most = (here.size - 1) / 3
    perplexity = min(float(state["perplexity"]), most)
    graph = min(state["graph"], here.size - 1)
    if method == "tsne" and perplexity < state["perplexity"]:
        st.caption(words.less_perplexity.format(asked=state["perplexity"], n=here.size, used=most))
    if method == "umap" and graph < state["graph"]:
        st.caption(words.less_graph.format(asked=state["graph"], n=here.size, used=graph))
    return Request(
        method,
        int(state["space"]),
        state["mapseed"] if method != "pca" else 0,
        perplexity if method == "tsne" else 30.0,
        graph if method == "umap" else 15,
    )


# ---- the map


def _map_part(state: kit.PageState, here: Ground, request: Request) -> None:
    """The map as far as it is, and what is true about it; looked at again while it is drawn."""
    if request.method != "pca":
        drawing = atlas().ask(here, request)
        if drawing.job.problem:
            _failed(here, request, drawing.job.problem, drawing.job.expected)
        elif not drawing.job.over:
            _waiting(request, drawing.seconds, len(drawing.job.results), drawing.job.before)
    points, method = _points(here, request)
    truth, spots = judged(here, points, state["near"]), chosen_spots(state, here)
    draw_map = picture.flat if request.dimensions == 2 else picture.in_space
    colours = maps_clusters.colours(state, here)
    found = neighbour_question(here, truth, spots, method)
    revealed = found is None or kit.Guess(GUESS, found[0]).open
    draw_map(state, picture.MapView(here, truth, spots, method, colours, revealed))
    if request.dimensions == 2:
        i = spots[0] if spots else 0
        kit.prose(
            words.caption if spots else words.caption_none,
            n=here.size,
            k=truth.k,
            c=here.vectors.shape[1],
            word=kit.quote(here.labels[i]),
            kept=int(truth.kept[i]),
        )
    _say_limits(state, here, truth)


def _failed(here: Ground, request: Request, problem: str, expected: bool) -> None:
    if not expected:
        atlas().forget(here, request)
        raise RuntimeError(problem)  # a bug, and not the learner's
    kit.refuse(ValueError(problem))


def _waiting(request: Request, seconds: float, frames: int, before: int) -> None:
    name = words.methods[request.method]
    if before:
        text = words.queued.format(before=kit.count(before, "map"))
    elif request.method == "umap" and not kit.prepare_umap()[1].over:
        text = words.first_umap.format(seconds=seconds)
    else:
        text = words.drawing.format(name=name, seconds=seconds)
    # t-SNE reports its start and each half of its iterations; UMAP reports nothing before its end.
    share = {0: 0.05, 1: 0.15, 2: 0.6}.get(frames, 0.95)
    st.progress(share if request.method == "tsne" else min(0.95, seconds / 25), text=text)


def _say_limits(state: kit.PageState, here: Ground, judged: Judged) -> None:
    if here.left_out:
        st.caption(words.left_out.format(n=kit.count(here.left_out, "token")))
    if here.size < state["points"] - here.left_out:
        name = kit.escape_markdown(kit.label(here.name[0]))
        st.caption(words.all_of_them.format(n=here.size, name=name))
    lost = [word for word in state["spots"] if word not in here.labels]
    if lost and state["spots"] != state.params["spots"].default:  # somebody asked for them
        kit.prose(words.not_here, n=here.size, words=", ".join(map(kit.quote, lost)))
    if judged.k < state["near"]:
        st.caption(words.less_near.format(asked=state["near"], n=here.size, used=judged.k))


def chosen_spots(state: kit.PageState, here: Ground) -> list[int]:
    """Return the points that are chosen, as far as they are on this map."""
    places = {label: i for i, label in reversed(list(enumerate(here.labels)))}
    return [places[word] for word in state["spots"] if word in places]
