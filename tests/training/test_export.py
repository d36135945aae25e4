"""Bundled checkpoints: recipes that can be built, exports that load, cards that add up."""

import dataclasses
import math

import pytest
import torch

from llmviz.corpus import PROBES, Probe, lookups, probes
from llmviz.files.paths import BUNDLED_CHECKPOINTS as BUNDLED
from llmviz.models import MODELS, GPTConfig, build, count_parameters
from llmviz.models.catalogue import able
from llmviz.runs.named import find_checkpoint
from llmviz.training import CheckpointError, TrainConfig
from llmviz.training.evaluate import PROBED, probe_scores, share_right
from llmviz.training.export import export, finish
from llmviz.training.files import read_json
from llmviz.training.measures import Share
from llmviz.training.plan import Plan, prepare
from llmviz.training.recipes import RECIPES, SINCE_2017, plan_of
from llmviz.training.run_folder import load_trained, read_description, run_in_folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A bigram on a little of tiny-world, trained for a few steps and exported."""
    folder = tmp_path_factory.mktemp("finished")
    train = TrainConfig(steps=5, batch_size=4, device="cpu", dtype="float32", threads=1)
    plan = Plan(
        model="bigram",
        characters=60_000,
        tokenizer="bpe",
        vocab_size=400,
        context_length=256,
        train=train,
    )
    list(run_in_folder(folder / "run", prepare(plan, "make it")))
    card = finish(folder / "run", folder / "bundle", "small", probed=30)
    return folder, card


def test_half_the_size_and_nearly_the_same_logits(finished):
    folder, _ = finished
    exact, small = load_trained(folder / "run"), load_trained(folder / "bundle")
    idx = torch.tensor([[1, 2, 3]])
    torch.testing.assert_close(exact.model(idx)[0], small.model(idx)[0], rtol=1e-3, atol=1e-3)
    assert next(small.model.parameters()).dtype is torch.float32
    sizes = [(folder / name / "model.safetensors").stat().st_size for name in ("run", "bundle")]
    assert sizes[1] < 0.51 * sizes[0]
    assert {path.name for path in (folder / "bundle").iterdir()} == {
        "model.safetensors",
        "config.json",
        "tokenizer.json",
        "metrics.jsonl",
        "manifest.json",
        "card.json",
    }


def test_the_card_says_what_was_done_and_what_came_out(finished):
    _, card = finished
    assert card["command"] == "make it" and card["steps"] == 5 and card["seed"] == 0
    assert card["parameters"] == 400 * 400
    assert card["score"]["nats_per_token"] == pytest.approx(math.log(400), rel=0.2)
    assert card["floor"]["distance"] > 0
    assert set(card["probes"]) == set(PROBES)
    for kind, score in card["probes"].items():
        assert Share.from_dict(score).to_dict() == score and score["count"] == 30, kind
    model = load_trained(finished[0] / "bundle")
    again = probe_scores(model.model, model.tokenizer, ["sums"], 30)["sums"]
    assert card["probes"]["sums"] == again.of_two.to_dict()
    assert card["greedy_probes"]["sums"] == again.greedy.to_dict()


def test_a_damaged_bundle_is_refused_by_name(finished, tmp_path):
    folder, _ = finished
    export(folder / "run", tmp_path)
    file = tmp_path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged"):
        load_trained(tmp_path)


RUNS = sorted(name for name, recipe in RECIPES.items() if isinstance(recipe.plan, Plan))


@pytest.mark.parametrize("name", RUNS)
def test_every_recipe_names_a_model_that_can_be_built(name):
    plan = plan_of(name, steps=2)
    assert plan.train.steps == 2
    entry = MODELS[plan.model]
    vocab_size = plan.vocab_size or {"char": 100, "word": 1000}[plan.tokenizer]
    options = {
        "vocab_size": vocab_size,
        "context_length": plan.context_length,
        **plan.model_options,
    }
    config = entry.config.from_dict(options)
    with torch.device("meta"):
        model = entry.model(config)
    assert sum(p.numel() for p in model.parameters()) <= 6_000_000
    if name == "tiny-world-char":
        assert config.n_embd <= 48


FAMILY = [name for name in RUNS if name.startswith(f"{SINCE_2017}/")]


def test_the_family_differs_in_its_model_alone_and_has_equal_parameters():
    counts, plans = {}, set()
    for name in FAMILY:
        plan = plan_of(name)
        with torch.device("meta"):
            sizes = {"vocab_size": 2459, "context_length": plan.context_length}
            counts[name] = count_parameters(build("gpt", sizes | plan.model_options))
        plans.add(str(dataclasses.replace(plan, model_options={})))
    assert len(FAMILY) == 10 and len(plans) == 1
    first = counts[f"{SINCE_2017}/post-norm"]
    assert all(abs(count - first) <= 0.02 * first for count in counts.values()), counts


def test_each_of_the_family_changes_one_thing_in_another():
    options = {name: GPTConfig(**plan_of(name).model_options).to_dict() for name in FAMILY}
    for name in set(FAMILY) - {f"{SINCE_2017}/post-norm"}:
        sizes = {"hidden_size"}  # follows from the change: the count of parameters stays
        if name.endswith("experts"):
            sizes.add("experts_per_token")
        differing = [
            {key for key in one if one[key] != options[name][key]} - sizes
            for other, one in options.items()
            if other != name
        ]
        assert min(map(len, differing)) == 1, name


def test_names_are_found_and_unknown_ones_refused(tmp_path):
    assert find_checkpoint(str(tmp_path)) == tmp_path
    with pytest.raises(CheckpointError, match="no run or checkpoint 'nonsense'"):
        find_checkpoint("nonsense")
    with pytest.raises(ValueError, match="checkpoint must be one of"):
        plan_of("nonsense")


def test_every_bundled_folder_has_a_recipe():
    cards = {*BUNDLED.glob("*/card.json"), *BUNDLED.glob("*/*/card.json")}
    assert {path.parent.relative_to(BUNDLED).as_posix() for path in cards} <= RECIPES.keys()


@pytest.mark.parametrize("name", [name for name in RUNS if (BUNDLED / name).is_dir()])
def test_bundled_checkpoints_load_and_are_what_their_recipe_says(name):
    folder = BUNDLED / name
    trained = load_trained(folder)
    plan = plan_of(name)
    description = read_description(folder)
    assert description["model"]["name"] == plan.model
    made = Plan.from_dict(description["plan"])
    same = {"corpus", "tokenizer", "context_length", "model_options"}
    assert all(getattr(made, field) == getattr(plan, field) for field in same)
    idx = torch.tensor([[0, 1, 2]])
    inputs = (idx, idx) if able(plan.model, "translates") else (idx,)
    assert torch.isfinite(trained.model(*inputs)[0]).all()
    assert dataclasses.is_dataclass(trained.model.config)


@pytest.fixture(scope="module")
def world():
    return load_trained(BUNDLED / "tiny-world-gpt")


def test_the_card_of_the_worlds_model_reaches_its_aims():
    card = read_json(BUNDLED / "tiny-world-gpt" / "card.json")
    assert card["floor"]["distance"] < 0.05
    assert set(card["probes"]) == set(PROBES)
    assert all(score["share"] >= 0.97 for score in card["probes"].values()), card["probes"]
    assert card["parameters"] <= 6_000_000
    recipe = RECIPES["tiny-world-gpt"]
    assert card["steps"] == recipe.then[-1]["steps"]
    begins = [recipe.plan.train.steps, *(part["steps"] for part in recipe.then[:-1])]
    fork, parts = card["fork"], list(zip(recipe.then, begins, strict=True))
    for part, step in reversed(parts):  # the last one says what it is a fork of, and so on
        assert fork["changes"] == part and fork["step"] == step and fork["fresh"]
        fork = fork.get("before")
    assert fork is None


CARDS = [path for path in BUNDLED.rglob("card.json") if "probes" in read_json(path)]


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.name)
def test_scores_on_probes_are_counts_of_a_thousand_with_their_interval(path):
    card = read_json(path)
    for score in (*card["probes"].values(), *card["greedy_probes"].values()):
        assert score == Share.from_dict(score).to_dict() and score["count"] == PROBED == 1000


@pytest.fixture(scope="module")
def scores(world):
    # Who guesses is right in 18 of 20 once in 5,000 times.
    scores = probe_scores(world.model, world.tokenizer, PROBES, 20, seed=17)
    return {kind: one.of_two for kind, one in scores.items()}


@pytest.mark.parametrize("kind", PROBES)
def test_the_worlds_model_keeps_every_rule_in_stories_of_another_seed(scores, kind):
    assert scores[kind].share >= 0.9


def test_the_worlds_model_looks_up_how_big_a_thing_is(world):
    asked = [one for one in probes("attributes", 500, seed=23) if "How big" in one.prompt[-40:]]
    assert len(asked) > 25
    assert share_right(world.model, world.tokenizer, asked).share >= 0.9


def test_the_worlds_model_tells_whose_thing_was_asked_for(world):
    asked = lookups(30, seed=29)
    right = [
        Probe("possession", prompt, *answers)
        for one in asked
        for prompt, answers in zip(one.prompts, (one.answers, one.answers[::-1]), strict=True)
    ]
    assert share_right(world.model, world.tokenizer, right).share >= 0.9
