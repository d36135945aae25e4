"""The chapters "One block, opened" and "Units": pictures are the trace."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.components import unpack
from llmviz.course.components.matrix_view.view import field
from llmviz.course.lessons.transformer import LESSON
from llmviz.course.lessons.transformer import TEXT as LESSON_TEXT
from llmviz.course.lessons.transformer.block import chapter as block
from llmviz.course.lessons.transformer.block import words as block_words
from llmviz.course.lessons.transformer.block.drawing import stage_names
from llmviz.course.lessons.transformer.subject import Subject
from llmviz.course.lessons.transformer.units import chapter as units
from llmviz.course.lessons.transformer.units import words as units_words
from llmviz.course.ui import engine, model_on_text
from llmviz.course.ui.common import percent
from llmviz.interpretability.block import STAGES, all_blocks, block_steps, parameters_of
from llmviz.interpretability.units import unit_values, unit_writes
from llmviz.models.settings import GPTConfig
from llmviz.models.three_words import three_words
from llmviz.nn.layers import ACTIVATIONS
from llmviz.trace import record
from llmviz.training.config import OWN_TEXT
from tests.pages import harness
from tests.pages.conftest import load_torch, use
from tests.pages.small_model import HEADS, ids_of, make_checkpoint

TEXT = "Once Anna met Samir. Then"
MODEL = {"of": "model", "text": TEXT}


def matrices(app) -> dict[str, np.ndarray]:
    """The values of all matrices on the page, also of those that are fetched by themselves."""
    found = {}
    for part in app.get("bidi_component"):
        if part.proto.component_name == "llmviz_matrix_view":
            payload = unpack(part.proto.bytes)
            for one in payload["matrices"]:
                values = one["values"]
                found[one["name"]] = payload[values] if isinstance(values, str) else values
    return found


def view(app) -> dict:
    return harness.sent(app, "matrix_view")


# ---- one block


def test_the_lesson_begins_with_the_block_and_old_links_open_the_stream():
    assert {"block", "residuals", "units"} <= set(LESSON.keys) and LESSON.keys[0] == "block"
    assert harness.open_page("transformer").query_params["part"] in ("block", ["block"])
    old = harness.open_page("transformer", lens="entropy")
    assert (
        old.query_params["part"] in ("stream", ["stream"])
        and harness.sent(old, "cell_grid")["label"]
    )


TAPS = {  # drawn name -> step; heads apart
    "x": "input",
    "norm 1": "norm1",
    "attention": "attn",
    "sum 1": "sum1",
    "norm 2": "norm2",
    "hidden": "mlp.hidden",
    "act": "mlp.act",
    "feed-forward": "mlp",
    "heads": "attn.concat",
}
OF_HEAD = {"Q": "q", "K": "k", "V": "v", "scores": "scores", "scaled": "scaled"}
OF_HEAD |= {"masked": "masked", "weights": "weights", "context": "output"}


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (1, 2)])
def test_matrices_are_the_trace(bundle, layer, head):
    app = harness.open_part("transformer", "block", **MODEL, layer=f"{layer}", head=f"{head}")
    harness.fine(app)
    drawn, ids = matrices(app), ids_of(bundle, TEXT)
    steps = block_steps(bundle.model, ids, layer)
    for name, step in TAPS.items():
        np.testing.assert_array_equal(drawn[name], steps[step].numpy())
    for name, step in OF_HEAD.items():
        np.testing.assert_array_equal(drawn[name], steps[f"attn.{step}"][head].numpy())
    np.testing.assert_array_equal(drawn["out"], steps["sum2"].numpy())
    with torch.inference_mode(), record() as trace:
        bundle.model(torch.tensor([ids]))
    for name, step in TAPS.items():
        tap = f"blocks.{layer}.{step}"
        if tap in trace:
            np.testing.assert_array_equal(drawn[name], trace[tap][0].numpy())


def computed(op: dict, of: list[np.ndarray]) -> np.ndarray:
    """What the arithmetic of a cell says, for all cells at once."""
    a = of[0].astype(np.float64)
    match op["kind"]:
        case "matmul":
            product = a @ (of[1].T if op["transpose_b"] else of[1])
            return product + (of[2] if len(of) > 2 else 0)
        case "row_mean":
            return a.mean(-1, keepdims=True)
        case "row_mean_square":
            return ((a - (of[1] if len(of) > 1 else 0)) ** 2).mean(-1, keepdims=True)
        case "root":
            return np.sqrt(a + float(op["text"]))
        case "normalised":
            out, rest = (a - of[1]) / of[2], of[3:]
            out = out * rest.pop(0) if op["gain"] else out
            return out + rest.pop(0) if op["bias"] else out
        case "rms_normalised":
            return a / of[1] * (of[2] if len(of) > 2 else 1)
        case "add":
            return sum(part.astype(np.float64) for part in of)
        case "subtracted":
            return a - of[1]
        case "multiply":
            return a * of[1]
        case "scaled":
            return a * op["by"]
        case "softmax_rows":
            e = np.exp(a - a.max(-1, keepdims=True))
            return e / e.sum(-1, keepdims=True)
        case "concat":
            return np.concatenate(of, axis=1)
        case "turned":
            (left, right), angle = np.split(a, 2, axis=1), of[1]
            cos, sin = np.cos(angle), np.sin(angle)
            return np.concatenate([left * cos - right * sin, right * cos + left * sin], axis=1)
        case "function":
            one = torch.tensor(a)
            known = {
                "exp": torch.exp,
                "ReLU": torch.relu,
                "GELU": torch.nn.functional.gelu,
                "SiLU": torch.nn.functional.silu,
                "GELU (tanh form)": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
            }
            return known[op["text"]](one).numpy()
    raise AssertionError(op["kind"])


KINDS = {
    "as GPT-2": {},
    "behind": {"norm": "post"},
    "no norms": {"norm": "none"},
    "rms, rotary, swiglu": dict(norm_kind="rms", positions="rotary", activation="swiglu"),
    "shared, no biases": dict(n_kv_head=1, bias=False, qkv_bias=False, activation="gelu_tanh"),
    "silu, sinusoidal": dict(activation="silu", positions="sinusoidal"),
}


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS.keys())
def test_every_cell_is_what_its_arithmetic_says(options, tmp_path, monkeypatch):
    """For all kinds of layers: operations with numpy, snippets of every stage, no stage missing."""
    make_checkpoint(tmp_path, **options)
    use(monkeypatch, tmp_path)
    config = engine.load("tiny-world-gpt").model.config
    names = stage_names(config.norm)
    for stage in names:
        app = harness.open_part("transformer", "block", **MODEL, layer="1", head="1", stage=stage)
        harness.fine(app)
        (snippet,) = harness.snippets(app)
        assert harness.run_snippet(snippet[0]).strip() == snippet[1].strip(), stage
    sent_view, drawn = view(app), matrices(app)
    assert len(sent_view["stages"]) == len(names)
    shown = {n for stage in sent_view["stages"] for row in stage["layout"] for n in row}
    for one in sent_view["matrices"]:
        op = one["op"]
        if op is None or op["kind"] == "masked":
            continue
        of = [drawn[name] for name in op["of"]]
        expected = computed(op, of)
        np.testing.assert_allclose(drawn[one["name"]], expected, atol=2e-4, rtol=2e-4)
        assert one["name"] in shown or one["name"].startswith(("context of", "mean square"))
    learned = {name for name in drawn if name.startswith(("W_", "b_", "scale", "shift"))}
    assert learned <= shown


def test_the_learned_matrices_are_the_models(bundle):
    app = harness.open_part("transformer", "block", **MODEL, layer="1", head="2")
    drawn, layer = matrices(app), bundle.model.blocks[1]
    for name, part in (
        ("W_O", layer.attn.projection),
        ("W_up", layer.mlp.hidden),
        ("W_down", layer.mlp.output),
    ):
        np.testing.assert_array_equal(drawn[name], part.weight.T.numpy())
    for name, part in zip("QKV", layer.attn.projections(2), strict=True):
        np.testing.assert_array_equal(drawn[f"W_{name}"], part.numpy())
    (chosen,) = (box for box in app.number_input if box.label == block_words.head)
    assert (chosen.min, chosen.max) == (0, HEADS - 1)
    values = {m["name"]: m["values"] for m in view(app)["matrices"]}
    assert values["W_up"] == field("W_up")  # fetched once, not sent with each change


def test_three_words_are_computed_not_typed():
    app = harness.open_part("transformer", "block")
    steps = all_blocks(three_words(), [0, 1, 2])[0]
    drawn = matrices(app)
    np.testing.assert_array_equal(drawn["out"], steps["residual"].numpy())
    assert drawn["act"].shape == (3, 8) and not view(app)["windows"]


def test_the_example_behaves_as_models_do():
    """Its feed-forward network widens and has most parameters; ReLU sets some numbers to 0."""
    own, real = three_words().config, GPTConfig()
    for config in (own, real):
        counts = {
            part: sum(map(math.prod, tensors.values()))
            for part, tensors in parameters_of(config).items()
        }
        assert counts["up"] + counts["down"] > max(counts["qkv"], counts["projection"])
        assert config.feed_forward_size > config.n_embd
    steps = all_blocks(three_words(), [0, 1, 2])[0]
    below = float((steps["mlp.hidden"] <= 0).float().mean())
    assert 0.25 < below < 0.75


def test_a_link_keeps_stage_cell_and_windows(bundle):
    link = {"stage": "up", "cell": "hidden.1.40", "seen": "F.38", "layer": "1"}
    app = harness.open_part("transformer", "block", **MODEL, **link)
    harness.fine(app)
    found = view(app)
    assert found["stages"][found["step"]]["box"] == "up"
    assert found["pinned"] == ["hidden", 1, 40] and found["window"] == [["F", 38]]
    link = {"cell": "hidden.99.1", "head": "99", "layer": "7"}
    app = harness.open_part("transformer", "block", **MODEL, **link)
    harness.fine(app)
    assert view(app)["pinned"] is None and "does not exist here" in harness.boxes(app)


@pytest.mark.parametrize(
    ("part", "asked"),
    [
        ("block", "nowhere"),
        ("patching", "names-gru"),
        ("residuals", "names-gru"),
        ("stream", "names-gru"),
        ("stream", "pairs-seq2seq"),
        ("units", "pairs-seq2seq"),
    ],
)
def test_a_model_without_layers_is_replaced_and_named(part, asked):
    app = harness.open_part("transformer", part, of="model", model=asked)
    harness.fine(app)
    said = harness.boxes(app)
    assert f"{asked} cannot be used here" in said and "tiny-world-gpt" in said
    assert app.query_params.get("model") != [asked]


@pytest.mark.parametrize("part", ["block", "units"])
def test_a_model_with_experts_is_refused_with_those_that_can(part, tmp_path, monkeypatch):
    make_checkpoint(tmp_path, n_expert=3)
    use(monkeypatch, tmp_path)
    app = harness.open_part("transformer", part, **MODEL)
    harness.fine(app)
    assert "3 experts a layer" in harness.boxes(app)
    assert ("Choose another model." in harness.boxes(app)) == (part == "block")


def test_attention_with_a_step_that_no_picture_knows_is_refused(tmp_path, monkeypatch):
    make_checkpoint(tmp_path)
    use(monkeypatch, tmp_path)
    load_torch()
    attn = engine.load("tiny-world-gpt").model.blocks[0].attn
    made = attn.queries_keys_values
    monkeypatch.setattr(attn, "queries_keys_values", lambda *of: (2 * made(*of)[0], *made(*of)[1:]))
    app = harness.open_part("transformer", "block", **MODEL)
    harness.fine(app)
    assert "a step that this picture does not know" in harness.boxes(app)


lengths = some.floats(0.01, 99)


@given(lengths, lengths, lengths)
def test_the_question_of_the_block_is_how_much_survives(x, attn, mlp):
    parts = block.shares({"x": x, "attn": attn, "mlp": mlp, "out": 1.0})
    assert sum(parts.values()) == pytest.approx(1)
    asked = block.question(parts["x"])
    if asked is None:
        assert 3 * x > 0.69 * (x + attn + mlp)  # it does not drown
    else:
        assert asked.values[asked.right] == (parts["x"],) and len(asked.answers) == 3


def test_looks_at_the_block_say_what_the_first_model_does():
    first = engine.load("tiny-world-gpt")
    read = model_on_text.read_text({"text": LESSON_TEXT}, first)
    subject = Subject(*first.kept_as, first.model, read.ids, read.tokens, 0)
    every = [block.lengths(replace(subject, layer=layer)) for layer in range(4)]
    parts = [block.shares(added) for added in every]
    assert block.question(parts[0]["x"]) is not None and parts[1]["x"] > 0.5
    assert every[2]["out"] < every[2]["x"] and min(every[2]["attn"], every[2]["mlp"]) > 1
    assert max(parts[3], key=parts[3].get) == "attn"


def test_what_is_asked_is_not_sent_before_the_answer(covers):
    app = harness.open_part("transformer", "block")
    harness.fine(app)
    values = [row["value"] for row in harness.sent(app, "case_rows")["rows"]]
    assert values == [None] * 3
    app.session_state["transformer.layer"] = 1
    app.run()
    assert all(row["value"] for row in harness.sent(app, "case_rows")["rows"])


def norms_stand(stages: list[dict], norm: str) -> None:
    norms_at = [k for k, stage in enumerate(stages) if stage["short"] == "n"]
    sums_at = [k for k, stage in enumerate(stages) if stage["short"] == "+"]
    branches = [stages[k]["branch"] for k in norms_at]
    if norm == "pre":
        assert norms_at == [1, sums_at[0] + 1] and branches == [0, 1]
    elif norm == "post":
        assert norms_at == [k + 1 for k in sums_at] and branches == [None, None]


@pytest.mark.parametrize("norm", STAGES)
@pytest.mark.parametrize("text", ["Once", TEXT])
def test_the_caption_of_a_block_is_what_was_traced(norm, text, tmp_path, monkeypatch):
    make_checkpoint(tmp_path, norm=norm)
    use(monkeypatch, tmp_path)
    app = harness.open_part("transformer", "block", of="model", text=text, layer="1")
    harness.fine(app)
    bundled = engine.load("tiny-world-gpt")
    with torch.inference_mode(), record(["blocks.*"]) as trace:
        bundled.model(torch.tensor([ids_of(bundled, text)]))
    x, attn, mlp, out = (
        float(trace[name][0, -1].norm())
        for name in ("blocks.0.residual", "blocks.1.attn", "blocks.1.mlp", "blocks.1.residual")
    )
    told = re.sub(r"<[^>]*>|\*", "", harness.prose_of(app)).replace("\n", " ")
    assert f"arrow {x:.1f} long" in told and f"adds one of {attn:.1f}" in told
    assert f"network one of {mlp:.1f}" in told and f"leaves is {out:.1f} long" in told
    norms_stand(view(app)["stages"], norm)


@pytest.mark.parametrize("bend", ["own", "relu", "gelu_tanh", "swiglu"])
def test_bars_count_the_numbers_of_the_text(bundle, bend):
    app = harness.open_part("transformer", "units", bend=bend, unitlayer="1", unit="5")
    harness.fine(app)
    bars, curve = harness.charts(app)[1]["data"]
    (text, _), *_ = units.Unit(bundle, units.searched(bundle), 1, 5).peaks()
    values = all_blocks(bundle.model, text)[1]["mlp.hidden"].numpy().ravel()
    assert sum(bars["y"]) == len(values)
    below = sum(count for x, count in zip(bars["x"], bars["y"], strict=True) if x < 0)
    assert below == (values < 0).sum()
    assert f"{100 * (values <= 0).mean():.1f}" in harness.prose_of(app)
    name = bundle.model.config.activation if bend == "own" else bend
    line = ACTIVATIONS[name](torch.tensor(curve["x"], dtype=torch.float64))
    np.testing.assert_allclose(curve["y"], line, atol=1e-12)


# ---- units


@pytest.mark.parametrize("unit", ["", "5"])
def test_texts_of_a_unit_are_those_that_drive_it_highest(bundle, unit):
    link = {"unit": unit} if unit else {}
    app = harness.open_part("transformer", "units", unitlayer="1", **link)
    harness.fine(app)
    found = units.searched(bundle)
    chosen = int(unit) if unit else found.telling(1, 1)[0]
    *rows, own = harness.sent(app, "token_strip")["rows"]
    peaks = [float(unit_values(bundle.model, text, 1)[:, chosen].max()) for text in found.texts]
    best = sorted(peaks, reverse=True)[: len(rows)]
    assert [max(row["values"]) for row in rows] == pytest.approx(best, abs=1e-4)
    mine = unit_values(bundle.model, ids_of(bundle, LESSON_TEXT), 1)[:, chosen].tolist()
    assert own["values"] == pytest.approx(mine, abs=1e-4)
    (text, place), *_ = units.Unit(bundle, found, 1, chosen).peaks()
    made = unit_writes(bundle.model, 1, chosen, text, place, units.LISTED)
    bars = harness.charts(app)[0]["data"][0]["x"]
    expected = [*made.raised.tolist(), *reversed(made.lowered.tolist())]
    assert bars == pytest.approx(expected, abs=1e-5)
    told = re.search(r"adds (−?[\d.]+) to the", harness.prose_of(app))[1].replace("−", "-")
    top = float(found.search.highest[1, chosen, 0])
    assert float(told) == pytest.approx(top * float(made.raised[0]), abs=0.006)


def test_the_question_of_a_unit_is_where_it_is_highest(bundle):
    found, asked = units.searched(bundle), 0
    for layer, unit in np.ndindex(2, 40):
        it = units.Unit(bundle, found, layer, unit)
        question = units.question(it)
        if question is None:
            continue
        asked += 1
        text = it.peaks()[units.TEXTS][0]
        values = unit_values(bundle.model, text, layer)[:, unit]
        (right,) = question.values[question.right]
        assert float(values[right]) == pytest.approx(float(values.max()), abs=1e-4)
        assert sorted(at for (at,) in question.values) == [right - 1, right, right + 1]
    assert asked


def test_a_hat_wakes_the_number_that_a_look_says():
    first = engine.load("tiny-world-gpt")
    it = units.chosen({"unitlayer": -1, "unit": -1}, first)
    assert (it.layer, it.unit) == (2, 534)  # as the looks have it
    top = {}
    for look in re.findall(r"text=([^&]*)&", " ".join(map(str, units_words.looks))):
        read = model_on_text.read_text({"text": look.replace("+", " ")}, first)
        top[look] = max(it.values(read.ids))
    asleep, awake = sorted(top.values())
    assert asleep < 0.5 < 5 < awake and max(top, key=top.get).startswith("Once")


def test_the_text_that_is_asked_for_has_no_colours_before_the_answer(bundle, covers):
    app = harness.open_part("transformer", "units", model="tiny-world-gpt")
    harness.fine(app)
    rows = harness.sent(app, "token_strip")["rows"]
    assert len(rows) == units.TEXTS + 1 and not any(rows[-1]["values"])
    assert "What you have seen" not in [header.value for header in app.header]
    app.session_state["transformer.unitlayer"] = 0
    app.session_state["transformer.unit"] = 5
    app.run()
    harness.fine(app)
    assert all(any(row["values"]) for row in harness.sent(app, "token_strip")["rows"])
    found = units.searched(bundle)
    fired = float(found.search.fired[0, 5])
    told = percent(fired) if fired else "never wakes"
    assert told in harness.prose_of(app)
    dead = int(found.search.dead.sum())
    every = found.search.dead.numel()
    assert f"one of {every:,} such numbers, and {dead} of them never" in harness.prose_of(app)


@pytest.mark.parametrize(("dead", "said"), [(0, "each of them"), (1, "one of"), (9, "none of")])
def test_units_that_never_woke_are_counted_in_words_at_the_edges(dead, said):
    assert units.never_woke(dead, 9, 100).startswith(said)
    assert units.never_woke(2, 9, 100).startswith("2 of")


def test_a_new_search_shows_how_far_it_is(bundle, monkeypatch):
    """One batch a rerun: the page says how many tokens are read, and no unit before all are."""
    monkeypatch.setattr(units, "SLICE", 0.0)
    units.growing.clear()
    app = harness.open_part("transformer", "units")
    harness.fine(app)
    grown = units.growing(bundle)
    assert 0 < grown.known < grown.tokens
    (bar,) = app.get("progress")
    assert f"{grown.known:,} of {grown.tokens:,} tokens" in bar.proto.text
    drawn = [part.proto.component_name for part in app.get("bidi_component")]
    assert "llmviz_token_strip" not in drawn
    monkeypatch.setattr(units, "SLICE", 60.0)
    app.run()
    harness.fine(app)
    assert harness.sent(app, "token_strip")["rows"]
    monkeypatch.setattr(units, "GrowingSearch", None)  # it is searched once for all
    app = harness.open_part("transformer", "units", unit="99999")  # which is not there
    harness.fine(app)
    found = units.searched(bundle)
    shown = {box.value for box in app.number_input}
    assert {1, found.telling(1, 1)[0]} <= shown


def test_a_reading_is_stopped_and_goes_on_where_it_was(bundle, monkeypatch):
    monkeypatch.setattr(units, "SLICE", 0.0)
    units.growing.clear()
    app = harness.open_part("transformer", "units")
    grown = units.growing(bundle)
    app.button(f"{units.KEY}.stop").click().run()
    harness.fine(app)
    known = grown.known
    for _ in range(3):
        app.run()
        harness.fine(app)
    assert 0 < grown.known == known < grown.tokens
    monkeypatch.setattr(units, "SLICE", 60.0)
    app.button(f"{units.KEY}.play_arrow").click().run()
    harness.fine(app)
    assert grown.known == grown.tokens and harness.sent(app, "token_strip")["rows"]


def test_a_large_model_reads_fewer_tokens(bundle, monkeypatch):
    units.growing.clear()
    assert units.growing(bundle).tokens > 15_000
    own = sum(tensor.numel() for tensor in bundle.model.parameters())
    monkeypatch.setattr(units, "WORK", 2_000 * own)
    units.growing.clear()
    assert 1_000 < units.growing(bundle).tokens <= 2_000
    units.growing.clear()


def test_a_run_is_searched_on_the_text_that_it_learned_from(bundle, tmp_path, monkeypatch):
    """A learner's own text lies in the run's folder, and is what its units are watched on."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    folder = make_checkpoint(tmp_path, "mine")
    text = "Anna saw a bird and Samir saw a fish. " * 30
    (folder / OWN_TEXT).write_text(text, encoding="utf-8")
    about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    about["data"] |= {"corpus": OWN_TEXT, "documents": 1}
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    app = harness.open_part("transformer", "units", model="run:mine")
    harness.fine(app)
    grown = units.growing(engine.load("run:mine"))
    assert [i for piece in grown.pieces for i in piece] == bundle.tokenizer.encode_from_start(text)


@pytest.mark.parametrize("added", [(71.6, 13.9, 14.5), (1, 1, 1), (72.5, 14.5, 15.0), (5, 0, 0)])
def test_the_printed_shares_of_a_block_add_up_to_100(added):
    parts = block.shares(dict(zip(("x", "attn", "mlp"), added, strict=True)))
    assert sum(round(100 * share) for share in parts.values()) == 100
