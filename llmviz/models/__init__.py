"""Language models from the bigram to the GPT, all with one contract.

`forward(idx, targets=None) -> (logits, loss)` and a `context_length`: so one trainer, one way to
generate and one page serve all of them. The encoder–decoders and word2vec are the exceptions;
a BERT has the contract, but its targets are the tokens that are hidden in idx.
`catalogue` lists them all. Names that need torch are imported on first use, so that a page can
read settings and the catalogue without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.files.lazy import lazy_names
from llmviz.models.catalogue import MODELS
from llmviz.models.settings import (
    BERTConfig,
    BigramConfig,
    GPTConfig,
    MLPConfig,
    RNNConfig,
    SkipGramConfig,
    WaveNetConfig,
)
from llmviz.models.translator_settings import RecurrentTranslatorConfig, Seq2SeqConfig

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel, count_parameters
    from llmviz.models.bert import BERT
    from llmviz.models.bigram import Bigram, CountBigram
    from llmviz.models.diffusion import MaskedDiffusion
    from llmviz.models.gpt import GPT
    from llmviz.models.mlp import MLP
    from llmviz.models.recurrent_translator import RecurrentTranslator
    from llmviz.models.registry import build
    from llmviz.models.rnn import GRU, LSTM, RNN
    from llmviz.models.seq2seq import Seq2Seq
    from llmviz.models.wavenet import WaveNet
    from llmviz.models.word2vec import SkipGram

_NEED_TORCH = {
    "LanguageModel": "base",
    "count_parameters": "base",
    "BERT": "bert",
    "MaskedDiffusion": "diffusion",
    "Bigram": "bigram",
    "CountBigram": "bigram",
    "GPT": "gpt",
    "MLP": "mlp",
    "RecurrentTranslator": "recurrent_translator",
    "build": "registry",
    "GRU": "rnn",
    "LSTM": "rnn",
    "RNN": "rnn",
    "Seq2Seq": "seq2seq",
    "WaveNet": "wavenet",
    "SkipGram": "word2vec",
}

__all__ = [
    "BERT",
    "GPT",
    "GRU",
    "LSTM",
    "MLP",
    "MODELS",
    "RNN",
    "BERTConfig",
    "Bigram",
    "BigramConfig",
    "CountBigram",
    "GPTConfig",
    "LanguageModel",
    "MLPConfig",
    "MaskedDiffusion",
    "RNNConfig",
    "RecurrentTranslator",
    "RecurrentTranslatorConfig",
    "Seq2Seq",
    "Seq2SeqConfig",
    "SkipGram",
    "SkipGramConfig",
    "WaveNet",
    "WaveNetConfig",
    "build",
    "count_parameters",
]

__getattr__ = lazy_names(__name__, _NEED_TORCH)
