"""Small untrained models of tiny-world's words, for tests that need any model at all."""

import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.models import GPT, GPTConfig
from llmviz.pretrained import load_bundled
from llmviz.tokenizers import train_tokenizer
from tests.pages.small_model import make_checkpoint


@pytest.fixture(scope="session")
def tokenizer():
    return train_tokenizer("word", load_corpus("tiny-world", characters=200_000).documents)


def small_gpt(tokenizer, **options):
    torch.manual_seed(0)
    sizes = {"context_length": 320, "n_layer": 2, "n_head": 2, "n_embd": 16}
    return GPT(GPTConfig(vocab_size=tokenizer.vocab_size, **sizes | options)).eval()


@pytest.fixture
def model(tokenizer):
    return small_gpt(tokenizer)


@pytest.fixture(scope="session")
def small_base(tmp_path_factory):
    """A folder with a model of the bundled one's name, tokenizer and context, and few weights."""
    folder = tmp_path_factory.mktemp("checkpoints")
    bundled, tokenizer, _ = load_bundled("tiny-world-gpt")
    make_checkpoint(folder, "tiny-world-gpt", tokenizer, bundled.context_length)
    return folder


@pytest.fixture
def small_tasks(monkeypatch, small_base):
    """Tasks of few questions, on the small base in the place of the bundled one."""
    monkeypatch.setattr("llmviz.pretrained.CHECKPOINTS", small_base)
    monkeypatch.setattr("llmviz.finetuning.preparation.TEST_QUESTIONS", 2)
    monkeypatch.setattr("llmviz.finetuning.preparation.PLAIN_STORIES", 2)
    monkeypatch.setattr("llmviz.finetuning.fewshot.HELD_OUT", 4)
    monkeypatch.setattr("llmviz.finetuning.fewshot.CURVE", (0, 4))
