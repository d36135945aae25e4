"""Language models from the bigram to the GPT, all with one contract.

`forward(idx, targets=None) -> (logits, loss)` and a `context_length`: so one trainer, one way to
generate and one page serve all of them. The encoder–decoder and word2vec are the exceptions; a
BERT has the contract, but its targets are the words hidden in idx.
"""

from llmviz.models.base import LanguageModel, count_parameters
from llmviz.models.bert import BERT, BERTConfig
from llmviz.models.bigram import Bigram, BigramConfig, CountBigram
from llmviz.models.gpt import GPT, GPTConfig
from llmviz.models.mlp import MLP, MLPConfig
from llmviz.models.registry import MODELS, build
from llmviz.models.rnn import GRU, LSTM, RNN, RNNConfig
from llmviz.models.seq2seq import Seq2Seq, Seq2SeqConfig
from llmviz.models.wavenet import WaveNet, WaveNetConfig
from llmviz.models.word2vec import SkipGram, SkipGramConfig

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
    "RNNConfig",
    "Seq2Seq",
    "Seq2SeqConfig",
    "SkipGram",
    "SkipGramConfig",
    "WaveNet",
    "WaveNetConfig",
    "build",
    "count_parameters",
]
