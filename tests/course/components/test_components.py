"""What the components are sent: nothing is lost on the way, and what does not fit is refused."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from streamlit.testing.v1 import AppTest

from llmviz.course import components as lv
from llmviz.course.components._shared import cell_operations as ops
from llmviz.course.components._shared import transport as wire
from llmviz.course.components._shared.bundle import COMPONENTS
from llmviz.course.components.bpe_film import view as bpe
from llmviz.course.components.heads_grid.view import heads_payload
from llmviz.course.components.look_back.view import look_payload
from llmviz.course.components.matrix_view import view as matrices
from llmviz.course.components.merge_tree.view import tree_payload
from llmviz.course.components.token_strip import view as tokens
from llmviz.course.components.two_halves.view import Translation, halves_payload
from llmviz.course.components.windows_view.view import windows_payload
from llmviz.course.figures import theme
from llmviz.tokenizers import Token

DEMO = Path(__file__).parents[2] / "browser" / "apps" / "components_app.py"
SHOWN = (
    "echo",
    "cells",
    "chips",
    "aligned",
    "values",
    "matrices",
    "hidden",
    "embedding",
    "heads",
    "film",
    "tree",
    "windows",
)


def byte_tokens(text):
    raw = text.encode()
    return [Token(b, bytes([b]), i, i + 1, 0, 1) for i, b in enumerate(raw)]


@given(
    hnp.arrays(st.sampled_from(["<f4", "<i4", "u1"]), hnp.array_shapes(max_dims=3, min_side=0)),
    st.text(),
)
def test_message_comes_back_as_sent(array, text):
    back = lv.unpack(lv.pack({"a": array, "deep": [{"t": text, "b": array}], "n": None}))
    assert back["deep"][0]["t"] == text
    assert back["a"].dtype == array.dtype and back["a"].shape == array.shape
    assert back["a"].tobytes() == back["deep"][0]["b"].tobytes() == array.tobytes()


def test_every_picture_has_its_own_folder_with_a_view_in_python_and_in_the_browser():
    folders = {f.name: f for f in COMPONENTS.iterdir() if f.is_dir() and f.name[0] != "_"}
    views = {name for name, folder in folders.items() if (folder / "view.py").exists()}
    assert len(views) > 20
    for name, folder in folders.items():
        assert (folder / "view.js").exists(), name
        if name in views:
            source = (folder / "view.py").read_text("utf-8")
            mounted = set(re.findall(r'\b(?:renderer|mount|mount_states)\(\s*"(\w+)"', source))
            # What it mounts besides is a part of it: a script that has no view in Python.
            assert name in mounted and not (mounted - {name}) & views, name


def test_message_keeps_infinities_and_surrogates():
    back = lv.unpack(lv.pack({"a": np.array([-np.inf], np.float32), "t": "\ud800\0"}))
    assert back["a"][0] == -np.inf and back["t"] == "\ud800\0"


def test_a_component_with_one_state_hands_back_what_the_hand_set(monkeypatch):
    session, sent = {}, []

    def mounted(*, data, key, default, on_step_change):
        sent.append(lv.unpack(data)["step"])
        session.setdefault(key, dict(default))
        return session[key]

    monkeypatch.setattr(wire, "st", SimpleNamespace(session_state=session))
    monkeypatch.setattr(wire, "renderer", lambda name: mounted)

    def stands_at(start):
        return wire.mount("any", {"n": 1}, key="k", state="step", start=start)

    assert stands_at(2) == 2
    session["k"]["step"] = 5
    assert stands_at(2) == stands_at(5) == 5
    assert stands_at(9) == 9  # the page moves it, whatever the browser last said
    assert sent == [2, 2, 2, 9]


def test_start_stays_as_sent_while_the_page_only_echoes(monkeypatch):
    session = {}
    monkeypatch.setattr(wire, "st", SimpleNamespace(session_state=session))
    assert wire.starting("k", "step", 3) == (3, False)
    session["k"] = {"step": 5}  # the hand moved; the page still wants what it wanted
    assert wire.starting("k", "step", 3) == (3, False)
    assert wire.starting("k", "step", 5) == (3, False)  # and now echoes
    assert wire.starting("k", "step", 9) == (9, True)  # the page moves it
    session["k"] = {"step": 9}
    assert wire.starting("k", "step", 9) == (9, False)
    del session["k"]  # the component left the page and comes back
    assert wire.starting("k", "step", 4) == (4, False)


def ending(key):
    message = wire._ending(key)
    assert int.from_bytes(message[-4:], "little") == len(message) - 4
    return json.loads(message[:-4])


def test_a_start_has_a_new_turn_whenever_the_component_must_take_it_up(monkeypatch):
    session = {}
    monkeypatch.setattr(wire, "st", SimpleNamespace(session_state=session))

    def turn(wanted):
        wire.starting("k", "step", wanted)
        return ending("k")["turns"]["step"]

    first = turn(3)
    session["k"] = {"step": 5}
    assert turn(3) == turn(5) == first  # the hand's own step, and its echo
    second = turn(3)  # the page goes back to what was sent at first
    assert second != first
    session["k"] = {"step": 3}
    assert turn(3) == second
    del session["k"]
    assert turn(3) not in (first, second)
    assert ending("other") == {"key": "other", "turns": {}}


def test_large_arrays_travel_as_bytes():
    values = np.random.default_rng(0).random((256, 256), dtype=np.float32)
    assert len(lv.pack({"a": values})) < values.nbytes + 200


@given(st.binary(max_size=12))
def test_visible_text_never_shows_a_replacement_character(data):
    shown, is_whole = tokens.visible_text(data)
    assert "�" not in shown.replace(data.decode("utf-8", "ignore"), "")
    if not is_whole:
        assert bytes.fromhex(shown) == data
    assert not set(shown) & set("\n\t\r \0") or not is_whole


def test_combining_mark_gets_a_circle_to_stand_on_and_what_leaves_no_ink_its_number():
    assert tokens.visible_text("\u0301".encode()) == ("\u25cc\u0301", True)
    assert tokens.visible_text("\u200b".encode()) == ("⟨200B⟩", True)


def strip(row, text, mode="chips"):
    look = {"show_ids": True, "value_label": "", "value_range": None, "limit": 10}
    return tokens.strip_payload([row], text, mode, **look)


def test_strip_is_cut_and_says_how_many_there_were():
    text = "ab" * 50
    sent = strip(lv.TokenRow("bytes", byte_tokens(text)), text)
    assert len(sent["rows"][0]["ids"]) == 10 and sent["rows"][0]["total"] == 100


@given(st.text())
def test_byte_lengths_are_those_of_utf8(text):
    lengths = tokens._byte_lengths(text)
    assert [len(c.encode("utf-8", "surrogatepass")) for c in text] == lengths.tolist()


def test_film_tables_hold_every_merge():
    steps = [
        lv.FilmStep((b"a", b"b"), b"ab", 7, 2, [(b"a", b"b", 7), (b"b", b"c", 7)], 90),
        lv.FilmStep((b"ab", b"c"), b"abc", 5, 1, [(b"ab", b"c", 5)], 85),
    ]
    nodes = [lv.FilmNode(0, 1, 0, 1), lv.FilmNode(1, 2, 0, 1), lv.FilmNode(0, 2, 1, None, 256)]
    sent = bpe.film_payload(bpe.merge_table(steps), nodes, "ab", 100, 256, "")
    for step, row in zip(steps, sent["merges"], strict=True):
        assert [sent["names"][n] for n in row[:3]] == [
            part.decode() for part in (*step.pair, step.token)
        ]
        assert row[3:].tolist() == [step.count, step.ties, step.corpus_length]
    assert sent["top"][1, 1].tolist() == [-1, -1, -1]
    assert sent["texts"] == ["a", "ab", "b"]
    assert all(died > born for _, _, born, died, _ in sent["spans"].tolist())


def some(name, shape, op=None, **more):
    return lv.Matrix(name, np.ones(shape), op=op, **more)


@pytest.mark.parametrize(
    ("shape", "op"),
    [
        ((2, 4), lv.matmul("a", "b")),
        ((2, 2), lv.matmul("a", "a", transpose_b=True)),
        ((2, 4), lv.matmul("a", "b", bias="row4")),
        ((2, 3), lv.add("a", "row3")),
        ((4, 3), lv.lookup("a", [0, 1, 1, 0])),
        ((3, 2), lv.transposed("a")),
        ((2, 6), lv.concat("a", "a")),
        ((4, 3), ops.stacked("a", "a")),
        ((2, 2), lv.columns("a", 1)),
        ((2, 3), lv.dropout("a", "a", 0.5)),
        ((2, 3), lv.normalised("a", "column", "column", "row3", "row3")),
        ((2, 3), lv.softmax_rows("a")),
        ((2, 1), ops.picked("a", [2, 0])),
        ((1, 3), ops.summed("a")),
        ((2, 1), lv.row_summed("a")),
        ((2, 3), ops.divided("a", "column")),
        ((2, 2), ops.turned("even", "column")),
        ((2, 1), lv.row_mean("a")),
        ((2, 1), lv.row_mean_square("a")),
        ((2, 1), lv.row_mean_square("a", "column")),
        ((2, 1), lv.root("column", 1e-5)),
        ((2, 3), lv.rms_normalised("a", "column")),
        ((2, 3), lv.rms_normalised("a", "column", "row3")),
    ],
)
def test_operations_fit_and_their_neighbours_do_not(shape, op):
    given_ones = [
        some("a", (2, 3)),
        some("b", (3, 4)),
        some("row3", (1, 3)),
        some("row4", (1, 4)),
        some("column", (2, 1)),
        some("even", (2, 2)),
    ]
    matrices.matrix_payload([*given_ones, some("c", shape, op)], None, None, numbers="auto")
    wrong = (shape[0] + 1, shape[1] + 1)
    with pytest.raises(ValueError, match="does not fit"):
        matrices.matrix_payload([*given_ones, some("c", wrong, op)], None, None, numbers="auto")


def test_stages_are_sent_with_their_matrices_and_weights_travel_apart():
    weight = np.arange(12, dtype=np.float32).reshape(3, 4)
    given = [some("x", (2, 3)), lv.Matrix("w", weight), some("y", (2, 4), lv.matmul("x", "w"))]
    stages = [
        lv.Stage("first", "x", "x", [["x"]], "what is read"),
        lv.Stage("second", "y", "y", [["x", "×", "w", "=", "y"]], "the product", "value", 0),
    ]
    picture = lv.stage_picture(given, stages, {}, [lv.Weights.of({"w": weight})])
    sent = lv.unpack(lv.pack(picture.payload, *picture.parts))
    assert [stage["branch"] for stage in sent["stages"]] == [None, 0] and picture.last == 1
    assert [step["names"] for step in sent["steps"]] == [["x"], ["x", "w", "y"]]
    own = {one["name"]: one["values"] for one in sent["matrices"]}
    np.testing.assert_array_equal(sent[own["w"]], weight)
    assert picture.shapes["w"] == (3, 4) and len(lv.pack(picture.payload)) < 4000


def test_scale_is_symmetric_for_signed_numbers_and_ignores_infinity():
    sent = matrices.matrix_payload(
        [lv.Matrix("m", np.array([[-3.0, 1.0, -np.inf]]), role="weights")],
        None,
        None,
        numbers="auto",
    )["matrices"][0]
    assert sent["scale"] == "diverging" and sent["limit"] == 3


def test_pinned_cell_that_no_longer_exists_is_let_go():
    assert matrices._read_cell(["m", 1, 1], {"m": (2, 2)}) == lv.Cell("m", 1, 1)
    for stale in (["m", 2, 0], ["q", 0, 0], ["m", "0", 0], None, 3):
        assert matrices._read_cell(stale, {"m": (2, 2)}) is None


def heads(weights):
    return heads_payload(weights, None, None, (), None, None)


def test_causal_heads_travel_as_triangles_within_the_limits():
    weights = np.tril(np.random.default_rng(0).random((12, 12, 64, 64)))
    sent = heads(weights)
    assert sent["triangle"]
    rebuilt = np.zeros((12, 12, 64, 64))
    rebuilt[:, :, *np.tril_indices(64)] = sent["cells"] / 255
    assert np.abs(rebuilt - weights).max() <= 0.5 / 255 + 1e-9
    assert len(lv.pack(sent)) < 0.6e6
    assert 12 * 12 * 256 * 257 / 2 < 5e6  # the same at 256 tokens


def test_lines_of_a_text_travel_as_the_heads_have_them():
    weights = np.random.default_rng(0).random((2, 3, 3))
    sent = look_payload(weights, "xyz", ["a", "b"])
    assert np.abs(sent["cells"] / 255 - weights).max() <= 0.5 / 255 + 1e-9
    assert sent["tokens"] == ["x", "y", "z"] and sent["names"] == ["a", "b"]


def test_heads_that_see_later_tokens_travel_whole():
    sent = heads(np.full((1, 2, 3, 5), 0.2))
    assert not sent["triangle"] and sent["cells"].shape == (1, 2, 3, 5)


@pytest.mark.parametrize("show", SHOWN)
def test_every_component_is_mounted_with_its_data(show):
    app = AppTest.from_file(str(DEMO), default_timeout=30)
    app.query_params["show"] = show
    app.run()
    assert not app.exception
    (element,) = app.get("bidi_component")
    assert lv.unpack(element.proto.bytes)


def test_assets_write_text_as_text_and_name_no_other_host():
    for path in sorted(COMPONENTS.rglob("*.js")) + sorted(COMPONENTS.rglob("*.css")):
        source = path.read_text(encoding="utf-8")
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "@import"):
            assert forbidden not in source, path
        assert source.replace("http://www.w3.org/2000/svg", "").count("://") == 0, path


def test_no_script_waits_for_focus_by_a_property_that_browsers_do_not_have():
    for path in sorted(COMPONENTS.rglob("*.js")):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"\.onfocus(in|out)\b", source), path


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_role_has_every_colour(mode):
    assert set(theme.ROLE_TEXT[mode]) == set(theme.POLES[mode]) == {*theme.ROLES[mode], "neutral"}
    assert theme.diverging_scale(mode)[1][1] == theme.INK[mode]["surface"]


def halves(**other):
    g, s, t = 2, 3, 2
    even = {
        "encoder": np.full((g, s, s), 1 / s),
        "own": np.tril(np.full((g, t, t), 0.5)),
        "cross": np.full((g, t, s), 1 / s),
        "best": [["a", "b"], ["b", "a"]],
        "chances": np.full((t, 2), 0.5),
        "names": ["0", "1"],
        "captions": ["reads", "one", "two"],
    }
    given = Translation(["the", "cat", "sat"], ["start", "a"], **(even | other))
    return halves_payload(given)


def shown(*given, **more):
    return matrices.matrix_payload([*given], None, None, numbers="auto", **more)


def windowed(**windows):
    return shown(some("m", (2, 6), windows=("", "C")), windows=windows)


def test_what_fits_is_taken():
    assert halves()["own"].dtype == np.uint8
    assert windowed(C=lv.Window(6, 2))["windows"] == {"C": {"size": 6, "show": 2}}
    windows_payload(list("abcde"), [0], 4, 1, 9)


def looked(shape, names):
    return look_payload(np.zeros(shape), "xyz", list(names))


def staged(*stages):
    return lv.stage_picture([some("x", (2, 3))], list(stages), {})


def merged(node):
    return bpe.film_payload(bpe.merge_table([]), [node], "ab", 1, 256, "")


def tree(merge):
    return tree_payload([b"a", b"b"], [merge], None, None, None, "")


def square(**more):
    return lv.Matrix("m", np.zeros((2, 2)), **more)


REFUSED = [
    ("float64", lambda: lv.pack({"a": np.zeros(2)})),
    ("1 values for 0 tokens", lambda: strip(lv.TokenRow("x", [], values=[1.0]), "")),
    ("need the text", lambda: strip(lv.TokenRow("x", []), None, "aligned")),
    ("mode must be", lambda: strip(lv.TokenRow("x", []), "", "round")),
    ("need 6 tokens; the text has 5", lambda: windows_payload(list("abcde"), [1], 4, 1, 9)),
    ("the sample has 2", lambda: merged(lv.FilmNode(1, 3, 0))),
    ("merge 0 joins 0 and 2", lambda: tree(lv.TreeMerge(0, 2, 1))),
    ("NaN", lambda: shown(lv.Matrix("m", np.array([[np.nan]])))),
    ("two dimensions", lambda: shown(lv.Matrix("m", np.zeros(3)))),
    ("unknown role", lambda: shown(square(role="pink"))),
    ("row_labels has 1", lambda: shown(square(row_labels=["x"]))),
    ("'q' is not among", lambda: shown(square(op=lv.softmax_rows("q")))),
    ("there is no window 'C'", windowed),
    ("shows 2 of 5", lambda: windowed(C=lv.Window(5, 2))),
    ("shows 7 of 6", lambda: windowed(C=lv.Window(6, 7))),
    ("shows 0 of 6", lambda: windowed(C=lv.Window(6, 0))),
    ("needs stages", staged),
    ("each with a matrix", lambda: staged(lv.Stage("a", "a", "a", [["?"]], ""))),
    ("unknown role 'pink'", lambda: staged(lv.Stage("a", "a", "a", [["x"]], "", "pink"))),
    (r"weights must be .* got \(1, 3, 2\)", lambda: looked((1, 3, 2), "a")),
    (r"weights must be .* got \(2, 3, 3\)", lambda: looked((2, 3, 3), "a")),
    (r"weights must be .* got \(0, 3, 3\)", lambda: looked((0, 3, 3), "")),
    (r"weights must be .* got \(3, 3\)", lambda: looked((3, 3), "a")),
    ("between 0 and 1", lambda: heads(np.full((1, 1, 2, 2), 1.5))),
    ("'pink'", lambda: theme.role_color("pink")),
    (r"cross must be \(2, 2, 3\)", lambda: halves(cross=np.zeros((2, 3, 2)))),
    ("above the diagonal", lambda: halves(own=np.full((2, 2, 2), 0.5))),
    ("2 steps need 3 captions", lambda: halves(captions=["one", "two"])),
    ("best and chances", lambda: halves(best=[["a"], ["b", "a"]])),
    ("between 0 and 1", lambda: halves(encoder=np.full((2, 3, 3), 1.5))),
]


@pytest.mark.parametrize(("rule", "picture"), REFUSED, ids=[rule for rule, _ in REFUSED])
def test_what_does_not_fit_is_refused(rule, picture):
    with pytest.raises(ValueError, match=rule):
        picture()
