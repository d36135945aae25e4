"""Imports go one way, in no circle, and late where that is quicker; no room holds too much."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import llmviz
import llmviz.models
import llmviz.sampling
import llmviz.serving
import llmviz.training
from tests.sources import ROOT, nodes_where

# A module may import from its own layer and from lower ones.
LAYERS = [
    {"config", "files", "processes", "trace", "version"},
    {"tokenizers", "corpus", "nn"},
    {"models", "sampling", "similarity"},
    {"training", "runs", "pretrained", "finetuning", "language"}
    | {"quantization", "serving", "parallel"}
    | {"publishing", "obtainable"},
    {"records"},
    {"interpretability", "evaluation"},  # what analyses a trained model
    {"api"},  # the public face
    # From here on: what a visitor sees.
    {"document", "streamlit_parts", "glossary"},
    {"components"},  # in-page pictures: what moves under the hand
    {"ui"},  # the furniture that all lessons share
    {"lessons"},
    {"show", "site"},  # the same pictures in a notebook, the course as plain files
    {"cli", "__main__"},
]
STREAMLIT = {"streamlit_parts", "components", "ui", "lessons"}  # the only parts that import it
FLOOR = {name: height for height, names in enumerate(LAYERS) for name in names}
MODULES = sorted((ROOT / "llmviz").rglob("*.py"))
OF_FIGURES = {"__future__", "collections", "dataclasses", "math", "typing", "numpy", "plotly"}
OF_FIGURES |= {"llmviz", "html"}
CODE = {".py", ".js", ".css"}


@cache
def imports(path: Path) -> set[str]:
    """Return the full names of all modules that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


COURSE = {
    "document",
    "glossary",
    "streamlit_parts",
    "figures",
    "components",
    "ui",
    "lessons",
    "site",
}


def part(path: Path) -> str:
    """The folder, or the file, of `llmviz/` or of `llmviz/course/` that a module belongs to."""
    parts = path.relative_to(ROOT / "llmviz").parts
    return parts[parts[0] == "course"].removesuffix(".py")


def may_import(own: str, name: str) -> bool:
    """Whether a module of the part `own` may import `name`."""
    root, *inside = name.split(".")
    if root in ("pages", "app"):
        return False
    if root == "streamlit":
        return own in STREAMLIT
    if root != "llmviz" or own == "__init__":
        return True
    inside = inside[1:] if inside[:1] == ["course"] else inside
    if not inside:
        return True
    if own == "figures" or inside[0] not in FLOOR:
        return inside[0] == "figures" and own in STREAMLIT | {"figures", "show", "site"}
    return FLOOR[inside[0]] <= FLOOR[own]


def room(path: Path) -> str:
    """The folder of `llmviz/` that a file lies in; each lesson is a room of its own."""
    folders = path.relative_to(ROOT / "llmviz").parts[:-1]
    folders = folders[folders[:1] == ("course",) :]
    return "/".join(folders[:2] if folders[:1] == ("lessons",) else folders[:1])


def test_imports_go_down():
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in MODULES
        for name in imports(path)
        if not may_import(part(path), name)
    }
    assert wrong == set()


def test_an_import_that_goes_up_is_refused():
    assert may_import("ui", "streamlit") and not may_import("evaluation", "streamlit")
    assert may_import("lessons", "llmviz.course.ui.state") and not may_import(
        "ui", "llmviz.course.lessons"
    )
    assert may_import("ui", "llmviz.course.figures") and not may_import(
        "study", "llmviz.course.figures"
    )
    assert not may_import("figures", "llmviz.models") and not may_import("models", "app")


def test_a_lesson_takes_nothing_from_another_lesson():
    """What two lessons need is furniture, or has a room of the engine."""
    wrong = set()
    for path in MODULES:
        own = path.relative_to(ROOT / "llmviz").parts[1:]
        if own[:1] == ("lessons",) and len(own) > 2:
            for name in imports(path):
                *package, lesson = name.split(".")[:4]
                if package == ["llmviz", "course", "lessons"] and lesson not in (own[1], "LESSONS"):
                    wrong.add(f"{'/'.join(own)} imports {name}")
    assert wrong == set()


