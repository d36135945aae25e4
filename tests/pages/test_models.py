"""Published models from the page: looked at, imported, cancelled, listed, deleted, and by whom."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from llmviz.course.lessons.models import (
    importing,
    model_list,
    page,
    published_model,
    words,
)
from llmviz.course.lessons.models.gpt2_sizes import gpt2_sizes
from llmviz.course.ui import job_pools
from llmviz.course.ui.own_machine import at_machine, may_import
from llmviz.pretrained import import_gpt2
from llmviz.runs import store
from tests.pages.harness import boxes, fine, fine_page, open_page, open_part, prose_of, sent
from tests.pages.small_model import make_real
from tests.published_models import Hub, change_config, make_gpt2, make_llama, serve

LOOK, IMPORT, CANCEL = (f"transformer.published.{name}" for name in ("look", "import", "cancel"))


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub, and processes that ask it, for all tests here: importing torch takes seconds."""
    folder = tmp_path_factory.mktemp("published")
    with serve(Hub()) as running, pytest.MonkeyPatch.context() as settings:
        settings.setenv("LLMVIZ_RUNS", str(folder / "runs"))
        settings.setenv("HF_HUB_CACHE", str(folder / "cache"))
        settings.setenv("HF_ENDPOINT", running.url)
        running.folders["somebody/gpt2"] = make_gpt2(folder / "gpt2", layers=3)
        running.folders["somebody/llama"] = make_llama(folder / "llama")
        # no other test takes it, so that it is in no cache
        running.folders["somebody/slow"] = make_gpt2(folder / "slow", layers=3)
        job_pools.import_jobs.cache_clear()  # processes with these settings
        yield running
        job_pools.import_jobs().close()
        job_pools.import_jobs.cache_clear()


@pytest.fixture
def home(hub, monkeypatch):
    """The folder of runs, empty, and a visitor who sits at the server."""
    monkeypatch.setattr(page, "may_import", lambda: (True, True))
    runs = Path(os.environ["LLMVIZ_RUNS"])
    shutil.rmtree(runs, ignore_errors=True)
    return runs


def asked(app):
    return app.session_state[importing.IMPORT]


def finish(app, job):
    """Run the page until a job is over."""
    until = time.monotonic() + 120
    while not job.over and time.monotonic() < until:
        time.sleep(0.05)
    assert job.over
    app.run()
    fine(app)


def look(source):
    app = open_page("models", published=str(source))
    app.button(LOOK).click().run()
    fine(app)
    if importing.IMPORT in app.session_state:
        finish(app, asked(app).look)
    return app


