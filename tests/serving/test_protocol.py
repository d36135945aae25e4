"""What bodies of requests may hold, and texts that grow: no server is needed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.serving.http.protocol import (
    KNOWN,
    MOST_SAMPLES,
    WITHOUT_EFFECT,
    ApiError,
    read_completion,
)
from llmviz.serving.settings import Limits
from llmviz.serving.text_stream import TextStream
from llmviz.tokenizers.base import ByteTokenizer
from tests.serving.served import NAME, written


def test_what_is_left_out_is_as_the_api_says():
    wanted = read_completion(json.dumps({"model": NAME, "prompt": "ab"}).encode())
    assert (wanted.prompts, wanted.max_tokens, wanted.n) == (("ab",), 16, 1)
    assert (wanted.temperature, wanted.top_p, wanted.stop) == (1.0, 1.0, ())
    assert not wanted.stream and not wanted.include_usage and wanted.seed is None


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("", ("",)),
        ("ab", ("ab",)),
        (["ab", "c"], ("ab", "c")),
        ([5, 6], ((5, 6),)),
        ([[5, 6], [7]], ((5, 6), (7,))),
        (["ab", [7]], ("ab", (7,))),
    ],
)
def test_prompts_are_texts_or_token_ids(prompt, prompts):
    assert read_completion(written(prompt=prompt)).prompts == prompts


WRONG = {
    "model": [None, 5, "", ["m"]],
    "prompt": [
        None,
        5,
        [],
        [[]],
        [True],
        ["a", 5],
        [[5, "a"]],
        {},
        ["a"] * (Limits().max_prompts + 1),
    ],
    "max_tokens": [-1, 1.5, "5", True, 2**40],
    "n": [0, MOST_SAMPLES + 1, "2", False],
    "temperature": [-0.1, 2.1, 1e-7, 5e-324, "1", True, [1]],
    "top_p": [0, 1.1, "1"],
    "top_k": [-2, 1.5, "3", False],
    "min_p": [-0.1, 1.1, "1"],
    "repetition_penalty": [0, -1, 101, "2"],
    "stop_token_ids": [5, ["a"], [True], [1] * 1001],
    "special": ["true", 1],
    "seed": [-1, 2**60, 0.5],
    "stop": [5, [""], ["a"] * (Limits().max_stops + 1), "", [None], ["a" * 201]],
    "stream": ["true", 1],
    "stream_options": [5, [1], {"include_usage": True}],
    "logprobs": [-1, 21, True, "3", 1.5],
    "best_of": [2],
    "echo": ["true", 1],
    "suffix": ["end"],
    "logit_bias": [{"5": 1}],
    "frequency_penalty": [0.5, "x"],
    "presence_penalty": [-1],
    "functions": [[]],
    "use_beam_search": ["true", 1],
    "length_penalty": [0.5, "x"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_wrong_field_is_refused_by_its_name(name, value):
    with pytest.raises(ApiError, match=name) as refusal:
        read_completion(written(**{name: value}))
    assert refusal.value.status == 400 and refusal.value.param == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("temperature", one) for one in (0.7, 1, "x")),
        *(("top_p", 0.5), ("top_k", 3), ("stop", "a"), ("stop_token_ids", [3])),
        *(("min_p", 0.1), ("repetition_penalty", 1.1)),
        *(("length_penalty", one) for one in (-1, 11, "x")),
        *(("best_of", 4), ("n", MOST_SAMPLES + 1)),
    ],
)
def test_what_does_not_go_with_beam_search_is_refused_by_its_name(name, value):
    with pytest.raises(ApiError, match=name) as refusal:
        read_completion(written(**{"use_beam_search": True, name: value}))
    assert refusal.value.status == 400 and refusal.value.param == name


def test_beams_are_asked_for_by_n():
    wanted = read_completion(
        json.dumps({"model": NAME, "prompt": "ab", "use_beam_search": True, "n": 4}).encode()
    )
    assert (wanted.beam_search, wanted.n, wanted.length_penalty) == (True, 4, 1.0)
    wanted = read_completion(written(use_beam_search=True, length_penalty=0))
    assert (wanted.n, wanted.length_penalty) == (1, 0.0)
    assert not read_completion(written(use_beam_search=False)).beam_search


@pytest.mark.parametrize("all_of_them", [-1, 0, None])
def test_what_other_servers_take_for_no_limit_is_none(all_of_them):
    wanted = read_completion(written(top_k=all_of_them, use_beam_search=True))
    assert wanted.top_k is None
    assert read_completion(written(top_k=5)).top_k == 5


def test_a_limit_is_what_the_server_says():
    limits = Limits(max_prompts=3, max_stops=2)
    assert len(read_completion(written(prompt=["a"] * 3, stop=["a", "b"]), limits).prompts) == 3
    for name in ("prompt", "stop"):
        with pytest.raises(ApiError, match=name):
            read_completion(written(**{name: ["a"] * 4}), limits)
    assert len(read_completion(written(stop=list("abcde"))).stop) == 5  # humaneval has five
    assert len(read_completion(written(prompt=["a"] * 256)).prompts) == 256


def test_every_field_has_a_wrong_value_above():
    assert set(KNOWN) | set(WITHOUT_EFFECT) <= set(WRONG) | {"user"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b'{"model": "m", "prompt": NaN}',
        b'{"temperature": Infinity}',
        b"[" * 100_000,
        b'{"n": ' + b"9" * 10_000 + b"}",
    ],
)
def test_what_is_no_json_object_is_refused(body):
    with pytest.raises(ApiError) as refusal:
        read_completion(body)
    assert refusal.value.status == 400


def test_half_a_character_is_no_prompt():
    with pytest.raises(ApiError, match="prompt"):
        read_completion(b'{"model": "m", "prompt": "\\ud800"}')


def utf8(ids) -> str:
    """What bytes say."""
    return bytes(ids).decode("utf-8", errors="replace")


class Bytes(ByteTokenizer):
    """A tokenizer of single bytes."""

    _encode_ordinary = _spans_ordinary = to_dict = from_dict = None

    def __init__(self):
        self._bytes = [bytes([byte]) for byte in range(256)]


some_texts = some.text(alphabet="abc€🙂\ufffd", max_size=20)


@settings(max_examples=300)
@given(some_texts, some.lists(some.text(alphabet="abc€", min_size=1, max_size=3), max_size=3))
def test_pieces_are_the_text_up_to_the_first_stop_text(text, stops):
    stream = TextStream(Bytes(), (), stops)
    pieces = []
    for byte in text.encode():
        pieces.append(stream.push(byte))
        if stream.stopped:
            break
    stopped = stream.stopped
    pieces.append(stream.end())
    # The first stop text to be whole ends it: the one that ends at the earliest place.
    ends = [(text.find(one) + len(one), one) for one in stops if one in text]
    expected = text
    if ends:
        reached = text[: min(ends)[0]]
        expected = reached[: min(reached.find(one) for one in stops if one in reached)]
    assert "".join(pieces) == stream.text == expected
    assert stopped == bool(ends)
    assert "".join(pieces).count("\ufffd") == expected.count("\ufffd")


@given(some.lists(some.integers(0, 255), max_size=30))
def test_of_any_bytes_at_most_the_last_character_waits_and_the_end_gives_it(data):
    stream = TextStream(Bytes())
    for size, byte in enumerate(data, 1):
        stream.push(byte)
        assert stream.text in (utf8(data[:size]), utf8(data[:size])[:-1])
        assert utf8(data).startswith(stream.text)
    assert stream.text + stream.end() == utf8(data)


def test_bytes_that_never_become_a_character_come_at_the_end():
    stream = TextStream(Bytes())
    assert stream.push(0xE2) == "" and stream.push(0x82) == ""
    assert stream.end() == "\ufffd"
