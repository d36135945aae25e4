"""Whether the app starts and all its chapters open with another Streamlit than the pinned one.

    python -m benchmarks.other_streamlit 1.66.0 [1.68.0 ...] [--pages 12]

For each version: it is installed into a folder of its own, in front of the environment's; the
server starts, answers and says in its log which parts of `llmviz/course/streamlit_parts.py` are
off; then chapters are opened one by one, and what an exception says is printed. Needs a package
index.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.startup import ROOT, free_port, wait_until_up

OPEN = """
import sys
import streamlit
from streamlit.testing.v1 import AppTest
from llmviz.course.lessons import LESSONS
from llmviz.course.ui import engine
places = [(lesson.key, one.key) for lesson in LESSONS for one in lesson.chapters]
step = max(1, len(places) // int(sys.argv[1]))
engine.start(); engine.wait(300)
wrong = 0
for lesson, key in places[::step]:
    app = AppTest.from_file("app.py", default_timeout=120)
    app.query_params["part"] = key
    app.run()
    if lesson != LESSONS[0].key:
        app.switch_page(f"pages/{lesson}.py")
        app.query_params["part"] = key
        app.run()
    wrong += bool(app.exception)
    for one in app.exception:
        print(f"{lesson}/{key}: {one.message}")
print(f"Streamlit {streamlit.__version__}: {len(places[::step])} chapters, {wrong} with exceptions")
sys.exit(bool(wrong))
"""


def tried(version: str, pages: int, folder: Path) -> bool:
    """Install a version, print what happens with it, and return whether all is well."""
    here = ["pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    installed = subprocess.run([sys.executable, "-m", *here, f"streamlit=={version}"], check=False)
    if installed.returncode:
        print(f"Streamlit {version}: it cannot be installed here")
        return False
    surroundings = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    # Streamlit takes itself for a copy under development where its path has no "site-packages".
    port, log = free_port(), folder / "server.log"
    line = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    with log.open("w", encoding="utf-8") as out:
        options = {"cwd": ROOT, "env": surroundings, "stdout": out, "stderr": out}
        server = subprocess.Popen([*line, "--server.headless=true"], **options)
        try:
            wait_until_up(f"http://127.0.0.1:{port}")
        finally:
            server.terminate()
            server.wait()
    off = [one for one in log.read_text(encoding="utf-8").splitlines() if " is off (" in one]
    print("\n".join(["the server answers", *off]))
    opened = [sys.executable, "-c", OPEN, str(pages)]
    return subprocess.run(opened, cwd=ROOT, env=surroundings, check=False).returncode == 0


def main() -> None:
    """Try each version."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("versions", nargs="+", help="such as 1.66.0")
    parser.add_argument("--pages", type=int, default=77, help="how many chapters are opened")
    given = parser.parse_args()
    right = True
    for version in given.versions:
        with tempfile.TemporaryDirectory() as folder:
            right &= tried(version, given.pages, Path(folder, "site-packages"))
    sys.exit(not right)


if __name__ == "__main__":
    main()
