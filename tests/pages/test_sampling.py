"""The lesson on sampling without a browser: what it shows is what the library computes.

What the in-page components draw is tested in the browser; the steps themselves in tests/sampling.
"""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch

from llmviz.course.components.beam_tree.view import Branch, beam_payload
from llmviz.course.components.dice.view import dice_payload
from llmviz.course.components.sampler.view import Column, Control, Sweeps, sampler_payload
from llmviz.course.lessons.sampling import params, source, words
from llmviz.course.lessons.sampling.dice import words as dice_words
from llmviz.course.lessons.sampling.knows import model as facts
from llmviz.course.lessons.sampling.pipeline import chapter as pipeline
from llmviz.course.lessons.sampling.writing.chapter import writer_words
from llmviz.course.ui import engine
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.model_on_text import names_of
from llmviz.runs import store
from llmviz.sampling import sampling_steps, sweeps, usual_order
from llmviz.tokenizers import CharTokenizer
from llmviz.training import TrainConfig
from llmviz.training.plan import Plan, prepare
from llmviz.training.run_folder import run_in_folder
from tests.pages import harness
from tests.pages.conftest import use
from tests.pages.harness import (
    boxes,
    fine,
    open_page,
    open_part,
    run_snippet,
    sent,
    snippets,
)
from tests.pages.small_model import CONTEXT, ids_of, logits_of, make_checkpoint

PARTS = ["pipeline", "dice", "writing", "temperature", "beam", "knows"]
READ_THE_PROMPT = [part for part in PARTS if part != "beam"]  # which reads the beginning of a name
PROMPT = "Mila found a ball"


# ---- the pipeline's picture


def test_every_stop_of_every_slider_is_the_whole_distribution(bundle):
    app = harness.open_page("sampling", prompt=PROMPT, temperature="0.7", k="50", p="0.9", draw="3")
    harness.fine(app)
    board = harness.sent(app, "sampler")
    logits, ids = logits_of(bundle, PROMPT), ids_of(bundle, PROMPT)
    u = torch.rand(3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)[-1].item()
    assert board["u"] == u
    base = {"temperature": 0.7, "top_k": 50, "top_p": 0.9}
    for control in board["controls"]:
        probabilities = control["probabilities"].astype(np.float64)  # (S, C, N)
        assert np.allclose(probabilities.sum(-1) + control["hidden_mass"], 1, atol=1e-5)
        for at, value in enumerate(control["values"]):
            steps = sampling_steps(logits, previous=ids, **base | {control["name"]: value})
            own = steps.probabilities
            assert np.allclose(probabilities[at, -1], own[board["ids"]], atol=1e-6)
            # The strip: the most probable first, ties by id, the first that ends above u.
            order = sorted(range(own.size), key=lambda i, own=own: (-own[i], i))
            ends = np.cumsum(own[order])
            drawn = order[int(np.searchsorted(ends / ends[-1], u, side="right"))]
            assert control["drawn"][at] == drawn
            start, end = control["drawn_from"][at]
            assert start <= u + 1e-6 and u < end + 1e-6
            assert end - start == pytest.approx(own[drawn], abs=1e-5)
    now = {c["name"]: c["values"][c["at"]] for c in board["controls"]}
    assert now["temperature"] == 0.7 and now["top_k"] == 50 and now["top_p"] == 0.9


def test_what_a_column_cut_is_what_went_missing(bundle):
    settings = {"order": usual_order(), "banned": (), "top_k": 20, "top_p": 0.8, "min_p": 0.02}
    settings |= {"temperature": 0.9, "repetition_penalty": 1.0, "strip": "id"}
    logits = logits_of(bundle, PROMPT)
    everything = np.arange(logits.size)
    found = sweeps.sweep_all([settings], logits, (), everything, 0.5)
    own = np.exp(logits / 0.9 - (logits / 0.9).max())
    own /= own.sum()
    columns = ["model", *sweeps.steps_with_column(settings)]
    top_k = columns.index("top_k")
    largest = np.sort(own)[::-1]
    assert found.mass_cut[0, top_k] == pytest.approx(1 - largest[:20].sum(), abs=1e-6)
    assert found.tokens_cut[0, top_k] == own.size - 20
    assert found.hidden_tokens[0].tolist() == [0] * len(columns)
    assert (found.kept[0].sum(-1)[top_k:] <= 20).all()


