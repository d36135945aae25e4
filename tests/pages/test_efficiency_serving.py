"""The chapter on serving: the film holds what the engine did, the page says what was measured."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from llmviz.course.components.serving_film.view import PHASES, film_payload
from llmviz.course.lessons.efficiency.serving import chapter, model, words
from llmviz.course.lessons.efficiency.serving.model import WAYS, Begun, Part, Run
from llmviz.serving import PREEMPTIONS, ServingConfig, Workload, make_requests, simulate
from llmviz.serving.settings import POLICIES
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, prose_of, unpack_all

some_configs = some.builds(
    ServingConfig,
    policy=some.sampled_from(sorted(POLICIES)),
    max_batch=some.integers(3, 6),
    block_size=some.integers(1, 5),
    n_blocks=some.integers(30, 40),
    token_budget=some.integers(6, 20),
    preemption=some.sampled_from(PREEMPTIONS),
    host_blocks=some.integers(0, 20),
    share_prefixes=some.booleans(),
)
some_workloads = some.builds(
    Workload,
    requests=some.integers(1, 6),
    arrival_rate=some.sampled_from((0.0, 300.0)),
    prompt_tokens=some.integers(1, 8),
    new_tokens=some.integers(1, 8),
    samples=some.integers(1, 3),
    beams=some.booleans(),
    same_beginning=some.integers(0, 6),
    seed=some.integers(0, 1000),
)


def film_sent(app) -> dict:
    """What the film of the two runs was sent; the one of several texts comes after it."""
    return unpack_all(app, "serving_film")[0]


def served(config, workload) -> Run:
    if workload.beams:  # all beams of a search run together
        assume(3 * config.blocks_for(30) <= config.n_blocks)
    recording = simulate(make_requests(workload, range(50), 30), config)
    prompts = {request.id: request.id for request in recording.requests}
    return Run(recording, prompts, {})


def at(changes, step, gone):
    """What holds at a step, as the browser finds it."""
    return next((value for when, value in reversed(changes) if when <= step), gone)


@settings(deadline=None, max_examples=60)
@given(some_configs, some_workloads)
def test_the_film_says_of_each_tick_what_the_engine_did(config, workload):
    run = served(config, workload)
    made = chapter.film_of(run)
    names = [one.name for one in made.sequences]
    film_payload(made, words.film, words.states)  # which checks it
    for number, (step, drawn) in enumerate(zip(run.recording.steps, made.steps, strict=True)):
        tables = {one.name: at(one.tables, number, ()) for one in made.sequences}
        assert {name: table for name, table in tables.items() if table} == step.blocks
        lengths = {one.name: at(one.lengths, number, 0) for one in made.sequences}
        assert {name: lengths[name] for name in step.room} == step.room
        assert set(at(made.kept, number, ())) == set(step.cached)
        if not POLICIES[config.policy].static_batching:  # as the question says of blocks
            for name, length in step.room.items():
                assert len(step.blocks[name]) == -(-length // config.block_size)
        rows = [(names[one], PHASES[phase], count) for one, phase, count in drawn.rows]
        assert rows == [(row.sequence, row.phase, row.tokens) for row in step.rows]
        computed = {one for one, _, _ in drawn.rows}
        held = {names.index(name) for name in step.blocks}
        assert not held & {*drawn.waiting, *drawn.swapped}
        assert not computed & {*drawn.waiting, *drawn.swapped}
        assert not set(drawn.waiting) & set(drawn.swapped)
    finished = [one for drawn in made.steps for one in drawn.finished]
    assert sorted(finished) == list(range(len(names)))  # each once


@settings(deadline=None, max_examples=60)
@given(some_configs, some_workloads)
def test_films_open_where_most_is_computed_and_where_most_blocks_are_shared(config, workload):
    run = served(config, workload)
    drawn = chapter.film_of(run)
    at_tick, chosen = chapter.opening(run.recording)

    def busy(step) -> tuple[int, int]:
        computed = [row for row in step.rows if PHASES[row[1]] != "padding"]
        return len(computed), config.n_blocks - step.free

    found = [busy(step) for step in drawn.steps]
    assert found[at_tick] == max(found) and max(found) not in found[:at_tick]
    assert chosen in [row[0] for row in drawn.steps[at_tick].rows]
    held = {one.name: len(at(one.tables, at_tick, ())) for one in drawn.sequences}
    computed = [drawn.sequences[row[0]].name for row in drawn.steps[at_tick].rows]
    assert held[drawn.sequences[chosen].name] == max(held[name] for name in computed)
    at_tick, chosen = chapter.sharing_opening(run.recording)
    shared = []
    for number in range(len(drawn.steps)):
        held = Counter(block for one in drawn.sequences for block in at(one.tables, number, ()))
        shared.append(len([block for block, times in held.items() if times > 1]))
    assert shared[at_tick] == max(shared) and max(shared) not in shared[:at_tick]
    assert chosen == 0


@pytest.fixture(scope="module")
def recorded():
    return model.read()


@pytest.fixture(scope="module")
def opened():
    return fine_part("efficiency", "serving")


def test_the_chapter_opens_with_the_recorded_runs(opened, recorded):
    payload = film_sent(opened)
    recording = recorded.runs[0].recording
    assert len(payload["ticks"]) == len(recording.steps)
    assert payload["blocks"] == recording.config.n_blocks
    assert (payload["step"], payload["chosen"]) == chapter.opening(recording)
    assert recorded.date in prose_of(opened)
    texts = {
        one["name"]: "".join(piece for _, piece in one["pieces"]) for one in payload["sequences"]
    }
    assert all(
        texts[name] == "".join(p for _, p in run) for name, run in recorded.runs[0].pieces.items()
    )


def test_a_step_for_many_texts_takes_far_less_than_a_step_for_each(recorded):
    took = {}
    for step in recorded.runs[0].recording.steps:
        if all(row.tokens == 1 for row in step.rows):
            took.setdefault(len(step.rows), []).append(step.model)
    few, many = 2, max(took)
    assert median(took[many]) / many < 0.5 * median(took[few]) / few


@pytest.mark.parametrize("way", WAYS)
def test_the_texts_of_one_prompt_are_shown_with_the_blocks_they_share(way):
    """From the step at which they share most, unless the link names one."""
    app = fine_part("efficiency", "serving", serveways=way, servewaystick="9", servewaystext="2")
    run = model.read(model.EXPERIMENT_FOLDER / model.TEXTS_FILE).runs[WAYS.index(way)]
    payload = unpack_all(app, "serving_film")[1]
    assert (payload["step"], payload["chosen"]) == (9, 2)
    assert len(payload["ticks"]) == len(run.recording.steps)
    texts = [one["texts"] for one in payload["sequences"]]
    assert any(texts) == (way == "beams")
    named, held = model.blocks_at_once(run.recording)
    assert 0 < held < named
    assert f"{named} blocks, but only {held} exist" in prose_of(app)
    payload = unpack_all(fine_part("efficiency", "serving", serveways=way), "serving_film")[1]
    assert (payload["step"], payload["chosen"]) == chapter.sharing_opening(run.recording)


def test_beams_are_asked_for_in_a_run_of_the_learners(monkeypatch):
    asked = []
    monkeypatch.setattr(
        chapter.kit, "live", lambda state, flag, job, given, *_, **__: asked.append(given)
    )
    app = fine_part("efficiency", "serving", servekind="beams", servesamples="3")
    ((wanted,),) = asked
    assert wanted.workload.beams and wanted.workload.samples == 3
    assert "beams of one" in prose_of(app)
    assert "beams of one" not in prose_of(fine_part("efficiency", "serving", servekind="samples"))


def test_the_second_run_is_shown_on_request(recorded):
    app = fine_part("efficiency", "serving", serveshown="1", servetick="7", serverequest="3")
    payload = film_sent(app)
    assert len(payload["ticks"]) == len(recorded.runs[1].recording.steps)
    assert (payload["step"], payload["chosen"]) == (7, 3)
    first = fine_part("efficiency", "serving", servetick="0", serverequest="0")
    assert [film_sent(first)[name] for name in ("step", "chosen")] == [0, 0]


@pytest.mark.parametrize("own", ["a\n" * 9, "a" * 301])
def test_prompts_over_the_limit_are_refused_in_one_line(own):
    app = fine_part("efficiency", "serving", serveown=own)
    assert "of your own" in boxes(app)
    assert film_sent(app)["ticks"]


HOSTILE = "<script>document.title='x'</script> ![x](http://a) :red[y]"


def ended_job(recorded, swap: bool) -> FakeJob:
    """A job that has ended with the recorded runs, one of whose prompts is hostile."""
    first, second = recorded.runs
    prompts = first.prompts | {first.recording.requests[0].id: HOSTILE}
    parts = [Begun(first.recording.requests, prompts)]
    for number, run in enumerate((second, first) if swap else (first, second)):
        pieces = tuple((t, name, text) for name, all_ in run.pieces.items() for t, text in all_)
        parts.append(Part(number, run.recording.steps, pieces))
    return FakeJob(parts)


def test_the_learners_runs_take_the_place_of_the_recorded_ones(monkeypatch, recorded):
    monkeypatch.setattr(chapter, "job_of", lambda trial: ended_job(recorded, swap=True))
    link = dict(servepolicy="static", serveagainst="continuous", serverun="1")
    app = fine_part("efficiency", "serving", **link)
    payload = film_sent(app)
    assert len(payload["ticks"]) == len(recorded.runs[1].recording.steps)
    assert payload["sequences"][0]["prompt"] == HOSTILE
    text = prose_of(app)
    assert "script" not in text and words.done in text


def test_equal_policies_and_ties_are_told_rightly(recorded):
    shown = chapter.bundled_shown()
    first, _ = shown.runs
    again = replace(shown, runs=(first, first))
    assert chapter.question(again) is None  # who is quicker cannot be told
    assert "both wrote" in chapter.compared(again)
    same = replace(shown, trial=replace(shown.trial, policies=("static", "static")))
    assert len(set(same.names)) == 2
    slower = replace(first.recording.steps[-1], end=1.001 * first.recording.seconds)
    late = replace(first.recording, steps=(*first.recording.steps[:-1], slower))
    near = replace(shown, runs=(first, replace(first, recording=late)))  # by a thousandth
    assert "both wrote about" in chapter.compared(near)


def test_the_question_asks_when_the_quicker_run_was_over(recorded):
    shown = chapter.bundled_shown()
    ends = [run.recording.steps[-1].end for run in recorded.runs]
    asked = chapter.question(shown)
    values = [value for (value,) in asked.values]
    assert values[asked.right] == min(ends) and max(ends) in values
    assert max(request.arrival for request in recorded.runs[0].recording.requests) in values
    far = sorted(values)
    assert min(b - a for a, b in pairwise(far)) >= chapter.APART * max(ends)


def test_both_runs_are_drawn_on_one_clock_and_the_quicker_one_is_veiled(recorded, covers):
    ends = [run.recording.seconds for run in recorded.runs]
    payload = film_sent(fine_part("efficiency", "serving"))
    assert payload["until"] == pytest.approx(max(ends), abs=1e-6)
    assert len(payload["ticks"]) == len(recorded.runs[ends.index(max(ends))].recording.steps)


def test_a_film_that_does_not_fit_is_refused():
    made = chapter.film_of(served(ServingConfig(), Workload(requests=2)))
    for wrong, rule in (
        (replace(made, steps=()), "a step at least"),
        (replace(made, blocks=1), "not among the 1"),
        (replace(made, sequences=made.sequences[:1]), "not among the 1"),
    ):
        with pytest.raises(ValueError, match=rule):
            film_payload(wrong, words.film, words.states)
    with pytest.raises(ValueError, match="words lack batch"):
        film_payload(made, {k: v for k, v in words.film.items() if k != "batch"}, words.states)
