"""Folders that no run of ours wrote: one clear line for each, soon, and with little memory."""

import random
import tracemalloc

import pytest

from llmviz.runs import store
from llmviz.runs.visitors import attach
from llmviz.training import CheckpointError, curves
from llmviz.training.curves import CurveFile
from llmviz.training.forks import forkable, make_fork
from llmviz.training.reading import Metrics, read_description, read_metrics
from llmviz.training.run_folder import load_trained
from tests.pages.conftest import load_torch
from tests.pages.harness import PAGES, fine, open_page, open_part, parts
from tests.training.tampered import TAMPERED, healthy, line, says, tamper_all


def readers(folder, out):
    """All that pages do with a run's folder."""
    yield lambda: store.find_run(folder.name)
    yield lambda: store.run_card(folder.name)
    yield lambda: store.has_weights(folder.name)
    yield lambda: store.is_written(folder)
    yield lambda: read_description(folder)
    yield lambda: CurveFile(folder).read()
    yield lambda: load_trained(folder)
    yield lambda: forkable(folder)
    yield lambda: make_fork(folder, 20, out, {})
    yield lambda: attach(folder.name, "ann", 1)


def test_no_folder_is_more_than_a_refusal(home):
    """Of all that may be wrong, each reader says one line or reads what is right."""
    for name, folder in tamper_all(home).items():
        for read in readers(folder, home.parent / "forks" / folder.name):
            try:
                read()
            except ValueError as error:
                assert len(str(error).splitlines()) == 1, name
            except OSError:  # what the system says of a fork is told by the manager
                assert name in ("curve folder", "curve gone")


WRONG = ("layers 1e9", "width 1e12", "context 1e12", "context 1e7", "vocabulary 1e12", "model gru")


@pytest.mark.parametrize("name", [*WRONG, "tokenizer larger", "weights header", "manifest outside"])
def test_a_model_that_its_weights_are_not_of_is_not_built(name, home, monkeypatch):
    from llmviz.models.catalogue import MODELS

    folder = tamper_all(home, [name])[name]
    with pytest.raises(CheckpointError):
        load_trained(folder)
    assert MODELS  # the folder of another run is as before
    assert load_trained(home / "healthy")


def test_a_healthy_folder_is_read_by_all(home):
    folder = healthy(home / "fine")
    for read in readers(folder, home.parent / "fork"):
        read()
    assert load_trained(folder).tokenizer.vocab_size == 11


def test_pages_say_so_and_go_on(home, bundle):
    """A sample of the folders, on the pages that read runs."""
    always = ["layers 1e9", "curve pipe", "config nested"]
    names = random.Random(7).sample(sorted(TAMPERED.keys() - set(always)), 5)
    folders = tamper_all(home, [*names, *always])
    for folder in folders.values():
        name = f"run:{folder.name}"
        fine(open_page("training", part="runs", run=name))
        fine(open_page("sampling", part="pipeline", model=name))
    every = ",".join(f"run:{folder.name}" for folder in folders.values())
    fine(open_page("training", part="curves", runs=every))


def long_curve(folder, lines):
    folder.mkdir(parents=True)
    with (folder / "metrics.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(map(line, range(1, lines + 1)))
    return folder


def test_a_long_curve_is_thinned_while_it_is_read(home, monkeypatch):
    kept, lines = 400, 10_000
    monkeypatch.setattr(curves, "KEPT_POINTS", kept)
    folder = long_curve(home / "long", lines)
    tracemalloc.start()
    curve = CurveFile(folder).read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept / 4 < len(curve) <= kept + 1 and curve.lines == lines
    assert curve.steps[0] == 1 and curve.steps[-1] == lines
    assert (curve.steps[1:] > curve.steps[:-1]).all()
    assert peak < (folder / "metrics.jsonl").stat().st_size  # never all of it at once


def test_a_thinned_curve_grows_and_is_the_same_as_one_read_at_once(home):
    folder = long_curve(home / "long", 90)
    slow = Metrics(folder, most=20)
    for first in range(91, 400, 7):
        slow.read()
        with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(map(line, range(first, first + 7)))
    again = Metrics(folder, most=20)
    assert slow.read() == again.read() and slow.lines == again.lines
    assert len(again.records) <= 21 and again.records[-1] == read_metrics(folder)[-1]


def test_all_of_a_short_curve_is_kept(home):
    folder = long_curve(home / "short", 100)
    assert CurveFile(folder).read().lines == 100 == len(CurveFile(folder).read())
    assert read_metrics(folder) == Metrics(folder, most=1_000).read()


@pytest.mark.slow  # every lesson beside damaged runs
@pytest.mark.parametrize("lesson", PAGES)
def test_a_bad_folder_breaks_no_chapter_of_those_who_never_asked_for_it(lesson, home):
    load_torch()
    names = ["layers none", "layers 1e9", "weights garbage", "weights NaN", "tokenizer larger"]
    for folder in tamper_all(home, names).values():
        says("data", "corpus", value="tiny-world")(folder)  # so that every lesson would offer it
    for part in parts(lesson):
        fine(open_part(lesson, part))
    if lesson == "embeddings":  # which looks through all that is there
        fine(open_part(lesson, "positions", way="learned"))