def test_order_of_the_steps_is_changed_kept_and_explained(bundle):
    changed = "banned,top_p,top_k,repetition_penalty,temperature,min_p"
    app = harness.open_page(
        "sampling", prompt=PROMPT, temperature="2", p="0.5", order=changed, everystep="1"
    )
    harness.fine(app)
    shown = [column["name"] for column in harness.sent(app, "sampler")["columns"]]
    assert [name for name in shown if name in changed.split(",")] == changed.split(",")[1:]
    logits, ids = logits_of(bundle, PROMPT), ids_of(bundle, PROMPT)
    kept = [
        int(sampling_steps(logits, 2, top_p=0.5, previous=ids, order=order).kept.sum())
        for order in (changed.split(","), usual_order())
    ]
    assert kept[0] != kept[1]
    assert all(f"{n} token" in harness.prose_of(app) for n in kept)


def test_moves_keep_every_step():
    order = list(usual_order())
    for name, by in [("top_k", -1), ("min_p", 1), ("temperature", 1), ("repetition_penalty", -1)]:
        order = pipeline.moved(order, name, by, with_banned=False)
        assert sorted(order) == sorted(usual_order()) and order[0] == "banned"
    assert pipeline.moved(list(usual_order()), "banned", 1, with_banned=True)[1] == "banned"


def test_hand_can_set_only_what_a_link_can_hold(bundle):
    state = _State()
    vocabulary = bundle.tokenizer.vocab_size
    for act in (
        {"set": "temperature", "value": 0.4},
        {"set": "top_k", "value": 7},
        {"set": "top_k", "value": None},
        {"ban": 5},
        {"ban": 6},
        {"ban": 5},
        {"ban": vocabulary},
        {"move": "top_k", "by": -1},
        {"move": "nothing", "by": -1},
        {"set": "seed", "value": 3},
        {},
    ):
        pipeline.take_act(state, act, vocabulary)
    assert state["temperature"] == 0.4 and state["k"] is None and state["ban"] == [6]
    assert state["seed"] == 1 and state["order"].index("top_k") == 2
    with pytest.raises(ValueError, match="number from 0"):
        pipeline.take_act(state, {"set": "temperature", "value": -1.0}, vocabulary)


class _State(dict):
    """A page's values without a page."""

    def __init__(self):
        self.params = {param.key: param for param in params.PARAMS}
        super().__init__({param.key: param.default for param in params.PARAMS})


# ---- bad input


def model_probabilities(app) -> tuple[np.ndarray, list[int]]:
    """What the first column of the pipeline is sent, and of which tokens."""
    board = harness.sent(app, "sampler")
    control = board["controls"][0]
    return control["probabilities"][control["at"], 0], board["ids"]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("", "starts from `<|endoftext|>` alone"),
        ("Mila found a red ball. " * 20, f"the context holds only {CONTEXT}"),
    ],
)
def test_an_empty_prompt_and_one_beyond_the_context_are_read_as_is_said(bundle, prompt, line):
    app = harness.open_part("sampling", "pipeline")
    app.text_area[0].set_value(prompt).run()
    harness.fine(app)
    assert line in harness.boxes(app)
    shown, ids = model_probabilities(app)
    expected = sampling_steps(logits_of(bundle, prompt)).model_probabilities[ids]
    assert np.allclose(shown, expected, atol=1e-6)


def test_another_start_token_is_named_and_so_is_another_end(bundle, monkeypatch):
    """An imported model brings its own: what a page says of them is the tokenizer's."""
    front = tuple(bundle.tokenizer.encode("Mila")[:1])
    monkeypatch.setattr(bundle.tokenizer, "front", front)
    (name,) = names_of(front, bundle.tokenizer)
    app = harness.open_part("sampling", "pipeline", prompt="")
    said = harness.boxes(app)
    assert f"starts from `{name}` alone" in said and "endoftext" not in said
    prompt = source.read(bundle, "Mila")
    assert writer_words(prompt)["ended"].endswith("<|endoftext|>.")
    monkeypatch.setattr(type(bundle.tokenizer), "end", property(lambda self: front[0]))
    assert writer_words(prompt)["ended"].endswith(f"{name}.")


