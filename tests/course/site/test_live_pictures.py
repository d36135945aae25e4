"""Pictures of a visitor's own text are told in the browser what Python would tell them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from llmviz.course.components._shared.transport import unpack
from llmviz.course.components.token_strip.view import TokenRow, strip_payload
from llmviz.course.lessons.sampling.temperature import chapter as temperature
from llmviz.course.site.live import HERE, packed_tokenizer
from llmviz.pretrained import load_bundled
from llmviz.sampling.pipeline import top_ids
from llmviz.tokenizers import get_tokenizer
from llmviz.tokenizers.vocabulary import WordTokenizer
from tests.course.site.test_learning import pytestmark, run

__all__ = ["pytestmark"]
TEXTS = [
    "",
    "Once Anna and Samir saw a kitten. Then",
    "é 🙂\tΩ\n中",
    "e\u0301 \u00ad",
    "ab " * 2000,
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_strip_of_a_text_is_that_of_the_app(text):
    tokenizer = get_tokenizer("bpe")
    wanted = strip_payload(
        [TokenRow("", tokenizer.tokens(text, ()))],
        None,
        "chips",
        show_ids=True,
        value_label="",
        value_range=(0.0, 1.0),
        limit=3000,
    )
    known = unpack(packed_tokenizer(tokenizer))
    got = run(
        """
        const nameOf = (id) => given.names[id];
        const strip = stripOf(given.text, { nameOf, tokenizer: tokenizerOf(given.tokenizer) });
        const plain = (_, value) => (ArrayBuffer.isView(value) ? [...value] : value);
        return JSON.parse(JSON.stringify(strip, plain));
        """,
        entry="cut_view.js",
        text=text,
        tokenizer=known["tokenizer"],
        names=known["names"],
    )
    assert got.pop("selected") is None  # what the app's own mounting adds
    assert got == _listed(wanted)


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _listed(one) for name, one in value.items()}
    return [_listed(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("spread", [0.0, 3.0, 40.0])
def test_softmax_at_each_temperature_is_that_of_the_app(spread):
    logits = np.random.default_rng(1).normal(0, spread, 50)
    stops = [*temperature.STOPS, None]
    told = {
        "words": {"all": "{n} {entropy}"},
        "captions": dict(temperature.words.caption),
        "stops": stops,
        "at": 0,
    }
    got = run(
        """
        const nameOf = (id) => given.names[id];
        const told = softmaxOf({ ...given, nameOf, logits: Float64Array.from(given.logits) });
        const numbers = (array) => ({ shape: array.shape, values: [...array].map(String) });
        const plain = (value) => (ArrayBuffer.isView(value) ? numbers(value) : value);
        return Object.fromEntries(Object.entries(told).map(([name, one]) => [name, plain(one)]));
        """,
        entry="temperature_view.js",
        logits=logits.tolist(),
        names=[f"t{token}" for token in range(50)],
        **told,
    )
    assert got["words"] == {"all": f"50 {math.log(50):.2f}"}
    ids = top_ids(logits, temperature.ROWS)
    assert got["names"] == [f"t{token}" for token in ids]
    rows = [temperature.row_at(logits, ids, stop) for stop in stops]
    none = np.full(ids.size, math.nan)
    for name in temperature.COLUMNS:
        wanted = np.stack([row.get(name, none) for row in rows])
        assert got[name]["shape"] == list(wanted.shape)
        values = np.array([float(value) for value in got[name]["values"]])
        assert np.allclose(values, wanted.reshape(-1), rtol=1e-6, equal_nan=True), name
    assert got["lines"] == [
        temperature.caption(f"t{ids[0]}", 50, stop, row)
        for stop, row in zip(stops, rows, strict=True)
    ]


@pytest.mark.parametrize("entry", sorted(path.name for path in HERE.glob("*_view.js")))
def test_no_two_files_of_a_page_s_script_share_a_name(entry):
    """They are joined into one script, which would not even begin."""
    assert run("return true;", entry=entry)


SIGNS = [
    *"abcdefghijklmnopqrstuvwxyz   AE'’.,-!?0159",
    "\n",
    "\t",
    "é",
    "ß",
    "🙂",
    "中",
    "ι",
    "\u0301",
]
COUNT = 5000


@pytest.mark.parametrize("name", ["tiny-world-gpt", "names-gpt"])
def test_five_thousand_texts_are_cut_alike(name):
    random = np.random.default_rng(0)
    lengths = random.integers(0, 30, COUNT)
    texts = ["".join(random.choice(SIGNS, length)) for length in lengths]
    got = run(
        """
        const tokenizer = tokenizerOf(given.tokenizer);
        return given.texts.map((text) => [tokenizer.encode(text), words(text)]);
        """,
        entry="loaded.js",
        tokenizer=unpack(packed_tokenizer(load_bundled(name)[1]))["tokenizer"],
        texts=texts,
    )
    tokenizer = load_bundled(name)[1]
    for text, (ids, cut) in zip(texts, got, strict=True):
        assert ids == tokenizer.encode(text), text
        assert cut == WordTokenizer.split(text), text
