"""What the pages do not need stands apart: the app imports, and its chapters, without it."""

import subprocess
import sys

import pytest

from llmviz.files.paths import HOME

# The server of OpenAI's interface, other people's formats written, the site without a server.
EXTRAS = (
    "llmviz.serving.http",
    "llmviz.publishing.folder",
    "llmviz.publishing.gguf_file",
    "llmviz.course.site",
    "llmviz.cli",
    "llmviz.show",
)
ALL_CHAPTERS = """
import importlib, pkgutil, sys

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in {extras!r} or name.startswith(tuple(f"{{extra}}." for extra in {extras!r})):
            raise ModuleNotFoundError(f"{{name}} is gone")

sys.meta_path.insert(0, Gone())
import llmviz.course.lessons as lessons
import llmviz.course.ui.shell

for module in pkgutil.walk_packages(lessons.__path__, lessons.__name__ + "."):
    importlib.import_module(module.name)
print(len(lessons.LESSONS))
"""


@pytest.mark.parametrize("extras", [EXTRAS], ids=["all"])
def test_the_app_and_its_chapters_import_without_the_extras(extras):
    command = [sys.executable, "-c", ALL_CHAPTERS.format(extras=extras)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HOME, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 10
