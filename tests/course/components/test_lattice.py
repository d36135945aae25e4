"""The lattice's payload: what does not fit is refused before it reaches the browser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llmviz.course.components.lattice.view import TEXTS, LatticeNumbers, lattice_payload

T, K = 3, 4
TEXT = dict.fromkeys(TEXTS, "said")
CAPTIONS = ["a"] * (T + 1)


def numbers(**changes) -> LatticeNumbers:
    rng = np.random.default_rng(0)
    plain = LatticeNumbers(
        words=["a", "b", "c"],
        tags=list("WXYZ"),
        scores=-rng.random((T, K)),
        back=rng.integers(0, K, (T, K)),
        emission=-rng.random((T, K)),
        start=-rng.random(K),
        transition=-rng.random((K, K)),
        path=[0, 1, 2],
        seen=[True, False, True],
    )
    return replace(plain, **changes)


def test_all_numbers_travel():
    given = numbers()
    sent = lattice_payload(given, CAPTIONS, TEXT)
    for name in ("scores", "emission", "start", "transition"):
        assert np.array_equal(sent[name], np.float32(getattr(given, name)))
    assert np.array_equal(sent["back"], given.back) and sent["seen"] == [True, False, True]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": np.zeros((T, K + 1))}, "scores must be"),
        ({"transition": np.zeros((K, T))}, "transition must be"),
        ({"path": [0]}, "as many tags"),
        ({"seen": [True]}, "as many tags"),
        ({"start": np.full(K, -np.inf)}, "must be finite"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        lattice_payload(numbers(**changes), CAPTIONS, TEXT)


def test_a_caption_or_a_text_too_few_is_refused():
    with pytest.raises(ValueError, match="4 captions"):
        lattice_payload(numbers(), CAPTIONS[1:], TEXT)
    with pytest.raises(ValueError, match="no text for 'sum'"):
        fewer = {name: text for name, text in TEXT.items() if name != "sum"}
        lattice_payload(numbers(), CAPTIONS, fewer)
