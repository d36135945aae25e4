"""The lesson on embeddings without a browser: tables, similarity, context.

What the pictures draw under the hand is tested in the browser; the arithmetic in tests/similarity.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from llmviz.course import components as lv
from llmviz.course.components import unpack
from llmviz.course.components.vector_table.view import table_picture
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.lookup import words as lookup_words
from llmviz.course.lessons.embeddings.similarity import parse_vector, words
from llmviz.course.lessons.embeddings.similarity import word_sums as chapter
from llmviz.course.lessons.embeddings.similarity import words as sum_words
from llmviz.course.lessons.embeddings.similarity.sums_model import scores
from llmviz.course.lessons.transformer.context import words as context_words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.prose import to_html
from llmviz.similarity import analogy, nearest, pairwise, renumbered
from llmviz.tokenizers import WordTokenizer
from llmviz.trace import record
from llmviz.training import TrainConfig
from llmviz.training.plan import Plan, prepare
from llmviz.training.run_folder import run_in_folder
from tests.pages import harness
from tests.pages.conftest import load_torch, use
from tests.pages.small_model import make_checkpoint

SAID = "the cat sat on a mat and a dog saw the king and the queen . a man saw a woman"
ODD = ("<script>alert(1)</script>", "![x](http://a) $x$ :red[y] `c` [[token]]", "👩‍🚀 한국어", "#")
LOOKS = ("pair", "neighbours", "analogy")  # the last is a chapter of its own now


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two small models: one that cuts words into pieces, one that knows whole words only."""
    target = tmp_path_factory.mktemp("checkpoints")
    make_checkpoint(target)
    make_checkpoint(target, "whole-words", tokenizer=WordTokenizer.train(SAID))
    return target


@pytest.fixture
def small(two, monkeypatch):
    """The two models are what is bundled; their tables."""
    use(monkeypatch, two)
    load_torch()
    return sources.table("tiny-world-gpt"), sources.table("whole-words")


def views(app) -> list[dict]:
    """What all views of matrices were sent."""
    parts = [part.proto for part in app.get("bidi_component")]
    return [unpack(p.bytes) for p in parts if p.component_name == "llmviz_matrix_view"]


def matrices(app) -> dict[str, np.ndarray]:
    """All matrices on the page by name."""
    return {m["name"]: m["values"] for view in views(app) for m in view["matrices"]}


def listed(app) -> dict[str, np.ndarray]:
    """The matrices of the list of words by name."""
    every = ({one["name"]: one["values"] for one in view["matrices"]} for view in views(app))
    return next(each for each in every if sum_words.unit_rows in each)


def box(app, label: str):
    return next(one for one in app.text_input if one.label == label)


def press(app, label: str):
    next(one for one in app.button if one.label == label).click().run()
    harness.fine(app)
    return app


def similarity(**link: str):
    return harness.fine_part("embeddings", "similarity", **link)


def test_picture_is_the_whole_table_with_the_row_of_the_word(small):
    table, _ = small
    app = harness.fine_part("embeddings", "lookup", word="the", text="The man on the bed")
    picture, choice = harness.sent(app, "vector_table"), harness.sent(app, "table_choice")
    row = table.find("the")
    assert choice["chosen"] == row and len(picture["labels"]) == table.size
    values = np.ascontiguousarray(picture["half"]).view("<f2")
    np.testing.assert_array_equal(values, table.matrix.astype("<f2"))
    assert choice["marks"] == sorted(set(table.tokenizer.encode("The man on the bed")))
    inside = np.mean(np.abs(table.matrix) <= picture["limit"])
    assert inside == pytest.approx(0.95, abs=0.01)  # "one number in 20 is larger"
    titles = [button.proto.label for button in app.get("download_button")]
    assert titles == [lookup_words.csv, lookup_words.tsv, lookup_words.labels]
    assert len(table.csv(sources.labels(table)).splitlines()) == 1 + table.size
    assert len(table.tsv().splitlines()) == table.size


