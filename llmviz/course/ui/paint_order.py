"""What the browser is given first: pictures before controls, questions and code."""

from __future__ import annotations

import time

AHEAD = 0.1  # seconds: what it takes from the sending of a picture until it has been painted


def pictures_first() -> None:
    """Let the browser draw what was sent so far before it gets the rest of the page.

    What arrives together is drawn together, and a new question or a fold of code takes the browser
    longer than most pictures: the hand would wait for them, too. `python -m benchmarks.browser
    --only sentence` shows what the pause saves. Call it where the pictures are sent and questions,
    buttons and code are not.
    """
    time.sleep(AHEAD)
