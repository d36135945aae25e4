"""The chapter on many machines: bundled runs, an own run, what is said of them, and on paper."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.parallel import chapter, on_paper, words
from llmviz.course.lessons.efficiency.parallel.on_paper import number_text
from llmviz.course.ui.common import percent, power_of_ten
from llmviz.models.costs import count
from llmviz.models.memory_limits import spoken_bytes
from llmviz.parallel.formulas import bubble_share, sent_per_step
from llmviz.parallel.outcome import KINDS, Progress, idle_share, recorded, replayed
from llmviz.parallel.paper import STAGES, Training
from llmviz.parallel.plan import METHODS, PIPELINES, ParallelPlan
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, fine_part, press, prose_of, run_snippet, snippets

BUNDLED = list(recorded().values())


def name_of(outcome):
    plan = outcome.plan
    return f"{plan.method}-{plan.processes}-{plan.micro_batches}"


@pytest.fixture(scope="module")
def opened():
    return fine_part("efficiency", "parallel", split="gpipe", processes="4", micro="2")


def test_the_run_of_the_link_is_shown_with_its_bubble(opened):
    outcome = recorded()[ParallelPlan("gpipe", 4, micro_batches=2)]
    text = prose_of(opened)
    assert f"<strong>{percent(bubble_share(4, 2))}</strong>" in text
    assert f"<strong>{percent(outcome.idle_share())}</strong>" in text
    assert f"<strong>{percent(idle_share(replayed(outcome)))}</strong>" in text
    assert f"{spoken_bytes(max(chapter.totals(outcome)))}</strong>" in text
    codes = [block.value for block in opened.code]
    assert any("python -m llmviz.parallel gpipe --micro-batches 2" in one for one in codes)


@pytest.mark.parametrize("method", METHODS)
def test_each_way_is_shown_with_its_code_and_a_snippet_that_runs(method):
    app = fine_part("efficiency", "parallel", split=method, processes="2")
    assert not app.warning
    ((snippet, prints),) = snippets(app)
    assert run_snippet(snippet).strip() == prints.strip()


def test_a_number_of_micro_batches_that_1f1b_cannot_have_is_changed_and_said():
    app = fine_part("efficiency", "parallel", split="1f1b", processes="4", micro="2")
    assert "micro = 2 does not exist here; 4 is shown instead" in boxes(app)


def test_an_own_run_that_has_ended_is_shown_and_can_be_begun_again(monkeypatch):
    outcome = dataclasses.replace(recorded()[ParallelPlan("data", 2)], cores=77)
    jobs = [FakeJob([Progress(1, 5.5), outcome]), FakeJob([], state="running")]

    def job_of(*given):
        return jobs[0]

    job_of.forget = lambda *given: jobs.pop(0)
    monkeypatch.setattr(chapter, "job_of", job_of)
    app = fine_part("efficiency", "parallel", split="data", processes="2", runhere="1")
    assert words.done in prose_of(app)
    assert words.live.format(cores="77 cores") in prose_of(app)
    press(app, words.again)
    assert len(jobs) == 1 and words.done not in prose_of(app)
    assert [one.label for one in app.button if one.label in ("Stop", words.again)] == ["Stop"]


def test_a_run_whose_process_was_killed_is_refused_with_one_line(monkeypatch):
    line = "process 2 of 2 ended by signal 9 before its work was done; the others were ended, too"
    job = FakeJob([Progress(1, 5.5)], state="failed", problem=line)

    def job_of(*given):
        return job

    job_of.forget = lambda *given: None
    monkeypatch.setattr(chapter, "job_of", job_of)
    app = fine_part("efficiency", "parallel", split="data", processes="2", runhere="1")
    assert line in boxes(app)


@pytest.mark.parametrize("outcome", BUNDLED, ids=name_of)
def test_pieces_lie_in_the_model_and_add_up(outcome):
    whole = count(outcome.plan.model())
    parts = chapter.parts_of(outcome.plan)
    assert sum(size for _, size in parts.values()) == whole
    for process in outcome.processes:
        for kind in KINDS:
            found = [
                chapter.segment(outcome.plan, "row", kind, piece, parts)
                for piece in process.held[kind]
            ]
            assert all(0 <= one.start <= one.start + one.length <= whole + 1e-6 for one in found)
            ends = sorted((one.start, one.start + one.length) for one in found)
            for (_, end), (start, _) in pairwise(ends):
                assert end <= start + 1e-6
            numbers = sum(one.length for one in found) * chapter.EACH[kind] * 4
            assert numbers == pytest.approx(process.bytes_held(kind))


def test_who_holds_everything_is_said_to_hold_all():
    for outcome in BUNDLED:
        whole = min(chapter.totals(outcome)) == chapter.alone(outcome.plan)
        assert ("as much as one alone" in chapter.held_line(outcome)) == whole
        assert ("as one alone" in chapter.end(outcome)["share"]) == whole


@pytest.mark.parametrize("outcome", BUNDLED[::3], ids=name_of)
def test_what_is_said_of_a_run_is_what_it_measured(outcome):
    shares = chapter.shares(outcome)
    assert sum(shares.values()) == pytest.approx(1)
    line = chapter.time_line(outcome)
    assert all(percent(share) in line for kind, share in shares.items() if kind != "wait")
    figure = chapter.timeline(outcome, "dark")
    drawn = sum(len(trace.x) for trace in figure.data)
    assert drawn == sum(len(one.spans) for one in outcome.processes)


def test_every_way_has_its_words_and_a_recorded_run():
    assert set(words.methods) == set(words.about) == set(METHODS)
    for method in METHODS:
        for processes in (2, 4):
            options = chapter.micro_options(method, processes)
            plan = chapter.plan_of((method, processes, int(options[0])))
            assert plan in recorded()
            assert "{" not in chapter.about(plan)
            assert (len(options) > 1) == (method in PIPELINES)


@pytest.mark.parametrize("processes", [2, 4])
def test_the_bytes_of_zero_3_are_those_that_were_counted(processes):
    asked = chapter.question(processes)
    right, part, same = (value for (value,) in asked.values)
    for way, value in (("zero3", right), ("data", same)):
        counted = recorded()[ParallelPlan(way, processes)].processes
        assert value == max(process.bytes_sent for process in counted) / 1e6
    assert part == same / processes and part < same / 1.5 and same < right / 1.4


def test_what_the_ways_send_does_not_stand_on_the_page_before_the_guess(covers):
    app = fine_part("efficiency", "parallel")
    assert words.sent.title not in [header.value for header in app.header]


def test_the_formula_is_what_was_counted():
    for outcome in BUNDLED:
        for rank, process in enumerate(outcome.processes):
            elsewhere = process.elsewhere if outcome.plan.method == "experts" else None
            formula = sent_per_step(outcome.plan, rank, elsewhere)
            for name, (_, number) in process.sent.items():
                assert round(number) == round(formula[name])


@pytest.mark.parametrize("outcome", BUNDLED, ids=name_of)
def test_the_commands_start_a_run_of_as_many_processes_as_its_plan_has(outcome):
    plan = outcome.plan
    one, torchrun, two_machines = chapter.commands(plan).splitlines()
    assert one.endswith(f"--processes {plan.processes}")
    assert f"--nproc-per-node {plan.processes} " in torchrun
    machines, each = (
        int(two_machines.split(f"{option} ")[1].split(" ")[0])
        for option in ("--nnodes", "--nproc-per-node")
    )
    assert machines * each == plan.processes  # no more than heads, layers or experts allow


def test_a_single_micro_batch_and_a_single_core_have_sentences_of_their_own():
    outcome = recorded()[ParallelPlan("gpipe", 2, micro_batches=1)]
    assert "only one process works at a time" in chapter.about(outcome.plan)
    assert "m = 1 micro-batch." in chapter.replayed_line(outcome)
    several = recorded()[ParallelPlan("gpipe", 2, micro_batches=2)]
    assert "several can work at the same time" in chapter.about(several.plan)
    line = chapter.origin(dataclasses.replace(outcome, cores=1), own=True)
    assert "It has 1 core." in line and "2 processes on 1 core take turns" in line


@given(some.booleans(), some.sampled_from([0.0, 1e-9, 1e-3, 1.0]))
def test_rounding_is_named_only_where_numbers_differ_by_little(losses, weights):
    outcome = recorded()[ParallelPlan("gpipe", 2, micro_batches=1)]
    shifted = tuple(one + 1e-6 * losses for one in outcome.alone)
    changed = dataclasses.replace(outcome, losses=shifted, difference=weights)
    line = chapter.same_line(changed)
    little = weights < outcome.plan.learning_rate / 5
    assert ("not one number" in line) == (not losses and not weights)
    assert ("up to rounding" in line) == (little and (losses or weights > 0))


@pytest.mark.parametrize("apart", [None, 0.0, 1e-7])
def test_logits_without_a_difference_are_not_said_to_differ(apart):
    outcome = recorded()[ParallelPlan("gpipe", 2, micro_batches=1)]
    line = chapter.apart(dataclasses.replace(outcome, logits_difference=apart))["logits"]
    assert ("logits differ by at most 1.0·10⁻⁷" in line) == bool(apart)
    assert ("the logits are the same" in line) == (apart == 0)


def test_1f1b_keeps_no_more_micro_batches_than_the_text_says():
    for plan in recorded():
        if plan.method == "1f1b":
            for process in recorded()[plan].processes:
                kept, most = 0, 0
                for span in process.spans:
                    if span.kind == "compute" and span.label.startswith(("forward", "backward")):
                        kept += 1 if span.label.startswith("forward") else -1
                        most = max(most, kept)
                assert most <= plan.processes
            assert f"at most {plan.processes} micro-batches" in chapter.about(plan)


numbers = some.floats(1e-3, 1e5)


@settings(deadline=None, max_examples=60)
@given(numbers, numbers, some.integers(1, 10**6), numbers, some.floats(0.001, 1), some.booleans())
def test_what_is_said_on_paper_holds_for_all_numbers(billions, tokens, gpus, batch, use, twice):
    plain = 1e9 * billions, 1e9 * tokens, gpus, 312e12, use, 80e9, 25e9, 1e6 * batch, twice
    if 1e6 * batch > 1e9 * tokens:
        with pytest.raises(ValueError, match="at least the tokens of one step"):
            Training(*plain)
        return
    training = Training(*plain)
    line = on_paper.fits_line(training)
    fits = [stage for stage in STAGES if on_paper.fits(training, stage)]
    assert fits == list(STAGES)[len(STAGES) - len(fits) :]  # a later stage never needs more
    if not fits:
        assert line == words.paper_fits_line[""]
    elif fits[0] != "data":
        assert words.paper_stages[fits[0]] in line
    days = on_paper.days_line(training)
    assert "{" not in days and " 0 " not in days and "**0 " not in days
    assert days.endswith(" on 1 GPU.") == (gpus == 1)
    steps = on_paper.slots_of(training)["steps"]
    assert (steps == "1 step") == (round(training.tokens / training.batch) == 1)


@pytest.mark.parametrize("preset", words.paper_presets)
def test_presets_are_within_the_ranges_of_their_controls(preset):
    from llmviz.course.lessons.efficiency.parallel import PARAMS

    ranges = {one.key: one for one in PARAMS}
    *shape, kind, use, _ = on_paper.PRESETS[preset]
    given = dict(zip(on_paper.SHAPE, shape, strict=True))
    given |= dict(zip(on_paper.MACHINE, on_paper.GPUS[kind], strict=True)) | {"fleetuse": use}
    for key, value in given.items():
        assert ranges[key].low <= value <= ranges[key].high
        if preset == "gpt3":
            assert ranges[key].default == value


def test_a_preset_fills_in_its_numbers_and_the_days_are_the_published_ones():
    app = fine_part("efficiency", "parallel")
    # Touvron et al. 2023, table 2: GPU-hours.
    for preset, published in (("llama2", 1_720_320), ("llama2small", 184_320)):
        (box,) = [one for one in app.selectbox if one.label == words.paper_preset]
        box.select(preset).run()
        fine(app)
        text = prose_of(app)
        (hours,) = [part.split(" ")[-1] for part in text.split(" GPU-hours")[:1]]
        assert float(hours.replace(",", "")) == pytest.approx(published, rel=0.02)


@given(some.floats(1e-30, 1e30))
def test_a_number_is_never_written_as_nothing_or_with_false_digits(number):
    text = number_text(number)
    assert text != "0" and len(text.replace(",", "")) <= 11


@given(some.floats(1e-200, 1e200))
def test_a_number_with_its_power_of_ten_keeps_its_size(number):
    digits, power = power_of_ten(number).split("·10")
    raised = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    assert float(f"{digits}e{raised}") == pytest.approx(number, rel=0.06)
