"""What stands in front of a text: the tokenizer's own rule, so that the same text follows."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from tokenizers import processors

from llmviz.course.ui.model_on_text import START, names_of
from llmviz.pretrained import import_gpt2, load_bundled
from llmviz.sampling.generation import generate
from llmviz.serving.http.served import Served
from llmviz.tokenizers import ENDOFTEXT
from llmviz.training.run_folder import load_trained
from tests.models.test_published_llama import theirs
from tests.tokenizers.test_published import compiled, write_two_files, write_whole_file

LLAMA3 = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
QWEN = [ENDOFTEXT, "<|im_start|>", "<|im_end|>"]
SENTENCE = ["<unk>", "<s>", "</s>"]
PROMPTS = ["the cat sat", "  on 12 mats\n", "é", ""]


@dataclass(frozen=True)
class Layout:
    """How a publisher writes a model: its special tokens, what stands in front, its settings."""

    specials: list[str]
    front: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)  # of the model
    options: dict[str, Any] = field(default_factory=dict)  # of the tokenizer
    generation: dict[str, Any] = field(default_factory=dict)
    wrapped: bool = False  # the template stands behind a step of its own, as in Llama 3
    two_files: bool = False  # vocab.json and merges.txt


LAYOUTS = {
    "GPT-2": Layout([ENDOFTEXT], config={"bos_token_id": 0, "eos_token_id": 0}),
    "Llama 2": Layout(SENTENCE, ["<s>"], {"bos_token_id": 1, "eos_token_id": 2}),
    "Llama 3": Layout(
        LLAMA3, ["<|begin_of_text|>"], {"bos_token_id": 0, "eos_token_id": 1}, wrapped=True
    ),
    "Llama 3, instructed": Layout(
        LLAMA3,
        ["<|begin_of_text|>"],
        {"bos_token_id": 0, "eos_token_id": [1, 2]},
        generation={"eos_token_id": [2, 1]},
        wrapped=True,
    ),
    "Qwen 2.5": Layout(QWEN, config={"bos_token_id": 0, "eos_token_id": 2}),
    "SmolLM": Layout(QWEN, config={"bos_token_id": 1, "eos_token_id": 2}),
    "Mistral": Layout(SENTENCE, ["<s>"], {"bos_token_id": 1, "eos_token_id": 2}, wrapped=True),
    "Gemma": Layout(["<pad>", "<eos>", "<bos>"], ["<bos>"], {"bos_token_id": 2, "eos_token_id": 1}),
    "OPT": Layout(
        ["</s>", "<pad>"],
        config={"bos_token_id": 0, "eos_token_id": 0},
        options={"add_bos_token": True, "bos_token": "</s>", "eos_token": "</s>"},
        two_files=True,
    ),
    "two files, nothing in front": Layout(
        [ENDOFTEXT],
        config={"bos_token_id": 0, "eos_token_id": 0},
        options={"add_bos_token": False},
        two_files=True,
    ),
    "its settings disagree": Layout(
        SENTENCE,
        ["<s>"],
        {"bos_token_id": 0, "eos_token_id": 0},
        {"add_bos_token": False},
        {"bos_token_id": 1, "eos_token_id": 2},
    ),
}


def write(folder, layout: Layout) -> None:
    """Write a small model with a tokenizer in this layout, by transformers and tokenizers."""
    tokenizer = compiled(layout.specials)
    if layout.front:
        pairs = [(one, tokenizer.token_to_id(one)) for one in layout.front]
        template = processors.TemplateProcessing(" ".join([*layout.front, "$A"]), None, pairs)
        steps = [processors.ByteLevel(trim_offsets=False), template]
        tokenizer.post_processor = processors.Sequence(steps) if layout.wrapped else template
    model = theirs(vocab_size=tokenizer.get_vocab_size(), **layout.config)
    model.save_pretrained(folder)
    kept = (folder / "config.json").read_text("utf-8")
    (write_two_files if layout.two_files else write_whole_file)(folder, tokenizer, **layout.options)
    (folder / "config.json").write_text(kept, "utf-8")
    generation = folder / "generation_config.json"
    said = json.loads(generation.read_text("utf-8")) | layout.generation
    generation.write_text(json.dumps(said), "utf-8")


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_same_text_follows_as_in_transformers(tmp_path, name):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    write(tmp_path / "them", LAYOUTS[name])
    reader = AutoTokenizer.from_pretrained(tmp_path / "them")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "them")
    import_gpt2(tmp_path / "them", tmp_path / "run")
    trained = load_trained(tmp_path / "run")  # what the pages and commands read
    own = trained.tokenizer
    ends = model.generation_config.eos_token_id
    assert set(own.ends) == set(ends if isinstance(ends, list) else [ends])
    served = Served("m", own, None, 64, own.vocab_size)
    for prompt in PROMPTS:
        expected = reader(prompt, return_tensors="pt").input_ids.long()
        ids = own.encode_from_start(prompt)
        assert tuple(ids) == served.prompt(prompt).ids
        if expected.shape[1] == 0:  # transformers then begins with the config's begin token
            expected = torch.tensor([[model.generation_config.bos_token_id]])
        assert ids == expected[0].tolist(), prompt
        written = [token.id for token in generate(trained.model, ids, 8, 0, stop_id=own.ends)]
        follows = model.generate(
            expected,
            attention_mask=torch.ones_like(expected),
            max_new_tokens=8,
            do_sample=False,
            pad_token_id=0,
        )
        after = follows[0, expected.shape[1] :]
        text = own.decode([i for i in written if i not in own.special_tokens.values()])
        assert text == reader.decode(after, skip_special_tokens=True)


def test_pages_show_what_stands_in_front_as_what_it_is(tmp_path):
    for name, first in {"Llama 3": "<|begin_of_text|>", "Qwen 2.5": "the"}.items():
        write(tmp_path / name, LAYOUTS[name])
        own = import_gpt2(tmp_path / name, tmp_path / f"{name} here").tokenizer
        assert names_of(own.encode_from_start("the cat"), own)[0] == first
    own = load_bundled("tiny-world-char")[1]
    assert names_of(own.encode_from_start("the cat"), own)[:2] == [START, "t"]


def test_what_stands_behind_a_text_is_left_out_because_the_text_goes_on(tmp_path):
    tokenizer = compiled(SENTENCE)
    pairs = [("<s>", 1), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", None, pairs)
    theirs(vocab_size=tokenizer.get_vocab_size(), eos_token_id=2).save_pretrained(tmp_path / "them")
    tokenizer.save(str(tmp_path / "them" / "tokenizer.json"))
    trained = import_gpt2(tmp_path / "them", tmp_path / "run")
    expected = tokenizer.encode("the cat").ids
    assert trained.tokenizer.encode_from_start("the cat") == expected[:-1]


def test_a_model_that_is_trained_here_reads_its_texts_behind_the_end_of_text():
    tokenizer = load_bundled("tiny-world-char")[1]
    end = tokenizer.special_tokens[ENDOFTEXT]
    assert tokenizer.encode_from_start("a")[0] == end and tokenizer.ends == (end,)
    assert tokenizer.encode_from_start("") == [end]
