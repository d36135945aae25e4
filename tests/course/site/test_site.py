"""The command that writes the course as files: what it refuses, and elements as HTML."""

from __future__ import annotations

import errno
import html as entities
import json
import re
import shlex
import signal
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from streamlit.testing.v1 import AppTest

from llmviz import cli
from llmviz.course.lessons.attention.trained import chapter as trained_chapter
from llmviz.course.lessons.home import REAL_TEXT
from llmviz.course.lessons.sampling.params import PROMPT
from llmviz.course.site import elements, live, write
from llmviz.course.site.elements import Setting, code_html, markdown, question_html, table_html
from llmviz.course.site.files import Files
from llmviz.course.site.own import own_part
from llmviz.course.site.write import places
from llmviz.course.ui.course import stops
from llmviz.course.ui.question import Question
from llmviz.pretrained import load_bundled
from llmviz.training.files import WRITING
from llmviz.training.locks import lock


def test_a_folder_that_exists_stays_as_it_is(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    assert cli.main(["site", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]


def test_a_full_disk_leaves_nothing_half_written(tmp_path, capsys, monkeypatch):
    def full(files: Files, name: str, text: str) -> None:
        if name == "assets/icon.svg":
            raise OSError(errno.ENOSPC, "No space left on device", str(files.folder / name))
        whole(files, name, text)

    whole = Files.write
    monkeypatch.setattr(Files, "write", full)
    assert cli.main(["site", str(tmp_path / "course")]) == 2
    assert f"cannot write {tmp_path / 'course'}: No space left" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def _leftover(folder: Path, name: str) -> Path:
    """A folder as a writer leaves it that was killed."""
    left = folder / name
    (left / "assets").mkdir(parents=True)
    (left / WRITING).touch()
    return left


def test_a_writer_that_is_asked_to_stop_leaves_nothing(tmp_path, monkeypatch):
    def stop(*_: object) -> list[object]:
        assert len(list(tmp_path.iterdir())) == 1
        signal.raise_signal(signal.SIGTERM)
        return []

    monkeypatch.setattr(write, "_write_page", stop)
    with pytest.raises(SystemExit) as ended:
        cli.main(["site", str(tmp_path / "course"), "--only", "glossary"])
    assert ended.value.code == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_goes_and_what_is_being_written_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "_write_page", lambda *_: [])
    dead = _leftover(tmp_path, ".tmp-0123abcd-course")
    others = [_leftover(tmp_path, name) for name in (".tmp-0123abcd-my-course", "a-course")]
    alive = _leftover(tmp_path, ".tmp-89abcdef-course")
    with (alive / WRITING).open("r+") as file:
        assert lock(file)
        assert cli.main(["site", str(tmp_path / "course"), "--only", "glossary"]) == 0
    assert not dead.exists()
    assert all(one.is_dir() for one in [*others, alive])
    assert not list((tmp_path / "course").glob(".*"))


def test_a_script_is_told_where_the_site_is_and_how_large(tmp_path, capsys):
    course = tmp_path / "course"
    assert cli.main(["site", str(course), "--only", "glossary", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    sizes = [path.stat().st_size for path in course.rglob("*") if path.is_file()]
    assert Path(said["index"]) == course / "index.html" and Path(said["index"]).is_file()
    assert said["pages"] == len([*course.rglob("*.html")]) and said["bytes"] == sum(sizes)


def test_each_stage_of_the_machine_leads_to_a_chapter_of_the_course():
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    links = live.machine_said(model, tokenizer)["links"]
    assert {f"layer {layer}" for layer in range(4)} < links.keys() and "layer" not in links
    assert set(links.values()) <= {place.name for place in places() if place.chapter}


def test_an_unknown_chapter_is_answered_with_near_names(tmp_path, capsys):
    assert cli.main(["site", str(tmp_path / "course"), "--only", "attention/step"]) == 2
    assert "attention/steps" in capsys.readouterr().err
    names = [place.name for place in places(["sampling/dice"])]
    assert names == ["home", "home/model", "home/parts", "sampling/dice", "glossary"]


def test_the_hour_has_its_stops_in_their_order():
    wanted = [f"{stop.lesson}/{stop.chapter}" for stop in stops("hour")]
    assert [place.name for place in places(way="hour")] == [
        "home",
        "home/model",
        *wanted,
        "glossary",
    ]


@pytest.mark.parametrize("address", ["javascript:alert(1)", "school.example", "https://"])
def test_links_lead_to_the_web_alone(tmp_path, capsys, address):
    assert cli.main(["site", str(tmp_path / "course"), "--app", address]) == 2
    assert "begins with http" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_texts_never_become_tags():
    evil = "<img src=x onerror=alert(1)>"
    question = Question(evil, [evil, "b"], 0, [evil, "c"])
    shown = [question_html(question, 0, covers=True), markdown(evil)]
    shown += [markdown(f":violet-background[{evil}] and {evil}")]
    shown += [code_html(evil, "python"), code_html(f"x = '{evil}", "python")]
    assert not any("<img" in html for html in shown)
    assert all("&lt;img" in html for html in shown)


@pytest.mark.parametrize(
    "program", ["x = 1\n\ndef f(a):\n    return '''a\nb'''  # ü <b>\n", "a = (", "", "\n\nif x:"]
)
def test_coloured_code_says_what_the_code_says(program):
    plain = entities.unescape(re.sub(r"<[^>]*>", "", code_html(program, "python")))
    assert plain == program


def test_a_table_has_its_numbers_as_the_app_writes_them():
    frame = pd.DataFrame({"a": [1234567.0, 0.5], "b<": ["<i>", None]})
    proto = SimpleNamespace(
        columns='{"a": {"type_config": {"format": "%.1f"}}, "_index": {"hidden": true}}',
        column_order=[],
    )
    html = table_html(SimpleNamespace(value=frame, proto=proto, type="dataframe"))
    assert '<td class="number">1234567.0</td><td>&lt;i&gt;</td>' in html
    assert '<td class="number">0.5</td>' in html
    assert "b&lt;" in html and "None" not in html and "nan" not in html


def choices():
    import streamlit as st

    names = {"a": "any", "b": "best"}
    kept = {"first": "a", "set": "b", "chosen": "b", "many": ["a", "b"]}
    for key, value in kept.items():
        st.session_state.setdefault(key, value)  # as a page keeps its controls
    st.select_slider("first", [*names], format_func=names.get, key="first")
    st.select_slider("set", [*names], format_func=names.get, key="set")
    st.selectbox("chosen", [*names], format_func=names.get, key="chosen")
    st.multiselect("many", [*names], format_func=names.get, key="many")


def test_a_choice_is_written_by_its_name_and_not_its_value():
    app = AppTest.from_function(choices).run()
    every = [*app.select_slider, *app.selectbox, *app.multiselect]
    written = [elements._setting(element).value for element in every]
    assert written == ["any", "best", "best", "any, best"]


def test_the_workflow_publishes_what_the_command_writes():
    text = (Path(__file__).parents[3] / ".github" / "workflows" / "site.yml").read_text("utf-8")
    whole, hour = (
        cli.parser().parse_args(shlex.split(line))
        for line in re.findall(r"run: python -m llmviz (site .*?) \$APP", text)
    )
    assert f"path: {whole.out}\n" in text and not whole.way
    assert (hour.out, hour.way) == (f"{whole.out}/hour", "hour")
    assert whole.model and f"run: python -m llmviz get {whole.model}\n" in text
    (version,) = re.findall(r'python-version: "([\d.]+)"', text)
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert Version(version) in SpecifierSet(project["project"]["requires-python"])


@pytest.mark.parametrize(
    ("settings", "text"), [([], PROMPT), ([Setting("Model", "smollm2")], REAL_TEXT)]
)
def test_the_field_over_a_stage_has_the_text_that_the_stage_shows(tmp_path, settings, text):
    """Where the real model was there when the site was written, the hour shows that."""
    html = '<h1>Hot</h1><div class="lv-opening">2</div><h2>More</h2>'
    page, _ = own_part(Files(tmp_path), "sampling/temperature", html, settings)
    (shown,) = re.findall("<textarea[^>]*>(.*)</textarea>", page)
    assert entities.unescape(shown) == text


def test_a_state_with_a_large_picture_is_told_and_not_written(tmp_path, monkeypatch):
    """As the whole table of a real model's vectors, 57 MB that no click asked for."""
    told = []
    monkeypatch.setattr(write, "LARGEST", 0)
    (place,) = (one for one in write.places(["attention/trained"]) if one.chapter == "trained")
    write._write_chapter(Files(tmp_path), [place], place, "", told.append)
    assert (tmp_path / place.file).is_file()
    assert list(tmp_path.rglob("*.look.*")) == []
    assert told and all(line.startswith("    without ") for line in told)


def test_a_chapter_is_announced_by_the_question_at_its_head(tmp_path, monkeypatch):
    """With the text that a way brings it is another one than its document begins with."""
    asked = "Who looks at <whom>?"
    monkeypatch.setattr(trained_chapter, "titled", lambda state: asked)
    cli.main(["site", str(tmp_path / "course"), "--only", "attention/trained"])
    said = [
        (tmp_path / "course" / file).read_text("utf-8")
        for file in ("index.html", "attention/trained.html", "assets/search.js")
    ]
    for text in said:
        assert asked in entities.unescape(text) and "A head looks at Anna" not in text