def test_characters_never_seen_are_named(tmp_path, monkeypatch):
    make_checkpoint(tmp_path, tokenizer=CharTokenizer.train(["Mila has a ball."]))
    use(monkeypatch, tmp_path)
    app = harness.open_page("sampling", prompt="Mila 한국 ball")
    harness.fine(app)
    assert "does not know 2 tokens" in harness.boxes(app)


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ({"temperature": "-1"}, "a number from 0 to 100"),
        ({"temperature": "nan"}, "a number from 0 to 100"),
        ({"k": "0"}, "a whole number from 1"),
        ({"p": "1.5"}, "a number from 0 to 1"),
        ({"order": "top_k"}, "different names"),
        ({"draw": "0"}, "a whole number from 1"),
        ({"ways": "3.1.5.6"}, "parent.position.token.length"),
        ({"ban": "5,900000"}, "900000"),  # a token of another model
    ],
)
def test_links_with_impossible_settings_name_the_rule(bundle, link, rule):
    app = harness.open_page("sampling", prompt=PROMPT, **link)
    harness.fine(app)
    assert rule in harness.boxes(app)
    assert harness.sent(app, "sampler")["banned"] == ([5] if "ban" in link else [])


def test_temperature_zero_is_greedy_everywhere(bundle):
    best = int(logits_of(bundle, PROMPT).argmax())
    app = harness.open_page("sampling", prompt=PROMPT, temperature="0")
    harness.fine(app)
    control = harness.sent(app, "sampler")["controls"][0]
    assert control["drawn"][control["at"]] == best
    app = harness.open_part("sampling", "writing", prompt=PROMPT, temperature="0", written="4")
    harness.fine(app)
    assert harness.unpack_all(app, "writer")[0]["ids"][0] == best
    assert (harness.unpack_all(app, "writer")[0]["rank"] == 1).all()
    app = harness.open_part("sampling", "temperature", prompt=PROMPT, temperature="0")
    harness.fine(app)
    table = harness.sent(app, "softmax_view")
    assert table["probability"][table["at"]].tolist() == [1.0] + [0.0] * (len(table["names"]) - 1)
    assert np.isnan(table["scaled"][table["at"]]).all()


def test_p_zero_is_refused_and_p_one_and_k_beyond_the_vocabulary_keep_all(bundle):
    for part in ("pipeline", "dice", "writing"):
        app = harness.open_part("sampling", part, prompt=PROMPT, p="0")
        harness.fine(app)
        assert "top_p must be above 0" in harness.boxes(app), part
    for link, line in (({"p": "1"}, ""), ({"k": "999999"}, "999,999")):
        app = harness.open_page("sampling", prompt=PROMPT, **link)
        harness.fine(app)
        assert line in harness.boxes(app)
        control = harness.sent(app, "sampler")["controls"][0]
        assert control["kept"][control["at"]].all()


def test_forbidding_all_that_is_left_is_refused_with_the_reason(bundle):
    best = int(logits_of(bundle, PROMPT).argmax())
    order = "repetition_penalty,temperature,top_k,top_p,min_p,banned"
    app = harness.open_page("sampling", prompt=PROMPT, k="1", ban=str(best), order=order)
    harness.fine(app)
    assert "no token is left to draw" in harness.boxes(app)
    (top_k,) = (c for c in harness.sent(app, "sampler")["controls"] if c["name"] == "top_k")
    assert "no token is left" in top_k["refused"][top_k["at"]]
    assert top_k["refused"][-1] == ""  # with all tokens kept, others can be drawn
    reset = next(button for button in app.button if button.label == words.reset)
    reset.click().run()
    harness.fine(app)
    assert "no token is left" not in harness.boxes(app)


def test_no_model_is_said_in_every_chapter(tmp_path, monkeypatch):
    use(monkeypatch, tmp_path)
    for part in PARTS:
        app = harness.open_part("sampling", part)
        harness.fine(app)
        name = "tiny-world-gpt" if part in READ_THE_PROMPT else "names-gpt"
        assert f"The model {name} is not in this copy" in harness.boxes(app), part


# ---- dice


