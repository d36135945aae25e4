"""What an engine refuses, whose turn it is, and what it does when somebody leaves."""

from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.serving import (
    POLICIES,
    Engine,
    EngineClosed,
    Request,
    ServingConfig,
    SimulatedModel,
    TooManyWaiting,
    record_all,
)
from llmviz.serving.requests import CANCELLED, CLOSED, LENGTH
from llmviz.serving.scheduler import Scheduler
from tests.serving.served import running

CONFIG = ServingConfig(max_batch=4, block_size=4, n_blocks=8)


def engine(config: ServingConfig = CONFIG, context: int | None = 100) -> Engine:
    return Engine(SimulatedModel(config, 50, context), config)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"prompt": ()}, "empty"),
        ({"prompt": (-1,)}, "must not be negative"),
        ({"max_new_tokens": 0}, "max_new_tokens must be a whole number from 1"),
        ({"max_new_tokens": 2.5}, "max_new_tokens must be a whole number"),
        ({"max_new_tokens": True}, "max_new_tokens must be a whole number"),
        ({"n": 0}, "n must be a whole number from 1 to 64"),
        ({"n": 65}, "n must be a whole number from 1 to 64"),
        ({"seed": -1}, "seed must be"),
        ({"arrival": float("nan")}, "arrival must be"),
        ({"arrival": -1.0}, "arrival must be"),
    ],
)
def test_a_request_checks_itself(values, rule):
    with pytest.raises(ValueError, match=rule):
        Request(**{"id": "r", "prompt": (1,), **values})


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"policy": "first"}, "policy must be one of static"),
        ({"preemption": "none"}, "preemption must be one of"),
        ({"block_size": 0}, "block_size must be"),
        ({"n_blocks": 0}, "n_blocks must be"),
        ({"host_blocks": -1}, "host_blocks must be"),
        ({"window": -0.1}, "window must be"),
        ({"policy": "split-fuse", "token_budget": 8, "max_batch": 9}, "token_budget must be at"),
    ],
)
def test_settings_check_themselves(values, rule):
    with pytest.raises(ValueError, match=rule):
        ServingConfig(**values)


def test_a_block_larger_than_the_memory():
    # One block that is larger than any request is no mistake.
    config = ServingConfig(block_size=64, n_blocks=1)
    run = record_all(SimulatedModel(config), [Request("r", (1, 2), 10)], config)
    assert len(run.outcomes["r"].tokens) == 10


@pytest.mark.parametrize("policy", POLICIES)
def test_a_request_longer_than_memory_or_context_changes_nothing(policy):
    config = ServingConfig(policy=policy, max_batch=4, block_size=4, n_blocks=8, window=0.0)
    served = engine(config)
    served.add(Request("fits", tuple(range(20)), 13))  # 32 tokens, the whole memory
    with pytest.raises(ValueError, match=r"may need 33 tokens of memory .* 32 tokens in all"):
        served.add(Request("long", tuple(range(20)), 14))
    with pytest.raises(ValueError, match="must fit the model's context of 30 tokens"):
        engine(config, context=30).add(Request("long", tuple(range(20)), 12))
    with pytest.raises(ValueError, match="token ids must be from 0 to 49; request 'odd' has 50"):
        served.add(Request("odd", (50,)))
    with pytest.raises(ValueError, match="n must be at most max_batch, 4"):
        served.add(Request("many", (1,), 2, n=5))
    with pytest.raises(ValueError, match="there is a request 'fits' already"):
        served.add(Request("fits", (1,)))
    ends = [one for _ in range(40) if (step := served.step()) for one in step.finished]
    assert [(one.request, len(one.tokens), one.reason) for one in ends] == [("fits", 13, LENGTH)]
    assert not served.busy and served.step() is None


@pytest.mark.parametrize("policy", POLICIES)
def test_a_hundred_at_once(policy):
    config = ServingConfig(policy=policy, max_batch=4, block_size=4, n_blocks=8)
    requests = [Request(f"r{i}", (i % 50, 1), 1 + i % 9) for i in range(100)]
    run = record_all(SimulatedModel(config, 50), requests, config)
    assert {name: len(one.tokens) for name, one in run.outcomes.items()} == {
        request.id: request.max_new_tokens for request in requests
    }


def test_more_than_may_wait():
    config = ServingConfig(max_batch=2, n_blocks=8, max_waiting=3)
    served = engine(config)
    for number in range(3):
        served.add(Request(f"r{number}", (1,), 5))
    with pytest.raises(TooManyWaiting, match="3 requests wait already"):
        served.add(Request("late", (1,), 5))
    served.step()
    served.add(Request("late", (1,), 5))


@pytest.mark.parametrize("policy", POLICIES)
def test_cancelled_in_the_queue_and_in_mid_flight(policy):
    config = ServingConfig(policy=policy, max_batch=2, block_size=4, n_blocks=16, window=0.0)
    served = engine(config)
    for name in ("first", "second", "third"):
        served.add(Request(name, (1, 2, 3), 6))
    served.step()
    served.step()
    assert served.cancel("first") and served.cancel("third")
    assert not served.cancel("first") and not served.cancel("nobody")
    ends = [one for _ in range(12) if (step := served.step()) for one in step.finished]
    told = {one.request: (len(one.tokens), one.reason) for one in ends}
    assert told == {"first": (2, CANCELLED), "third": (0, CANCELLED), "second": (6, LENGTH)}
    assert len(ends) == 3
    assert served.scheduler.blocks.free == config.n_blocks


