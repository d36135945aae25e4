"""Of several texts that a call asks for each waits its turn among those of others."""

from collections import Counter

import pytest

from llmviz.serving import POLICIES, Engine, Request, ServingConfig, SimulatedModel
from llmviz.serving.recording import PREFILL
from llmviz.serving.scheduler import OVERTAKING
from tests.serving.schedules import VOCAB, Script, check_against, play
from tests.serving.test_schedules import alone


def calls(form: str, number: int, texts: int) -> list[Request]:
    """What a call for several texts asks the engine for: prompts, or samples of one."""
    if form == "samples":
        return [Request(f"c{number}.0", (number % 9, 1, 2), 3, n=texts, seed=number)]
    return [
        Request(f"c{number}.{turn}", (number % 9, turn % 9), 3, turn=turn) for turn in range(texts)
    ]


@pytest.mark.parametrize("form", ["samples", "prompts"])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_first_text_of_each_call_is_begun_before_the_second_of_any(policy, form):
    config = ServingConfig(policy=policy, max_batch=16, block_size=4, n_blocks=256)
    asked = [request for number in range(30) for request in calls(form, number, 8)]
    script = Script(config, {0: asked, 1: [Request("c30.0", (5, 6), 3)]})
    played = play(script, SimulatedModel(config, VOCAB))
    check_against(played, script, alone)
    begun = [name.partition(".")[0] for step in played.steps for name in step.admitted]
    assert Counter(begun) == {f"c{number}": 8 if number < 30 else 1 for number in range(31)}
    assert begun[30] == "c30" and len(set(begun[:31])) == 31
    for later in range(31, len(begun), 30):
        assert len(set(begun[later : later + 30])) == 30


@pytest.mark.parametrize("form", ["samples", "prompts"])
def test_a_second_text_is_passed_by_so_many_calls_and_no_more(form):
    """A call comes in each step, and one row is left: the second text gets it in the end."""
    config = ServingConfig(max_batch=3, block_size=16, n_blocks=256)
    engine = Engine(SimulatedModel(config, VOCAB), config)
    for name in ("long", "longer"):
        engine.add(Request(name, (1,), 1000))
    begun = [*engine.step().admitted]
    for request in calls(form, 0, 3):
        engine.add(request)
    for number in range(1, 3 * OVERTAKING):
        engine.add(Request(f"c{number}.0", (1, 2), 1))
        begun += engine.step().admitted
    places = [place for place, name in enumerate(begun) if name.startswith("c0.")]
    first, second, third = places
    assert abs(second - first - OVERTAKING) <= 2 and abs(third - second - OVERTAKING) <= 2


def test_a_prompt_is_read_once_for_the_samples_that_begin_with_it():
    """Also where it takes several steps to read."""
    config = ServingConfig(policy="split-fuse", max_batch=4, token_budget=4, block_size=4)
    request = Request("r", tuple(range(10)), 3, n=3)
    script = Script(config, {0: [request]})
    played = play(script, SimulatedModel(config, VOCAB))
    check_against(played, script, alone)
    read = [row.tokens for step in played.steps for row in step.rows if row.phase == PREFILL]
    assert sum(read) == len(request.prompt)