def test_training_knows_no_visitor():
    """A run computes and writes its folder; whose it is, and whose turn, stands in `runs/`."""
    own = [path for path in MODULES if part(path) == "training"]
    assert len(own) > 40
    assert not [
        (path.name, name) for path in own for name in imports(path) if "llmviz.runs" in name
    ]


def test_the_furniture_knows_no_lesson():
    """A lesson is found by the name of its folder, in one place; the list of all is told to it."""
    files = [path for path in MODULES if part(path) == "ui"]
    assert len(files) > 40
    named = {
        (path, node.lineno)
        for path, node in nodes_where(files, "course.lessons")
        if isinstance(node, ast.Constant) and str(node.value).startswith("llmviz.course.lessons")
    }
    named |= {(path, name) for path in files for name in imports(path) if ".lessons" in name}
    assert [path.name for path, _ in named] == ["contents.py"], named


def draws(path: Path) -> bool:
    """Whether a module of the course shows something: it knows Streamlit, or what stands on it."""
    shown = ("streamlit", "llmviz.course.components", "llmviz.course.figures", "llmviz.course.ui")
    return any(name.startswith(shown) for name in imports(path))


def test_what_computes_for_a_chapter_needs_nothing_that_draws():
    """It is imported by worker processes, commands and snippets."""
    lessons = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in MODULES
        if part(path) == "lessons" and path.name != "__init__.py"
    }
    computing = {name for name, path in lessons.items() if not draws(path)}
    assert len(computing) > 100
    for name in computing:
        needed = imports(lessons[name]) & lessons.keys()
        assert needed <= computing, f"{name} needs {needed - computing}"


def test_what_draws_runs_no_model_and_draws_no_number_at_random():
    """That is computing: it stands in a chapter's own `model.py`, or in the engine below."""
    files = [path for path in MODULES if part(path) in ("lessons", "ui") and draws(path)]
    for path, node in nodes_where(files, "torch", "model"):
        of_torch = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if of_torch and node.value.id == "torch":
            computes = node.attr.startswith("rand") or node.attr in ("inference_mode", "no_grad")
            assert not computes, f"{path}, line {node.lineno}: torch.{node.attr}"
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if called and node.func.attr == "model":
            owner = ast.unparse(node.func.value)
            forward = "bundled" in owner or "load(" in owner
            assert not forward, f"{path}, line {node.lineno}: {owner}.model(...)"


def test_the_engine_knows_nothing_of_what_a_visitor_sees():
    """Nor of what draws it: neither at the top of a module nor later."""
    faces = {"show", "cli", "__main__", "__init__"}
    for path in MODULES:
        if "course" not in path.parts and part(path) not in faces:
            drawn = {name for name in imports(path) if name.startswith("llmviz.course")}
            drawn |= {name.split(".")[0] for name in imports(path)} & {"streamlit", "plotly"}
            assert not drawn, f"{path}: {drawn}"


def test_every_part_has_its_layer():
    known = FLOOR.keys() | {"figures", "__init__"}
    assert {part(path) for path in MODULES} <= known
    assert {part(path) for path in MODULES if "course" in path.parts} - {"__init__"} == COURSE


def test_figures_know_neither_torch_nor_streamlit():
    for path in MODULES:
        if part(path) == "figures":
            assert {name.split(".")[0] for name in imports(path)} <= OF_FIGURES, path


