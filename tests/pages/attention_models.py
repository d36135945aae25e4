"""Small untrained models for the tests of the lesson on attention."""

from __future__ import annotations

import json

import pytest
import torch

from llmviz import pretrained
from llmviz.course.components import unpack
from llmviz.course.ui import engine
from llmviz.models import GPT, GPTConfig
from llmviz.models.recurrent_translator import RecurrentTranslator, RecurrentTranslatorConfig
from llmviz.models.seq2seq import Seq2Seq, Seq2SeqConfig
from llmviz.tokenizers import get_tokenizer

PARTS = ["why", "steps", "masks", "heads", "trained", "cross"]
MODELS = ["narrow", "wide", "rotary", "odd"]
TEXT = "the cat and the dog and the cat"


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory):
    """A folder with untrained GPTs and a translator.

    Narrow, wide, with rotary positions, and an odd one: waves, norms behind, the wrong scale, two
    softmaxes.
    """
    folder = tmp_path_factory.mktemp("checkpoints")
    bpe = get_tokenizer("bpe")
    torch.manual_seed(0)
    common = {"vocab_size": bpe.vocab_size, "context_length": 24, "n_layer": 2, "n_head": 4}
    made = {
        "narrow": GPT(GPTConfig(n_embd=16, **common)),
        "wide": GPT(GPTConfig(n_embd=96, **common)),
        "rotary": GPT(GPTConfig(n_embd=48, positions="rotary", **common)),
        "odd": GPT(
            GPTConfig(
                n_embd=16,
                positions="sinusoidal",
                norm="post",
                attention_scale="model",
                softmax_before_mask="softmax_again",
                **common,
            )
        ),
    }
    word = get_tokenizer("word")
    special = word.special_tokens
    sizes = {
        "vocab_size": word.vocab_size,
        "context_length": 32,
        "n_embd": 16,
        "pad_id": special["<|pad|>"],
        "start_id": special["<|endoftext|>"],
        "end_id": special["<|endoftext|>"],
    }
    made["pairs-seq2seq"] = Seq2Seq(Seq2SeqConfig(**sizes))
    made["pairs-rnn"] = RecurrentTranslator(RecurrentTranslatorConfig(**sizes))
    kinds = {"pairs-seq2seq": "seq2seq", "pairs-rnn": "seq2seq-rnn"}
    bundles = {}
    for name, model in made.items():
        kind = kinds.get(name, "gpt")
        size = sum(p.numel() for p in model.parameters())
        card = {"model": kind, "corpus": "tiny-world", "parameters": size, "steps": 0}
        (folder / name).mkdir()
        (folder / name / "card.json").write_text(json.dumps(card), encoding="utf-8")
        (folder / name / "model.safetensors").touch()  # its date is its version
        for part in model.parameters():  # an untrained head is nearly blind; this one is not
            if part.dim() == 2:
                torch.nn.init.normal_(part, std=0.3)
        tokenizer = word if name in kinds else bpe
        frozen = model.eval().requires_grad_(False)
        bundles[name] = engine.Bundled(name, frozen, tokenizer, card, str(folder / name))
    patch = pytest.MonkeyPatch()
    patch.setattr(engine, "CHECKPOINTS", folder)
    patch.setattr(pretrained, "CHECKPOINTS", folder)
    patch.setattr(engine, "load", bundles.__getitem__)
    patch.setattr(
        pretrained,
        "load_bundled",
        lambda name: (bundles[name].model, bundles[name].tokenizer, bundles[name].card),
    )
    yield bundles
    patch.undo()


def views_of(app) -> list[dict]:
    """What the page's matrix views were sent."""
    return [
        unpack(part.proto.bytes)
        for part in app.get("bidi_component")
        if part.proto.component_name == "llmviz_matrix_view"
    ]


def matrices_of(app) -> list[dict]:
    """The matrices of the first view on the page."""
    return views_of(app)[0]["matrices"]
