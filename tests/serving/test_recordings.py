"""Recorded runs: times, percentiles, JSON, workloads, replays."""

import itertools
import json

import pytest

from llmviz.serving import (
    POLICIES,
    BlockManager,
    CostModel,
    Engine,
    EngineStep,
    Recording,
    Request,
    ServingConfig,
    SimulatedModel,
    Workload,
    make_requests,
    percentiles,
    record_all,
    record_bundled,
    replay,
    simulate,
)
from llmviz.serving.simulate import stored_tokens

TEXT = list(range(60))
WORK = Workload(requests=30, arrival_rate=40, prompt_tokens=12, new_tokens=20)


def test_a_prompt_may_begin_at_every_place_of_the_text():
    requests = make_requests(Workload(requests=1000, prompt_tokens=1), TEXT, 16)
    assert {request.prompt[0] for request in requests} == set(TEXT)


def test_the_costs_are_the_clock():
    costs = CostModel(step=0.5, token=0.25, stored=0.125)
    request = Request("r", (1, 2, 3), max_new_tokens=3, arrival=2.0)
    run = simulate([request], ServingConfig(), costs)
    # A prompt of 3; a token that reads 3; one that reads 4.
    ends = [2 + 0.5 + 0.75, 0.5 + 0.25 + 0.375, 0.5 + 0.25 + 0.5]
    assert [step.end for step in run.steps] == pytest.approx([sum(ends[: i + 1]) for i in range(3)])
    (timing,) = run.timings
    assert timing.to_first == pytest.approx(1.25)
    assert timing.per_token == pytest.approx((ends[1] + ends[2]) / 2)
    assert timing.whole == run.seconds - 2
    assert run.tokens_per_second == pytest.approx(3 / sum(ends))


def test_costs_are_found_again_in_a_run():
    costs = CostModel(step=2e-3, token=3e-5, stored=4e-7)
    run = simulate(make_requests(WORK, TEXT, 100), ServingConfig(), costs)
    fitted = CostModel.fitted(run.steps)
    assert fitted.to_dict() == pytest.approx(costs.to_dict())
    assert any(stored_tokens(step) for step in run.steps)
    with pytest.raises(ValueError, match="three steps at least"):
        CostModel.fitted(run.steps[:2])
    again = replay(run)
    assert [step.rows for step in again.steps] == [step.rows for step in run.steps]
    assert again.seconds == pytest.approx(run.seconds)


def test_a_replay_keeps_lengths_under_another_policy():
    run = simulate(make_requests(WORK, TEXT, 100, stop_ids=(5,)), ServingConfig())
    assert any(one.reason == "stop" for one in run.outcomes.values())
    other = replay(run, ServingConfig(policy="static", max_batch=4))
    assert {name: len(one.tokens) for name, one in other.outcomes.items()} == {
        name: len(one.tokens) for name, one in run.outcomes.items()
    }


@pytest.mark.parametrize("policy", POLICIES)
def test_json_keeps_everything(policy):
    config = ServingConfig(policy=policy, n_blocks=12, max_batch=5, preemption="swap")
    run = simulate(make_requests(WORK, TEXT, 100), config)
    text = run.to_json()
    assert Recording.from_json(text) == run
    assert Recording.from_json(text).to_first == run.to_first
    for wrong in ("", "[]", '{"format": "another"}', json.dumps({})):
        with pytest.raises(ValueError, match="a recording"):
            Recording.from_json(wrong)


def test_percentiles_are_values_that_so_many_do_not_exceed():
    values = [float(i) for i in range(200, 0, -1)]
    for p, value in percentiles(values, (1, 50, 90, 99, 100)).items():
        assert sum(one <= value for one in values) >= p / 100 * 200
        assert sum(one < value for one in values) < p / 100 * 200
    assert percentiles([]) == {} and percentiles([7.0]) == {50: 7.0, 90: 7.0, 99: 7.0}


def test_whole_batches_waste_more_and_wait_longer():
    requests = make_requests(Workload(requests=60, arrival_rate=0), TEXT, 200)
    runs = {
        policy: simulate(requests, ServingConfig(policy=policy, max_batch=8, token_budget=32))
        for policy in POLICIES
    }
    static, continuous, fused = (runs[name] for name in ("static", "continuous", "split-fuse"))
    assert static.tokens == continuous.tokens == fused.tokens
    assert static.waste_share > 2 * continuous.waste_share
    assert static.padding > 0 and continuous.padding == 0
    assert static.tokens_per_second < continuous.tokens_per_second
    longest = [max(step.tokens for step in run.steps) for run in (continuous, fused)]
    assert longest[1] <= 32 < longest[0]


