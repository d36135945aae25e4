"""Scripts and styles of components, read as text: names, imports, syntax, colours, motion."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib

import pytest

from llmviz.course.components._shared.bundle import COMPONENTS, modules, script
from llmviz.course.figures.theme import INK, PRIMARY, ROLES, css_variables
from llmviz.files.paths import PACKAGE

NAMES = sorted(path.parent.name for path in COMPONENTS.glob("*/view.js"))
OUTSIDE = (
    COMPONENTS / "_shared" / "saver" / "outside.js"
)  # what saved pages and notebooks take as it stands
FILES = sorted(COMPONENTS.rglob("*.js"))
STYLES = sorted(COMPONENTS.rglob("*.css"))

# What stands at the start of a line is outside of every function.
DECLARED = re.compile(
    r"^(?:export )?(?:(?:async )?function|class|const|let) (\w+|\[[^]]*\]|\{[^}]*\})", re.MULTILINE
)
EXPORTED = re.compile(r"^export (?:(?:async )?function|class|const|let) (\w+)", re.MULTILINE)
IMPORTED = re.compile(r'^import \{([^}]*)\} from "([^"]+)";', re.MULTILINE)
LOCAL = re.compile(r"(?:const|let|function|class) ([\w\[\]{}, ]+)")
METHOD = re.compile(r"^  (?:get |set |async |static )?(\w+)\(.*\) \{$", re.MULTILINE)
COLOUR = re.compile(
    r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgb|hsl)a?\(\s*\d", re.IGNORECASE
)
PERCENT = re.compile(r"\}\s%|localSigns\(\)\[\"%\"\]")
NAMED_COLOUR = re.compile(r":[^;{}]*[ :(](white|black|gr[ae]y|red|blue|green|orange|gold)\b")


def declared(source: str) -> list[str]:
    """Return the names that a module declares outside of its functions."""
    return [name for found in DECLARED.findall(source) for name in re.findall(r"\w+", found)]


def imported(source: str) -> dict[str, str]:
    """Return what a module takes from others: the path of the module by name."""
    found = IMPORTED.findall(source)
    return {name: path for names, path in found for name in re.findall(r"\w+", names)}


def code(source: str) -> str:
    """Return a module without its imports, its comments and the texts in it."""
    source = re.sub(r"^(?:import .*|\s*//.*)$", "", source, flags=re.MULTILINE)
    source = re.sub(r"(?<=[;,{}]) //.*$", "", source, flags=re.MULTILINE)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', source)


def uses(source: str, name: str) -> bool:
    """Whether a module's code has a name that is not a member of something."""
    return re.search(rf"(?<![\w.])(?:\.\.\.)?{name}\b(?!\s*:[^:])", code(source)) is not None


def test_every_script_of_the_folder_is_in_a_bundle():
    bundled = {path for name in NAMES for path in modules(COMPONENTS / name / "view.js")}
    assert bundled == set(FILES) - {OUTSIDE}


@pytest.mark.parametrize("name", NAMES)
def test_no_two_modules_of_a_bundle_declare_the_same_name(name):
    owners: dict[str, list[str]] = {}
    for path in modules(COMPONENTS / name / "view.js"):
        for one in declared(path.read_text("utf-8")):
            owners.setdefault(one, []).append(path.name)
    assert {one: where for one, where in owners.items() if len(where) > 1} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(COMPONENTS)))
def test_a_module_imports_what_it_uses_and_nothing_else(path):
    source = path.read_text("utf-8")
    taken = imported(source)
    for name, other in taken.items():
        assert name in EXPORTED.findall((path.parent / other).read_text("utf-8")), (
            f"{name}: {other}"
        )
        assert uses(source, name), f"{name} is imported and not used"
    # Joined in one script a name of another module would be found without its import, as long as
    # that module happens to come along.
    own = set(METHOD.findall(source))
    own |= {name for names in LOCAL.findall(source) for name in re.findall(r"\w+", names)}
    for other in modules(path):
        for name in set(EXPORTED.findall(other.read_text("utf-8"))) - set(taken) - own:
            called = re.search(rf"(?<![\w.-]){name}\(", code(source))
            constant = name.isupper() and uses(source, name)
            assert not called and not constant, f"{name} of {other.name} is not imported"


