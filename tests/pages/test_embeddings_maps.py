"""The chapter on maps without a browser: points, their true neighbours, what is said of them."""

from __future__ import annotations

import json
import re
import time
from functools import partial

import numpy as np
import pytest

from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.maps import atlas as maps_atlas
from llmviz.course.lessons.embeddings.maps import words
from llmviz.course.lessons.embeddings.maps.atlas import Request, ground
from llmviz.course.lessons.embeddings.word_maps import judge, mapped_rows
from llmviz.processes.background import JobPool
from llmviz.similarity import kmeans, project
from tests.pages.finished_job import FakeJob
from tests.pages.harness import charts, fine_page, prose_of, run_snippet, sent, snippets

pytestmark = pytest.mark.usefixtures("ready")

NAME = "tiny-world-word2vec"


@pytest.fixture
def at_once(monkeypatch):
    """Maps are drawn by PCA, in this process, under whatever name they were asked for."""
    asked = []

    class Quick(JobPool):
        def start(self, target, *, matrix, orientation, **arguments):
            asked.append(arguments)
            return FakeJob([project(matrix, "pca", arguments["dimensions"])[:, ::-1] * 3])

    monkeypatch.setattr(maps_atlas.kit, "map_jobs", Quick)
    own = maps_atlas.Atlas()
    monkeypatch.setattr("llmviz.course.lessons.embeddings.maps.chapter.atlas", lambda: own)
    return asked


open_chapter = partial(fine_page, "embeddings", part="maps")


def captions(app) -> str:
    return " ".join(caption.value for caption in app.caption)


def vectors_of(words: list[str], unit: bool) -> np.ndarray:
    table = sources.table(NAME)
    rows = table.matrix[[table.rows_of_words[word] for word in words]].astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if unit else rows


@pytest.mark.parametrize("near", ["1", "3"])
def test_so_few_neighbours_that_nothing_can_be_asked_of_them_are_shown(near):
    (row,) = sent(open_chapter(spots="Monday", near=near), "case_rows")["rows"]
    assert row["value"] is not None


@pytest.mark.parametrize("by", ["cosine", "euclidean"])
def test_a_point_s_lines_go_to_its_true_neighbours(by):
    app = open_chapter(spots="cat,Paris", points="2000", near="7", by=by)
    data = sent(app, "scatter_film")
    rows = vectors_of(data["labels"], by == "cosine")
    points = data["points"][0].astype(np.float64)
    assert np.allclose(points, project(rows, "pca"), atol=1e-5)
    assert [data["labels"][near["point"]] for near in data["near"]] == ["cat", "Paris"]
    for near in data["near"]:
        i = near["point"]
        distance = np.linalg.norm(rows - rows[i], axis=1)
        drawn = np.linalg.norm(points - points[i], axis=1)
        distance[i] = drawn[i] = np.inf
        true, shown = np.argsort(distance)[:7], np.argsort(drawn)[:7]
        assert near["ids"][0].tolist() == true.tolist()
        expected = rows[true] @ rows[i] if by == "cosine" else distance[true]
        assert np.allclose(near["values"][0], expected, atol=1e-5)
        false = [j for j in near["false"][0].tolist() if j >= 0]
        assert false == [j for j in shown if j not in true]
        assert data["notes"][i].startswith(f"{7 - len(false)} of its 7")


def test_before_the_guess_no_point_says_how_many_of_its_neighbours_are_true(covers):
    app = open_chapter()
    assert not sent(app, "scatter_film")["notes"]
    values = [row["value"] for row in sent(app, "case_rows")["rows"]]
    assert values[-1] is None and None not in values[:-1]


def test_the_trust_that_is_told_is_scikit_learn_s():
    from sklearn.manifold import trustworthiness as theirs

    app = open_chapter(points="200", near="12", spots="")
    here = ground(NAME, 200, "cosine")
    points = sent(app, "scatter_film")["points"][0]
    expected = theirs(here.vectors, points, n_neighbors=12)
    assert f"gives the map {expected:.3f}" in " ".join(prose_of(app).split())
    ((snippet, prints),) = snippets(app)
    assert prints == f"{expected:.3f}" and run_snippet(snippet).strip() == prints


