"""Clients of one engine take turns: one that asks for much keeps nobody else out."""

from __future__ import annotations

from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.serving import Engine, Request, ServingConfig
from llmviz.serving.requests import TooManyWaiting
from llmviz.serving.scheduler import Scheduler
from llmviz.serving.simulate import SimulatedModel
from tests.serving.served import CONFIG, running

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


def test_samples_and_beams_of_a_request_stay_together():
    for policy in ("continuous", "static"):
        scheduler = Scheduler(ServingConfig(policy=policy, max_batch=4, block_size=4, n_blocks=64))
        for name, more in (
            ("a1", {"n": 3}),
            ("a2", {"beams": 3}),
            ("b1", {"beams": 2}),
            ("b2", {}),
        ):
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
    with running(CONFIG) as one:
        asked, own = [], one.service._engine.add
        one.service._engine.add = lambda request: asked.append(request.client) or own(request)
        assert one.complete(max_tokens=2)[0] == 200
    assert asked == ["127.0.0.1"]
