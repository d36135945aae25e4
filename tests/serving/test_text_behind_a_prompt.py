"""What a completion's text is where the text of a token depends on what stands before it.

The texts are held against the decoder of the `tokenizers` library, which is given prompt and
completion as one.
"""

import json
from contextlib import contextmanager
from itertools import product

import pytest
import tokenizers

from llmviz.serving.engine import Engine
from llmviz.serving.http.scoring import TokenScore
from llmviz.serving.http.served import Served
from llmviz.serving.http.service import Service
from llmviz.serving.settings import ServingConfig
from llmviz.serving.simulate import SimulatedModel
from llmviz.tokenizers import PublishedTokenizer
from tests.serving.served import JSON, events, listening

CONFIG = ServingConfig(max_batch=8, block_size=4, n_blocks=64)
CONTEXT = 32
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
WORDS = ["▁The", "▁cat", "▁", "▁a", "a", "b", "c", "\ufffd"]
VOCABULARY = ["<unk>", "<s>", "</s>", *BYTES, *WORDS]
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
SPACES = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
PARTS = [SPACES, {"type": "ByteFallback"}, {"type": "Fuse"}, STRIP]
CONTENT = {
    "version": "1.0",
    "added_tokens": [
        {"id": i, "content": text, "special": True, "single_word": False, "lstrip": False,
         "rstrip": False, "normalized": False}
        for i, text in enumerate(VOCABULARY[:3])
    ],
    "normalizer": None,
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
    "post_processor": None,
    "decoder": {"type": "Sequence", "decoders": PARTS},
    "model": {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [[text, -1.0 - (text in BYTES) * 9] for text in VOCABULARY],
        "byte_fallback": True,
    },
}  # fmt: skip
TOKENIZER = PublishedTokenizer(CONTENT, len(VOCABULARY), VOCABULARY.index("</s>"))
ORACLE = tokenizers.Tokenizer.from_str(json.dumps(CONTENT))
ID = {text: i for i, text in enumerate(VOCABULARY)}
SMILEY = [ID[f"<0x{byte:02X}>"] for byte in "😀".encode()]


class Writer(SimulatedModel):
    """A stand-in that always writes the same tokens."""

    writes: tuple[int, ...] = ()

    def __init__(self):
        super().__init__(CONFIG, len(VOCABULARY), CONTEXT)

    def draw(self, plan, computed):
        """The next of its tokens; to a beam search, as the most probable one."""
        drawn = []
        for (_, sequence), values in zip(plan.draws, super().draw(plan, computed), strict=True):
            token = self.writes[(len(sequence.tokens) - sequence.prompt_length) % len(self.writes)]
            if sequence.beams is not None:
                values[:] = -50.0
                values[token] = 0.0
            drawn.append(token if sequence.beams is None else values)
        return drawn


@contextmanager
def serving():
    model = Writer()
    service = Service(Engine(model, CONFIG))
    served = Served(
        "m", TOKENIZER, service, CONTEXT, len(VOCABULARY),
        scorer=lambda ids, top: [None, *(TokenScore(id, -1.0, ()) for id in ids[1:])],
    )  # fmt: skip
    with listening(served, service, model) as one:
        yield one


@pytest.fixture(scope="module")
def server():
    with serving() as one:
        yield one


def choices(server, **fields):
    """The choices of a completion, whole or put together of a stream's pieces."""
    body = json.dumps({"model": "m", "temperature": 0, **fields}).encode()
    status, raw = server.ask("POST", "/v1/completions", body, Content_Type=JSON)
    assert status == 200, raw
    if not fields.get("stream"):
        return json.loads(raw)["choices"]
    texts = {}
    for event in events(raw)[:-1]:
        for choice in event["choices"]:
            texts[choice["index"]] = texts.get(choice["index"], "") + choice["text"]
    return [{"text": texts[i]} for i in sorted(texts)]


ways = pytest.mark.parametrize(
    "more", [{}, {"stream": True}, {"n": 2}, {"use_beam_search": True, "n": 2}]
)


@ways
@pytest.mark.parametrize("prompt", ["The", "a", "", "The a"])
@pytest.mark.parametrize("writes", [("▁cat",), ("a", "▁cat"), ("▁", "b")])
def test_a_completion_goes_on_behind_its_prompt(server, prompt, writes, more):
    server.model.writes = tuple(ID[text] for text in writes)
    own = TOKENIZER.encode(prompt)
    written = [server.model.writes[i % len(writes)] for i in range(3)]
    expected = ORACLE.decode([*own, *written], skip_special_tokens=False)
    for echo, given in product((False, True), (prompt, own)):
        if given == []:
            continue
        first = choices(server, prompt=given, max_tokens=3, echo=echo, **more)[0]
        assert first["text"] == (expected if echo else expected[len(prompt) :])


@ways
def test_a_character_that_the_prompt_leaves_unfinished_comes_with_the_completion(server, more):
    ids = [*TOKENIZER.encode("a "), *SMILEY]
    server.model.writes = (SMILEY[-1], ID["b"])
    for echo, most in product((False, True), (1, 2)):
        asked = dict(prompt=ids[:-1], max_tokens=most, echo=echo)
        text = choices(server, **asked, **more)[0]["text"]
        assert text == ("a 😀b" if echo else "😀b")[: 2 * echo + most]
    if "use_beam_search" not in more:
        asked = dict(prompt=ids[:-1], max_tokens=0, echo=True)
        assert choices(server, **asked, **more)[0]["text"] == "a \ufffd"


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_text_with_a_space_is_found_at_the_start(server, stream):
    server.model.writes = (ID["b"], ID["▁cat"])
    asked = dict(prompt="The", max_tokens=4, stream=stream)
    assert choices(server, stop=[" cat"], **asked)[0]["text"] == "b"
    server.model.writes = (ID["▁cat"],)
    assert choices(server, stop=[" cat"], **asked)[0]["text"] == ""
    assert choices(server, stop=["The"], echo=True, **asked)[0]["text"] == "The cat cat cat cat"


TEXTS = ["a\ufffdb cat", "The cat", "a😀b", "\ufffd\ufffd", "aé\ufffd😀 cat"]


@pytest.mark.parametrize("text", TEXTS)
def test_each_token_begins_where_its_text_begins(server, text):
    server.model.writes = (ID["▁cat"], *SMILEY, ID["\ufffd"], ID["b"])
    begins = [token.char_start for token in TOKENIZER.tokens(text)]
    written = [len(text) + place for place in (0, 4, 4, 4, 4, 5, 6)]
    for given in (text, TOKENIZER.encode(text)):
        asked = dict(max_tokens=7, logprobs=0)
        (choice,) = choices(server, prompt=given, echo=True, **asked)
        assert choice["text"] == f"{text} cat😀\ufffdb"
        places = choice["logprobs"]["text_offset"]
        assert places[-7:] == written
        if isinstance(given, str):
            assert places[:-7] == begins
        for token, place in zip(choice["logprobs"]["tokens"][1:], places[1:], strict=True):
            shown = token if not token.startswith("bytes:") else ""
            assert choice["text"][place:].startswith(shown)
        (choice,) = choices(server, prompt=given, **asked)
        assert choice["logprobs"]["text_offset"] == [place - len(text) for place in written]
