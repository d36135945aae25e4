"""Every model by name: its class, its settings, what it is."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import nn

from llmviz.config import Config
from llmviz.models.bert import BERT, BERTConfig
from llmviz.models.bigram import Bigram, BigramConfig
from llmviz.models.gpt import GPT, GPTConfig
from llmviz.models.mlp import MLP, MLPConfig
from llmviz.models.rnn import GRU, LSTM, RNN, RNNConfig
from llmviz.models.seq2seq import Seq2Seq, Seq2SeqConfig
from llmviz.models.wavenet import WaveNet, WaveNetConfig
from llmviz.models.word2vec import SkipGram, SkipGramConfig


class Entry(NamedTuple):
    """One model of the registry."""

    model: type[nn.Module]
    config: type[Config]
    description: str
    next_token: bool = True  # False: not `forward(idx, targets)`, so it continues no text


MODELS: dict[str, Entry] = {
    "bigram": Entry(Bigram, BigramConfig, "the next token from the last one alone: a V × V table"),
    "mlp": Entry(MLP, MLPConfig, "a fixed window of tokens through one hidden layer"),
    "wavenet": Entry(WaveNet, WaveNetConfig, "a window of tokens fused pair by pair, like a tree"),
    "rnn": Entry(RNN, RNNConfig, "one hidden vector, rewritten token by token"),
    "gru": Entry(GRU, RNNConfig, "a recurrent model with gates that decide what stays"),
    "lstm": Entry(LSTM, RNNConfig, "a recurrent model with a second, protected memory"),
    "gpt": Entry(GPT, GPTConfig, "a transformer: attention over all tokens so far, layer by layer"),
    "bert": Entry(
        BERT, BERTConfig, "a transformer that sees both sides and says which word is hidden", False
    ),
    "seq2seq": Entry(
        Seq2Seq, Seq2SeqConfig, "an encoder and a decoder with cross-attention, to translate", False
    ),
    "word2vec": Entry(
        SkipGram, SkipGramConfig, "a vector for each word, learned from its neighbours", False
    ),
}


def build(name: str, config: Config | Mapping[str, Any] | None = None) -> nn.Module:
    """A new, untrained model of the registry, on the default device.

    config: its settings, as its config class or as plain values; what is left out keeps its
      default. Initial values come from torch's global random state.
    Raises ValueError for an unknown name or settings that do not fit together.
    """
    if name not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}; got {name!r}")
    entry = MODELS[name]
    if config is None or isinstance(config, Mapping):
        config = entry.config.from_dict(config or {})
    if not isinstance(config, entry.config):
        raise ValueError(
            f"model {name} needs a {entry.config.__name__}; got a {type(config).__name__}"
        )
    return entry.model(config)
