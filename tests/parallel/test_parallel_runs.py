"""Each way to share a training, run on two processes: the one process's losses, weights, bytes."""

import json
import multiprocessing
import os
import signal
from itertools import pairwise

import psutil
import pytest

from llmviz.models.costs import count, tensors
from llmviz.parallel import METHODS, Outcome, ParallelPlan, ProcessEnded, Progress, run, run_all
from llmviz.parallel.__main__ import main
from llmviz.parallel.formulas import sent_per_step
from llmviz.parallel.outcome import COMPUTE, KINDS
from llmviz.parallel.plan import BYTES_EACH
from llmviz.processes.child import python_module, start_child

SMALL = dict(batch=4, micro_batches=2, context_length=8, n_layer=2, n_head=2, n_embd=16, n_expert=4)
RATE = ParallelPlan().learning_rate


@pytest.fixture(scope="module")
def outcomes():
    """The outcome of every method, all by the same two processes."""
    plans = [ParallelPlan(method, 2, steps=3, **SMALL) for method in METHODS]
    found = [one for one in run_all(plans) if isinstance(one, Outcome)]
    return {one.plan.method: one for one in found}


@pytest.mark.parametrize("method", METHODS)
def test_losses_and_weights_are_those_of_one_process(outcomes, method):
    one = outcomes[method]
    assert one.losses == pytest.approx(one.alone, abs=1e-5)
    assert one.losses[-1] < one.losses[0]
    # Adam divides by the size of the gradient, which brings up rounding where that is near 0; a
    # gradient that is wrong moves a weight by about the learning rate in each step.
    assert one.difference < RATE / 10


def test_logits_are_those_of_one_process(outcomes):
    for method, one in outcomes.items():
        if method in ("gpipe", "1f1b"):  # no process has a whole forward pass
            assert one.logits_difference is None
        else:
            assert one.logits_difference < 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_the_bytes_that_were_counted_are_those_of_the_formula(outcomes, method):
    one = outcomes[method]
    for rank, process in enumerate(one.processes):
        elsewhere = process.elsewhere if method == "experts" else None
        formula = sent_per_step(one.plan, rank, elsewhere)
        counted = {name: number for name, (_, number) in process.sent.items()}
        assert counted == pytest.approx(formula, abs=1e-6)
        if process.kernel is not None:  # besides the data there are the heads of the messages
            assert process.kernel >= process.bytes_sent


def test_sockets_send_what_a_ring_needs_where_the_library_has_one(outcomes):
    for method in ("data", "tensor", "gpipe"):
        for process in outcomes[method].processes:
            if process.kernel is None:
                pytest.skip("this system does not say what a socket has sent")
            messages = sum(times for times, _ in process.sent.values())
            assert process.kernel - process.bytes_sent < 2000 * messages


def test_each_process_holds_its_part(outcomes):
    n, plan = 2, outcomes["data"].plan
    whole = BYTES_EACH * count(plan.model())

    def held(method):
        records = outcomes[method].processes
        return [[one.bytes_held(kind) for kind in KINDS] for one in records]

    assert held("data") == [[whole, whole, 2 * whole]] * n
    assert held("zero1") == [[whole, whole, whole]] * n
    assert held("zero2") == [[whole, whole / 2, whole]] * n
    assert held("zero3") == [[whole / 2, whole / 2, whole]] * n
    for method in ("gpipe", "1f1b"):
        assert [sum(kind) for kind in zip(*held(method), strict=True)] == [whole, whole, 2 * whole]
    split = ("qkv.weight", "qkv.bias", "projection.weight")
    split += ("hidden.weight", "hidden.bias", "output.weight")
    halves = sum(one.count for one in tensors(plan.model()) if one.name.endswith(split))
    assert held("tensor") == [[whole - 2 * halves, whole - 2 * halves, 2 * whole - 4 * halves]] * n
    config = outcomes["experts"].plan.model()
    own = BYTES_EACH * sum(one.count for one in tensors(config) if ".experts." in one.name) / 2
    rest = BYTES_EACH * count(config) - 2 * own
    assert held("experts") == [[rest + own, rest + own, 2 * (rest + own)]] * n


