"""Examples under the mask against the loss of training; continuations against a plain loop."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from llmviz.course.lessons.finetuning.instructions import chapter
from llmviz.course.ui import engine
from llmviz.finetuning.adapters import load_adapter
from llmviz.finetuning.continuations import continuation, untrained
from llmviz.finetuning.instructions import Instruction, ask, instructions, tokens_of
from llmviz.finetuning.masked import masked_batch
from llmviz.finetuning.tuned_models import tuned_card, tuned_model
from llmviz.nn.loss import IGNORED, next_token_loss
from llmviz.paths import TUNED
from llmviz.pretrained import load_bundled
from llmviz.training.evaluate import evaluate_documents


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