def test_one_hot_times_the_table_is_the_row(small):
    table, _ = small
    for row, column in (("0", 0), (str(table.size - 1), 14), ("300", 5)):
        app = harness.fine_part("embeddings", "lookup", word=f"#{row}", column=str(column))
        shown = matrices(app)
        hot, part = shown[lookup_words.hot], shown[lookup_words.table]
        assert hot.sum() == 1
        np.testing.assert_allclose(hot @ part, shown[lookup_words.row], atol=1e-6)
        expected = table.matrix[int(row), column : column + 8]
        np.testing.assert_array_equal(shown[lookup_words.row][0], expected)


def test_dealt_ids_change_the_ids_and_no_cosine(small):
    table, _ = small
    app = harness.fine_part("embeddings", "lookup", word="the", beside="man")
    own = harness.prose_of(app)
    press(app, lookup_words.deal)
    dealt = harness.prose_of(app)
    i, j = table.find("the"), table.find("man")
    new = renumbered(table.size, 1)
    assert f"{abs(i - j):,} lines apart" in own and f"{abs(new[i] - new[j]):,} lines apart" in dealt
    cosine = f"{pairwise(table.matrix[[i, j]])[0, 1]:.2f}".replace("-", "−")
    for text in (own, dealt):
        assert f"a cosine of <strong>{cosine}</strong>" in text
    press(app, lookup_words.undeal)
    assert f"{abs(i - j):,} lines apart" in harness.prose_of(app)


def test_word_in_pieces_offers_them_and_its_likes(small):
    table, _ = small
    app = harness.fine_part("embeddings", "lookup", word="zebraish")
    assert "no row of its own" in harness.prose_of(app)
    assert app.text_input[0].value == "zebraish"
    row = table.read("zebraish")[0]
    pieces = next(group for group in app.pills if sources.labels(table)[row] in group.options)
    assert len(pieces.options) == len(set(table.read("zebraish")))
    pieces.set_value(table.name_of(row)).run()
    harness.fine(app)
    assert harness.sent(app, "table_choice")["chosen"] == row


def test_unknown_word_offers_the_nearest_spellings(small):
    for part, link in (
        ("lookup", {}),
        ("similarity", {"look": "pair"}),
        ("similarity", {"look": "neighbours"}),
    ):
        app = harness.fine_part("embeddings", part, model="whole-words", word="quen", **link)
        assert "not in the vocabulary" in harness.prose_of(app)
        next(group for group in app.pills if "queen" in group.options).set_value("queen").run()
        harness.fine(app)
        assert box(app, "First word" if part == "similarity" else "Word, or #id").value == "queen"
    app = similarity(kind="sentences", model="whole-words", s1="a quen sat", s2="a cat sat")
    assert "'quen' is not in the vocabulary" in harness.boxes(app) and "queen" in harness.prose_of(
        app
    )


@pytest.mark.parametrize(("pair", "cosine"), [("12", 0.9859), ("13", 0.4198), ("23", 0.3586)])
def test_three_sentences_have_their_right_values(pair, cosine):
    app = similarity(kind="numbers", pair=pair)
    cells_of = matrices(app)
    a, b = cells_of["A"][0], cells_of["B"][0]
    assert cells_of["A × B"].sum() == pytest.approx(float(a @ b))
    sums = {m["name"]: m["values"].item() for m in views(app)[-2]["matrices"][3:]}
    assert sums[words.labels["cosine"]] == pytest.approx(cosine, abs=5e-5)
    three = matrices(app)[words.list_label]
    assert three[int(pair[0]) - 1, int(pair[1]) - 1] == pytest.approx(cosine, abs=5e-5)
    distance = sums[words.labels["distance"]]
    assert distance == pytest.approx(np.linalg.norm(a - b), abs=5e-5)
    harness.snippets_print(app)


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ({"v2": "0, 0, 0"}, "undefined for a zero vector; the second one"),
        ({"v1": "0 0 0"}, "undefined for a zero vector; the first one"),
        ({"v2": "1, 2"}, "equal length; got 3 and 2"),
        ({"v2": "1, two, 3"}, "v2: number 2 is 'two', which is not a number"),
        ({"v2": "1, nan, 3"}, "v2: number 2 is nan"),
        ({"v2": " "}, "v2: there is no number"),
        ({"v2": "1 " * 65}, "64 numbers here; there are 65"),
    ],
)
def test_vectors_that_have_no_cosine_say_why(link, rule):
    app = similarity(kind="numbers", **link)
    assert rule in harness.boxes(app)
    ((key, typed),) = link.items()
    assert box(app, key).value == typed
    if "zero" in rule:  # the other two measures exist
        below = {sum_words.unit_rows, sum_words.step}  # of the list, and of the sum of words
        pictures = [{one["name"] for one in view["matrices"]} for view in views(app)]
        of, there = words.labels, set().union(*(names for names in pictures if not names & below))
        assert {of["dot"], of["distance"]} <= there and of["cosine"] not in there


