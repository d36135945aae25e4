"""The chapter on word2vec without a browser: the pairs, the film, a training of the learner."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from llmviz.course.lessons.embeddings.word2vec import plan as plans
from llmviz.course.lessons.embeddings.word2vec import run as runs
from llmviz.course.lessons.embeddings.word2vec import words
from llmviz.course.ui import engine
from llmviz.models.word2vec import SkipGramConfig
from llmviz.models.word2vec_training import first_reading
from llmviz.similarity import nearest
from llmviz.similarity.film import film_maps
from llmviz.training.run_folder import load_trained
from llmviz.training.word_vectors import Frame, film, load_film, read_text
from tests.pages.harness import boxes, fine, fine_page, prose_of, run_snippet, sent, snippets

pytestmark = pytest.mark.usefixtures("ready")

TEXT = "The dog barked at the cat. The cat meowed at the dog. A red bird sang, a blue bird flew."


def open_chapter(**link: str):
    return fine_page("embeddings", part="word2vec", **link)


def trained(app, seconds: float = 120):
    """Run the page until its training is over."""
    deadline = time.monotonic() + seconds
    while True:
        app.run()
        fine(app)
        if app.session_state[runs.OWN].job.over:
            app.run()
            return app
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_bundled_film_is_drawn_and_its_last_frame_is_the_model():
    app = open_chapter(watch="Monday,cat")
    data = sent(app, "scatter_film")
    read = int(data["captions"][12].split()[0].replace(",", ""))  # "after a quarter of the words"
    assert read == pytest.approx(
        int(data["captions"][-1].split()[0].replace(",", "")) / 4, rel=1e-4
    )
    kept = load_film(engine.CHECKPOINTS / runs.BUNDLED)
    model = load_trained(engine.CHECKPOINTS / runs.BUNDLED)
    names = model.tokenizer.vocabulary
    vectors = model.model.vectors()
    assert data["labels"] == [names[i] for i in kept.rows]
    assert np.array_equal(kept.vectors[-1], vectors[kept.rows])
    assert np.allclose(data["points"], film_maps(kept.vectors), atol=1e-5)
    assert data["curve"]["values"][0] is None
    assert data["curve"]["values"][-1] == pytest.approx(float(kept.loss[-1]))
    for near in data["near"]:
        for frame in (0, 7, -1):
            rows = kept.vectors[frame].astype(np.float64)
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            cosines = unit @ unit[near["point"]]
            cosines[near["point"]] = -2
            best = np.argsort(-cosines, kind="stable")[:8]
            assert near["ids"][frame].tolist() == best.tolist()
            assert np.allclose(near["values"][frame], cosines[best], atol=1e-5)
    assert [data["labels"][near["point"]] for near in data["near"]] == ["Monday", "cat"]
    assert "The film comes with the app" in " ".join(one.value for one in app.caption)
    ((snippet, prints),) = snippets(app)
    row = names.index("Monday")
    found = nearest(vectors, vectors[row], 5, exclude=[row]).ids
    assert prints == str([names[i] for i in found])
    assert run_snippet(snippet).strip() == prints


def test_only_the_beginning_of_the_film_travels_before_the_guess(covers):
    app = open_chapter()
    assert len(sent(app, "scatter_film")["points"]) == 1 and not snippets(app)
    app.radio[0].set_value(0).run()
    fine(app)
    assert len(sent(app, "scatter_film")["points"]) == 25


def test_the_pairs_on_the_text_are_those_that_training_begins_with():
    app = open_chapter(window="3", seed="4", center="2")
    data = sent(app, "pairs_view")
    plan = runs.bundled_plan()
    text = read_text(plan)
    options = plan.model_options | {"window": 3, "vocab_size": text.tokenizer.vocab_size}
    settings = type(plan.train)(subsample=plan.train.subsample, seed=4)
    first = first_reading(SkipGramConfig.from_dict(options), text.documents, settings)
    n = len(data["texts"])
    flat = [i for document in text.documents[:9] for i in document][:n]
    assert data["texts"] == [text.tokenizer.token_bytes(i).decode() for i in flat]
    assert data["kept"].tolist() == first.kept[:n].tolist()
    inside = first.pairs[(first.pairs < n).all(axis=1)]
    assert data["pairs"].tolist() == inside.tolist()
    assert data["step"] == 2
    assert f"<code>{data['texts'][data['centers'][2]]}</code> pairs up" in prose_of(app)
    matrices = {m["name"]: m["values"] for m in sent(app, "matrix_view")["matrices"]}
    assert np.allclose(matrices["n"] @ matrices["w"].T, matrices["scores"], atol=1e-4)
    total = np.logaddexp(0, -matrices["signed"]).sum()
    assert np.allclose(matrices["costs"].sum(), total, atol=1e-4)
    assert f"{total:.2f}" in prose_of(app)


def test_settings_of_another_film_are_named():
    app = open_chapter(dim="2")
    shown = " ".join(caption.value for caption in app.caption)
    assert "24 numbers per vector" in shown and "window of 6" in shown
    assert len(sent(app, "scatter_film")["points"]) == 25


def test_the_page_says_which_words_a_film_follows_and_what_else_it_may():
    app = open_chapter(also="jealous, Mondey")
    all_words = [w for w in engine.tokenizer(runs.BUNDLED).vocabulary if w[0].isalnum()]
    assert f"{len(all_words):,} words of the text" in prose_of(app)
    assert "film follows 500" in prose_of(app)
    lost = prose_of(app).partition("so no film can follow it.")
    assert "<code>Mondey</code> is not in the text" in lost[0] and "Monday" in lost[2]
    many = open_chapter(also=",".join(f"w{i}" for i in range(21)))
    assert "at most" not in boxes(many) and "up to 20 words; there are 21" in boxes(many)


def test_a_film_follows_the_words_asked_for():
    link = {"corpus": "text", "text": TEXT, "dim": "2", "window": "2", "epochs": "1"}
    app = trained(open_chapter(**link, also="flew sang", trained="1"))
    assert sent(app, "scatter_film")["labels"][:2] == ["flew", "sang"]
    assert "The film follows all" in prose_of(app)
    refused = trained(open_chapter(**link, also="qzx", trained="1"))
    assert "'qzx' is not in the text" in boxes(refused)


def test_without_a_film_the_command_stands_there(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "CHECKPOINTS", tmp_path)
    app = open_chapter()
    assert words.no_film_command in [block.value for block in app.code]


def test_a_training_is_the_library_s_and_a_link_makes_it_again():
    link = {"corpus": "text", "text": TEXT, "dim": "3", "window": "2", "epochs": "5"}
    app = open_chapter(**link)
    fine(app.button(key="_embeddings.trained.job.begin").click().run())
    trained(app)
    assert app.query_params["trained"] == "1"
    plan = plans.plan_of(_State(corpus="text", dim=3, window=2, epochs=5))
    first, *frames, end = film(plan, TEXT)
    expected = [frame.vectors for frame in frames if isinstance(frame, Frame)]
    data = sent(app, "scatter_film")
    assert data["labels"] == [first.tokenizer.vocabulary[i] for i in first.rows]
    assert np.allclose(data["points"], film_maps(expected), atol=1e-5)
    assert np.array_equal(expected[-1], end.word[first.rows])
    (snippet, prints) = snippets(app)[0]
    assert "film(plan" in snippet and run_snippet(snippet).strip() == prints
    again = open_chapter(**link, trained="1")
    trained(again)
    assert np.array_equal(sent(again, "scatter_film")["points"], data["points"])
    # Another setting shows the bundled film again; going back finds the own one.
    app.slider[0].set_value(3).run()
    fine(app)
    assert "trained" not in app.query_params
    assert len(sent(app, "scatter_film")["labels"]) == 500
    app.slider[0].set_value(2).run()
    assert len(sent(app, "scatter_film")["labels"]) == len(first.rows)


class _State(dict):
    """The controls at their defaults but for some."""

    def __init__(self, **values):
        from llmviz.course.lessons.embeddings.word2vec import PARAMS

        super().__init__({param.key: param.default for param in PARAMS} | values)


def test_a_training_pauses_goes_on_and_stops_and_outlives_a_change_of_page():
    app = open_chapter(corpus="story", epochs="500", dim="8")
    app.button(key="_embeddings.trained.job.begin").click().run()
    run = app.session_state[runs.OWN]
    deadline = time.monotonic() + 120
    while len(run.job.results) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    fine(app.button(key="_embeddings.trained.job.pause").click().run())
    assert run.job.state == "paused"
    held = len(run.job.results)
    app.switch_page("pages/glossary.py").run()
    app.switch_page("pages/embeddings.py").run()
    fine(app)
    assert app.session_state[runs.OWN] is run and len(run.job.results) <= held + 1
    assert app.query_params["part"] == "word2vec"
    app.button(key="_embeddings.trained.job.go_on").click().run()
    app.button(key="_embeddings.trained.job.stop").click().run()
    trained(app)
    assert run.job.state == "stopped"
    shown = sent(app, "scatter_film")
    assert len(shown["points"]) == len(run.frames) >= 2
    fine(app)


@pytest.mark.slow
def test_a_run_that_diverges_is_shown_and_stopped_with_one_line():
    link = {"corpus": "text", "text": TEXT * 9, "dim": "4", "epochs": "50", "rate": "1000"}
    app = trained(open_chapter(**link, trained="1"))
    assert "the training diverged" in boxes(app) and len(app.error) == 1
    assert "try a learning rate below 1000" in boxes(app)
    data = sent(app, "scatter_film")
    assert np.isfinite(data["points"]).all() and np.abs(data["points"]).max() > 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("one two three", "more words than the window of 6, and a document"),
        (" ", "empty"),
        ("? ! . , ; : ( ) ?", "the text has no words"),
    ],
)
def test_a_text_that_cannot_be_learned_from_is_named(text, said):
    app = open_chapter(corpus="text", text=text, trained="1")
    if said.startswith("the text"):
        trained(app)
    assert said in boxes(app) and len(app.error) == 1
    assert app.text_area[0].value == text


def test_one_dimension_is_a_line_with_a_lane_for_each_kind():
    app = open_chapter(corpus="text", text=TEXT * 3, dim="1", window="2", trained="1")
    trained(app)
    data = sent(app, "scatter_film")
    assert (data["points"][:, :, 1] == data["kinds"]).all()
    assert data["equal"] is False
    told = re.search(r"the first of them with a\s+distance of (\S+)\.<", prose_of(app))
    assert float(told[1]) == pytest.approx(data["near"][0]["values"][-1, 0], rel=0.06)
    assert len(sent(app, "matrix_view")["matrices"]) == 7


def test_words_of_a_link_that_are_not_in_the_film_are_named_and_passed_over():
    app = open_chapter(watch="nonsense,Monday", kinds="99,3")
    data = sent(app, "scatter_film")
    assert [data["labels"][near["point"]] for near in data["near"]] == ["Monday"]
    assert data["lit"] == [3]
    assert "words of this film: <code>nonsense</code>." in prose_of(app)
    assert sent(open_chapter(watch=""), "scatter_film")["near"] == []


def test_vectors_are_kept_for_the_other_lessons(monkeypatch, tmp_path):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    link = {"corpus": "text", "text": TEXT * 4, "dim": "4", "window": "2", "trained": "1"}
    app = trained(open_chapter(**link))
    run = app.session_state[runs.OWN]
    fine(app.button(key="embeddings.word2vec.keep").click().run())
    assert run.kept == "run:word2vec-4" and run.kept in engine.own()
    assert "word2vec-4" in prose_of(app)
    loaded = engine.load(run.kept)
    assert np.array_equal(loaded.model.vectors(), run.end.word)
    assert loaded.tokenizer.vocabulary == run.beginning.tokenizer.vocabulary
    maps = fine_page("embeddings", part="maps", of=run.kept, spots="dog", near="3")
    assert "dog" in sent(maps, "scatter_film")["labels"]
    table = fine_page("embeddings", part="lookup", model=run.kept, word="dog")
    assert [str(box.value) for box in [*table.warning, *table.error]] == []
    # A second one does not take the first one's place; a full disk is one clear line.
    other = trained(open_chapter(**(link | {"seed": "1"})))
    fine(other.button(key="embeddings.word2vec.keep").click().run())
    assert "run:word2vec-4-2" in engine.own()
    third = trained(open_chapter(**(link | {"seed": "2"})))
    monkeypatch.setattr(runs, "save_vectors", _full_disk)
    fine(third.button(key="embeddings.word2vec.keep").click().run())
    assert "the vectors cannot be kept: No space left" in boxes(third)


def _full_disk(*_, **__):
    raise OSError(28, "No space left on device")
