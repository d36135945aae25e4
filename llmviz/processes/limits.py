"""How much one browser, one network address and all visitors together may have of a server.

Each limit is a setting of the environment: `LLMVIZ_BROWSER_RUNS=2`. An address may have more than a
browser, because a class may share one; all together may have more than one address.
"""

from __future__ import annotations

import os

from llmviz.files.text import whole_number

# Setting -> its default; README says what each is.
DEFAULTS = {
    "LLMVIZ_BROWSER_RUNS": 4,
    "LLMVIZ_ADDRESS_RUNS": 60,
    "LLMVIZ_BROWSER_UNKEPT": 24,
    "LLMVIZ_ADDRESS_UNKEPT": 300,
    "LLMVIZ_MAX_WAITING": 200,
    "LLMVIZ_BROWSER_JOBS": 4,
    "LLMVIZ_ADDRESS_JOBS": 60,
    "LLMVIZ_STUDY_MINUTES": 30,
    "LLMVIZ_MAX_STUDIES": 200,
    "LLMVIZ_BROWSER_WINDOWS": 20,
    "LLMVIZ_ADDRESS_WINDOWS": 200,
    "LLMVIZ_MAX_WINDOWS": 500,
    "LLMVIZ_WINDOW_UPLOADS": 30,
    "LLMVIZ_ADDRESS_UPLOADS": 300,
    "LLMVIZ_MAX_UPLOADS": 1000,
    "LLMVIZ_KEPT_MB": 600,
    "LLMVIZ_ADDRESS_CLASSES": 10,
    "LLMVIZ_MAX_CLASSES": 50,
    "LLMVIZ_CLASS_KB": 500,
    "LLMVIZ_FOLLOWER_KB": 20,
    "LLMVIZ_ADDRESS_FOLLOWERS": 60,
    "LLMVIZ_CLASS_MINUTES": 120,
    "LLMVIZ_BROWSER_TRIES": 10,
    "LLMVIZ_ADDRESS_TRIES": 100,
}


def limit(setting: str) -> int:
    """Return a limit. Raises ValueError for a setting that is not a whole number above 0."""
    return from_environment(setting, DEFAULTS[setting])


def from_environment(setting: str, default: int) -> int:
    """Return a whole number above 0 that the environment sets, or else the default.

    Raises ValueError for anything else.
    """
    text = os.environ.get(setting)
    if not text:
        return default
    if not (number := whole_number(text)):
        raise ValueError(f"{setting} must be a whole number of at least 1; got {text!r}")
    return number