def test_words_in_pieces_and_sentences_are_means(small):
    table, _ = small
    app = similarity(word="zebraish", other="the")
    np.testing.assert_allclose(
        matrices(app)["A"][0], table.matrix[list(table.read("zebraish"))].mean(0), atol=1e-6
    )
    assert "the mean of their rows" in harness.prose_of(app)
    app = similarity(word="thhe", other="the")
    next(group for group in app.pills if "·the" in group.options).set_value("the").run()
    harness.fine(app)
    assert box(app, words.first).value == "the"
    app = similarity(kind="sentences", s1="the man saw the dog", s2="the dog saw the man")
    assert "Both sentences have the same tokens" in harness.prose_of(app)
    shown = matrices(app)
    assert shown[words.labels["cosine"]].item() == pytest.approx(1)
    assert shown[words.labels["distance"]].item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("link", "case"),
    [
        ({"word": "", "other": "the"}, "word"),
        ({"word": "the", "other": " "}, "other"),
        ({"word": "", "other": ""}, "both"),
    ],
)
def test_a_missing_word_has_a_sentence_of_its_own_and_leaves_the_rest(small, link, case):
    app = similarity(**link)
    quoted = {key: kit.quote(word) for key, word in link.items()}
    assert unmarked(words.missing[case].format(**quoted)) in harness.boxes(app)
    assert not app.error and len(app.header) >= 2


def test_a_word_beside_itself_is_said_and_a_sentence_is_no_word(small):
    said = to_html(words.same_row.format(word=kit.quote("the")))
    assert said in harness.prose_of(similarity(word="the", other=" the"))
    app = similarity(kind="sentences", s1="the", s2="the")
    assert said not in harness.prose_of(app)


def test_list_is_every_cosine_and_names_what_it_leaves_out(small):
    table, _ = small
    app = similarity(look="list", list="the, man, zebraish, on, man, #5")
    rows = [table.find(word) for word in ("the", "man", "on", "#5")]
    np.testing.assert_allclose(
        listed(app)[sum_words.list_cosine], pairwise(table.matrix[rows]), atol=1e-6
    )
    assert "zebraish" in harness.prose_of(app)
    assert ", least " in harness.prose_of(app)
    assert ", least " not in harness.prose_of(
        similarity(look="list", list="the, man")
    )  # one pair only
    assert "at least 2 words; there is 1" in harness.boxes(
        similarity(look="list", list="the, zebraish")
    )
    many = ", ".join(f"#{i}" for i in range(17))
    assert "16 words; there are 17" in harness.boxes(similarity(look="list", list=many))


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
def test_neighbours_are_those_of_brute_force(small, metric):
    table, _ = small
    app = similarity(look="neighbours", word="the", metric=metric, k="7")
    row = table.find("the")
    rows = table.matrix.astype(np.float64)
    here = rows[row]
    values = {
        "cosine": rows @ here / np.linalg.norm(rows, axis=1) / np.linalg.norm(here),
        "euclidean": np.linalg.norm(rows - here, axis=1),
        "dot": rows @ here,
    }[metric]
    order = np.argsort(values if metric == "euclidean" else -values, kind="stable")
    best = [int(i) for i in order if i != row][:7]
    shown = matrices(app)
    np.testing.assert_allclose(shown[words.metrics[metric]][:, 0], values[best], rtol=1e-5)
    if metric == "cosine":
        *_, (_, prints) = harness.snippets(app)
        assert str(nearest(rows, here, 7, exclude=[row]).values.round(3)) in prints
        harness.snippets_print(app)
    (walk,) = (group for group in app.pills if group.label == words.walk)
    assert walk.options == [sources.labels(table)[i] for i in best]
    walk.set_value(table.name_of(best[2])).run()
    harness.fine(app)
    assert box(app, words.first).value == table.name_of(best[2])