def test_points_are_coloured_by_how_far_they_can_be_trusted():
    trust = sent(open_chapter(shade="trust"), "scatter_film")["shade"]
    kept = sent(open_chapter(shade="kept"), "scatter_film")["shade"]
    judged = judge(ground(NAME, 500, "cosine"), project(ground(NAME, 500, "cosine").vectors), 10)
    assert np.allclose(trust["values"], np.clip(judged.trust, trust["low"], 1), atol=1e-6)
    assert (judged.trust < trust["low"]).mean() <= 0.01
    assert np.allclose(kept["values"], judged.kept / 10)


def test_clusters_are_found_in_the_vectors_and_held_against_the_kinds():
    from sklearn.metrics import adjusted_rand_score

    app = open_chapter(shade="cluster", clusters="6", points="200", mapseed="4", off="1,3")
    here = ground(NAME, 200, "cosine")
    found = kmeans(here.vectors, 6, seed=4)
    data = sent(app, "scatter_film")
    assert np.array_equal(data["kinds"], found.labels) and data["lit"] == [0, 2, 4, 5]
    for cluster, name in enumerate(data["kindNames"]):  # each is named after its central word
        word = data["labels"].index(name.split(": ")[1])
        far = np.linalg.norm(here.vectors - found.centers[cluster], axis=1)
        assert far[word] == far[found.labels == cluster].min()
    known = here.kinds >= 0
    agreed = adjusted_rand_score(here.kinds[known], found.labels[known])
    assert f"<strong>{agreed:.3f}</strong>" in prose_of(app)
    (of_clusters, _) = snippets(app)
    assert run_snippet(of_clusters[0]).strip() == of_clusters[1]
    assert app.query_params["clusters"] in ("6", ["6"])  # a link restores them
    solid = json.loads(
        open_chapter(shade="cluster", clusters="3", space="3").get("plotly_chart")[0].proto.spec
    )
    named = [trace for trace in solid["data"] if ": " in trace.get("name", "")]
    assert len(named) == 3 and sum(len(trace["text"]) for trace in named) == 500


def test_more_clusters_than_points_are_refused_and_the_map_stays():
    app = open_chapter(shade="cluster", clusters="30", points="20")
    assert "30 clusters need 30 different points; there are 20" in " ".join(
        box.value for box in app.error
    )
    data = sent(app, "scatter_film")
    assert len(data["labels"]) == 20 and np.array_equal(
        data["kinds"], ground(NAME, 20, "cosine").kinds
    )
    (box,) = [one for one in app.number_input if one.label == words.clusters]
    assert box.value == 30  # what was typed stays
    box.set_value(5).run()
    assert not app.error and len(sent(app, "scatter_film")["kindNames"]) == 5


def test_words_of_every_kind_come_first_and_no_token_twice():
    table = sources.table(NAME)
    here = ground(NAME, 100, "cosine")
    assert len(set(here.kinds)) == 22
    every = mapped_rows(table, 10_000)
    assert len(set(every)) == len(every)
    special = set(table.tokenizer.special_tokens.values())
    assert set(every) == set(range(table.size)) - special
    assert mapped_rows(table, 40).tolist() == every[:40].tolist()


def test_three_dimensions_are_a_figure_to_turn():
    app = open_chapter(space="3", spots="Monday", near="5")
    spec = charts(app)[0]
    here = ground(NAME, 500, "cosine")
    points = project(here.vectors, "pca", 3)
    judged = judge(here, points, 5)
    drawn = sum(len(trace["text"]) for trace in spec["data"] if trace["mode"] == "markers")
    assert drawn == 500
    (rays,) = [trace for trace in spec["data"] if trace["mode"] == "text+markers"]
    i = here.labels.index("Monday")
    assert rays["text"] == ["Monday", *[""] * 5]
    named = re.findall("<code>([^<]*)</code> 0", prose_of(app))  # with the cosine behind it
    assert named == [here.labels[j] for j in judged.true[i]]
    scene = spec["layout"]["scene"]
    assert scene["zaxis"]["title"]["text"] == words.space_axes["pca"][2]
    # One scale for all three axes, and nothing lies outside of them.
    ends = np.array([scene[f"{axis}axis"]["range"] for axis in "xyz"])
    lengths = np.array([scene["aspectratio"][axis] for axis in "xyz"])
    assert np.ptp(np.diff(ends)[:, 0] / lengths) < 1e-9
    assert (ends[:, 0] < points.min(axis=0)).all() and (ends[:, 1] > points.max(axis=0)).all()