def left(home):
    return [one for one in home.rglob("*") if one.name not in (store.SESSIONS, ".server")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_model_of_the_hub_comes_into_all_lessons_and_goes_again(hub, home, kind):
    app = look(f"somebody/{kind}")
    table = dict(app.dataframe[0].value.itertuples(index=False))
    assert table[words.about["kind"]] == kind
    assert all(words.about[name] in table for name in ("parameters", "stored", "free_memory"))
    app.button(IMPORT).click().run()
    fine(app)
    finish(app, asked(app).work)
    assert words.imported.format(name=kind) in boxes(app)
    app.button("transformer.published.use").click().run()
    name = f"run:{kind}"
    for lesson, part in (("home", ""), ("transformer", "stream"), ("attention", "trained")):
        fine(other := open_page(lesson, model=name, **({"part": part} if part else {})))
        assert name in [box.value for box in other.selectbox]
    assert any(kind in list(one.value.iloc[:, 0]) for one in app.dataframe)
    assert (home / kind / "model.safetensors").is_file()  # nothing is deleted before the answer
    app.selectbox(model_list.CHOSEN).set_value(name).run()
    assert any(kind in one.value and "cannot be undone" in one.value for one in app.markdown)
    assert (home / kind / "model.safetensors").is_file()
    app.button("transformer.delete.yes").click().run()
    fine(app)
    assert words.deleted.format(name=kind) in boxes(app)
    assert not (home / kind).exists()
    assert "transformer.delete.yes" not in [one.key for one in app.button]


def test_cancelled_in_the_middle_it_leaves_nothing(hub, home):
    app = look("somebody/slow")
    hub.gate.clear()
    app.button(IMPORT).click().run()
    job = asked(app).work
    until = time.monotonic() + 60
    while not (job.results and job.results[-1].done > 0) and time.monotonic() < until:
        time.sleep(0.05)
    assert 0 < job.results[-1].done < job.results[-1].total
    app.button(CANCEL).click().run()
    hub.gate.set()
    finish(app, job)
    assert words.cancelled in boxes(app)
    until = time.monotonic() + 20
    while left(home) and time.monotonic() < until:
        time.sleep(0.05)
    assert left(home) == []


def test_what_cannot_be_taken_is_said_and_not_offered(tmp_path, home, monkeypatch):
    folder = make_gpt2(tmp_path / "them")
    for option, value in (("model_type", "bert"), ("n_layer", 3), ("pruned_heads", {"0": [1]})):
        change_config(folder, model_type="gpt2", n_layer=2, pruned_heads=None)
        change_config(folder, **{option: value})
        app = look(folder)
        assert "cannot be imported" in boxes(app)
        assert {"model_type": "bert", "n_layer": "h.2"}.get(option, option) in boxes(app)
        assert IMPORT not in [one.key for one in app.button]
    assert "there is no folder" in boxes(look(tmp_path / "nothing"))
    assert "give a folder" in boxes(look(" "))


def test_without_a_network_one_line_says_how_to_go_on(hub, home, monkeypatch):
    monkeypatch.setattr(hub, "away", True)
    app = look("somebody/gpt2")
    assert "cannot be reached; without the network give a folder" in boxes(app)
    assert "124439808" in [one.value for one in app.code]


def test_the_numbers_of_a_refusal_are_in_the_table(tmp_path, monkeypatch):
    folder = make_gpt2(tmp_path / "them")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    (about,) = published_model.look_at(str(folder), from_hub=False, own=True)
    rows = dict(importing.about_rows(about))
    assert f"({about.memory:,} bytes)" in rows[words.about["memory"]]
    assert "1,000 are free" in about.problem


def test_a_visitor_from_elsewhere_brings_and_deletes_nothing(home, monkeypatch):
    monkeypatch.setattr(page, "may_import", may_import)
    monkeypatch.delenv("LLMVIZ_IMPORT", raising=False)
    app = open_page("models", published="/etc")
    fine(app)
    assert words.not_here in boxes(app)
    assert LOOK not in [one.key for one in app.button]
    monkeypatch.setenv("LLMVIZ_IMPORT", "anyone")
    app = look("/etc")
    assert "on the server itself only" in boxes(app)
    monkeypatch.setenv("LLMVIZ_IMPORT", "everybody")
    app = open_page("models")
    fine(app)
    assert "LLMVIZ_IMPORT must be machine, anyone or nobody" in boxes(app)


def test_who_may_delete_what():
    models = [
        model_list.Model("tiny", "bundled", "gpt", 1, 1),
        model_list.Model("run:kept", "run", "gpt", 1, 1),
        model_list.Model("run:gpt2", "imported", "gpt", 1, 1),
    ]
    assert [one.name for one in model_list.deletable(models, own=True)] == ["run:gpt2"]
    assert model_list.deletable(models, own=False) == []


@pytest.mark.parametrize(
    ("address", "headers", "at"),
    [
        (None, {"Host": "localhost:8501"}, True),
        (None, {"host": "127.0.0.1"}, True),
        (None, {"host": "[::1]:8501"}, True),
        ("192.168.1.20", {"host": "localhost:8501"}, False),
        (None, {"host": "class.example:80"}, False),
        (None, {"host": "localhost.example:80"}, False),
        (None, {"host": "localhost", "X-Forwarded-For": "127.0.0.1"}, False),
        (None, {"host": "localhost", "Via": "1.1 proxy"}, False),
        (None, {}, False),
    ],
)
def test_only_the_machine_itself_counts_as_such(address, headers, at):
    assert at_machine(address, headers) is at


def test_an_old_link_to_the_chapter_leads_to_the_page(home):
    app = open_part("transformer", "published", published="/etc")
    fine(app)
    assert len(sent(app, "case_rows")["rows"]) > 4 and "transformer.published.look" in [
        button.key for button in app.button
    ]


def test_the_scale_holds_the_models_here_and_the_published_sizes(home):
    rows = sent(open_page("models"), "case_rows")["rows"]
    assert [row["value"] for row in rows[-4:]] == [row.parameters for row in gpt2_sizes()]
    assert all(row["value"] > 0 for row in rows) and len(rows) <= page.DRAWN + 4


def test_the_real_model_is_listed_with_who_made_it_and_elsewhere_offered(monkeypatch, tmp_path):
    monkeypatch.setenv("LLMVIZ_IMPORT", "anyone")
    assert any("93 MB" in button.label for button in fine_page("models").button)
    make_real(tmp_path, layers=2)
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    app = fine_page("models")
    rows = next(t.value for t in app.dataframe if "smollm2" in list(t.value.iloc[:, 0]))
    assert "smollm2" in list(rows.iloc[:, 0])
    assert not any("93 MB" in button.label for button in app.button)
    assert any("Apache-2.0" in text and "Hugging Face" in text for text in [prose_of(app)])


def lines_of(app) -> str:
    return " ".join(line.value.replace("\\", "") for line in (*app.warning, *app.info))


def test_a_link_to_a_model_is_followed_or_what_is_said_of_it_is_one_thing(monkeypatch, tmp_path):
    app = open_part("attention", "trained", model="smollm2")
    fine(app)
    assert "python -m llmviz get smollm2" in lines_of(app)
    shown = next(box for box in app.selectbox if "tiny-world-gpt" in box.options)
    assert shown.value == "tiny-world-gpt" and "smollm2" not in shown.options
    make_real(tmp_path / "models", layers=2)
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path / "models"))
    app = open_part("attention", "trained", model="smollm2")
    fine(app)
    assert "cannot be used" not in lines_of(app)
    assert next(box.value for box in app.selectbox if "smollm2" in box.options) == "smollm2"
    # A run may be asked for by the name that a menu shows.
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    import_gpt2(tmp_path / "models" / "smollm2", tmp_path / "runs" / "mine")
    app = open_part("attention", "trained", model="mine")
    fine(app)
    assert "cannot be used" not in lines_of(app)
    assert app.query_params["model"] == "run:mine"
