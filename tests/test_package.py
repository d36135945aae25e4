"""The wheel holds all that the app needs, and works away from this folder."""

from __future__ import annotations

import configparser
import doctest
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.sources import ROOT

pytestmark = pytest.mark.slow  # of the second tier

BESIDE = (
    "app.py",
    "pages/",
    "data/",
    ".streamlit/config.toml",
    "LICENSE",
)  # in a wheel inside llmviz/home/


PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    wheel.extractall(folder)
    return folder


def tracked() -> set[str]:
    """The files of the project, by git; without git, those that lie there."""
    listed = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    files = (path for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_it_holds_the_package_the_pages_and_the_data_and_nothing_beside_itself(wheel):
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert all(name.startswith("llmviz/") for name in names)
    wanted = {name for name in tracked() if name.startswith("llmviz/")}
    wanted |= {f"llmviz/home/{name}" for name in tracked() if name.startswith(BESIDE)}
    assert wanted <= names and "llmviz/py.typed" in names  # its types are for others, too
    assert not [name for name in names if name.endswith(".pyc")]


def by_name(lines: Iterable[str]) -> dict[str, SpecifierSet]:
    """Requirements by the name that all spell alike; those of an extra are left out."""
    read = (Requirement(line) for line in lines if line and not line.startswith(("#", "-r")))
    return {
        canonicalize_name(one.name): one.specifier
        for one in read
        if one.marker is None or "extra" not in str(one.marker)
    }


def test_it_asks_for_ranges_around_the_pinned_versions_and_gives_the_command(wheel):
    (info,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    metadata = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
    pinned = by_name((ROOT / "requirements.txt").read_text("utf-8").splitlines())
    asked = by_name(metadata.get_all("Requires-Dist"))
    assert asked.keys() == pinned.keys()
    for name, versions in asked.items():
        (pin,) = pinned[name]
        assert pin.operator == "==" and versions.contains(pin.version)
        assert "==" not in str(versions), name
        version = Version(pin.version)
        later = f"{version.major}.{version.minor + 7}.1"
        assert versions.contains(later), name  # others may need a newer one
        if version.major < 1000:  # not a year
            assert not versions.contains(f"{version.major + 1}.0"), name
    # Others that people have beside it: what both ask for can be had together.
    for other in ("transformers", "peft", "gguf"):
        theirs = by_name(distribution(other).requires or ())
        for name in asked.keys() & theirs.keys():
            (pin,) = pinned[name]
            assert theirs[name].contains(pin.version, prereleases=True), (other, name)
    assert metadata["Requires-Python"] == ">=3.11" and metadata["License-Expression"] == "MIT"
    assert len(metadata.get_all("Classifier")) > 5
    # What a package index shows of README: nothing that leads nowhere.
    shown, address = metadata.get_payload(), re.search(r'repository = "(.*)"', PROJECT)[1]
    assert "# llmviz" in shown and metadata["Description-Content-Type"] == "text/markdown"
    assert not re.search(r"\]\((?!https?://|#)", shown)
    assert ("![The app" in shown) == bool(address) == bool(metadata.get_all("Project-URL"))
    scripts = configparser.ConfigParser()
    scripts.read_string(wheel.read(f"{info}/entry_points.txt").decode())
    assert scripts["console_scripts"]["llmviz"] == "llmviz.cli:main"


@pytest.fixture(scope="module")
def build():
    """What the package says of itself."""
    place = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def test_with_an_address_the_description_has_whole_ones(build):
    assert doctest.testmod(build).failed == 0
    text = build.with_addresses((ROOT / "README.md").read_text("utf-8"), "https://host.org/x")
    assert "](https://host.org/x/raw/HEAD/docs/llmviz.webp)" in text
    pictures = re.findall(r"https://host\.org/x/(?:raw|blob)/HEAD/([^)#]+)", text)
    assert pictures and all((ROOT / one).exists() for one in pictures)
    assert all(
        one.startswith("https://host.org/x") for one in build.links("https://host.org/x").values()
    )


def test_the_oldest_versions_are_older_than_the_pinned_ones_and_what_the_package_asks_for(build):
    text = (ROOT / "requirements.txt").read_text("utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", text, re.M))
    for name, oldest in build.OLDEST.items():
        assert Version(oldest) < Version(pinned[name]), name
        asked = SpecifierSet(build.as_range(f"{name}=={pinned[name]}").removeprefix(name))
        assert asked.contains(oldest) and not asked.contains("0.0.1"), name


def test_no_version_is_admitted_that_is_older_than_what_was_tried(build):
    """To the last number: a hole is mended in that one."""
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    asked = by_name(build.as_range(line) for line in lines if line and not line.startswith("#"))
    tried = by_name(lines) | {
        canonicalize_name(name): SpecifierSet(f"=={oldest}")
        for name, oldest in build.OLDEST.items()
    }
    for name, versions in asked.items():
        (floor,) = [one.version for one in versions if one.operator == ">="]
        (oldest,) = tried[name]
        assert floor == oldest.version, name
    for name, hole in (  # what each of these admits is written in its advisory
        ("jinja2", "3.1.5"),  # CVE-2025-27516: out of the sandbox
        ("python-multipart", "0.0.17"),  # CVE-2024-53981
        ("starlette", "0.47.1"),  # CVE-2025-54121
        ("tqdm", "4.66.2"),  # CVE-2024-34062
        ("requests", "2.32.3"),  # CVE-2024-47081
        ("pyarrow", "14.0.0"),  # CVE-2023-47248
    ):
        assert not asked[name].contains(hole), name


def test_the_oldest_versions_are_ones_that_the_others_can_be_had_with(build):
    """What each asks of the others, at the version that stands here."""
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    asked = by_name(build.as_range(line) for line in lines if line and not line.startswith("#"))
    for name in asked.keys() - {canonicalize_name(name) for name in build.OLDEST}:
        for other, theirs in by_name(distribution(name).requires or ()).items():
            if other in asked:
                (floor,) = [one.version for one in asked[other] if one.operator == ">="]
                assert theirs.contains(floor), (name, other)


OTHER = "4.57.3"  # of transformers: older than ours, and bound to older versions of what both need
BESIDE_IT = """
import sys, torch, transformers, llmviz
from llmviz.publishing.folder import export_folder
assert transformers.__version__ == sys.argv[1] and "site-packages" in llmviz.__file__
model = llmviz.load("tiny-world-gpt")
folder = sys.argv[2]
from pathlib import Path
export_folder(model._trained, Path(folder))
theirs = transformers.AutoModelForCausalLM.from_pretrained(folder)
read = llmviz.load(folder)
ids = torch.tensor([read.tokenizer.encode_from_start("The cat")])
with torch.no_grad():
    assert torch.allclose(theirs(ids).logits[0], read.logits("The cat"), atol=2e-4)
    assert torch.allclose(model.logits("The cat"), read.logits("The cat"), atol=2e-4)
print(llmviz.__version__)
"""


def test_it_installs_and_works_in_a_fresh_environment_beside_another_transformers(wheel, tmp_path):
    """pip finds versions that suit both. What is large is that of the environment of this test."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=os.name != "nt")
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    says = (python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    place = Path(subprocess.run(says, capture_output=True, text=True).stdout.strip())
    (place / "of-the-test.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "--disable-pip-version-check",
        "install",
    )
    wanted = (wheel.filename, f"transformers=={OTHER}", "--retries", "0", "--no-compile")
    done = subprocess.run((*pip, "-q", *wanted), capture_output=True, text=True)
    if "No matching distribution" in done.stderr or "ConnectionError" in done.stderr:
        pytest.skip(f"pip cannot fetch transformers {OTHER}: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    line = (python, "-c", BESIDE_IT, OTHER, tmp_path / "published")
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    told = subprocess.run((python.parent / "llmviz", "--version"), capture_output=True, text=True)
    assert told.stdout.split() == ["llmviz", ran.stdout.strip()], told.stderr


def elsewhere(installed: Path, folder: Path, *arguments: str) -> str:
    """What Python says that has only the unpacked wheel, in another folder."""
    ran = subprocess.run(
        (sys.executable, *arguments),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("corpus", "show", "names"), "names"),
        (("tokenize", "--tokenizer", "bpe", "the cat"), "the"),
        (("app", "--help"), "streamlit run"),
    ],
)
def test_the_commands_work_from_another_folder(installed, tmp_path, arguments, says):
    assert says in elsewhere(installed, tmp_path, "-m", "llmviz", *arguments)


def test_a_run_is_trained_in_another_folder(installed, tmp_path):
    options = "--model bigram --corpus names --steps 2 --batch-size 4 --context-length 8"
    elsewhere(installed, tmp_path, "-m", "llmviz", "train", *options.split(), "--out", "runs/a")
    assert (tmp_path / "runs" / "a" / "model.safetensors").is_file()


def test_the_app_opens_from_another_folder(installed, tmp_path):
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        "from llmviz.files.paths import APP\n"
        "app = AppTest.from_file(str(APP), default_timeout=60).run()\n"
        "print(APP, [error.value for error in app.exception], len(app.main))"
    )
    said = elsewhere(installed, tmp_path, "-c", code).split()
    assert said[0] == str(installed / "llmviz" / "home" / "app.py")
    assert said[1] == "[]"
    assert int(said[2]) > 0


def test_the_command_serves_the_app_with_what_it_was_given(capsys):
    from llmviz.cli import app, parser
    from llmviz.files.paths import APP

    given = parser().parse_args(["app", "--port", "8600", "--", "--server.maxUploadSize", "5"])
    line = app.command(given)
    assert line[1:4] == ["-m", "llmviz.course.ui.serve_app", str(APP)]
    assert line[line.index("--server.port") + 1] == "8600"
    assert line[-2:] == ["--server.maxUploadSize", "5"]
    with pytest.raises(SystemExit) as refused:
        parser().parse_args(["app", "--port", "99999"])
    assert refused.value.code == 2
    assert "must be at most 65535" in capsys.readouterr().err