def test_every_bundle_parses(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here")
    for name in NAMES:
        (tmp_path / f"{name}.mjs").write_text(script(name), encoding="utf-8")
    # As `node --check` does it, but in one process for all of them.
    parse = (
        "import { readdirSync, readFileSync } from 'node:fs';"
        "import { SourceTextModule } from 'node:vm';"
        "for (const name of readdirSync('.').filter((one) => one.endsWith('.mjs')))"
        " new SourceTextModule(readFileSync(name, 'utf8'), { identifier: name });"
    )
    command = [node, "--experimental-vm-modules", "--input-type=module", "--eval", parse]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("path", FILES + STYLES, ids=lambda path: str(path.relative_to(COMPONENTS)))
def test_colours_come_from_the_theme_alone(path):
    source = path.read_text("utf-8")
    assert COLOUR.findall(source) == []
    if path.suffix == ".css":
        assert NAMED_COLOUR.findall(source) == []
        known = set(re.findall(r"--lv-[\w-]+", css_variables()))
        assert set(re.findall(r"var\((--lv-[\w-]+)\)", source)) <= known


def test_a_share_becomes_text_in_one_place():
    """`percent` of numbers.js writes it; a style's width such as `${x}%` is no text."""
    places = [path.name for path in FILES if PERCENT.search(path.read_text("utf-8"))]
    assert places == ["numbers.js"]


@pytest.mark.parametrize(
    "source", ["color: #FFF;", "color: #1f2430;", "x = `rgb(0 0 0 / 9%)`", "rgba(1,2"]
)
def test_a_colour_is_seen(source):
    assert COLOUR.search(source)


def test_the_pages_own_theme_has_the_same_colours():
    settings = tomllib.loads((PACKAGE.parent / ".streamlit" / "config.toml").read_text("utf-8"))
    theme = settings["theme"]
    for mode in ("light", "dark"):
        assert theme[mode]["backgroundColor"] == INK[mode]["surface"]
        assert theme[mode]["primaryColor"] == PRIMARY[mode]
    assert set(theme["chartCategoricalColors"]) == {
        color
        for role, color in ROLES["light"].items()
        if role != "loss"  # one number, no series
    }


# ---- who asks for less motion gets none: in styles by one rule for all, in scripts each time

MOVES = re.compile(r"\b(?:transition|animation)\b[^;}]*")
ASKS = "(prefers-reduced-motion: reduce)"
# Scripts that wait for a frame and move nothing.
DRAWN_ONCE = {"common.js", "image.js", "saver.js"}


def test_one_rule_ends_all_motion_of_styles_and_no_other_is_stronger():
    shared = (COMPONENTS / "_shared" / "common.css").read_text("utf-8")
    (rule,) = re.findall(rf"@media {re.escape(ASKS)} {{\s*(.*?)\s*}}\s*}}", shared, re.S)
    ended = rule.partition("{")[0].replace(" ", "").split(",")
    assert ended == [".lv*", ".lv*::before", ".lv*::after"]
    assert "transition: none !important" in rule and "animation: none !important" in rule
    for path in sorted(PACKAGE.rglob("*.css")):
        style = path.read_text("utf-8").replace(rule, "")
        strong = [found for found in MOVES.findall(style) if "!important" in found]
        assert strong == [], path


def test_each_script_that_moves_something_by_itself_asks_first():
    moving = [
        path
        for path in FILES
        if re.search('requestAnimationFrame|"smooth"', path.read_text("utf-8"))
        and path.name not in DRAWN_ONCE
    ]
    assert len(moving) >= 3
    for path in moving:
        assert "isCalm()" in path.read_text("utf-8"), path
