"""The lesson from counts to GPT: its first chapters and its last, on odd names and odd series."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.counts import LETTERS
from llmviz.corpus.drawn_pictures import write_picture
from llmviz.course.components.series_view.view import read_drawn, read_hand
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history import words as lesson_words
from llmviz.course.lessons.history.all import chapter
from llmviz.course.lessons.history.all import words as all_words
from llmviz.course.lessons.history.counting import chapter as counting
from llmviz.course.lessons.history.counting.model import learned_pairs
from llmviz.course.lessons.history.letter_pairs import average_loss, probabilities, walk
from llmviz.course.lessons.history.series import chapter as series
from llmviz.course.lessons.history.series import words as series_words
from llmviz.course.lessons.history.series.series_fit import SeriesError, fit_series, swing
from llmviz.course.lessons.history.typed_name import read
from llmviz.course.lessons.history.where import chapter as where
from llmviz.course.lessons.history.where import drawing
from llmviz.course.lessons.history.where import words as where_words
from llmviz.course.lessons.history.where.routes import walls
from llmviz.evaluation.nine_models import COUNTED, NINE, TIE
from tests.pages import harness

NAMED = {
    "counting": {},
    "all": {},
    "where": {},
    "recurrent": {},
    "mlp": {"slideat": "15"},
}


@given(some.text())
def test_a_name_keeps_its_letters_and_names_the_rest(text):
    name = read(text)
    assert set(name.letters) <= set("abcdefghijklmnopqrstuvwxyz") and len(name.letters) <= 15
    assert name.typed + sum(text.count(one) for one in name.cut) == len(text)
    assert len(set(name.cut)) == len(name.cut)


@pytest.mark.parametrize("part", NAMED)
def test_a_name_is_cut_to_its_first_letters_from_a_to_z_and_it_is_said(part):
    app = harness.fine_part("history", part, name="Zoë-Ann 3", **NAMED[part])
    said = harness.boxes(app)
    assert "letters a to z only" in said and all(one in said for one in "ë-3")
    assert app.text_input[0].value == "Zoë-Ann 3"
    for typed, said in (
        ("-", "no letter from a to z"),
        ("", "no letter from a to z"),
        ("ab" * 100, "has 200 letters. The first 15 are used"),
        ("x", ""),
    ):
        harness.put(app, history__name=typed)
        assert said in harness.boxes(app)


def test_the_matrix_is_the_counted_table():
    app = harness.fine_part("history", "counting", count="pairs")
    shown = {one["name"]: one["values"] for one in harness.sent(app, "matrix_view")["matrices"]}
    np.testing.assert_array_equal(shown["counts"], learned_pairs())
    np.testing.assert_allclose(shown["P"], probabilities(learned_pairs()), atol=1e-6)
    mean = -np.log(
        chapter.chances_of("counted-pairs", "olivia")
    ).mean()  # the same table, with 1 added
    assert f"{mean:.1f}" == f"{np.mean([s.loss for s in walk(learned_pairs(), 'olivia')]):.1f}"


def test_before_the_guess_nothing_of_the_row_that_is_asked_about_is_sent(covers):
    row, asked = counting.row_question(learned_pairs(), "olivia")
    app = harness.fine_part("history", "counting")
    matrices = harness.sent(app, "matrix_view")["matrices"]
    assert [float(np.abs(one["values"][row]).sum()) for one in matrices] == [0, 0]
    assert {at for at, _ in matrices[1]["hidden"]} == {row}
    assert not harness.unpack_all(app, "cell_grid")
    assert asked.answers[asked.right] not in harness.prose_of(app)


counted_once = cache(learned_pairs)  # for many names


@given(some.text("abcdefghijklmnopqrstuvwxyz", max_size=6))
def test_of_the_answers_for_a_row_one_is_its_largest_share(name):
    table = counted_once()
    row, asked = counting.row_question(table, name)
    (right,), others = (
        asked.values[asked.right],
        [at for (at,) in asked.values if at != counting.OTHER],
    )
    assert right == table[row].argmax() and len(set(others)) == 3 and 0 not in others
    assert all(table[row, at] < table[row, right] for at in others if at != right)
    clear = [one for one in name if counting.row_question(table, one)[0] == LETTERS.index(one)]
    assert not clear or LETTERS[row] in name


def test_a_pair_that_was_never_seen_is_named():
    app = harness.fine_part("history", "counting", name="qx")
    assert "was never counted" in harness.prose_of(app) and "infinite" in harness.prose_of(app)


@given(some.text("abqxz", min_size=1, max_size=15))
def test_the_result_holds_for_any_name(name):
    table = counted_once()
    steps = walk(table, name)
    said = counting.result(table, name, steps)
    assert ("infinite" in said) == any(not one.seen for one in steps)


def test_the_films_end_is_the_counted_table():
    app = harness.fine_part("history", "counting", count="network")
    film = harness.sent(app, "table_film")
    assert film["tables"].shape == (201, 27, 27)
    assert film["floor"] == pytest.approx(average_loss(learned_pairs()))
    assert film["losses"][-1] == pytest.approx(film["floor"], abs=1e-3)
    np.testing.assert_allclose(film["target"], probabilities(learned_pairs()), atol=1e-6)
    harness.snippets_print(app)


def test_the_lines_of_longer_tables_are_apart_and_the_right_one_was_measured():
    measured = counting.measure()
    for method in ("add-one", "back-off", "kneser-ney"):
        losses = [row.losses[method] for row in measured.rows]
        assert measured.best(method).n == int(np.argmin(losses)) < measured.rows[-1].n
    for row in measured.rows:
        assert row.seen <= min(row.rows, measured.grams.letters)
    asked = counting.lines_question(measured)
    line = [row.losses["add-one"] for row in measured.rows][counting.KNOWN :]
    assert asked is not None and list(asked.values[asked.right]) == line
    for at, values in enumerate(asked.values):
        assert at == asked.right or np.abs(np.subtract(values, line)).mean() >= counting.APART
    app = harness.fine_part("history", "counting", count="longer")
    assert not app.warning
    harness.snippets_print(app)


@pytest.mark.parametrize("source", series_words.sources)
def test_each_series_is_fitted_and_its_snippet_prints(source):
    app = harness.fine_part("history", "series", series=source)
    assert not app.error and not app.warning
    shown = harness.sent(app, "series_view")
    values = shown["values"].astype(float)
    fit = fit_series(values[: shown["fitted"]], len(shown["b"]) - 1)
    np.testing.assert_allclose(shown["b"], fit.b, rtol=1e-3, atol=1e-4)
    assert shown["drawable"] == (source == "drawn")
    harness.snippets_print(app)


@pytest.mark.parametrize(
    ("typed", "lags", "rule"),
    [
        ("7", "1", "needs at least 2 values"),
        ("4 4 4 4 4 4 4 4", "2", "all values that are looked back at are 4"),
        ("1 2 1 2 1 2 1 2 1 2", "2", "only 2 of the 3 columns of X are independent"),
        ("1 3 2 5", "4", "needs at least 5 values"),
        ("1 2 three", "1", "holds numbers; got 'three'"),
        ("", "1", "no number yet"),
    ],
)
def test_a_series_that_cannot_be_fitted_is_refused_and_kept(typed, lags, rule):
    app = harness.fine_part(
        "history", "series", series="typed", lags=lags, hold="0", typed=typed or "x"
    )
    if not typed:
        harness.put(app, history__typed="")
    assert rule in harness.boxes(app)
    assert app.text_area[0].value == typed


def test_gaps_are_said_and_left_out():
    app = harness.fine_part(
        "history", "series", series="typed", lags="1", typed="1 5 2 ? 8 3 9 4 7 6 2"
    )
    assert "rows are left out" in harness.boxes(app)
    harness.snippets_print(app)


def test_a_link_holds_what_was_drawn_and_what_was_moved():
    drawn = [(7 * k) % 101 for k in range(48)]
    link = {"drawn": ",".join(map(str, drawn)), "byhand": "1,0.5,0.25", "ahead": "3"}
    app = harness.fine_part("history", "series", series="drawn", **link)
    shown = harness.sent(app, "series_view")
    assert shown["values"].tolist() == drawn
    assert shown["hand"] == [1, 0.5, 0.25] and shown["step"] == 3
    assert series.by_hand("1,2", 3) is None and series.by_hand("1,x,2", 3) is None


@pytest.mark.parametrize("raw", [None, "x", [1] * 3, [1.5] * 4, [101] * 4, [-1] * 4])
def test_what_no_hand_draws_is_let_go(raw):
    assert read_drawn(raw, 4) is None
    assert read_hand([1e15, 1], 2) is None and read_hand([1], 2) is None


@given(some.integers(0, 1000), some.integers(1, 3), some.integers(14, 30))
def test_sentences_on_a_series_hold(seed, lags, size):
    values = np.random.default_rng(seed).normal(0, 1, size)
    fitted = size - 4
    fit = fit_series(values[:fitted], lags)
    assert "4 held-out values" in series.how_far(values, fitted, fit)
    assert series.growth(values, fitted, fit)
    assert series.growth(values[:fitted], fitted, fit) == ""


@given(some.integers(0, 1000), some.integers(2, 12))
def test_lines_of_a_series_are_apart_and_the_right_one_was_measured(seed, held):
    values = np.random.default_rng(seed).normal(0, 1, 30)
    asked = series.question(values, 30 - held)
    if asked is None:
        return
    truth = values[30 - held :]
    assert list(asked.values[asked.right]) == truth.tolist() and held >= series.FEWEST
    for at, line in enumerate(asked.values):
        far = np.abs(np.subtract(line, truth)).mean()
        assert at == asked.right or far > series.APART * values.std()
    values[3] = np.nan
    assert series.question(values, 30 - held) is None


def test_before_the_guess_what_is_held_out_is_not_sent(covers):
    app = harness.fine_part("history", "series")
    (line,) = harness.sent(app, "draw_on")["lines"]
    assert line["x"][-1] == len(series.MEASURED["sunspots"]()) - 21
    assert not harness.unpack_all(app, "series_view")


def test_an_exact_series_is_told_without_error():
    values = swing(48)
    fit = fit_series(values[:28], 2)
    assert series_words.growth["same"] in series.growth(values, 28, fit)
    with pytest.raises(SeriesError):
        fit_series(values[:28], 3)


@pytest.mark.parametrize("look", all_words.parts)
def test_each_part_of_all_opens_and_its_snippets_print(look):
    app = harness.fine_part("history", "all", all=look)
    assert not app.warning
    harness.snippets_print(app)


def test_nine_rows_hold_the_losses_of_the_typed_name():
    app = harness.fine_part("history", "all", name="mila")
    grid = harness.sent(app, "cell_grid")
    assert grid["values"].shape == (9, 6) and len(grid["rowNames"]) == 9
    for row, key in zip(grid["values"], NINE, strict=True):
        own = -np.log(chapter.chances_of(key, "mila"))
        np.testing.assert_allclose(row[:5], own, rtol=1e-4)
        assert row[5] == pytest.approx(own.mean(), rel=1e-4)
    links = [link.proto for link in app.get("page_link")]
    assert len(links) >= 3


def test_the_ways_into_other_lessons_fit_a_phone():
    assert max(map(len, lesson_words.links.values())) <= 50  # letters that 390 pixels have room for


@pytest.mark.parametrize("page", typed_name.places("mila"))
def test_the_links_open_with_the_same_name(page):
    link = typed_name.places("mila")[page]
    part = link.pop("part")
    app = harness.fine_part(page, part, **link)
    assert not app.error and not app.warning


@given(some.text("aelnz", min_size=1, max_size=4))
def test_the_best_model_is_the_one_with_the_lowest_mean(name):
    chances = chapter.scores(name)
    assert chances.shape == (9, len(name) + 1) and (chances > 0).all() and (chances <= 1).all()
    means = -np.log(chances).mean(1)
    assert f"**{all_words.models[NINE[int(means.argmin())]]}**" in as_markdown(
        chapter.best(name, chances)
    )


def test_models_that_agree_are_not_ranked():
    same = np.full((9, 3), 0.5)
    assert "the same mean loss" in chapter.best("ab", same)


def test_measures_are_those_of_the_cards_and_the_race():
    from llmviz.course.ui import engine

    for one in chapter.measures():
        if one.key in COUNTED:
            continue
        card = engine.card(one.key)
        assert one.loss == pytest.approx(card["validation_loss"], abs=1e-6)
        assert one.parameters == card["parameters"]
        assert one.steps == card["steps"]


def test_models_that_cannot_be_ranked_are_said_to_be_close():
    told = chapter.lowest(chapter.measures())
    losses = {one.key: one.loss for one in chapter.measures() if one.key not in COUNTED}
    first = min(losses, key=losses.__getitem__)
    for key, loss in losses.items():
        if key != first:
            near = loss - losses[first] <= TIE
            assert (all_words.models[key] in told.split(". But ")[1].split(" follow")[0]) == near
    assert "within 0.02 nats" in told


def losses_of_the_nine() -> dict[str, float]:
    return {one.key: one.loss for one in chapter.measures()}


def test_three_losses_are_asked_for_with_answers_that_are_apart():
    losses = losses_of_the_nine()
    asked = chapter.question(losses)
    assert asked.values[asked.right] == tuple(losses[key] for key in chapter.GUESSED)
    right, newer, tables = (np.array(values) for values in asked.values)
    width = chapter.AXIS.high - chapter.AXIS.low
    for a, b in ((right, newer), (right, tables), (newer, tables)):
        assert np.abs(a - b).mean() >= chapter.APART * width
    assert (np.diff(newer) < 0).all() and tables[0] == losses["counted-pairs"]
    # On the axis lies all that is drawn or may be guessed.
    every = [*losses.values(), *newer, *tables]
    assert chapter.AXIS.low < min(every) and max(every) < chapter.AXIS.high
    years = [year for year, _ in chapter.by_age()]
    assert years == sorted(years) and sorted(k for _, k in chapter.by_age()) == sorted(NINE)


@given(table=some.floats(1, 3), lstm=some.floats(1, 3), gpt=some.floats(1, 3))
def test_three_that_are_not_close_are_not_called_close(table, lstm, gpt):
    three = dict(zip(chapter.GUESSED, (table, lstm, gpt), strict=True))
    asked = chapter.question(losses_of_the_nine() | three)
    assert asked is None or np.ptp([table, lstm, gpt]) <= chapter.CLOSE


def test_before_the_guess_no_loss_but_those_of_pairs_is_told(covers):
    app = harness.fine_part("history", "all")
    rows = harness.sent(app, "case_rows")["rows"]
    told = [row["label"][1][0] for row in rows if row["value"] is not None]
    assert told == [all_words.models[key] for key in chapter.DRAWN] and len(rows) == 9
    assert not harness.unpack_all(app, "cell_grid")


def test_the_looks_at_names_hold_for_all_nine():
    means = {key: -np.log(chapter.chances_of(key, "zlorbix")).mean() for key in NINE}
    olivia = {key: -np.log(chapter.chances_of(key, "olivia")) for key in NINE}
    assert min(means, key=means.__getitem__) == "counted-pairs"
    for key in NINE:
        assert means[key] > olivia[key].mean() + 1
        assert chapter.chances_of(key, "annax")[:5].argmin() == 4
        short = key in ("counted-pairs", "names-bigram")
        assert (olivia[key][3] > 2) == short


PICTURES = ("ml", "generative")  # these train first


@pytest.mark.parametrize("ring", where_words.rings)
def test_each_field_opens(ring):
    app = harness.fine_part("history", "where", ring=ring, name="olivia")
    assert not app.warning and not app.error
    if ring not in PICTURES:
        harness.snippets_print(app)


def test_each_field_says_what_its_program_finds_most_likely():
    said = where.says("olivia", 1)
    assert set(said) == set(where_words.rings)
    assert said["ai"].endswith("the end")  # six letters, of which the last is a vowel
    for ring in ("ml", "dl", "lm"):
        row = where.chances(where.PROGRAM[ring], "olivia")
        best = int(row.argmax())
        assert f"{'the end' if best == 0 else LETTERS[best]}, " in said[ring]
        assert float(row.sum()) == pytest.approx(1, abs=0.02)


def test_the_table_is_framed_for_everybody_once_it_is_told(covers):
    app = harness.fine_part("history", "where")
    (picture,) = harness.charts(app)
    assert len(picture["data"]) == 3 and not picture["layout"].get("shapes")
    harness.press(app, "Show me without an answer")
    (picture,) = harness.charts(app)
    (frame,) = picture["layout"]["shapes"]
    assert frame["x0"] > 0.6
    table = np.array(picture["data"][2]["z"]) * where.STRONG
    np.testing.assert_allclose(table.sum(1), 1, atol=0.02)  # each row says what may come next


def test_the_network_and_the_gpt_are_right_about_equally_often():
    right = where.shares()
    assert abs(right["gpt"] - right["network"]) < 0.04
    assert max(right["rules"], right["pairs"]) + 0.1 < right["gpt"] < 0.6


@pytest.mark.parametrize("wanted", [[], [1], [50, 50], [3, 0]])
def test_a_goal_that_is_no_free_square_becomes_one(wanted):
    blocked = walls()
    assert not blocked[where.goal_of(wanted, blocked)]


def test_a_wall_as_a_goal_is_said():
    app = harness.fine_part("history", "where", ring="ai", goal="3,0")
    assert "is a wall" in harness.boxes(app)


@pytest.fixture
def trained():
    """The networks of pictures, once their job is over."""
    job = drawing._training()
    deadline = time.monotonic() + 60
    while not job.over and time.monotonic() < deadline:
        time.sleep(0.02)
    assert job.over and not job.problem


def test_pictures_open_their_snippets_print_and_an_empty_canvas_is_said(trained):
    for ring in PICTURES:
        app = harness.fine_part("history", "where", ring=ring, pad="nonsense")
        assert len(harness.snippets(app)) == 1 and not app.warning
        harness.snippets_print(app)
    empty = write_picture(np.zeros((20, 20), dtype=np.uint8))
    app = harness.fine_part("history", "where", ring="ml", pad=empty)
    assert "the canvas is empty" in harness.boxes(app)
