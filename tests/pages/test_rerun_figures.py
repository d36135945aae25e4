"""What the lessons compute once: for a slider, a prompt, a rule, a film. Counted."""

from __future__ import annotations

from collections import Counter

import pytest

from llmviz.corpus.probes import PROBES, probe_sets, probes
from llmviz.course.lessons.sampling import params, source, sweeps
from llmviz.course.lessons.sampling.knows import chapter as knows
from llmviz.course.lessons.sampling.pipeline.chapter import SLIDERS
from llmviz.course.lessons.tokenization.learn import chapter as learn
from tests.pages.harness import fine, open_part, sent


class Calls(Counter):
    """How often each of the watched functions was really called, by its name."""

    def __init__(self, monkeypatch):
        super().__init__()
        self._monkeypatch = monkeypatch

    def watch(self, owner, name):
        plain = getattr(owner, name)

        def watched(*given, **more):
            self[name] += 1
            return plain(*given, **more)

        self._monkeypatch.setattr(owner, name, watched)


@pytest.fixture
def counted(monkeypatch):
    return Calls(monkeypatch)


def test_the_slider_that_moves_has_its_stops_already(bundle, counted):
    app = open_part(
        "sampling", "pipeline", prompt="Mila found a ball", temperature="0.7", everystep="1"
    )
    counted.watch(sweeps, "sweep_all")
    app.run()
    assert counted["sweep_all"] == 0
    before = stops_of(app)
    app.session_state["sampling.temperature"] = 0.8
    app.run()
    fine(app)
    assert counted["sweep_all"] == len(SLIDERS) - 1
    after = stops_of(app)
    same = {name for name in before if before[name] == after[name]}
    # 0.7 and 0.8 are stops of the slider: what its stops lead to is what it was.
    assert same == {"temperature"}


def stops_of(app) -> dict[str, bytes]:
    board = sent(app, "sampler")
    return {one["name"]: one["probabilities"].tobytes() for one in board["controls"]}


def test_a_prompt_goes_through_the_model_once_for_all_visitors(bundle, counted):
    counted.watch(source.logits_after, "_compute")
    for part in ("pipeline", "dice", "temperature"):
        for _ in range(2):
            fine(open_part("sampling", part, prompt="Mila found a ball and nobody else"))
    assert counted["_compute"] == 1


def test_each_rule_is_asked_once(bundle, counted):
    knows.of_kind.clear()
    counted.watch(knows.of_kind, "_compute")
    for rule in ("capitals", "sums", "capitals"):
        fine(open_part("sampling", "knows", rule=rule, model=params.DEFAULT_MODEL))
    assert counted["_compute"] == 2


def test_stories_told_once_give_the_probes_of_each_rule():
    sets = probe_sets(PROBES[:4], 12, seed=3)
    assert list(sets) == list(PROBES[:4])
    for kind, found in sets.items():
        assert found == probes(kind, 12, seed=3)
    with pytest.raises(ValueError, match="no probe"):
        probe_sets(("sums", "rhyme"))


def test_the_films_merges_are_tabled_once_for_a_training(counted):
    learn.merges_of.clear()
    counted.watch(learn, "film_steps")
    for text in ("one text", "and another", "one text"):
        fine(open_part("tokenization", "learn", text=text))
    assert counted["film_steps"] == 1
