"""What is refused, what a ring sends, how large a bubble is, and what training takes on paper."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from experiments.many_machines import plans
from llmviz.models.costs import count
from llmviz.parallel import (
    METHODS,
    ParallelPlan,
    bubble_share,
    paper,
    ring_bytes,
    sent_per_step,
    work,
)
from llmviz.parallel.clock import RECEIVE, TO_ALL, Note, spans_of
from llmviz.parallel.outcome import COMPUTE, SEND, WAIT, Span, idle_share, recorded, replay
from llmviz.parallel.plan import PIPELINES, stage_layers


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        (dict(method="magic"), "method must be one of"),
        (dict(processes=1), "at least 2 processes; got 1"),
        (dict(processes=0), "processes must be a whole number of at least 1"),
        (dict(processes=2.0), "processes must be a whole number"),
        (dict(method="tensor", processes=3, n_head=4), r"heads \(n_head\); got 3 processes and 4"),
        (dict(method="data", processes=3, batch=16), r"rows of the batch \(batch\); got 3"),
        (dict(method="gpipe", processes=5, n_layer=4), "got 5 processes and 4 layers"),
        (dict(method="gpipe", micro_batches=3), "micro_batches=3, batch=32"),
        (dict(method="1f1b", processes=4, micro_batches=2), "at least as many micro-batches"),
        (dict(method="experts", processes=2, n_expert=3), r"experts \(n_expert\); got 2"),
        (dict(n_head=3), "n_head must divide n_embd"),
    ],
)
def test_what_cannot_be_split_is_refused(settings, rule):
    with pytest.raises(ValueError, match=rule):
        ParallelPlan(**settings)


def ring(processes, chunks_of):
    """Send chunks round a ring as all-reduce does, and count the chunks that each process sends."""
    have = [[{(rank, chunk)} for chunk in range(processes)] for rank in range(processes)]
    sent = [0] * processes
    for lap in range(2):
        for turn in range(processes - 1):
            moves = []
            for rank in range(processes):
                chunk = (rank - turn + lap) % processes
                moves.append(((rank + 1) % processes, chunk, set(have[rank][chunk])))
                sent[rank] += chunks_of
            for to, chunk, parts in moves:
                have[to][chunk] = have[to][chunk] | parts if lap == 0 else parts
    everybody = set(range(processes))
    whole = all({one for one, _ in part} == everybody for own in have for part in own)
    return sent, whole


@given(some.integers(2, 9), some.integers(1, 50))
def test_a_ring_sums_everything_with_the_bytes_of_the_formula(processes, chunk):
    sent, whole = ring(processes, chunk)
    assert whole
    expected = ring_bytes("all_reduce", chunk * processes, processes)
    assert sent == pytest.approx([expected] * processes)
    halves = [ring_bytes(name, 7.0, processes) for name in ("reduce_scatter", "all_gather")]
    assert sum(halves) == pytest.approx(ring_bytes("all_reduce", 7.0, processes))


@given(some.integers(1, 8), some.integers(1, 12))
def test_the_bubble_is_that_of_a_pipeline_played_step_by_step(stages, micro_batches):
    """Each stage takes one tick for a micro-batch, once its input is there and it is free."""
    ready = [0] * micro_batches
    end = 0
    for stage in range(stages):
        free = 0
        for number in range(micro_batches):
            free = max(free, ready[number]) + 1
            ready[number] = free
        end = max(end, free)
        assert free >= stage
    idle = 1 - stages * micro_batches / (stages * end)
    assert bubble_share(stages, micro_batches) == pytest.approx(idle)


@pytest.mark.parametrize(("stages", "micro_batches"), [(0, 1), (1, 0), (2, -1)])
def test_a_pipeline_of_nothing_is_refused(stages, micro_batches):
    with pytest.raises(ValueError, match="needs stages and micro-batches"):
        bubble_share(stages, micro_batches)
    with pytest.raises(ValueError, match="processes must be at least 1"):
        ring_bytes("send", 1.0, 0)


@given(some.integers(1, 40), some.integers(1, 12))
def test_stages_share_all_layers_as_evenly_as_can_be(layers, stages):
    parts = stage_layers(layers, stages)
    assert [layer for part in parts for layer in part] == list(range(layers))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_zero_sends_what_data_parallel_sends_and_half_more_in_stage_3():
    for n in (2, 4):
        all_reduce = sent_per_step(ParallelPlan("data", n))["all_reduce"]
        assert all_reduce == 2 * (n - 1) / n * 4 * count(ParallelPlan().model())
        for method in ("zero1", "zero2"):
            assert sum(sent_per_step(ParallelPlan(method, n)).values()) == all_reduce
        third = sum(sent_per_step(ParallelPlan("zero3", n)).values())
        assert all_reduce < third < 1.5 * all_reduce  # embedding and head stay gathered


def test_bytes_that_do_not_divide_come_to_what_is_written_out_by_hand():
    """C 2, F 8, T 3, two layers, 256 bytes, five processes: numbers are padded to be cut."""
    own = dict(processes=5, batch=5, context_length=3, n_layer=2, n_head=1, n_embd=2)
    layer = 2 * 4 + (2 * 6 + 6) + (2 * 2 + 2) + (2 * 8 + 8) + (8 * 2 + 2)
    assert layer == 74  # padded: 75; the tables 518 and 516, both 520
    flat = 4 / 5 * 4 * (520 + 2 * 75 + 520)
    for method in ("zero1", "zero2"):
        found = sent_per_step(ParallelPlan(method, **own))
        assert found == pytest.approx({"reduce_scatter": flat, "all_gather": flat})
    # Whole rows are padded: of norms 2 to 5, of qkv 6 to 10, of the projection 2 to 5 …
    inside = 2 * (4 * 5 + (10 * 2 + 10) + (5 * 2 + 5) + (10 * 2 + 10) + (5 * 8 + 5))
    around = 260 * 2 + 5 * 2 + 2 * 5 + 260 * 2
    assert sent_per_step(ParallelPlan("zero3", **own)) == pytest.approx(
        {
            "all_gather": 4 / 5 * 4 * (2 * inside + around),
            "reduce_scatter": 4 / 5 * 4 * (inside + around),
        }
    )


def test_bytes_of_each_other_method_come_to_what_is_written_out_by_hand():
    """Four rows of three tokens of width 4: 48 numbers of four bytes between two layers."""
    own = dict(batch=4, context_length=3, n_head=2, n_embd=4, micro_batches=4)
    found = sent_per_step(ParallelPlan("tensor", 2, n_layer=3, **own))
    assert found == {"all_reduce": 2 * 1 / 2 * 3 * 4 * 192}
    for method in ("gpipe", "1f1b"):
        plan = ParallelPlan(method, 3, n_layer=3, **own)
        assert [sent_per_step(plan, rank) for rank in range(3)] == [
            {"send": 192.0},
            {"send": 384.0},
            {"send": 192.0},
        ]
    plan = ParallelPlan("experts", 2, n_layer=2, n_expert=4, **own)
    # Two rows of three tokens go to two experts each, half of them elsewhere, there and back; so
    # do their gradients. Two experts elsewhere are told how many come, in each layer.
    away = 2 * (2 * 2 * (2 * 3 * 2 // 2) * 4 * 4)
    shared = 256 * 4 + 3 * 4 + 2 * (16 + (4 * 12 + 12) + (4 * 4 + 4) + 4 * 4) + 8 + 256 * 4
    assert sent_per_step(plan) == {
        "all_to_all": away + 2 * 2 * 8,
        "all_reduce": 2 * 1 / 2 * 4 * shared,
    }
    assert sent_per_step(plan, elsewhere=5)["all_to_all"] == 5 * 2 * 4 * 4 + 2 * 2 * 8


def test_every_place_where_a_row_may_begin_occurs(monkeypatch):
    monkeypatch.setattr(work, "_text", [bytes(range(20))])
    plan = ParallelPlan(context_length=8, batch=16)
    rows = torch.cat([work.batch(plan, number)[1] for number in range(40)])
    assert set(rows[:, -1].tolist()) == set(range(8, 20))  # the last byte is learned, too


def test_waiting_is_until_the_last_one_comes_and_until_it_is_sent():
    first = [Note(COMPUTE, "a", 10, 12), Note(TO_ALL, "sum", 12, 15, "all:1")]
    first += [Note(RECEIVE, "x", 15, 18, "1>0:1")]
    second = [Note(COMPUTE, "a", 10, 14), Note(TO_ALL, "sum", 14, 15, "all:1")]
    second += [Note(COMPUTE, "b", 15, 17), Note(SEND, "x", 17, 17.5, "1>0:1")]
    spans = spans_of([first, second], [{}, {"1>0:1": 17}])
    assert spans[0] == (
        Span(COMPUTE, "a", 0, 2),
        Span(WAIT, "sum", 2, 4),
        Span(SEND, "sum", 4, 5),
        Span(WAIT, "x", 5, 7),
        Span(SEND, "x", 7, 8),
    )
    assert [one.kind for one in spans[1]] == [COMPUTE, SEND, COMPUTE, SEND]


def test_memory_is_that_of_the_figure_in_the_paper_on_zero():
    """Rajbhandari et al. 2020, figure 1: 7.5 billion parameters, 64 GPUs, in GB."""
    published = dict(zip(paper.STAGES, (120, 31.4, 16.6, 1.9), strict=True))
    for stage, gigabytes in published.items():
        assert paper.memory_per_gpu(7.5e9, 64, stage) / 1e9 == pytest.approx(gigabytes, abs=0.05)
    with pytest.raises(ValueError, match="stage must be one of"):
        paper.memory_per_gpu(1e9, 2, "zero4")
    with pytest.raises(ValueError, match="stage must be one of"):
        paper.bytes_per_step(1e9, 2, "zero4")


def test_days_and_operations_are_the_published_ones():
    # Narayanan et al. 2021, section 5.1: GPT-3 on 1,024 A100 at 140 Tflop/s each, 34 days.
    shape = dict(parameters=175e9, tokens=300e9, gpus=1024, peak=312e12, utilization=140 / 312)
    machine = dict(memory=80e9, bandwidth=25e9, batch=3.2e6)
    assert round(paper.days(paper.Training(**shape, **machine, checkpoints=True))) == 34
    # Grattafiori et al. 2024, section 3.2: Llama 3.1 405B took 3.8e25 operations.
    shape = dict(parameters=405e9, tokens=15.6e12, gpus=16_384, peak=989e12, utilization=0.4)
    large = paper.Training(**shape, **machine | dict(batch=16e6))
    operations = paper.seconds_computing(large) * large.tokens / large.batch * 16_384 * 989e12 * 0.4
    assert operations == pytest.approx(3.8e25, rel=0.01)


@pytest.mark.parametrize(
    ("name", "value"),
    [("parameters", 0), ("tokens", float("nan")), ("utilization", 1.2), ("gpus", 0), ("batch", -1)],
)
def test_numbers_that_make_no_sense_are_refused(name, value):
    fine = dict(parameters=1e9, tokens=1e9, gpus=2, peak=1e12, utilization=0.4, memory=1e9)
    with pytest.raises(ValueError, match=name):
        paper.Training(**fine | dict(bandwidth=1e9, batch=1e6) | {name: value})


def test_the_bundled_record_has_every_plan_and_its_bytes():
    found = recorded()
    assert set(found) == set(plans())
    assert {plan.method for plan in found} == set(METHODS)
    for plan, one in found.items():
        assert len(one.processes) == plan.processes
        assert one.losses == pytest.approx(one.alone, abs=1e-4)
        assert one.difference < plan.learning_rate / 5
        for rank, process in enumerate(one.processes):
            elsewhere = process.elsewhere if plan.method == "experts" else None
            assert process.bytes_sent == pytest.approx(
                sum(sent_per_step(plan, rank, elsewhere).values())
            )


def ordered(method, rank, stages, micro):
    """What a stage computes in which order: forward 1 s, backward 2 s of a core."""
    ahead = micro if method == "gpipe" else min(micro, stages - rank)
    labels = [f"forward {k + 1}" for k in range(ahead)]
    for k in range(micro):
        labels.append(f"backward {k + 1}")
        if ahead + k < micro:
            labels.append(f"forward {ahead + k + 1}")
    return [Span(COMPUTE, one, 0, 9, 1.0 if one[0] == "f" else 2.0) for one in labels]


@given(some.sampled_from(PIPELINES), some.integers(1, 6), some.integers(1, 9))
def test_a_replayed_pipeline_of_equal_stages_has_the_bubble_of_the_formula(method, stages, micro):
    spans = replay([ordered(method, rank, stages, micro) for rank in range(stages)])
    assert idle_share(spans) == pytest.approx(bubble_share(stages, micro))
    ends = {one.label: one.end for one in spans[0] if one.kind == COMPUTE}
    for rank, own in enumerate(spans[1:], 1):
        for one in own:
            if one.kind == COMPUTE and one.label.startswith("forward"):
                assert one.start >= ends[one.label]
        ends = {one.label: one.end for one in spans[rank] if one.kind == COMPUTE}


def test_stages_that_wait_for_each_other_are_refused():
    forward, backward = Span(COMPUTE, "forward 1", 0, 1, 1), Span(COMPUTE, "backward 1", 0, 1, 1)
    with pytest.raises(ValueError, match="wait for each other"):
        replay([[backward, forward], [forward, backward]])
    with pytest.raises(ValueError, match="a time above 0"):
        idle_share([[], []])
