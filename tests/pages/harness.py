"""Running a page through `app.py` without a browser, and reading what it shows."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from pathlib import Path
from urllib.parse import parse_qsl

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import Radio
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from llmviz.course import streamlit_parts
from llmviz.course.components import unpack
from llmviz.course.document import marks
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.discoveries.circuit import chapter as circuit
from llmviz.course.lessons.sampling.writing import chapter as writing
from llmviz.course.lessons.transformer.patching import chapter as patching
from llmviz.course.lessons.transformer.units import chapter as units
from llmviz.course.ui import guess_given, paint_order
from llmviz.course.ui.code import OPENED, SNIPPET_MARK
from llmviz.course.ui.get_model import REAL
from llmviz.course.ui.state import THROUGH_APP
from llmviz.obtainable.catalogue import path_of

# Each AppTest asks every installed package whether it brings components, which takes longer than
# running a page: once is enough.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)

# And compiles its page anew in each run.
local_script_runner.ScriptCache = functools.cache(local_script_runner.ScriptCache)

_look_each_millisecond = local_script_runner.require_widgets_deltas


def _wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the end of a page's thread.

    AppTest looks each millisecond through all that the page has sent by then, beside the page that
    it waits for: a fifth of the processor's time.
    """
    runner._script_thread.join(timeout)
    if not runner.script_stopped():
        _look_each_millisecond(runner, 0)  # which says that it took too long


local_script_runner.require_widgets_deltas = _wait

streamlit_parts.look_up_values()  # as app.py does for its server
streamlit_parts.ask_without_errors()
streamlit_parts.set_what_differs()
paint_order.AHEAD = 0.0  # there is no browser that would draw meanwhile
guess_given.COVERS = False  # but for the test of what questions cover
writing.SLICE = writing.LANE_SLICE = 200
circuit.SLICE = patching.SLICE = units.SLICE = 60.0

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def open_page(name: str, /, **link: str) -> AppTest:
    """Run a page of `app.py`, with `link` as its address, and return what stands there."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state[OPENED] = True
    app.session_state[THROUGH_APP] = True  # no home page has to be run before
    for key, value in link.items():
        app.query_params[key] = value
    return app.switch_page(f"pages/{name}.py").run()


def snippets(app: AppTest) -> list[tuple[str, str]]:
    """Return every snippet on the page with what the page says it prints."""
    blocks = [block.value for block in app.code]
    return [
        (block, blocks[index + 1])
        for index, block in enumerate(blocks)
        if block.startswith(SNIPPET_MARK)
    ]


def runs_here(snippet: str) -> bool:
    """Whether a snippet can run: one that asks the real model needs it."""
    return f'"{REAL}"' not in snippet or path_of(REAL) is not None


def run_snippet(snippet: str) -> str:
    """Run a snippet by itself and return what it printed; it takes nothing from the app."""
    for part in ("llmviz.course.ui", "llmviz.course.components", "streamlit"):
        assert part not in snippet, snippet
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(snippet, "snippet", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def parts(name: str) -> tuple[str, ...]:
    """Return the names of a page's chapters as its links write them; ("",) for a page without."""
    (lesson,) = (one for one in LESSONS if one.key == name)
    return tuple(chapter.key for chapter in lesson.chapters) or ("",)


def open_part(name: str, part: str, /, **link: str) -> AppTest:
    """Open one chapter of a page."""
    return open_page(name, **({"part": part} if part else {}), **link)


# Texts that break pages which trust what was typed.
ODD_TEXTS = {
    "empty": "",
    "one character": "a",
    "spaces": "     ",
    "NUL": "a\x00b",
    "special": "The end.<|endoftext|>Once",
    "markup": "<script>document.title='x'</script>",
    "markdown": "![x](http://a) $x$ :red[y] `c` {braces} {token} **b** [[token]]",
    "emoji": "👩‍🚀e\u0301\u202e한국어",
    "long": "so " * 400,
}


def fine(app: AppTest) -> None:
    """Fail if the page shows an exception, or a line whose marks nobody turned into markup."""
    assert [str(error.value) for error in app.exception] == []
    lines = (one.value for one in (*app.error, *app.info, *app.warning, *app.caption))
    assert [line for line in lines if line != marks.cleared(line)] == []


def messages(app: AppTest) -> list[str]:
    """Return what each of the page's boxes says, without the escapes."""
    return [box.value.replace("\\", "") for box in [*app.error, *app.info, *app.warning]]


def boxes(app: AppTest) -> str:
    """Return what the page's boxes say, one behind the other."""
    return " ".join(messages(app))


def charts(app: AppTest) -> list[dict]:
    """Return the page's Plotly figures, as they were sent."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def choose_answer(radio: Radio, text: str) -> None:
    """Give the answer of a question whose text this is; the page does not run again yet."""
    answers = range(len(radio.options))
    radio.set_value(next(one for one in answers if radio.format_func(one) == text))


def prose_of(app: AppTest) -> str:
    """Return the page's prose as HTML."""
    return " ".join(block.proto.body for block in app.get("html"))


def sent(app: AppTest, name: str) -> dict:
    """Return what the page's one component of that name was sent; a chart's runs with it."""
    (payload,) = unpack_all(app, name)
    if name == "curves":
        stores = {one["store"]: one for one in unpack_all(app, "curve_data")}
        for run in payload["runs"]:
            assert stores[run["store"]]["stamp"] == run["stamp"]
            run |= stores[run["store"]]["run"]
    return payload


def unpack_all(app: AppTest, name: str) -> list[dict]:
    """Return what each of the page's components of that name was sent."""
    parts = (part.proto for part in app.get("bidi_component"))
    return [unpack(part.bytes) for part in parts if part.component_name == f"llmviz_{name}"]


def fine_page(name: str, /, **link: str) -> AppTest:
    """Open a page that shows no exception."""
    app = open_page(name, **link)
    fine(app)
    return app


def fine_part(name: str, part: str, /, **link: str) -> AppTest:
    """Open one chapter, which shows no exception."""
    app = open_part(name, part, **link)
    fine(app)
    return app


def press(app: AppTest, label: str) -> AppTest:
    """Press the page's first button of that name; the page shows no exception afterwards."""
    next(one for one in app.button if one.label == label).click().run()
    fine(app)
    return app


def snippets_print(app: AppTest) -> None:
    """Fail if a snippet prints anything but what the page says."""
    for snippet, prints in snippets(app):
        assert run_snippet(snippet).strip() == prints.strip(), snippet


def put(app: AppTest, **values: object) -> AppTest:
    """Set what the page keeps under `lesson__key`; it runs once and shows no exception."""
    for name, value in values.items():
        app.session_state[name.replace("__", ".")] = value
    app.run()
    fine(app)
    return app


def idle_looks(app: AppTest) -> list[str]:
    """Return the looks of a chapter that change nothing for who follows each list in its order."""
    page = app.session_state[guess_given._PAGE]
    begins = {
        key: app.session_state[slot]
        if (slot := page._slot(key)) in app.session_state
        else param.default
        for key, param in page.params.items()
    }
    idle = []
    for part in unpack_all(app, "looks"):
        now = begins
        for text, look, *_ in (piece for line in part["passages"] for piece in line if piece[1]):
            written = parse_qsl(look, keep_blank_values=True)
            leads = now | {key: page.params[key].read(value) for key, value in written}
            idle += [text] * (leads == now)
            now = leads
    return idle