def test_more_neighbours_than_rows_are_all_there_are(small):
    _, table = small
    app = similarity(look="neighbours", model="whole-words", word="king", k="30")
    assert len(matrices(app)[words.metrics["cosine"]]) == min(30, table.size - 1)


@pytest.mark.parametrize("inputs", ["0", "1"])
def test_analogy_ranks_the_rows_nearest_to_the_sum(small, inputs):
    _, table = small
    app = similarity(look="analogy", model="whole-words", inputs=inputs)
    rows = [table.find(word) for word in ("king", "man", "woman")]
    found = analogy(table.matrix, *rows, chapter.SHOWN, exclude_inputs=inputs == "0")
    shown = {m["name"]: m["values"] for m in views(app)[0]["matrices"]}  # below it is a list
    np.testing.assert_allclose(shown[sum_words.list_cosine][:, 0], found.values, atol=1e-6)
    one, less, more = (shown[name] for name in sum_words.sum_rows)
    np.testing.assert_allclose(one - less + more, shown[sum_words.sum], atol=1e-6)
    right = found.ids[0] == table.find("queen")
    said = re.sub("</?code>", "", harness.prose_of(app))
    of = {"a": "king", "b": "man", "c": "woman", "expected": "queen"}
    told = sum_words.expected_right.format(**of)
    missed = sum_words.expected_wrong.split("{rank")[0].format(**of)
    assert (told in said, missed in said) == (right, not right)
    alone, among = (scores(table, "pairs", exclude_inputs=way).right for way in (True, False))
    if inputs == "0":
        assert (sum_words.score_taken in said) == (among < alone)
    # The same sum, asked the other way round.
    app = similarity(look="analogy", model="whole-words", plus="woman", add="king", inputs=inputs)
    said = re.sub("</?code>", "", harness.prose_of(app))
    assert (told in said, missed in said) == (right, not right)


def test_known_pairs_fill_the_boxes(small):
    app = similarity(look="analogy", model="whole-words", plus="cat", minus="dog", add="mat")
    press(app, sum_words.another)
    typed = [box(app, label).value for label in sum_words.three]
    pairs = [("man", "woman"), ("king", "queen")]
    assert typed in [
        [first[i], second[i], second[1 - i]]
        for first in pairs
        for second in pairs
        if first != second
        for i in (0, 1)
    ]


def test_cosine_of_every_stage_is_that_of_the_model(small):
    bundled = engine.load("tiny-world-gpt")
    first, second = "a man saw the dog", "on the bed"
    app = harness.fine_part("transformer", "context", ctxword="the", ctx1=first, ctx2=second)
    ends = []
    start = bundled.tokenizer.special_tokens["<|endoftext|>"]
    the = bundled.tokenizer.encode(" the")[0]
    for text in (first, second):
        ids = [start, *bundled.tokenizer.encode(text)]
        with torch.inference_mode(), record(["embed", "blocks.1.residual"]) as trace:
            bundled.model(torch.tensor([ids]))
        ends.append([trace[tap][0, ids.index(the)].numpy() for tap in trace])
    product = matrices(app)[context_words.product]
    assert len(product) == 2 + 2 * bundled.model.config.n_layer
    for stage, at in ((1, 0), (-1, 1)):
        expected = pairwise(np.array([end[at] for end in ends]))[0, 1]
        assert product[stage].sum() == pytest.approx(expected, abs=1e-5)
    assert product[0].sum() == pytest.approx(1, abs=1e-6)
    harness.snippets_print(app)


