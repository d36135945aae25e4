"""What is tuned in the lesson: answers to instructions, examples in a prompt, the parameters."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.rules import draw_question
from llmviz.course.lessons.finetuning.fewshot.model import group_of, look, read_prompt
from llmviz.course.lessons.finetuning.instructions import chapter
from llmviz.course.lessons.finetuning.stages import model as stages
from llmviz.course.ui import engine
from llmviz.files.paths import TUNED
from llmviz.finetuning.adapters import load_adapter
from llmviz.finetuning.continuations import continuation, untrained
from llmviz.finetuning.instructions import Instruction, ask, instructions, tokens_of
from llmviz.finetuning.masked import masked_batch
from llmviz.finetuning.plan import WAYS
from llmviz.finetuning.tuned_models import tuned_card, tuned_model
from llmviz.models import GPT, GPTConfig
from llmviz.models.costs import count
from llmviz.nn.lora_config import LoraConfig
from llmviz.nn.loss import IGNORED, next_token_loss
from llmviz.pretrained import load_bundled
from llmviz.tokenizers import get_tokenizer
from llmviz.training.evaluate import evaluate_documents
from tests.interpretability.models import gpt


@pytest.fixture(scope="module")
def bundled():
    return load_bundled("tiny-world-gpt")[:2]


@pytest.fixture(scope="module")
def one():
    return instructions(3, seed=5)[2]


def test_the_losses_are_those_of_training_with_and_without_the_mask(one):
    own = engine.load("tiny-world-gpt")
    known, costs = chapter.encoded(own, one), chapter.nats(own, one)
    inputs, targets = masked_batch([tokens_of(own.tokenizer, one)], 0)
    assert known.ids[:-1] == tuple(inputs[0].tolist())
    assert list(known.counts[1:]) == (targets[0] != IGNORED).tolist()
    with torch.no_grad():
        logits = own.model(inputs)[0]
        counted = costs[np.array(known.counts[1:])].mean()
        assert counted == pytest.approx(next_token_loss(logits, targets).item(), abs=1e-4)
        every = torch.tensor([known.ids[1:]])
        assert costs.mean() == pytest.approx(next_token_loss(logits, every).item(), abs=1e-4)


def test_an_example_that_is_too_long_is_refused_with_both_numbers(one):
    own = engine.load("tiny-world-gpt")
    long = dataclasses.replace(one, story="so " * 400)
    tokens = len(tokens_of(own.tokenizer, long))
    most = own.model.context_length + 1
    with pytest.raises(ValueError, match=f"at most {most} tokens .* they have {tokens}"):
        chapter.encoded(own, long)


@pytest.mark.parametrize("text", ["", "The cat sat.", "Anna", "Anna Copper Anna Copper met."])
def test_a_text_that_is_no_story_is_asked_what_can_be_answered(text):
    assert all(isinstance(found, Instruction) for found in ask(text))


def test_a_continuation_is_the_most_probable_token_again_and_again(bundled):
    model, tokenizer = bundled
    found = continuation(model, tokenizer, "Once Anna and Samir met at the", 5)
    ids = tokenizer.encode_from_start("Once Anna and Samir met at the")
    start = len(ids)
    with torch.no_grad():
        first = model(torch.tensor([ids]))[0][0, -1].softmax(-1).numpy()
        for _ in range(5):
            ids.append(int(model(torch.tensor([ids]))[0][0, -1].argmax()))
    assert found.text == tokenizer.decode(ids[start:]) and not found.ended
    assert np.allclose(found.first, first, atol=1e-5) and found.left_out == 0
    long = continuation(model, tokenizer, "Anna met Samir. " * 200, 5)
    whole = len(tokenizer.encode_from_start("Anna met Samir. " * 200))
    assert long.left_out == whole - (model.context_length - 5)


@pytest.mark.parametrize("adapter", [None, "instructions"])
def test_the_prompt_goes_through_the_model_once_and_the_rest_through_its_decoder(adapter):
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    if adapter:
        load_adapter(model, TUNED / adapter)
    lengths = []
    model.register_forward_pre_hook(lambda _, given: lengths.append(given[0].shape[1]))
    prompt = "Once Anna and Samir met at the"
    assert continuation(model.eval(), tokenizer, prompt, 4).text
    assert lengths == [len(tokenizer.encode_from_start(prompt))]


def test_an_untrained_model_is_one_of_a_seed_and_knows_nothing(bundled):
    model, tokenizer = bundled
    one, again, other = untrained(model), untrained(model), untrained(model, 1)
    assert torch.equal(one.token.weight, again.token.weight)
    assert not torch.equal(one.token.weight, other.token.weight)
    loss = evaluate_documents(one, tokenizer, ["Anna met Samir."]).per_token
    assert loss == pytest.approx(np.log(model.vocab_size), abs=0.2)


def test_a_tuned_model_is_the_base_with_the_adapter_beside_it(bundled, one):
    model, tokenizer = bundled
    before = model.token.weight.clone(), model.blocks[0].attn.qkv.weight.clone()
    merged = tuned_model(model, "instructions")
    assert torch.equal(model.blocks[0].attn.qkv.weight, before[1])
    beside = load_bundled("tiny-world-gpt")[0]
    load_adapter(beside, TUNED / "instructions")
    idx = torch.tensor([tokenizer.encode_from_start(one.prompt)])
    with torch.no_grad():
        assert torch.allclose(merged(idx)[0], beside(idx)[0], atol=1e-3)
        assert not torch.allclose(merged(idx)[0], model(idx)[0], atol=0.1)


def test_what_is_not_there_or_belongs_to_other_weights_is_refused(bundled):
    with pytest.raises(ValueError, match="'nothing' is not in this copy"):
        tuned_card("nothing")
    with pytest.raises(ValueError, match="other weights"):
        tuned_model(untrained(bundled[0]), "instructions")


@given(some.integers(0, 10_000), some.integers(2, 4), some.integers(0, 12))
def test_a_drawn_prompt_is_read_back_as_it_was(seed, groups, more):
    asked = draw_question(random.Random(seed), groups + more, groups)
    found = read_prompt(asked.prompt)
    assert found.prompt == asked.prompt and found.word == asked.word
    assert found.examples == asked.examples
    assert dict(found.rule.answers) == dict(asked.rule.answers)
    assert found.answer == asked.answer


def test_most_examples_of_a_group_make_its_answer_and_at_a_tie_the_later():
    assert read_prompt("apples red, pears blue, plums blue, cherries").answer == "blue"
    assert read_prompt("apples red, pears blue, plums").answer == "blue"


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("apples red, ", "must end with the word"),
        ("apples, pears", "example 1 must be a word and its answer; got 'apples'"),
        ("apples red blue, pears", "example 1 must be a word and its answer"),
        ("apples loud, pears", "answer of example 1 must be one of red, .*; got 'loud'"),
        ("xylograph red, pears", "word of example 1 .* not 'xylograph'"),
        ("apples red, <b>pears</b>", "word at the end .* not '<b>pears</b>'"),
        ("apples red, two words", "word at the end must be one word"),
        ("apples red, hammer", "'hammer' is of the group tools, of which there is no example"),
        ("apples", "no example; shown: none"),
        (", ".join(["apples red"] * 17) + ", pears", "16 examples at most; got 17"),
    ],
)
def test_what_is_no_prompt_is_refused_by_name(written, rule):
    with pytest.raises(ValueError, match=rule):
        read_prompt(written)


def test_the_heads_of_the_last_word_add_up_over_the_answers():
    tokenizer = get_tokenizer("bpe")
    sizes = {"context_length": 64, "n_layer": 2, "n_head": 2, "n_embd": 16}
    model = GPT(GPTConfig(vocab_size=tokenizer.vocab_size, **sizes)).eval()
    asked = read_prompt("apples turquoise, hammer blue, pears red, plums")
    found = look(model, tokenizer, asked)
    assert found.weights.shape == (2, 2, len(found.tokens), len(found.tokens))
    np.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-5)
    texts = [tokenizer.decode([token]) for token in found.tokens]
    # By hand: which tokens spell the colours, found by walking through the words of the prompt.
    words, at, own, other = [], 1, [], []
    for word, answer in asked.examples:
        words += [(word if not words else f" {word}", None), (f" {answer}", word), (",", None)]
    for piece, word in words:
        size = len(tokenizer.encode(piece))
        assert "".join(texts[at : at + size]) == piece
        if word is not None:
            (own if group_of()[word] == "fruits" else other).extend(range(at, at + size))
        at += size
    last = found.weights[:, :, -1]
    np.testing.assert_allclose(found.same, last[..., own].sum(-1), atol=1e-6)
    np.testing.assert_allclose(found.other, last[..., other].sum(-1), atol=1e-6)
    assert found.even == pytest.approx(len(own) / len(found.tokens))
    short = GPT(GPTConfig(vocab_size=tokenizer.vocab_size, **sizes | {"context_length": 4}))
    with pytest.raises(ValueError, match="the model reads 4 at most"):
        look(short, tokenizer, asked)


CLASSES = 3


@pytest.mark.parametrize("way", WAYS)
def test_the_counts_follow_from_the_settings(way):
    base = gpt()
    config, rank = base.config, 2
    c, f = config.n_embd, config.feed_forward_size
    head, block = CLASSES * (c + 1), 12 * c * c + 13 * c
    assert f == 4 * c
    parts = stages.parts_of(base, CLASSES, way, LoraConfig(rank))
    pairs = ((c, 3 * c), (c, c), (c, f), (f, c))
    change = config.n_layer * sum(rank * (a + b) for a, b in pairs) if way == "lora" else 0
    assert stages.count_of(parts) == count(config) + head + change
    trained = {"last": block + 2 * c, "all": count(config)}.get(way, 0)
    new = head + change + (count(config) if way == "nothing" else 0)
    assert {state: stages.count_of(parts, state) for state in stages.STATES} == {
        stages.TRAINED: trained,
        stages.NEW: new,
        stages.FROZEN: stages.count_of(parts) - trained - new,
    }


def test_the_base_stays_as_it_is():
    base = gpt()
    before = {name: one.clone() for name, one in base.named_parameters()}
    for way in WAYS:
        stages.parts_of(base, CLASSES, way)
    assert all(one.equal(before[name]) for name, one in base.named_parameters())


def test_layers_come_in_the_order_of_the_model():
    paths = [part.path for part in stages.parts_of(gpt(), CLASSES, "head")]
    assert paths[:2] == ["token", "position"] and paths[-1] == "head.linear"
    assert [path for path in paths if path.endswith("qkv")] == [
        f"blocks.{layer}.attn.qkv" for layer in range(3)
    ]