def test_dynamic_waits_for_a_full_batch_or_the_end_of_its_window():
    config = ServingConfig(policy="dynamic", max_batch=2, window=1.0)
    come = [0.0, 0.25, 0.3, 5.0]  # the third is noticed at 0.35, at the end of a step
    requests = [Request(f"r{i}", (1,), 2, arrival=at) for i, at in enumerate(come)]
    run = simulate(requests, config, CostModel(step=0.1, token=0, stored=0))
    begins = [step.begin for step in run.steps if step.admitted]
    assert begins == pytest.approx([0.25, 1.35, 6.0])


def test_a_workload_comes_as_asked():
    requests = make_requests(WORK, TEXT, 50)
    assert requests == make_requests(WORK, TEXT, 50)
    assert len(requests) == 30 and requests[0].arrival == 0
    assert all(a.arrival <= b.arrival for a, b in itertools.pairwise(requests))
    assert all(request.most_tokens <= 50 for request in requests)
    many = make_requests(WORK.from_dict(WORK.to_dict() | {"requests": 1000}), TEXT, 10_000)
    assert many[-1].arrival == pytest.approx(1000 / 40, rel=0.15)
    assert sum(r.max_new_tokens for r in many) / 1000 == pytest.approx(20, rel=0.15)
    assert sum(len(r.prompt) for r in many) / 1000 == pytest.approx(12, rel=0.15)
    same = make_requests(Workload(requests=5, same_beginning=7), TEXT, 50)
    assert {request.prompt[:7] for request in same} == {tuple(TEXT[:7])}
    own = make_requests(Workload(requests=6, arrival_rate=0), TEXT, 50, own=[(1, 2), (3,)])
    assert [request.prompt for request in own if request.id.startswith("own")] == [(1, 2), (3,)]
    assert len({request.id for request in own}) == 6
    with pytest.raises(ValueError, match="text that prompts are taken from is empty"):
        make_requests(WORK, [], 50)
    with pytest.raises(ValueError, match="must fit the context of 50 tokens; got 51"):
        make_requests(WORK, TEXT, 50, own=[(1,) * 51])
    with pytest.raises(ValueError, match="same_beginning must leave room"):
        make_requests(Workload(same_beginning=49), TEXT, 50)


def test_a_bundled_model_is_recorded_in_lots():
    requests = make_requests(Workload(requests=3, new_tokens=4, arrival_rate=0), TEXT, 60)
    config = ServingConfig(max_batch=2)
    lots = list(record_bundled("words-gpt", requests, config, lot=0.0))
    steps = tuple(step for lot in lots for step in lot)
    assert len(lots) == len(steps)
    run = Recording(config, tuple(requests), steps)
    assert {name: len(one.tokens) for name, one in run.outcomes.items()} == {
        request.id: request.max_new_tokens for request in requests
    }
    assert all(step.end >= step.begin + step.model + step.scheduling for step in steps)


def test_blocks_are_given_back_once():
    manager = BlockManager(3, 2)
    table = [manager.allocate(), manager.allocate()]
    with pytest.raises(ValueError, match="none of the 3 blocks is free"):
        [manager.allocate() for _ in range(2)]
    copy = list(table)
    manager.release(table)
    with pytest.raises(ValueError, match="held by nobody"):
        manager.release(copy)
    with pytest.raises(ValueError, match="block 2 is in 0 tables and counted 1"):
        manager.check([])


def test_a_block_that_was_given_away_is_not_found_again():
    manager = BlockManager(3, 2)
    tokens = [1, 2, 3, 4, 5]
    table = [manager.allocate() for _ in range(2)]
    for place in range(2):
        manager.remember(table, tokens, place)
    assert manager.find(tokens) == [0, 1] and manager.find([1, 2, 9, 9, 9]) == [0]
    assert manager.find(tokens[:4]) == [0]  # a token must be left to compute
    manager.release(table)
    assert manager.find(tokens) == [0, 1] and manager.free == 3
    assert manager.allocate() == 2  # the empty one first, then the end of what is remembered
    assert manager.allocate() == 1
    assert manager.find(tokens) == [0]
    assert manager.allocate() == 0
    assert manager.find(tokens) == []


def test_a_run_in_which_one_fails_is_refused_and_its_tick_is_kept_whole():
    class Spoiled(SimulatedModel):
        def draw(self, plan, computed):
            return [ValueError("logits must be finite") for _ in plan.draws]

    config = ServingConfig(n_blocks=4)
    with pytest.raises(ValueError, match=r"'a': logits must be finite"):
        record_all(Spoiled(config), [Request("a", (1, 2))], config)
    engine = Engine(Spoiled(config), config)
    engine.add(Request("a", (1, 2), n=2))
    step = engine.step()
    assert [one.problem for one in step.finished] == ["logits must be finite"] * 2
    assert not engine.busy and not step.emitted
    assert EngineStep.from_dict(json.loads(json.dumps(step.to_dict()))) == step