def test_an_id_is_free_again_after_the_end():
    served = engine()
    served.add(Request("r", (1,), 1))
    served.step()
    served.add(Request("r", (1,), 1))
    assert served.busy


@pytest.mark.parametrize("policy", POLICIES)
def test_one_that_never_ends_does_not_hold_up_the_others(policy):
    """A request takes as much as it may, and the others go on."""
    config = ServingConfig(policy=policy, max_batch=2, block_size=4, n_blocks=8)
    requests = [Request("long", (1,), 32)] + [Request(f"r{i}", (2, i), 3) for i in range(6)]
    run = record_all(SimulatedModel(config), requests, config)
    assert len(run.outcomes["long"].tokens) == 32
    assert all(len(run.outcomes[f"r{i}"].tokens) == 3 for i in range(6))


def test_closed_while_serving():
    served = engine()
    served.add(Request("running", (1, 2), 6, n=2))
    served.step()
    served.add(Request("waiting", (1, 2), 6, n=3))
    ends = served.close()
    assert sorted((one.request, one.sample, len(one.tokens), one.reason) for one in ends) == [
        ("running", 0, 1, CLOSED),
        ("running", 1, 1, CLOSED),
        *(("waiting", sample, 0, CLOSED) for sample in range(3)),
    ]
    assert served.close() == () and not served.busy
    for use in (served.step, lambda: served.add(Request("r", (1,))), lambda: served.cancel("r")):
        with pytest.raises(EngineClosed, match="the engine is closed"):
            use()
    assert served.scheduler.blocks.free == CONFIG.n_blocks


def test_two_requests_of_one_name_are_refused_before_a_run():
    requests = [Request("r", (1,)), Request("r", (2,))]
    with pytest.raises(ValueError, match="two requests have the id 'r'"):
        record_all(SimulatedModel(CONFIG), requests, CONFIG)


SMALL = ServingConfig(max_batch=1, block_size=4, n_blocks=16, max_waiting=6)


def request(name: str, **more) -> Request:
    return Request(name, (1, 2), 2, client=name[0], **more)


def queue(scheduler: Scheduler) -> list[str]:
    return list(dict.fromkeys(sequence.request.id for sequence in scheduler.waiting))


def test_who_comes_later_waits_for_one_request_of_each_other_client():
    scheduler = Scheduler(SMALL)
    for name in ("a1", "a2", "a3", "b1", "c1", "b2", "a4", "c2"):
        scheduler.add(request(name))
    assert queue(scheduler) == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "a4"]


def test_the_beams_of_a_request_stay_together():
    for policy in ("continuous", "static"):
        scheduler = Scheduler(ServingConfig(policy=policy, max_batch=4, block_size=4, n_blocks=64))
        for name, more in (("a1", {}), ("a2", {"beams": 3}), ("b1", {"beams": 2}), ("b2", {})):
            scheduler.add(request(name, **more))
        names = [sequence.request.id for sequence in scheduler.waiting]
        assert queue(scheduler) == ["a1", "b1", "a2", "b2"] and names == sorted(
            names, key=queue(scheduler).index
        )


@given(st.lists(st.sampled_from("abc"), max_size=40), st.data())
def test_of_each_client_the_first_goes_first_and_all_get_turns(clients, data):
    """With one client, the queue is the order of arrival; with several, nobody is passed twice."""
    scheduler, count = Scheduler(SMALL), Counter()
    served = deque()
    for client in clients:
        count[client] += 1
        others = {s.request.client for s in scheduler.waiting} - {client}
        alone = client not in {s.request.client for s in scheduler.waiting}
        scheduler.add(request(f"{client}{count[client]}"))
        if alone:
            before = queue(scheduler).index(f"{client}{count[client]}")
            ahead = Counter(name[0] for name in queue(scheduler)[:before])
            assert set(ahead) <= others and all(number == 1 for number in ahead.values())
        if data.draw(st.booleans()):
            served.append(scheduler.waiting.popleft().request.id)
    order = [*served, *queue(scheduler)]
    for client in "abc":
        own = [int(name[1:]) for name in order if name[0] == client]
        assert own == sorted(own)


def test_a_full_queue_has_room_for_who_has_less_than_his_share():
    engine = Engine(SimulatedModel(SMALL, 9), SMALL)
    for number in range(6):
        engine.add(request(f"a{number}"))
    with pytest.raises(TooManyWaiting, match="6 requests wait already"):
        engine.add(request("a9"))
    for number in range(3):  # half of the queue, since there are two
        engine.add(request(f"b{number}"))
    with pytest.raises(TooManyWaiting, match="9 requests wait"):
        engine.add(request("b9"))
    names = [f"{client}{number}" for client in "cdef" for number in range(6)]
    for name in names:
        try:
            engine.add(request(name))
        except TooManyWaiting:
            assert len(engine.scheduler.waiting) <= 12
    assert len(engine.scheduler.waiting) == 12, "twice as many as may wait, whoever comes"


def test_the_server_tells_the_engine_who_asks():
    with running() as one:
        asked, own = [], one.service._engine.add
        one.service._engine.add = lambda request: asked.append(request) or own(request)
        assert one.complete(prompt=["a", "b"], n=3, max_tokens=2)[0] == 200
        assert one.complete(prompt=["a", "b"], n=3, use_beam_search=True, max_tokens=2)[0] == 200
    assert {request.client for request in asked} == {"127.0.0.1"}
    assert [request.turn for request in asked] == [0, 3, 0, 1]
