"""For all tests: runs that pages start or list are in a folder of the tests, never in `runs/`."""

import atexit
import os
import shutil
import tempfile

# Set before anything is imported, so that servers that tests start have it too.
_folder = tempfile.mkdtemp(prefix="llmviz-runs-")
os.environ["LLMVIZ_RUNS"] = _folder
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