def test_internals_of_other_packages_stay_theirs():
    """They may be gone with the next version. What is left has no public counterpart."""
    own = {"__future__", "__main__", "benchmarks", "experiments", "llmviz", "tests"}
    private = {
        name
        for folder in ("llmviz", "tests", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        for name in imports(path)
        if name.partition(".")[0] not in own
        and any(part.startswith("_") or part == "internal" for part in name.split("."))
    }
    modules = {"torch.utils._python_dispatch", "torch.utils._pytree"}
    assert {name.rpartition(".")[0] for name in private - modules} == modules, private


def test_no_room_holds_more_than_a_third_of_the_lines():
    lines: Counter[str] = Counter()
    for path in (ROOT / "llmviz").rglob("*"):
        if path.suffix in CODE:
            lines[room(path)] += len(path.read_text("utf-8").splitlines())
    assert len(lines) > 15
    largest, most = lines.most_common(1)[0]
    assert most <= lines.total() / 3, f"{largest} has {most} of {lines.total()} lines"


CHANGING = {"append", "appendleft", "clear", "extend", "extendleft", "insert", "pop", "popleft"}
CHANGING |= {"remove", "sort", "update"}


def test_the_state_of_the_scheduler_is_changed_by_its_methods_alone():
    def of_a_scheduler(node: ast.expr) -> bool:
        owner = node.value if isinstance(node, ast.Attribute) else None
        return owner is not None and ast.unparse(owner).split(".")[-1].lstrip("_") == "scheduler"

    for path, node in nodes_where(MODULES, "scheduler"):
        targets = list(getattr(node, "targets", [])) or [getattr(node, "target", None)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            targets = [node.func.value] if node.func.attr in CHANGING else []
        changed = [ast.unparse(one) for one in targets if one and of_a_scheduler(one)]
        assert not changed, f"{path}, line {node.lineno}: {changed}"


# Beside these, a public function takes a boolean by its name alone. What is kept by its arguments
# is called by place.
POSITIONAL_BOOLEANS = {
    "count_text",  # which is kept as `of_text`
    "flag",  # a default stands behind its name, as in all controls of a link
    "mark",  # the boolean is the thing itself, here and in the next three
    "note_answer",
    "open_all",
    "project",
    "Block.forward",  # the layers of a model hand mask and `causal` on together, at every token
    "MultiHeadAttention.forward",
    "Options.boolean",  # a default stands behind its name, as in its other methods
}
# Any public function has at most eight parameters, but for these. What Streamlit asks of what is
# drawn, `key` and what is called when something changes, is not counted.
PICTURE = "what one picture is sent, by keyword, from one or two places"
MANY_PARAMETERS = {
    "MultiHeadAttention.__init__": "every option of attention is one that a page explains",
    "generate": "the call that pages print: the settings of sampling by name, as readers write it",
    "multi_head": "a formula with its weights, as the paper writes it",
    "sampling_steps": "as `generate`",
    "single_head": "a formula with its weights, as the paper writes it",
    "cell_grid": PICTURE,
    "curves": PICTURE,
    "curves_payload": PICTURE,
    "descent_view": PICTURE,
    "heads_grid": PICTURE,
    "machine": PICTURE,
    "matrix_view": PICTURE,
    "sampler": PICTURE,
    "sampler_payload": PICTURE,
    "softmax_view": PICTURE,
    "writer": PICTURE,
}
KEPT = re.compile(r"kept|on_model|cache")


def public_functions(
    body: list[ast.stmt], owner: str = ""
) -> Iterator[tuple[str, ast.arguments, bool]]:
    """The public functions of a module and methods of its public classes, and whether what they
    return is kept; `self` is left out."""
    for node in body:
        private = getattr(node, "name", "_").startswith("_")
        if isinstance(node, ast.ClassDef) and not private:
            yield from public_functions(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef) and (not private or node.name == "__init__"):
            decorators = {ast.unparse(one) for one in node.decorator_list}
            if owner and "staticmethod" not in decorators:
                node.args.args = node.args.args[1:]
            yield owner + node.name, node.args, bool(KEPT.search(" ".join(decorators)))


def test_a_public_function_is_called_so_that_one_sees_what_is_meant():
    positional, many = set(), set()
    for path in MODULES:
        for name, given, kept in public_functions(ast.parse(path.read_text("utf-8")).body):
            for one in given.args:
                if one.annotation is not None and ast.unparse(one.annotation) == "bool":
                    positional |= set() if kept else {name}
            names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            if len([name for name in names if name != "key" and not name.startswith("on_")]) > 8:
                many.add(name)
    assert positional == POSITIONAL_BOOLEANS
    assert many == set(MANY_PARAMETERS)


def test_a_variable_says_what_it_holds():
    """`one` and its like hold anything: a run, a token, a share."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assert node.id not in ("one", "luck"), (path, node.lineno)


def modules(root: Path, package: str) -> dict[str, Path]:
    """The modules of a package by their full names; a package is its `__init__`."""
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`, which never run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from running(node)


def needed(path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules that a file imports, wherever in it.

    `from package import name` needs the module `name` where there is one, else what the package
    itself defines. That a package's `__init__` runs first is no need of its modules: it collects
    their names, and they do not ask for them.
    """
    names = set()
    for node in running(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in known else node.module)
    return names & known.keys()


def circle(root: Path, package: str) -> list[str]:
    """The modules of one circle of imports, in order; none where there is none."""
    known = modules(root, package)
    graph = {name: needed(path, known) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


# Named for readers of types alone: what runs is no circle. ARCHITECTURE says why.
FOR_TYPES = {
    "llmviz.models.base": {"llmviz.models.decoder", "llmviz.models.numpy_decoder"},
    "llmviz.models.decoder": {"llmviz.models.gpt"},
    "llmviz.models.gpt2_format": {"llmviz.models.gpt"},
    "llmviz.models.layer_parts": {"llmviz.models.gpt"},
    "llmviz.models.numpy_decoder": {"llmviz.models.gpt"},
    "llmviz.tokenizers.export": {"llmviz.tokenizers.bpe"},
}


def test_imports_go_in_no_circle():
    assert circle(ROOT, "llmviz") == []


def test_types_go_in_the_circles_that_are_explained_and_no_others(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "running", ast.walk)
    known = modules(ROOT, "llmviz")
    graph = {name: needed(path, known) - {name} for name, path in known.items()}
    for name, given in FOR_TYPES.items():
        assert given <= graph[name], name
        graph[name] -= given
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from pack.b import x", "from pack.a import y"),
        ("import pack.b", "def late():\n    from pack import a\n    return a"),
        ("from pack import b", "class C:\n    import pack.a"),
    ],
)
def test_a_circle_is_found_wherever_the_imports_stand(tmp_path, first, second):
    write(tmp_path, a=first, b=second)
    assert {"pack.a", "pack.b"} <= set(circle(tmp_path, "pack"))


def test_what_only_a_reader_of_types_sees_is_no_circle(tmp_path):
    guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.a import y"
    write(tmp_path, a="from pack.b import x", b=guarded)
    assert circle(tmp_path, "pack") == []


def write(root: Path, **sources: str) -> None:
    (root / "pack").mkdir()
    (root / "pack" / "__init__.py").write_text("from pack.a import y\n")
    for name, source in sources.items():
        (root / "pack" / f"{name}.py").write_text(source + "\n")


PACKAGES = (llmviz, llmviz.models, llmviz.sampling, llmviz.serving, llmviz.training)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.__name__)
def test_every_late_name_is_there_and_public(package):
    for name in package._NEED_TORCH:
        assert getattr(package, name) is not None
        assert name in vars(package)  # asked for once, it stays
        assert name in package.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_the_kind'"):
        package.nothing_of_the_kind  # noqa: B018


def test_torch_waits_until_a_name_needs_it():
    code = (
        "import sys, llmviz.models, llmviz.sampling, llmviz.serving, llmviz.training\n"
        "assert 'torch' not in sys.modules\n"
        "llmviz.models.GPT\n"
        "assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
