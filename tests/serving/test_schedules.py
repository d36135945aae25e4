"""Each sequence gets the tokens that it gets alone, whatever else the engine does meanwhile."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings

from llmviz.serving import POLICIES, Request, ServingConfig, SimulatedModel
from llmviz.serving.blocks import BlockManager
from llmviz.serving.simulate import mixed, next_token
from tests.serving.schedules import VOCAB, Script, check_against, play, scripts

SETTINGS = settings(
    max_examples=600,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def alone(request: Request, sample: int) -> list[int]:
    """What the stand-in writes with no engine at all: no blocks, no batch."""
    tokens = list(request.prompt)
    for _ in range(request.max_new_tokens):
        tokens.append(next_token(mixed(tokens), request.seed + sample, VOCAB))
        if tokens[-1] in request.stop_ids:
            break
    return tokens[len(request.prompt) :]


@SETTINGS
@given(scripts(("continuous", "split-fuse")))
def test_tokens_are_those_of_the_request_alone(script):
    played = play(script, SimulatedModel(script.config, VOCAB))
    check_against(played, script, alone)
    config = script.config
    for tick in played.ticks:
        rows = [row for row in tick.rows]
        assert len(rows) <= config.max_batch
        assert not tick.padding
        if POLICIES[config.policy].chunked:
            assert tick.tokens <= config.token_budget
        held = {block for table in tick.blocks.values() for block in table}
        assert len(held) + tick.free == config.n_blocks
        for name, table in tick.blocks.items():
            # Under one block of each sequence is empty.
            assert 0 <= len(table) * config.block_size - tick.room[name] < config.block_size


@settings(SETTINGS, max_examples=200)
@given(scripts(("static", "dynamic")))
def test_whole_batches_write_the_same(script):
    played = play(script, SimulatedModel(script.config, VOCAB))
    check_against(played, script, alone)
    admitted = [i for i, tick in enumerate(played.ticks) if tick.admitted]
    for begin, end in itertools.pairwise([*admitted, len(played.ticks)]):
        batch = set(played.ticks[begin].admitted)
        for tick in played.ticks[begin:end]:  # nobody joins, nobody leaves
            names = {row.sequence for row in tick.rows}
            assert names <= batch
            if tick.rows:
                assert len(tick.rows) == len(batch)
        assert not any(tick.preempted for tick in played.ticks[begin:end])


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
    script = Script(config, {0: requests})
    played = play(script, SimulatedModel(config, VOCAB))
    check_against(played, script, alone)
    preempted = sum(len(tick.preempted) for tick in played.ticks)
    swapped = [
        (len(tick.swapped_out), len(tick.swapped_in))
        for tick in played.ticks
        if tick.swapped_out or tick.swapped_in
    ]
    copies = sum(len(tick.copies) for tick in played.ticks)
    assert copies > 0
    if preemption == "swap":
        assert sum(out for out, _ in swapped) == sum(back for _, back in swapped) > 0
    else:
        assert preempted > 0 and not swapped
    first = next(tick for tick in played.ticks if tick.preempted or tick.swapped_out)
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
    joined = next(tick for tick in played.ticks if "r1" in tick.admitted)
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
    first, second = played.ticks[0], played.ticks[1]
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
        admitted = [i for i, tick in enumerate(played.ticks) if "new" in tick.admitted]
        assert admitted == [joins_at]
        assert not any(tick.preempted for tick in played.ticks)
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
    pushed = next(tick for tick in played.ticks if tick.swapped_out or tick.preempted)
    assert ([*pushed.swapped_out], [*pushed.preempted]) == (
        (["new"], []) if swaps else ([], ["new"])
    )