def test_a_map_that_takes_time_is_drawn_in_the_background_and_kept():
    from sklearn.manifold import trustworthiness as theirs

    link = {"map": "tsne", "points": "50", "perplexity": "5", "mapseed": "3"}
    app = open_chapter(**link)
    request = Request("tsne", 2, 3, 5.0, 15)
    here = ground(NAME, 50, "cosine")
    deadline = time.monotonic() + 120
    while not (drawing := maps_atlas.atlas().find(here, request)).job.over:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    app.run()
    assert drawing.job.state == "done" and len(drawing.job.results) == 3
    pca = project(here.vectors)
    expected = project(here.vectors, "tsne", 2, seed=3, perplexity=5, orientation=pca)
    points = sent(app, "scatter_film")["points"][0]
    trust = theirs(here.vectors, points, n_neighbors=10)
    assert f"gives the map {trust:.3f}" in " ".join(prose_of(app).split())
    assert trust > theirs(here.vectors, pca, n_neighbors=10)
    assert points.shape == expected.shape
    second = open_chapter(**link)
    assert maps_atlas.atlas().find(here, request) is drawing
    assert np.array_equal(sent(second, "scatter_film")["points"][0], points)
    # Each stage lies as the one before: no turn brings it closer.
    for before, after in zip([pca, *drawing.job.results], drawing.job.results, strict=False):
        u, _, vt = np.linalg.svd((after - after.mean(0)).T @ (before - before.mean(0)))
        assert np.allclose(u @ vt, np.eye(2), atol=1e-3)


def test_more_neighbours_than_points_are_lowered_and_said(at_once):
    app = open_chapter(map="tsne", points="50", perplexity="100", near="30")
    assert "perplexity of 100 needs more points than 50. So 16.3" in captions(app)
    assert "fewer neighbours than half of the 50 points. So 24 are used, not 30" in captions(app)
    assert sent(app, "scatter_film")["near"][0]["ids"].shape == (1, 24)
    assert at_once[-1]["perplexity"] == pytest.approx(49 / 3)
    app = open_chapter(map="umap", points="50", graph="100")
    assert "There are only 50 points: 49 neighbours" in captions(app)
    assert at_once[-1]["neighbours"] == 49


def test_a_failure_is_one_clear_line_over_the_map_of_pca(monkeypatch, at_once):
    failed = FakeJob([])
    failed.state, failed.problem = "failed", "t-SNE needs at least 4 points; got 3"
    monkeypatch.setattr(maps_atlas.Atlas, "ask", lambda *_: maps_atlas.Drawing(failed))
    app = open_chapter(map="tsne")
    assert [box.value.replace("\\", "") for box in app.error] == [failed.problem]
    assert len(sent(app, "scatter_film")["points"][0]) == 500


def test_other_tables_and_unknown_words(at_once):
    app = open_chapter(of="names-gpt", spots="nonsense,a", map="umap")
    data = sent(app, "scatter_film")
    assert 20 < len(data["labels"]) < 50
    assert [data["labels"][near["point"]] for near in data["near"]] == ["a"]
    assert "has no other tokens to draw" in captions(app)
    assert "tokens of this map: <code>nonsense</code>." in prose_of(app)
    gone = open_chapter(of="nonsense")
    assert any("nonsense" in warning.value for warning in gone.warning)


def forget() -> None:
    maps_atlas._ground.clear()
    maps_atlas.flat_map.clear()


def test_a_token_of_zeros_has_no_direction_and_is_left_out(monkeypatch):
    table = sources.table(NAME)
    matrix = table.matrix.copy()
    matrix[table.rows_of_words["Monday"]] = 0
    changed = type(table)("zeros", matrix, table.tokenizer)
    monkeypatch.setattr(sources, "table", lambda name: changed)
    forget()
    try:
        app = open_chapter()
        assert "1 token with a row of zeros" in captions(app)
        assert "Monday" not in sent(app, "scatter_film")["labels"]
    finally:
        forget()


def test_no_component_takes_the_slot_of_a_control():
    """A component's key in the session must not be the name under which a control is kept."""
    app = open_chapter(map="pca", space="2", near="5")
    keys = {part.proto.id.split("-")[-1] for part in app.get("bidi_component")}
    assert not keys & {f"embeddings.{key}" for key in app.query_params}
    app.run()
    app.run()
    assert [str(error.value) for error in app.exception] == []
