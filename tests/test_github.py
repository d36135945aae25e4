"""What the host of the repository runs and asks: well written, and as README says it."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.sources import ROOT

GITHUB = ROOT / ".github"
WORKFLOW_FILES = sorted((GITHUB / "workflows").glob("*.yml"))
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def read(name: str) -> dict:
    return yaml.safe_load((GITHUB / name).read_text("utf-8"))


def steps(job: dict) -> list[str]:
    """The lines that a job runs."""
    return [line for step in job["steps"] for line in step.get("run", "").splitlines()]


def test_the_workflow_runs_on_the_systems_and_versions_that_the_package_names():
    jobs = read("workflows/tests.yml")["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "windows", "macos"}
    least = re.search(r'requires-python = ">=(3\.\d+)"', (ROOT / "pyproject.toml").read_text())
    first = int(least[1].partition(".")[2])
    assert matrix["python"] == [f"3.{minor}" for minor in range(first, 15)]
    assert "python -m pytest" in steps(jobs["tests"])
    for job in jobs.values():  # several gigabytes less, and no card there
        assert any("--torch-backend cpu" in line for line in steps(job))


def test_the_workflow_calls_the_checks_of_contributing():
    (block,) = (
        block for block in re.findall(r"```sh\n(.*?)```", CONTRIBUTING, re.S) if "mypy" in block
    )
    named = {part.strip() for line in block.splitlines() for part in line.split("&&")}
    ran = {
        line.replace("--check ", "") for line in steps(read("workflows/tests.yml")["jobs"]["style"])
    }
    assert named - ran == {line for line in named if line.startswith("python -m pytest")}


def test_every_folder_and_file_that_a_workflow_names_is_there():
    for path in (GITHUB / "workflows").iterdir():
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            for line in steps(job):
                for name in re.findall(r"-r (requirements\S+)|(tests/\S+)", line):
                    assert (ROOT / "".join(name)).exists(), (path.name, name)


# Of each action, the first major that runs on Node 24; GitHub took Node 20 from its runners.
ON_NODE_24 = {
    "actions/checkout": 5,
    "actions/setup-python": 6,
    "actions/upload-artifact": 6,
    "actions/upload-pages-artifact": 5,
    "actions/deploy-pages": 5,
    "astral-sh/setup-uv": 7,
}
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in WORKFLOW_FILES}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_runs_on_a_node_that_is_supported_and_what_is_installed_is_cached(name):
    for job in WORKFLOWS[name]["jobs"].values():
        used = [step for step in job["steps"] if "uses" in step]
        for step in used:
            action, _, version = step["uses"].partition("@v")
            assert int(version.partition(".")[0]) >= ON_NODE_24[action], step["uses"]
        (uv,) = [step for step in used if step["uses"].startswith("astral-sh/setup-uv@")]
        assert uv["with"]["enable-cache"] is True
        assert not any("pip install uv" in line for line in steps(job))


def test_a_change_is_tested_once_and_a_site_is_published_whole():
    on = WORKFLOWS["tests"][True]  # YAML's word for "on"
    assert on["push"] == {"branches": ["main"]} and "pull_request" in on
    assert WORKFLOWS["tests"]["concurrency"]["cancel-in-progress"] is True
    assert WORKFLOWS["site"]["concurrency"]["cancel-in-progress"] is False


def test_the_oldest_versions_come_with_what_they_need():
    lines = steps(WORKFLOWS["tests"]["jobs"]["lowest"])
    assert any("--resolution lowest-direct" in line for line in lines)
    assert not any("--no-deps" in line for line in lines)


def test_a_release_builds_a_wheel_and_the_source_tries_them_and_keeps_them():
    assert WORKFLOWS["release"][True]["push"] == {"tags": ["v*"]}
    (job,) = WORKFLOWS["release"]["jobs"].values()
    build, kept = "uv build --out-dir dist", job["steps"][-1]
    assert build in steps(job)  # without --wheel or --sdist both
    assert kept["uses"].startswith("actions/upload-artifact@") and kept["with"]["path"] == "dist/*"


def test_the_forms_ask_for_what_their_fields_are():
    forms = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
    assert {form.stem for form in forms} == {"bug", "config", "idea", "teaching"}
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        if path.stem == "config":
            continue
        assert form["name"] and form["description"] and form["labels"]
        ids = [part["id"] for part in form["body"]]
        assert len(set(ids)) == len(ids) >= 3
        assert all(part["type"] in {"input", "textarea"} for part in form["body"])
        assert all(part["attributes"]["label"] for part in form["body"])
    assert "CONTRIBUTING.md" in (GITHUB / "pull_request_template.md").read_text("utf-8")