def test_link_to_attention_has_the_same_state(small):
    first = "a man & the dog?"
    app = harness.fine_part("transformer", "context", ctxword="the", ctx1=first, ctx2="on the bed")
    links = [link.proto for link in app.get("page_link") if link.proto.query_string]
    asked = [dict(part.split("=") for part in link.query_string.split("&")) for link in links]
    assert len(asked) == 2 and all(one["part"] == "trained" for one in asked)
    assert asked[0]["text"] == "a+man+%26+the+dog%3F" and asked[1]["text"] == "on+the+bed"
    there = harness.fine_part(
        "attention", "trained", text=first, layer=asked[0]["layer"], head=asked[0]["head"]
    )
    assert [asked[0]["layer"], asked[0]["head"]] == list(
        map(str, harness.sent(there, "heads_grid")["chosen"])
    )


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"ctx1": " "}, "first sentence is empty"),
        ({"ctx2": "cat " * 60}, "second sentence has"),
        ({"ctxword": "zebra"}, "is not in the first sentence"),
        ({"ctxword": ""}, "is not in the first sentence"),
        ({"at1": "0"}, "two different tokens"),
        # There is no such token: the word itself.
        (
            {"at1": "999", "ctxword": "the", "ctx1": "the cow", "ctx2": "the cat"},
            "Both stand at place",
        ),
    ],
)
def test_context_says_what_is_missing(small, link, said):
    app = harness.fine_part("transformer", "context", **link)
    assert said in harness.boxes(app) + harness.prose_of(app)


def test_no_model_is_said_in_every_chapter(tmp_path, monkeypatch):
    use(monkeypatch, tmp_path)
    for part in ("lookup", "similarity"):
        app = harness.fine_part("embeddings", part)
        assert "No trained model with a table" in harness.boxes(app), part


def test_model_without_layers_is_named_in_context():
    app = harness.fine_part("transformer", "context", model="names-mlp")
    assert "names-mlp cannot be used here" in harness.boxes(app)


def test_odd_words_break_nothing_and_stay(small):
    for model, odds in (("tiny-world-gpt", ODD), ("whole-words", ODD[:1])):
        for odd in odds:
            link = {"model": model, "word": odd, "list": odd, "plus": odd, "text": odd}
            harness.fine_part("embeddings", "lookup", **link)
            for look in LOOKS:
                app = similarity(look=look, **link)
            assert box(app, sum_words.three[0]).value == odd
            harness.fine_part("transformer", "context", ctxword=odd, ctx1=odd, model=model)


def test_links_with_cells_that_do_not_exist_open_none(small):
    assert lv.cell_of("row.0.3", {"row": (1, 4)}) == lv.Cell("row", 0, 3)
    for written in ("row.0.4", "row.1.0", "row", "row.x.0", "no.0.0", "row.-1.0", ""):
        assert lv.cell_of(written, {"row": (1, 4)}) is None
    harness.fine_part("embeddings", "lookup", cell="embedding.9.9")
    harness.fine_part("embeddings", "lookup", column="100000")


def test_typed_vectors_are_read_as_written():
    assert parse_vector("1;2 3,−4e-1") == [1, 2, 3, -0.4]


def test_table_picture_refuses_what_does_not_fit():
    rows = np.ones((3, 2))
    assert table_picture(rows, ["a", "b", "c"]).half.shape == (3, 4)
    for wrong, rule in (
        ((np.ones(3), ["a"]), "rows and columns"),
        ((rows * np.nan, ["a", "b", "c"]), "finite"),
        ((rows, ["a"]), "as many labels"),
    ):
        with pytest.raises(ValueError, match=rule):
            table_picture(*wrong)


def test_runs_of_the_learner_can_be_chosen(small, tmp_path, monkeypatch):
    home = tmp_path / "runs"
    monkeypatch.setenv("LLMVIZ_RUNS", str(home))
    settings = TrainConfig(steps=2, warmup_steps=1, snapshot_every=2, eval_batches=1, threads=1)
    shape = {"n_layer": 1, "n_head": 2, "n_embd": 8}
    plan = Plan(model="gpt", model_options=shape, corpus="names", train=settings)
    list(run_in_folder(home / "kept", prepare(plan)))
    for part in ("lookup", "similarity"):
        link = {"word": "a", "other": "b"}
        app = harness.fine_part("embeddings", part, model="run:kept", **link)
        (menu,) = app.selectbox
        assert menu.value == "run:kept" and "kept" in menu.options
        harness.snippets_print(app)
    said = harness.prose_of(similarity(model="run:kept", word="anna", other="b"))  # in pieces
    assert "<code>kept</code>" in said and "run:kept" not in said
