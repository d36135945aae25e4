"""Each request gets the tokens, samples or beams that it gets alone, whatever else is done."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from llmviz.sampling import BeamTree, SamplingSettings, beam_search
from llmviz.serving import (
    POLICIES,
    Engine,
    Recording,
    Request,
    ServingConfig,
    SimulatedModel,
    record_all,
)
from llmviz.serving.blocks import BlockManager
from llmviz.serving.requests import CLOSED, GREEDY
from llmviz.serving.simulate import log_probabilities, mixed, next_token
from tests.serving.schedules import (
    CONTEXT,
    SETTINGS,
    VOCAB,
    Script,
    check_against,
    check_search,
    play,
    scripts,
)
from tests.serving.test_model import alone_by, tiny


def alone(request: Request, sample: int) -> list[int]:
    """What the stand-in writes with no engine at all: no blocks, no batch."""
    tokens = list(request.prompt)
    for _ in range(request.max_new_tokens):
        tokens.append(next_token(mixed(tokens), request.seed + sample, VOCAB))
        if tokens[-1] in request.stop_ids:
            break
    return tokens[len(request.prompt) :]


@settings(SETTINGS, max_examples=600)
@given(scripts(("continuous", "split-fuse")))
def test_tokens_are_those_of_the_request_alone(script):
    played = play(script, SimulatedModel(script.config, VOCAB))
    check_against(played, script, alone)
    config = script.config
    for step in played.steps:
        assert len(step.rows) <= config.max_batch and not step.padding
        if POLICIES[config.policy].chunked:
            assert step.tokens <= config.token_budget
        held = {block for table in step.blocks.values() for block in table}
        assert len(held) + step.free == config.n_blocks
        for name, table in step.blocks.items():
            # Under one block of each sequence is empty.
            assert 0 <= len(table) * config.block_size - step.room[name] < config.block_size


@settings(SETTINGS, max_examples=200)
@given(scripts(("static", "dynamic")))
def test_whole_batches_write_the_same(script):
    played = play(script, SimulatedModel(script.config, VOCAB))
    check_against(played, script, alone)
    admitted = [i for i, step in enumerate(played.steps) if step.admitted]
    for begin, end in itertools.pairwise([*admitted, len(played.steps)]):
        batch = set(played.steps[begin].admitted)
        for step in played.steps[begin:end]:  # nobody joins, nobody leaves
            names = {row.sequence for row in step.rows}
            assert names <= batch
            if step.rows:
                assert len(step.rows) == len(batch)
        assert not any(step.preempted for step in played.steps[begin:end])


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_memory_that_runs_out_makes_the_newest_wait(preemption):
    """Ten requests whose tokens need three times the memory, so that the random schedules above
    are known to reach what they are for."""

    config = ServingConfig(
        max_batch=6, block_size=2, n_blocks=16, preemption=preemption, host_blocks=40
    )
    requests = [
        Request(f"r{i}", (i % VOCAB, 1, 2), max_new_tokens=20, n=2 if i % 3 == 0 else 1)
        for i in range(10)
    ]
    script = Script(config, {0: requests[:1], 1: requests[1:]})  # the first one's samples share
    played = play(script, SimulatedModel(config, VOCAB))
    check_against(played, script, alone)
    preempted = sum(len(step.preempted) for step in played.steps)
    swapped = [
        (len(step.swapped_out), len(step.swapped_in))
        for step in played.steps
        if step.swapped_out or step.swapped_in
    ]
    copies = sum(len(step.copies) for step in played.steps)
    assert copies > 0
    if preemption == "swap":
        assert sum(out for out, _ in swapped) == sum(back for _, back in swapped) > 0
    else:
        assert preempted > 0 and not swapped
    first = next(step for step in played.steps if step.preempted or step.swapped_out)
    gone = {*first.preempted, *first.swapped_out}
    # Who had to wait is younger than all who go on.
    number = lambda name: int(name.split("/")[0][1:])  # noqa: E731
    assert min(map(number, gone)) >= max(number(row.sequence) for row in first.rows)


def test_an_equal_beginning_is_computed_once():

    config = ServingConfig(block_size=4, n_blocks=40)
    beginning = tuple(range(10))
    requests = [Request(f"r{i}", (*beginning, i), max_new_tokens=5) for i in range(3)]
    script = Script(config, {0: requests[:1], 3: requests[1:]})
    played = play(script, SimulatedModel(config, VOCAB))
    check_against(played, script, alone)
    joined = next(step for step in played.steps if "r1" in step.admitted)
    assert joined.shared == 2 * 8  # two full blocks of the beginning, for each of the two
    tables = [joined.blocks[name] for name in ("r0", "r1", "r2")]
    assert len({table[:2] for table in tables}) == 1
    assert len({table[2] for table in tables}) == 3
    assert joined.owners[tables[0][0]] == ["r0", "r1", "r2"]


def test_samples_share_the_prompt_and_part_where_they_write():

    config = ServingConfig(block_size=4, n_blocks=40)
    request = Request("r", tuple(range(10)), max_new_tokens=6, n=3)
    played = play(Script(config, {0: [request]}), SimulatedModel(config, VOCAB))
    check_against(played, Script(config, {0: [request]}), alone)
    first, second = played.steps[0], played.steps[1]
    assert [name for name, _ in first.emitted] == ["r/0", "r/1", "r/2"]
    assert sum(row.tokens for row in first.rows) == 10  # the prompt is computed once
    tables = [second.blocks[f"r/{i}"] for i in range(3)]
    assert len({table[:2] for table in tables}) == 1  # full blocks stay shared
    assert len({table[2] for table in tables}) == 3  # the half-full one was copied
    assert len(second.copies) == 2  # the last who writes keeps the original


@pytest.mark.parametrize("policy", ["continuous", "split-fuse"])
def test_who_joins_others_leaves_a_block_to_spare_for_them(policy):
    """A batch that takes the last block would push its newest out again at once."""
    requests = [Request("old", (1, 2, 3, 4), max_new_tokens=4), Request("new", (5, 6), 1)]
    for n_blocks, joins_at in ((4, 4), (5, 1)):
        config = ServingConfig(policy=policy, block_size=2, n_blocks=n_blocks)
        script = Script(config, {0: requests[:1], 1: requests[1:]})
        played = play(script, SimulatedModel(config, VOCAB))
        check_against(played, script, alone)
        admitted = [i for i, step in enumerate(played.steps) if "new" in step.admitted]
        assert admitted == [joins_at]
        assert not any(step.preempted for step in played.steps)
    full = ServingConfig(policy=policy, block_size=2, n_blocks=2)  # nobody runs: none to spare
    script = Script(full, {0: [Request("whole", (1, 2, 3, 4), max_new_tokens=1)]})
    check_against(play(script, SimulatedModel(full, VOCAB)), script, alone)


def test_a_content_that_is_kept_twice_is_found_from_its_beginning_alone():
    """The second of two equal texts has blocks of its own; they are not the beginning of a text."""
    blocks, text = BlockManager(8, 2), [1, 2, 3, 4, 5]
    for table in ([0, 1], [2, 3]):
        for place in range(2):
            blocks.remember(table, text, place)
    assert blocks.find(text) == [0, 1] and blocks.find([3, 4, 9]) == []


@pytest.mark.parametrize(("host_blocks", "swaps"), [(2, True), (1, False)])
def test_a_second_memory_that_just_holds_a_sequence_takes_it(host_blocks, swaps):
    config = ServingConfig(
        max_batch=2, block_size=2, n_blocks=5, preemption="swap", host_blocks=host_blocks
    )
    requests = [Request("old", (1, 2, 3), 6), Request("new", (4, 5, 6), 4)]
    script = Script(config, {0: requests})
    played = play(script, SimulatedModel(config, VOCAB))
    check_against(played, script, alone)
    pushed = next(step for step in played.steps if step.swapped_out or step.preempted)
    assert ([*pushed.swapped_out], [*pushed.preempted]) == (
        (["new"], []) if swaps else ([], ["new"])
    )


class StandIn(torch.nn.Module):
    """The stand-in of `SimulatedModel` as a model: its logits after all tokens of each row."""

    context_length = CONTEXT

    def forward(self, idx):
        rows = np.array([log_probabilities(mixed(row), VOCAB) for row in idx.tolist()])
        return torch.from_numpy(rows)[:, None], None


class Banning(torch.nn.Module):
    """A model that never writes some tokens."""

    def __init__(self, model: torch.nn.Module, banned: tuple[int, ...]):
        super().__init__()
        self.model, self.banned = model, list(banned)
        self.context_length = model.context_length

    def forward(self, idx):
        logits = self.model(idx)[0][:, -1:].double()
        logits[..., self.banned] = float("-inf")
        return logits, None


def searched_by(model: torch.nn.Module):
    def searched(request: Request) -> BeamTree:
        return beam_search(
            Banning(model, request.sampling.banned),
            request.prompt,
            request.beams,
            request.max_new_tokens,
            request.length_penalty,
            request.stop_ids[0] if request.stop_ids else None,
        )

    return searched


class Simulated(SimulatedModel):
    """The stand-in, which also leaves out banned tokens."""

    def draw(self, plan, computed):
        drawn = super().draw(plan, computed)
        for (_, sequence), draw in zip(plan.draws, drawn, strict=True):
            if sequence.beams is not None:
                draw[list(sequence.request.sampling.banned)] = float("-inf")
                draw -= torch.tensor(draw).logsumexp(0).item()
        return drawn


@settings(SETTINGS, max_examples=200)
@given(scripts(tuple(POLICIES), most=5, searches=True))
def test_beams_among_others_are_those_of_the_search_alone(script):
    """Preempted, cancelled, chunked, beside samples and single texts: nothing changes."""
    played = play(script, Simulated(script.config, VOCAB))
    check_against(played, script, alone, searched_by(StandIn()))
    for step in played.steps:
        assert len(step.rows) <= script.config.max_batch
        held = {block for table in step.blocks.values() for block in table}
        assert len(held) + step.free == script.config.n_blocks


@pytest.fixture(scope="module")
def model():
    return tiny()


@settings(SETTINGS, max_examples=12)
@given(script=scripts(tuple(POLICIES), most=4, samplings=(GREEDY,), searches=True))
def test_beams_of_a_model_are_those_of_the_search_alone(model, script):
    check_against(play(script, model), script, alone_by(model), searched_by(model))


def wide(policy: str, preemption: str = "recompute") -> tuple[Script, ServingConfig]:
    """Six requests whose tokens need more than the memory, four of them beam searches."""
    config = ServingConfig(
        policy=policy,
        max_batch=6,
        block_size=2,
        n_blocks=40 if POLICIES[policy].static_batching else 22,
        token_budget=8,
        preemption=preemption,
        host_blocks=30,
    )
    requests = [
        Request(f"r{i}", (i, 1, 2), 9, beams=(None, 3, 2, 4)[i % 4], stop_ids=(5,))
        for i in range(6)
    ]
    return Script(config, {0: requests[:4], 3: requests[4:]}, {9: ["r2"]}), config


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
@pytest.mark.parametrize("policy", ["continuous", "split-fuse"])
def test_all_beams_of_a_search_wait_together(policy, preemption):
    """So that the random schedules above are known to reach what they are for."""
    script, config = wide(policy, preemption)
    played = play(script, Simulated(config, VOCAB))
    check_against(played, script, alone, searched_by(StandIn()))
    together = []
    for step in played.steps:
        gone = step.swapped_out if preemption == "swap" else step.preempted
        for search in {name.split("/")[0] for name in gone if "/" in name}:
            assert not any(name.startswith(f"{search}/") for name in step.blocks)
            together.append(sum(name.startswith(f"{search}/") for name in gone))
    assert max(together) > 1


def test_beams_share_all_but_what_they_write():
    """Each block is named by just those hypotheses that begin with its tokens."""
    config = ServingConfig(max_batch=4, block_size=2, n_blocks=60, share_prefixes=False)
    request = Request("r", (3, 1, 2, 7, 4), 9, beams=4)
    script = Script(config, {0: [request]})
    played = play(script, Simulated(config, VOCAB))
    check_search(played, script, request, searched_by(StandIn())(request))
    texts = {"r/0": list(request.prompt)}
    shared = 0
    for before, step in zip(played.steps, played.steps[1:], strict=False):
        texts = {name: [*texts[parent], token] for name, parent, token in before.hypotheses}
        assert set(step.blocks) == set(texts)
        for block, names in step.owners.items():
            place = step.blocks[names[0]].index(block)
            content = {tuple(texts[name][: 2 * (place + 1)]) for name in names}
            assert len(content) == 1
            others = {tuple(texts[name][: 2 * (place + 1)]) for name in texts if name not in names}
            assert not content & others  # nothing is there twice
            shared += len(names) - 1
    assert shared > 20
    # Where each row has memory of its own, the same search copies more.
    alone_in = replace(config, policy="static")
    other = play(Script(alone_in, {0: [request]}), Simulated(alone_in, VOCAB))
    copies = [sum(len(step.copies) for step in one.steps) for one in (played, other)]
    assert copies[0] < copies[1]
    assert all(len(names) == 1 for step in other.steps for names in step.owners.values())


@pytest.mark.parametrize("policy", POLICIES)
def test_what_becomes_of_beams_is_told_once(policy):
    config = ServingConfig(policy=policy, max_batch=4, n_blocks=20, window=0.0)
    engine = Engine(SimulatedModel(config, VOCAB), config)
    engine.add(Request("running", (1, 2), 6, beams=3))
    engine.step()
    engine.step()
    engine.add(Request("waiting", (1, 2), 6, beams=4))
    ends = engine.close()
    assert sorted((one.request, one.sample, one.tokens, one.reason) for one in ends) == [
        *(("running", place, (), CLOSED) for place in range(3)),
        *(("waiting", place, (), CLOSED) for place in range(4)),
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_search_whose_logits_are_no_numbers_fails_alone(policy):
    class Spoiled(SimulatedModel):
        def draw(self, plan, computed):
            return [
                ValueError("logits must be finite")
                if sequence.name == "bad/1" and len(sequence.tokens) == 4
                else draw
                for (_, sequence), draw in zip(
                    plan.draws, super().draw(plan, computed), strict=True
                )
            ]

    config = ServingConfig(policy=policy, max_batch=6, block_size=2, n_blocks=40, window=0.0)
    requests = [Request("bad", (1, 2), 6, beams=2), Request("good", (1, 3), 6, beams=3)]
    script = Script(config, {0: requests})
    played = play(script, Spoiled(config, VOCAB))
    for place in range(2):
        outcome = played.outcomes[f"bad/{place}"]
        assert (outcome.reason, outcome.tokens) == ("failed", ())
        assert outcome.problem == "logits must be finite"
    check_search(played, script, requests[1], searched_by(StandIn())(requests[1]))


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"beams": 0}, "beams must be a whole number from 1 to 64; got 0"),
        ({"beams": 65}, "beams must be a whole number from 1 to 64; got 65"),
        ({"beams": 2.0}, "beams must be a whole number"),
        ({"beams": True}, "beams must be a whole number"),
        ({"beams": 2, "n": 2}, "n must be 1 with beams; got n=2, beams=2"),
        ({"beams": 2, "sampling": SamplingSettings()}, "temperature must be 0 with beams; got 1"),
        (
            {"beams": 2, "sampling": SamplingSettings(temperature=0, repetition_penalty=1.5)},
            "leave out repetition_penalty",
        ),
        ({"beams": 2, "length_penalty": -1.0}, "length_penalty must be 0 or more; got -1"),
        ({"beams": 2, "length_penalty": float("nan")}, "length_penalty must be 0 or more"),
        ({"length_penalty": 1.0}, "for beam search alone: give beams"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(values, rule):
    with pytest.raises(ValueError, match=rule):
        Request(**{"id": "r", "prompt": (1,), **values})


@pytest.mark.parametrize("policy", POLICIES)
def test_a_search_that_would_never_fit_is_refused(policy):
    config = ServingConfig(policy=policy, max_batch=20, block_size=4, n_blocks=8, token_budget=20)
    engine = Engine(SimulatedModel(config, VOCAB), config)
    banned = SamplingSettings(temperature=0.0, banned=(1, 2))
    with pytest.raises(ValueError, match="may be written, 12; request 'r' asks for 13"):
        engine.add(Request("r", (1,), beams=13))
    with pytest.raises(ValueError, match="may be written, 10; request 'r' asks for 11"):
        engine.add(Request("r", (1,), 2, banned, beams=11))
    with pytest.raises(ValueError, match="beams must be at most max_batch, 20"):
        engine.scheduler.check(Request("r", (1,), 2, beams=21))
    with pytest.raises(ValueError, match="may need 9 blocks for its 3 beams, which run together"):
        engine.add(Request("r", (1, 2), 11, beams=3))
    # Full blocks of the prompt are shared, where rows share at all.
    request = Request("r", (1,) * 8, 5, beams=4)
    if POLICIES[policy].static_batching:
        with pytest.raises(ValueError, match="may need 12 blocks"):
            engine.add(request)
    else:
        engine.add(request)
        while engine.busy:
            engine.step()
        engine.scheduler.check_blocks()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_recorded_search_keeps_its_hypotheses_and_scores(policy):
    config = ServingConfig(policy=policy, max_batch=4, n_blocks=20)
    run = record_all(SimulatedModel(config, VOCAB), [Request("r", (1, 2), 5, beams=3)], config)
    again = Recording.from_json(run.to_json())
    assert again == run
    assert [len(step.hypotheses) for step in run.steps[:-1]] == [3] * 4
    scores = [run.outcomes[f"r/{place}"].score for place in range(3)]
    assert scores == sorted(scores, reverse=True)
    assert run.tokens == 15 and len(run.timings) == 3
