"""What the host of the repository runs and asks: well written, and as README says it."""

from __future__ import annotations

import re

import yaml

from tests.sources import ROOT

GITHUB = ROOT / ".github"
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
    assert matrix["python"][0] == least[1] and len(matrix["python"]) == 3
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