def test_dice_count_every_draw_of_the_seed(bundle):
    app = harness.open_part(
        "sampling", "dice", prompt=PROMPT, draw="2500", seed="9", temperature="0.5"
    )
    harness.fine(app)
    thrown = harness.sent(app, "dice")
    steps = sampling_steps(logits_of(bundle, PROMPT), temperature=0.5, strip="probability")
    drawn = steps.draw_many(2500, torch.Generator().manual_seed(9))
    assert thrown["counts"].sum() == 2500
    top = steps.strip[: len(thrown["names"])]
    assert thrown["counts"][:-1].tolist() == [int((drawn == token).sum()) for token in top]
    one = next(button for button in app.button if button.label == dice_words.one)
    one.click().run()
    assert harness.sent(app, "dice")["counts"].sum() == 2501
    replay = next(button for button in app.button if button.label == dice_words.replay)
    replay.click().run()
    assert harness.sent(app, "dice")["counts"].sum() == 1


def test_why_is_answered_from_the_draw(bundle):
    for draw in range(1, 6):
        link = {"prompt": PROMPT, "draw": str(draw), "temperature": "0.3"}
        app = harness.open_part("sampling", "dice", **link)
        steps = sampling_steps(logits_of(bundle, PROMPT), temperature=0.3, strip="probability")
        u = source.random_numbers(1, draw)[-1]
        was_top = steps.draw(float(u)) == int(steps.probabilities.argmax())
        assert f"{u:.4f}" in harness.prose_of(app)
        assert ("the favourite. Of 100" in harness.prose_of(app)) == was_top


def test_softmax_table_multiplies_out(bundle):
    app = harness.open_part("sampling", "temperature", prompt=PROMPT)
    table = harness.sent(app, "softmax_view")
    logits = logits_of(bundle, PROMPT)
    for at, stop in enumerate(table["stops"]):
        if not stop:
            continue
        assert np.allclose(table["scaled"][at], table["logits"] / stop, atol=1e-4)
        exps = np.exp((logits - logits.max()) / stop)
        assert np.allclose(table["exp"][at], np.sort(exps)[::-1][: len(table["names"])], atol=1e-5)
        assert np.allclose(table["probability"][at], table["exp"][at] / exps.sum(), atol=1e-5)
    assert table["stops"][-1] is None
    assert table["entropy"][-1] == pytest.approx(np.log(logits.size), abs=1e-4)
    assert (np.diff(table["entropy"]) >= -1e-6).all() and table["entropy"][0] == 0


def test_chances_are_the_product_over_the_tokens(bundle):
    asked = [(PROMPT, " and a box"), ("Otto", " sat"), (PROMPT * 30, ".")]
    together = facts.chances(bundle.model, bundle.tokenizer, asked, [0.5, 1.0])
    for row, (prompt, continuation) in zip(together, asked, strict=True):
        for found, temperature in zip(row, (0.5, 1.0), strict=True):
            ids, product = ids_of(bundle, prompt), 1.0
            for token in bundle.tokenizer.encode(continuation):
                with torch.inference_mode():
                    logits = bundle.model(torch.tensor([ids[-CONTEXT:]]))[0][0, -1].double()
                product *= torch.softmax(logits / temperature, -1)[token].item()
                ids.append(token)
            assert found == pytest.approx(product, rel=1e-3, abs=1e-12)
    greedy = facts.chances(bundle.model, bundle.tokenizer, asked, [0.0])
    assert set(greedy.ravel()) <= {0.0, 1.0}


# ---- what components refuse


def test_components_refuse_data_that_do_not_fit():
    good = Sweeps.empty(2, 2, 3, 1)
    control = Control("temperature", [0.5, 1.0], ["0.5", "1"], 0, good)
    columns = [Column("model", "m"), Column("temperature", "t")]
    names = {0: "a", 1: "b", 2: "c"}
    payload = sampler_payload(columns, [control], [0, 1, 2], names, 0.5, 3, None, (), can_ban=True)
    assert payload["controls"][0]["at"] == 0
    with pytest.raises(ValueError, match="shape"):
        sampler_payload(columns, [control], [0, 1], names, 0.5, 3, None, (), can_ban=True)
    with pytest.raises(ValueError, match="has no name"):
        sampler_payload(columns, [control], [0, 1, 2], {0: "a"}, 0.5, 3, None, (), can_ban=True)
    with pytest.raises(ValueError, match="at least one control"):
        sampler_payload(columns, [], [0], names, 0.5, 3, None, (), can_ban=True)
    with pytest.raises(ValueError, match="add up"):
        dice_payload(["a"], [1.0], [3], 4, (0, 0.0, 0), [], [])
    root = Branch(None, "prompt", 0, 0, 0, 0, "kept")
    with pytest.raises(ValueError, match="no parent"):
        beam_payload([root, Branch(1, "a", 1, -1, -1, -1, "kept")], [1], {}, {}, ["", ""])
    with pytest.raises(ValueError, match="captions"):
        beam_payload([root], [0], {}, {}, [])


