"""The same requests under two policies: what is served, what is written, and the recorded runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments import serving as make_serving
from experiments import serving_texts as make_serving_texts
from llmviz import pretrained
from llmviz.course.lessons.efficiency.serving import model
from llmviz.course.lessons.efficiency.serving.model import (
    MOST_OWN,
    MOST_OWN_CHARACTERS,
    Begun,
    Texts,
    Trial,
    done_share,
    own_prompts,
    requests_of,
    runs_of,
    serving_run,
)
from llmviz.serving import POLICIES, Scheduler
from llmviz.serving.requests import Outcome
from llmviz.serving.settings import ServingConfig
from llmviz.serving.workload import Workload
from llmviz.tokenizers import ENDOFTEXT, get_tokenizer
from tests.pages.small_model import make_checkpoint

TOKENIZER = get_tokenizer("bpe")
STORIES = "Mila met Otto at the market. They were happy.\n\nOnce there was a vet.\n\nThe end of it."
SMALL = Trial(
    Workload(requests=4, arrival_rate=0, prompt_tokens=6, new_tokens=6, samples=2),
    ServingConfig(max_batch=4, block_size=4, n_blocks=12),
    ("continuous", "static"),
)


def test_each_line_is_a_prompt_and_empty_ones_are_none():
    assert own_prompts(" a b \n\n c\n") == ("a b", "c")
    assert own_prompts("") == ()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("a\n" * (MOST_OWN + 1), f"at most {MOST_OWN}"),
        ("a" * (MOST_OWN_CHARACTERS + 1), f"{MOST_OWN_CHARACTERS} characters"),
        ("a\ud800", "surrogate"),
    ],
)
def test_prompts_that_are_too_many_or_too_long_are_refused(text, rule):
    with pytest.raises(ValueError, match=rule):
        own_prompts(text)


def test_the_learners_prompts_are_among_the_requests():
    own = ("<b>Hello</b> [x](y)", "Otto")
    begun = requests_of(replace(SMALL, own=own), TOKENIZER, STORIES, 40)
    assert len(begun.requests) == 4
    assert {text for name, text in begun.prompts.items() if name.startswith("own-")} == set(own)


def test_a_prompt_that_fills_the_context_is_refused():
    with pytest.raises(ValueError, match="context of 10"):
        requests_of(
            replace(SMALL, own=("Mila met Otto at the market. " * 5,)), TOKENIZER, STORIES, 10
        )


@pytest.mark.parametrize("same", [0, 5])
def test_prompts_are_beginnings_of_stories_and_begin_alike_as_far_as_asked(same):
    trial = replace(SMALL, workload=replace(SMALL.workload, prompt_tokens=12, same_beginning=same))
    begun = requests_of(trial, TOKENIZER, STORIES, 40)
    end = TOKENIZER.special_tokens[ENDOFTEXT]
    assert all(request.prompt[0] == end for request in begun.requests)
    assert len({request.prompt[:same] for request in begun.requests}) == 1
    for request in begun.requests:
        own = TOKENIZER.decode(list(request.prompt[max(1, same) :]))
        assert any(story.startswith(own) for story in STORIES.split("\n\n"))


@pytest.fixture
def small_base(tmp_path, monkeypatch):
    make_checkpoint(tmp_path)
    monkeypatch.setattr(pretrained, "CHECKPOINTS", tmp_path)


@pytest.mark.usefixtures("small_base")
def test_both_policies_serve_the_same_requests_and_write_the_same():
    results = list(serving_run(SMALL))
    first, second = runs_of(SMALL, results)
    assert [run.recording.config.policy for run in (first, second)] == list(SMALL.policies)
    assert first.recording.requests == second.recording.requests
    outcomes = [run.recording.outcomes for run in (first, second)]
    assert {k: v.tokens for k, v in outcomes[0].items()} == {
        k: v.tokens for k, v in outcomes[1].items()
    }
    assert len(outcomes[0]) == 8 and done_share(SMALL, results) == 1
    assert done_share(SMALL, results[:1]) == 0 == done_share(SMALL, [])
    assert isinstance(results[0], Begun) and runs_of(SMALL, results[:1]) == ()
    for run in (first, second):
        check_texts(run)


@pytest.mark.parametrize("samples", [1, 2, 3, 4])
@pytest.mark.parametrize("policy", POLICIES)
def test_beams_fit_the_smallest_memory_of_the_page(samples, policy):
    work = Workload(requests=40, prompt_tokens=64, new_tokens=64, samples=samples, beams=True)
    config = ServingConfig(policy=policy, max_batch=4, block_size=32, n_blocks=8)
    trial = replace(SMALL, workload=work, config=config)
    begun = requests_of(trial, TOKENIZER, STORIES * 40, 256)
    for request in begun.requests:
        assert request.beams == samples
        Scheduler(config).check(request)
    with pytest.raises(ValueError, match="must fit the context"):
        requests_of(replace(trial, own=("Mila met Otto. " * 60,)), TOKENIZER, STORIES, 256)


@pytest.mark.usefixtures("small_base")
def test_hypotheses_are_written_whole_until_the_search_ends():
    work = replace(SMALL.workload, requests=2, beams=True, samples=3)
    trial = replace(SMALL, workload=work, config=replace(SMALL.config, n_blocks=24))
    end = TOKENIZER.special_tokens[ENDOFTEXT]
    results = list(serving_run(trial))
    assert done_share(trial, results) == 1
    for run in runs_of(trial, results):
        check_texts(run)
        living: dict[str, list[int]] = {}
        for step in run.recording.steps:
            over = {one.request for one in step.finished} | {
                name.split("/")[0] for name, _, _ in step.hypotheses
            }
            before = living
            living = {name: ids for name, ids in before.items() if name.split("/")[0] not in over}
            for name, parent, token in step.hypotheses:
                living[name] = [*before.get(parent, []), token]
            for name in ("r1/0", "r1/1", "r1/2", "r2/0", "r2/1", "r2/2"):
                changes = [text for at, text in run.texts.get(name, ()) if at <= step.number]
                ids = [token for token in living.get(name, ()) if token != end]
                expected = TOKENIZER.decode(ids).removesuffix("\ufffd")
                assert (changes[-1] if changes else "") == expected
        assert not living


def test_bytes_that_make_no_character_are_written_when_their_sequence_ends():
    step = model.read(model.EXPERIMENT_FOLDER / model.TEXTS_FILE).runs[0].recording.steps[0]
    wrong = next(id for id in range(256) if TOKENIZER.token_bytes(id) == b"\xc3")
    texts, written = Texts(TOKENIZER), ""
    for number in range(12):
        end = (Outcome("r1", 0, (wrong,) * 12, "length"),) if number == 11 else ()
        now = replace(step, number=number, emitted=(("r1/0", wrong),), finished=end)
        written += "".join(text for _, _, text in texts.pieces(now))
        assert len(written) == number + (number == 11)
    assert written == "\ufffd" * 12


def test_the_bundled_texts_of_one_prompt_are_whole_and_sharing_is_counted():
    bundled = model.read(model.EXPERIMENT_FOLDER / model.TEXTS_FILE)
    assert replace(bundled.trial, base="") == replace(make_serving_texts.TRIAL, base="")
    samples, beams = (run.recording for run in bundled.runs)
    assert [one.prompt for one in samples.requests] == [one.prompt for one in beams.requests]
    assert (samples.requests[0].n, beams.requests[0].beams) == (4, 4)
    scores = [beams.outcomes[f"r1/{place}"].score for place in range(4)]
    assert scores == sorted(scores, reverse=True)
    for run in bundled.runs:
        named, held = model.blocks_at_once(run.recording)
        at_once = [
            (sum(len(table) for table in step.blocks.values()), step)
            for step in run.recording.steps
        ]
        assert named == max(count for count, _ in at_once)
        step = next(step for count, step in at_once if count == named)
        assert held == len({block for table in step.blocks.values() for block in table})
    # Beams share more than samples of the same prompt.
    saved = [named - held for named, held in map(model.blocks_at_once, (samples, beams))]
    assert 0 < saved[0] < saved[1]
    assert model.blocks_at_once(replace(samples, steps=())) == (0, 0)


def check_texts(run) -> None:
    """What was written piece by piece is what the tokens say."""
    end = TOKENIZER.special_tokens[ENDOFTEXT]
    for name, outcome in run.recording.outcomes.items():
        text = TOKENIZER.decode([token for token in outcome.tokens if token != end])
        pieces = run.pieces.get(name, ())
        assert "".join(piece for _, piece in pieces) == text
        assert [step for step, _ in pieces] == sorted({step for step, _ in pieces})


def test_the_bundled_runs_are_whole_and_of_the_same_requests(tmp_path):
    bundled = model.read()
    trial, (first, second) = bundled.trial, bundled.runs
    assert replace(trial, base="") == replace(model.TRIAL, base="")
    assert first.recording.requests == second.recording.requests
    ended = [run.recording.outcomes for run in (first, second)]
    names = {r.name(i) for r in first.recording.requests for i in range(r.n)}
    assert set(ended[0]) == set(ended[1]) == names
    assert all(ended[0][name].tokens == ended[1][name].tokens for name in names)
    # Written again, it is the same file.
    text = make_serving.written(trial, bundled.runs, bundled.environment, bundled.date)
    (tmp_path / "again.json").write_text(text, encoding="utf-8")
    assert model.read(tmp_path / "again.json") == bundled


@pytest.mark.parametrize("content", ["{", "{}", '{"runs": 5}', '{"runs": [], "policies": 3}'])
def test_a_damaged_file_of_runs_is_refused(tmp_path, content):
    path = tmp_path / "runs.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"runs\.json"):
        model.read(path)
