"""The chapter on many machines: bundled runs, an own run, what is said of them, and on paper."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.parallel import (
    chapter,
    on_paper,
    places,
    run,
    sent,
    times,
    words,
)
from llmviz.course.lessons.efficiency.parallel.amounts import (
    bytes_text,
    duration_text,
    number_text,
    seconds_text,
)
from llmviz.course.ui.common import percent, power_of_ten
from llmviz.models.arithmetic import count
from llmviz.parallel.formulas import bubble_share
from llmviz.parallel.outcome import KINDS, Outcome, Progress
from llmviz.parallel.paper import STAGES, Training
from llmviz.parallel.plan import METHODS, PIPELINES, ParallelPlan
from llmviz.parallel.recording import recorded
from llmviz.parallel.replay import idle_share, replayed
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, open_part, prose_of, run_snippet, snippets

BUNDLED = list(recorded().values())


def name_of(outcome):
    plan = outcome.plan
    return f"{plan.method}-{plan.processes}-{plan.micro_batches}"


@pytest.fixture(scope="module")
def opened():
    return open_part("efficiency", "parallel", split="gpipe", processes="4", micro="2")


def test_the_run_of_the_link_is_shown_with_its_bubble(opened):
    fine(opened)
    outcome = recorded()[ParallelPlan("gpipe", 4, micro_batches=2)]
    text = prose_of(opened)
    assert f"<strong>{percent(bubble_share(4, 2))}</strong>" in text
    assert f"<strong>{percent(outcome.idle_share())}</strong>" in text
    assert f"<strong>{percent(idle_share(replayed(outcome)))}</strong>" in text
    assert f"{bytes_text(max(places.totals(outcome)))}</strong>" in text
    codes = [block.value for block in opened.code]
    assert any("python -m llmviz.parallel gpipe --micro-batches 2" in one for one in codes)


@pytest.mark.parametrize("method", METHODS)
def test_each_way_is_shown_with_its_code_and_a_snippet_that_runs(method):
    app = open_part("efficiency", "parallel", split=method, processes="2")
    fine(app)
    assert not app.warning
    ((snippet, prints),) = snippets(app)
    assert run_snippet(snippet).strip() == prints.strip()


def test_a_number_of_micro_batches_that_1f1b_cannot_have_is_changed_and_said():
    app = open_part("efficiency", "parallel", split="1f1b", processes="4", micro="2")
    fine(app)
    assert "micro = 2 does not exist here; 4 is shown instead" in boxes(app)


def test_an_own_run_that_has_ended_is_what_the_chapter_shows(monkeypatch):
    plan = ParallelPlan("data", 2)
    plain = recorded()[plan].as_json() | {"cores": 77}
    outcome = Outcome.from_json(plain)
    job = FakeJob([Progress(1, 5.5), outcome])
    monkeypatch.setattr(run, "job_of", lambda *given: job)
    app = open_part("efficiency", "parallel", split="data", processes="2", runhere="1")
    fine(app)
    assert words.done in prose_of(app)
    assert words.live.format(cores="77 cores") in prose_of(app)


def test_an_own_run_that_has_ended_can_be_begun_again(monkeypatch):
    outcome = recorded()[ParallelPlan("data", 2)]
    jobs = [FakeJob([outcome]), FakeJob([], state="running")]

    def job_of(*given):
        return jobs[0]

    job_of.forget = lambda *given: jobs.pop(0)
    monkeypatch.setattr(run, "job_of", job_of)
    app = open_part("efficiency", "parallel", split="data", processes="2", runhere="1")
    fine(app)
    (again,) = (one for one in app.button if one.label == words.again)
    again.click().run()
    fine(app)
    assert len(jobs) == 1 and words.done not in prose_of(app)
    assert [one.label for one in app.button if one.label in ("Stop", words.again)] == ["Stop"]


def test_a_run_whose_process_was_killed_is_refused_with_one_line(monkeypatch):
    line = "process 2 of 2 ended by signal 9 before its work was done; the others were ended, too"
    job = FakeJob([Progress(1, 5.5)], state="failed", problem=line)

    def job_of(*given):
        return job

    job_of.forget = lambda *given: None
    monkeypatch.setattr(run, "job_of", job_of)
    app = open_part("efficiency", "parallel", split="data", processes="2", runhere="1")
    fine(app)
    assert line in boxes(app)


@pytest.mark.parametrize("outcome", BUNDLED, ids=name_of)
def test_pieces_lie_in_the_model_and_add_up(outcome):
    whole = count(outcome.plan.model())
    parts = places.parts_of(outcome.plan)
    assert sum(size for _, size in parts.values()) == whole
    for process in outcome.processes:
        for kind in KINDS:
            found = [
                places.segment(outcome.plan, "row", kind, piece, parts)
                for piece in process.held[kind]
            ]
            assert all(0 <= one.start <= one.start + one.length <= whole + 1e-6 for one in found)
            ends = sorted((one.start, one.start + one.length) for one in found)
            for (_, end), (start, _) in pairwise(ends):
                assert end <= start + 1e-6
            numbers = sum(one.length for one in found) * places.EACH[kind] * 4
            assert numbers == pytest.approx(process.bytes_held(kind))


@pytest.mark.parametrize("outcome", BUNDLED[::3], ids=name_of)
def test_what_is_said_of_a_run_is_what_it_measured(outcome):
    shares = times.shares(outcome)
    assert sum(shares.values()) == pytest.approx(1)
    line = times.time_line(outcome)
    assert all(percent(share) in line for share in shares.values())
    rows = sent.rows_of(outcome)
    counted = sum(float(row[3].replace(",", "")) for row in rows)
    assert counted == pytest.approx(sum(one.bytes_sent for one in outcome.processes), abs=len(rows))
    assert [row[3] for row in rows] == [row[4] for row in rows]  # the formula is what was counted
    halves = "reduce_scatter" in outcome.processes[0].sent
    assert halves or not sent.library_line(outcome)
    figure = times.timeline(outcome, "dark")
    drawn = sum(len(trace.x) for trace in figure.data)
    assert drawn == sum(len(one.spans) for one in outcome.processes)


def test_every_way_has_its_words_and_a_recorded_run():
    assert set(words.methods) == set(words.about) == set(METHODS)
    for method in METHODS:
        for processes in (2, 4):
            options = run.micro_options(method, processes)
            plan = run.plan_of((method, processes, int(options[0])))
            assert plan in recorded()
            assert "{" not in chapter.about(plan)
            assert (len(options) > 1) == (method in PIPELINES)


@given(some.integers(2, 64), some.integers(1, 64))
def test_the_bubble_is_asked_with_one_right_answer(processes, micro):
    shares = [
        bubble_share(processes, 2 * micro),
        bubble_share(processes, micro) / 2,
        bubble_share(processes, micro),
        bubble_share(processes, micro / 2),
    ]
    assert shares[1] < shares[0] < shares[2] < shares[3] < 1  # as the reasons say
    if len({percent(one) for one in shares}) < 4:
        return  # nearly nothing but bubble: more micro-batches than the chapter has would tell
    question = chapter.question(processes, micro)
    assert question.answers[question.right] == percent(shares[0])
    assert set(question.answers) == {percent(one) for one in shares}
    assert "{" not in question.text + "".join(question.reasons)


@pytest.mark.parametrize("outcome", BUNDLED, ids=name_of)
def test_the_chapter_can_ask_for_each_run(outcome):
    chapter.question(outcome.plan.processes, outcome.plan.micro_batches)


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
    assert "m = 1 micro-batch the" in times.replayed_line(outcome)
    several = recorded()[ParallelPlan("gpipe", 2, micro_batches=2)]
    assert "several processes can work at the same time" in chapter.about(several.plan)
    line = chapter.origin(dataclasses.replace(outcome, cores=1), own=True)
    assert "It has 1 core." in line and "2 processes on 1 core take turns" in line


@given(some.booleans(), some.sampled_from([0.0, 1e-9, 1e-3, 1.0]))
def test_rounding_is_named_only_where_numbers_differ_by_little(losses, weights):
    outcome = recorded()[ParallelPlan("gpipe", 2, micro_batches=1)]
    shifted = tuple(one + 1e-6 * losses for one in outcome.alone)
    changed = dataclasses.replace(outcome, losses=shifted, difference=weights)
    line = chapter.same_line(changed)
    little = weights < outcome.plan.learning_rate / 5
    assert (words.equal in line) == (not losses and not weights)
    assert (words.rounding in line) == (little and (losses or weights > 0))


@pytest.mark.parametrize("apart", [None, 0.0, 1e-7])
def test_logits_without_a_difference_are_not_said_to_differ(apart):
    outcome = recorded()[ParallelPlan("gpipe", 2, micro_batches=1)]
    line = chapter.same_line(dataclasses.replace(outcome, logits_difference=apart))
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
    assert (" 1 step " in days) == (round(training.tokens / training.batch) == 1)
    assert (" 1 GPU:" in days) == (gpus == 1)
    for stage in STAGES:
        assert on_paper.row_of(training, stage)[0] == words.paper_stages[stage]


@pytest.mark.parametrize("preset", words.paper_presets)
def test_presets_are_within_the_ranges_of_their_controls(preset):
    from llmviz.course.lessons.efficiency.parallel.params import PARAMS

    ranges = {one.key: one for one in PARAMS}
    *shape, kind, use, _ = on_paper.PRESETS[preset]
    given = dict(zip(on_paper.SHAPE, shape, strict=True))
    given |= dict(zip(on_paper.MACHINE, on_paper.GPUS[kind], strict=True)) | {"fleetuse": use}
    for key, value in given.items():
        assert ranges[key].low <= value <= ranges[key].high
        if preset == "gpt3":
            assert ranges[key].default == value


def test_a_preset_fills_in_its_numbers_and_the_days_are_the_published_ones():
    app = open_part("efficiency", "parallel")
    fine(app)
    # Touvron et al. 2023, table 2: GPU-hours.
    for preset, published in (("llama2", 1_720_320), ("llama2small", 184_320)):
        (box,) = [one for one in app.selectbox if one.label == words.paper_preset]
        box.select(preset).run()
        fine(app)
        text = prose_of(app)
        (hours,) = [part.split(" ")[-1] for part in text.split(" GPU-hours")[:1]]
        assert float(hours.replace(",", "")) == pytest.approx(published, rel=0.02)


@given(some.floats(0, 1e18), some.floats(1e-9, 9.9e8))
def test_amounts_keep_their_size(number, seconds):
    units = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}
    digits, unit = bytes_text(number).split(" ")
    assert float(digits.replace(",", "")) * units[unit] == pytest.approx(number, rel=6e-3)
    digits, unit = seconds_text(seconds).split(" ")
    size = float(digits.replace(",", "")) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit]
    assert size == pytest.approx(seconds, rel=6e-3)
    if 60 <= seconds < 1e9:
        digits, unit = duration_text(seconds).split(" ")
        size = {"day": 86_400, "hour": 3600, "minute": 60}[unit.removesuffix("s")]
        assert float(digits.replace(",", "")) * size == pytest.approx(seconds, rel=6e-3)
        assert (unit[-1] == "s") == (digits != "1")


@given(some.floats(1e-30, 1e30))
def test_a_number_is_never_written_as_nothing_or_with_false_digits(number):
    text = number_text(number)
    assert text != "0" and len(text.replace(",", "")) <= 11


@given(some.floats(1e-200, 1e200))
def test_a_number_with_its_power_of_ten_keeps_its_size(number):
    digits, power = power_of_ten(number).split("·10")
    raised = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    assert float(f"{digits}e{raised}") == pytest.approx(number, rel=0.06)


@given(some.floats(0.001, 1_000), some.integers(2, 100_000))
@settings(deadline=None)
def test_the_bytes_of_zero_3_are_asked_with_one_right_answer(billions, gpus):
    machine = dict(peak=1e12, utilization=0.5, memory=1e9, bandwidth=1e9, batch=1e6)
    training = Training(1e9 * billions, 1e9, gpus, checkpoints=False, **machine)
    asked = on_paper.question(training)
    assert asked.answers[asked.right] == on_paper.row_of(training, "zero3")[3]
    assert on_paper.row_of(training, "data")[3] in asked.text