@pytest.mark.parametrize("part", PARTS)
def test_snippets_run_with_settings_of_the_learner(bundle, part):
    link = dict(prompt=PROMPT, temperature="0.7", k="30", p="0.9", minp="0.01", repeat="1.2")
    app = harness.open_part("sampling", part, **link, seed="5", draw="7", written="6", ban="3")
    harness.fine(app)
    for snippet, prints in harness.snippets(app):
        assert harness.run_snippet(snippet).strip() == prints.strip()


def test_run_deleted_while_selected_is_replaced_and_said(folder, tmp_path, monkeypatch):
    shutil.copytree(folder / "tiny-world-gpt", tmp_path / "tiny-world-gpt")
    make_checkpoint(tmp_path, "mine")
    use(monkeypatch, tmp_path)
    app = open_page("sampling", prompt=PROMPT, model="mine")
    fine(app)
    shutil.rmtree(tmp_path / "mine")
    app.text_area[0].set_value(PROMPT + " and").run()
    fine(app)
    assert "mine cannot be used here" in boxes(app)
    sent(app, "sampler")
    (tmp_path / "tiny-world-gpt" / "model.safetensors").unlink()  # half of it deleted
    app.text_area[0].set_value(PROMPT).run()
    fine(app)
    assert "no model.safetensors" in boxes(app)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A run that was really trained."""
    settings = TrainConfig(steps=2, warmup_steps=1, snapshot_every=2, eval_batches=1, threads=1)
    plan = Plan(model="gru", model_options={"n_embd": 8}, corpus="names", train=settings)
    folder = tmp_path_factory.mktemp("trained") / "kept"
    list(run_in_folder(folder, prepare(plan)))
    return folder


@pytest.fixture
def runs(kept, tmp_path, monkeypatch):
    """The folder of runs with a kept one, and another visitor's private one."""
    home = tmp_path / "runs"
    monkeypatch.setenv("LLMVIZ_RUNS", str(home))
    for folder in (home / "kept", store.new_private_folder()):
        shutil.copytree(kept, folder)
    return home


def private(home) -> str:
    (folder,) = (home / store.SESSIONS).iterdir()
    return f"run:{folder.name}"


def test_kept_runs_are_offered_and_those_of_others_are_not(bundle, runs):
    app = open_page("sampling", prompt="ann")
    fine(app)
    (menu,) = (box for box in app.selectbox if box.label == furniture.model)
    assert menu.options == ["tiny-world-gpt", "kept"]
    menu.select("run:kept").run()
    fine(app)
    board = sent(app, "sampler")
    run = engine.load("run:kept")
    control = board["controls"][0]
    expected = sampling_steps(logits_of(run, "ann")).model_probabilities[board["ids"]]
    assert np.allclose(control["probabilities"][control["at"], 0], expected, atol=1e-6)
    for snippet, prints in snippets(app):
        assert run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("part", ["dice", "writing", "temperature", "beam", "knows"])
def test_every_chapter_takes_a_run(bundle, runs, part):
    fine(open_part("sampling", part, prompt="ann", model="run:kept", small="run:kept"))


def test_a_private_run_shows_to_who_has_its_link_until_it_is_deleted(bundle, runs):
    name = private(runs)
    app = open_page("sampling", prompt="ann", model=name)
    fine(app)
    assert "cannot be used here" not in boxes(app)
    (menu,) = (box for box in app.selectbox if box.label == furniture.model)
    assert menu.value == name
    assert any("gru on names" in option for option in menu.options)
    store.discard(store.find_run(name))
    app.text_area[0].set_value("bob").run()
    fine(app)
    assert f"{name} cannot be used here" in boxes(app)
    (menu,) = (box for box in app.selectbox if box.label == furniture.model)
    assert menu.value == "tiny-world-gpt"
    app.run()
    assert "cannot be used here" not in boxes(app)