def test_spans_follow_each_other_and_every_process_computes(outcomes):
    for one in outcomes.values():
        for process in one.processes:
            assert process.seconds(COMPUTE) > 0
            assert sum(span.core for span in process.spans) > 0
            for before, after in pairwise(process.spans):
                assert 0 <= before.start <= before.end <= after.start + 1e-6
        assert 0 <= one.idle_share() < 1


def test_the_schedules_are_in_their_orders(outcomes):
    def order(method, rank):
        spans = outcomes[method].processes[rank].spans
        return [one.label for one in spans if one.kind == COMPUTE and one.label[-1].isdigit()]

    fill_and_drain = ["forward 1", "forward 2", "backward 1", "backward 2"]
    assert order("gpipe", 0) == order("gpipe", 1) == fill_and_drain
    assert order("1f1b", 0) == fill_and_drain
    assert order("1f1b", 1) == ["forward 1", "backward 1", "forward 2", "backward 2"]


def test_an_outcome_is_written_and_read(outcomes):
    for one in outcomes.values():
        plain = json.loads(json.dumps(one.as_json()))
        again = Outcome.from_json(plain)
        assert again.plan == one.plan and again.losses == one.losses
        assert again.duration == pytest.approx(one.duration, abs=1e-5)
        assert [process.sent for process in again.processes] == [
            process.sent for process in one.processes
        ]
        del plain["processes"][0]["held"]["state"]
        with pytest.raises(ValueError, match="damaged"):
            Outcome.from_json(plain)


LONG = ParallelPlan("data", 2, steps=100_000, **SMALL)


def test_a_process_that_is_killed_ends_the_others_with_one_line():
    steps = run(LONG)
    assert isinstance(next(steps), Progress)
    children = multiprocessing.active_children()
    pids = [one.pid for one in children]
    assert len(pids) == 2
    os.kill(pids[0], signal.SIGKILL)
    with pytest.raises(ProcessEnded, match="of 2 ended by signal 9 before") as ended:
        for _ in steps:
            pass
    assert "\n" not in str(ended.value)
    assert_gone(pids)


def test_a_run_that_is_stopped_leaves_no_process():
    steps = run(LONG)
    next(steps)
    pids = [one.pid for one in multiprocessing.active_children()]
    assert len(pids) == 2
    steps.close()
    assert_gone(pids)


def assert_gone(pids):
    assert multiprocessing.active_children() == []
    for pid in pids:  # waited for by the process that began them
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_the_command_prints_and_its_processes_end_with_it():
    command = [*python_module("llmviz.parallel"), "data", "--steps", "100000", "--batch", "2"]
    command += ["--n-layer", "1", "--n-embd", "8", "--context-length", "8"]
    parent = start_child(command, 1, text=True)
    try:
        assert parent.stdout.readline().startswith("step 1: loss ")
        below = psutil.Process(parent.pid).children(recursive=True)
        assert len(below) >= 2
    finally:
        parent.kill()
        parent.communicate()
    _, alive = psutil.wait_procs(below, timeout=60)
    assert alive == []


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["magic"], "method must be one of data, zero1"),
        (["data", "--processes", "1"], "at least 2 processes; got 1"),
        (["tensor", "--processes", "3"], "must divide the heads"),
        (["gpipe", "--processes", "9"], "9 processes and 4 layers"),
        (["data", "--steps", "many"], "invalid int value"),
    ],
)
def test_a_wrong_command_line_gets_one_line(arguments, rule, capsys):
    try:
        code = main(arguments)
    except SystemExit as left:
        code = left.code
    said = capsys.readouterr().err
    assert code == 2 and rule in said and said.count("\n") == 1
