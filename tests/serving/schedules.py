"""Schedules drawn at random: requests that come, are cancelled, share, and run out of memory."""

from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from llmviz.sampling import BeamTree, SamplingSettings
from llmviz.serving import (
    PREEMPTIONS,
    Engine,
    Outcome,
    Request,
    Scheduler,
    ServingConfig,
)
from llmviz.serving.requests import CANCELLED

SETTINGS = settings(
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
VOCAB = 12
CONTEXT = 40


@dataclass
class Script:
    """What is done to an engine: before step number i the requests of `adds[i]` are added and the
    ids of `cancels[i]` cancelled."""

    config: ServingConfig
    adds: dict[int, list[Request]] = field(default_factory=dict)
    cancels: dict[int, list[str]] = field(default_factory=dict)

    @property
    def requests(self) -> dict[str, Request]:
        return {request.id: request for group in self.adds.values() for request in group}


@st.composite
def scripts(
    draw: st.DrawFn,
    policies: tuple[str, ...],
    most: int = 8,
    samplings=None,
    searches: bool = False,
) -> Script:
    size, batch = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    most_blocks = -(-CONTEXT // size)
    config = ServingConfig(
        policy=draw(st.sampled_from(policies)),
        max_batch=batch,
        block_size=size,
        n_blocks=draw(st.integers(3, 2 * most_blocks)),
        token_budget=batch + draw(st.integers(0, 8)),
        preemption=draw(st.sampled_from(PREEMPTIONS)),
        host_blocks=draw(st.integers(0, most_blocks)),
        share_prefixes=draw(st.booleans()),
        window=draw(st.sampled_from((0.0, 3.0))),
    )
    script = Script(config)
    common = draw(st.lists(st.integers(0, VOCAB - 1), max_size=12))
    for number in range(draw(st.integers(1, most))):
        own = draw(st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=10))
        prompt = (common if draw(st.booleans()) else []) + own
        memory = min(config.memory_tokens, CONTEXT)
        prompt = prompt[-memory:]
        request = Request(
            id=f"r{number}",
            prompt=tuple(prompt),
            max_new_tokens=draw(st.integers(1, min(14, memory - len(prompt) + 1))),
            stop_ids=tuple(draw(st.lists(st.integers(0, VOCAB - 1), max_size=1))),
            seed=draw(st.integers(0, 3)),
            n=draw(st.integers(1, min(3, batch))),
            **({} if samplings is None else {"sampling": draw(st.sampled_from(samplings))}),
        )
        if searches and draw(st.booleans()):
            request = draw(some_search(request, config))
        at = draw(st.integers(0, 12))
        script.adds.setdefault(at, []).append(request)
        if draw(st.integers(0, 4)) == 0:
            script.cancels.setdefault(at + draw(st.integers(0, 8)), []).append(request.id)
    return script


@st.composite
def some_search(draw: st.DrawFn, request: Request, config: ServingConfig) -> Request:
    """The same prompt for a beam search, if at least one beam fits the memory and the batch."""
    penalty = draw(st.sampled_from((0.0, 0.7, 1.0)))
    for width in range(draw(st.integers(1, 4)), 0, -1):
        banned = tuple(draw(st.lists(st.integers(0, VOCAB - 1), max_size=2)))
        sampling = SamplingSettings(temperature=0.0, banned=banned)
        search = replace(request, n=1, beams=width, length_penalty=penalty, sampling=sampling)
        try:
            Scheduler(config).check(search)
        except ValueError:
            continue
        return search
    return request


@dataclass
class Played:
    """What came of a script: outcomes, and what was emitted, by sequence."""

    outcomes: dict[str, Outcome]
    emitted: dict[str, list[int]]
    steps: list


def check_notes(scheduler: Scheduler) -> None:
    """What is noted of each sequence, so that it need not be looked up, is so."""
    blocks = scheduler.blocks
    for one in scheduler.running:
        if one.reason is not None or one.idle:
            continue
        length = len(one.tokens)
        if one.decodes:
            assert one.computed == length - 1 and length > one.prompt_length
        if one.beams is None and one.computed < one.allocated_slots:
            assert blocks.writable(one.table[one.computed // blocks.block_size])


def play(script: Script, model) -> Played:
    """Do what a script says and look at all blocks after every step."""
    now = [0.0]
    engine = Engine(model, script.config, clock=lambda: now[0])
    requests = script.requests
    played = Played({}, {}, [])
    last = max([*script.adds, *script.cancels])
    number = 0
    while number <= last or engine.busy:
        for request in script.adds.get(number, ()):
            engine.add(request)
        for name in script.cancels.get(number, ()):
            engine.cancel(name)
        engine.scheduler.check_blocks()
        step = engine.step()
        engine.scheduler.check_blocks()
        check_notes(engine.scheduler)
        number, now[0] = number + 1, now[0] + 1.0
        assert number < 3000, "the engine does not come to an end"
        if step is None:
            continue
        played.steps.append(step)
        for name, token in step.emitted:
            played.emitted.setdefault(name, []).append(token)
        for outcome in step.finished:
            name = requests[outcome.request].name(outcome.sample)
            assert name not in played.outcomes
            played.outcomes[name] = outcome
    engine.step()  # lets a whole batch go
    engine.scheduler.check_blocks()
    assert engine.scheduler.blocks.free == script.config.n_blocks
    assert not engine.scheduler.running and not engine.scheduler.rows
    return played


def check_against(played: Played, script: Script, alone, searched=None) -> None:
    """Each sequence got the tokens that it gets alone; a cancelled one the first of them.

    alone: of (request, sample), its tokens. searched: of a request with beams, the tree of its
    search alone.
    """
    for request in script.requests.values():
        if request.beams is not None:
            check_search(played, script, request, searched(request))
            continue
        for sample in range(request.n):
            name = request.name(sample)
            outcome, whole = played.outcomes[name], tuple(alone(request, sample))
            assert tuple(played.emitted.get(name, ())) == outcome.tokens
            if outcome.reason == CANCELLED:
                assert outcome.tokens == whole[: len(outcome.tokens)]
                assert any(request.id in names for names in script.cancels.values())
            else:
                assert outcome.tokens == whole
                assert outcome.reason == ("stop" if whole[-1] in request.stop_ids else "length")


def check_search(played: Played, script: Script, request: Request, tree: BeamTree) -> None:
    """The texts and scores of a beam search are those of the search alone, or it was cancelled."""
    ends = [played.outcomes[request.name(place)] for place in range(request.beams)]
    if {one.reason for one in ends} == {CANCELLED}:
        assert any(request.id in names for names in script.cancels.values())
        assert not any(one.tokens for one in ends)
        return
    for place, outcome in enumerate(ends):
        node = tree.nodes[tree.finals[place]]
        assert tuple(played.emitted[request.name(place)]) == outcome.tokens
        assert list(outcome.tokens) == tree.tokens(node)
        assert abs(outcome.score - node.score) < 1e-9
        assert outcome.reason == ("stop" if node.status == "finished" else "length")
