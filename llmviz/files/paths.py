"""Where the files of this project lie: in its folder, and inside an installed package.

In the project's folder `app.py`, `pages/`, `data/` and `.streamlit/` stand beside `llmviz/`. A
wheel has them in `llmviz/home/`, so that an installed package puts nothing else beside itself.
"""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
IMPORTED_FROM = PACKAGE.parent  # what a new process must have on its path to import llmviz
_INSTALLED = PACKAGE / "home"
HOME = _INSTALLED if _INSTALLED.is_dir() else IMPORTED_FROM

APP, PAGES = HOME / "app.py", HOME / "pages"
COURSE = PACKAGE / "course"  # what a visitor sees
ICON = COURSE / "ui" / "icon.svg"
LICENCE = HOME / "LICENSE"
DATA = HOME / "data"
TOKENIZER_FOLDER, EXPERIMENT_FOLDER = DATA / "tokenizers", DATA / "experiments"
BUNDLED_CHECKPOINTS = DATA / "checkpoints"
HUB = "hub:"  # before the name of a repository, where a folder may be named, too
DRAFTS = "drafts"  # the folder below them of models that guess for others
TUNED = DATA / "tuned"  # adapters and heads for the bundled models
# Another folder of exported runs can be shown instead of the bundled ones.
CHECKPOINTS = Path(os.environ.get("LLMVIZ_CHECKPOINTS") or BUNDLED_CHECKPOINTS)
