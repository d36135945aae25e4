"""Every model by name: where its class is, its settings, what it can do.

This is the only place that knows a model by its name; all others ask what a model can
do. It needs no torch: a class is imported when a model is built.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from llmviz.config import Config
from llmviz.models.settings import (
    EXTRA_IDS,
    BERTConfig,
    BigramConfig,
    GPTConfig,
    MatrixMemoryConfig,
    MLPConfig,
    RNNConfig,
    SkipGramConfig,
    WaveNetConfig,
)
from llmviz.models.translator_settings import RecurrentTranslatorConfig, Seq2SeqConfig

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel


# As a card names what `finetune` makes for classes: a gpt whose head tells classes, no next token.
CLASSIFIER = "classifier"


@dataclass(frozen=True)
class ModelEntry:
    """One model: its class as MODULE:NAME, its settings, one line about it, what it can do."""

    path: str
    config: type[Config]
    description: str
    next_token: bool = True  # `forward(idx, targets)`: reads token by token, so it continues a text
    token_table: bool = True  # reads a token by taking its row of a table of vectors
    attention: bool = False  # has blocks of attention
    recomputes: bool = False  # `recompute_every`: can compute its blocks again on the way back
    cache: bool = False  # `new_cache`: a token that was read once is not read again
    translates: bool = False  # reads one sentence and writes another; learns from pairs of them
    hidden_words: bool = False  # says which word stands where one is hidden, from both sides
    extra_ids: int = 0  # ids of its vocabulary that no text has, behind those of the tokenizer
    word_vectors: bool = False  # learns from pairs of words; its loss is counted per pair
    data: str = "llmviz.training.builders:next_words"  # what makes its batches, as MODULE:NAME
    not_in_forms: tuple[str, ...] = ()  # settings that the form for a run does not offer
    # What suits it where nothing else was chosen: fields of `Plan`, fields of `TrainConfig`.
    suited_plan: Mapping[str, Any] = field(default_factory=dict)
    suited_training: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # settings with a name

    @property
    def model(self) -> "type[LanguageModel]":
        """The class; torch is imported now."""
        return _named(self.path)

    @property
    def data_builder(self) -> Callable[[Any], Any]:
        """What makes batches of a plan's documents: see `llmviz.training.builders`."""
        return _named(self.data)


def _named(path: str) -> Any:
    module, name = path.split(":")
    return getattr(importlib.import_module(module), name)


BERT = ModelEntry(
    "llmviz.models.bert:BERT",
    BERTConfig,
    "a transformer that sees both sides and says which word is hidden",
    next_token=False,
    attention=True,
    recomputes=True,
    hidden_words=True,
    data="llmviz.training.builders:hidden_words",
    extra_ids=EXTRA_IDS,
    not_in_forms=("window",),
    suited_plan={"tokenizer": "word"},
)

MODELS: dict[str, ModelEntry] = {
    "bigram": ModelEntry(
        "llmviz.models.bigram:Bigram",
        BigramConfig,
        "the next token from the last one alone: a V × V table",
        token_table=False,
    ),
    "mlp": ModelEntry(
        "llmviz.models.mlp:MLP", MLPConfig, "a fixed window of tokens through one hidden layer"
    ),
    "wavenet": ModelEntry(
        "llmviz.models.wavenet:WaveNet",
        WaveNetConfig,
        "a window of tokens joined pair by pair, like a tree",
    ),
    "rnn": ModelEntry(
        "llmviz.models.rnn:RNN", RNNConfig, "one hidden vector, rewritten token by token"
    ),
    "gru": ModelEntry(
        "llmviz.models.rnn:GRU", RNNConfig, "a recurrent model with gates that decide what stays"
    ),
    "lstm": ModelEntry(
        "llmviz.models.rnn:LSTM", RNNConfig, "a recurrent model with a second, protected memory"
    ),
    "matrix-memory": ModelEntry(
        "llmviz.models.matrix_memory:MatrixMemory",
        MatrixMemoryConfig,
        "no list of tokens: each head writes them all into one matrix",
    ),
    "gpt": ModelEntry(
        "llmviz.models.gpt:GPT",
        GPTConfig,
        "a transformer: attention over all tokens so far, layer by layer",
        attention=True,
        recomputes=True,
        cache=True,
        not_in_forms=("window",),  # of another kind than that of an MLP or of word2vec
        sizes={
            "tiny": dict(vocab_size=65, context_length=32, n_layer=2, n_head=4, n_embd=48),
            "small": dict(vocab_size=65, context_length=64, n_layer=4, n_head=4, n_embd=128),
            "gpt2": dict(
                vocab_size=50257,
                context_length=1024,
                n_layer=12,
                n_head=12,
                n_embd=768,
                activation="gelu_tanh",
            ),
        },
    ),
    "bert": BERT,
    "diffusion": replace(
        BERT,
        path="llmviz.models.diffusion:MaskedDiffusion",
        description="a transformer that fills in texts of which any share is hidden, in any order",
        data="llmviz.training.builders:any_share_hidden",
    ),
    "seq2seq": ModelEntry(
        "llmviz.models.seq2seq:Seq2Seq",
        Seq2SeqConfig,
        "an encoder and a decoder with cross-attention, to translate",
        next_token=False,
        token_table=False,
        attention=True,
        translates=True,
        data="llmviz.training.builders:translations",
        suited_plan={"corpus": "pairs", "tokenizer": "word", "context_length": 32},
    ),
    "seq2seq-rnn": ModelEntry(
        "llmviz.models.recurrent_translator:RecurrentTranslator",
        RecurrentTranslatorConfig,
        "an encoder and a decoder with one vector between them, to translate",
        next_token=False,
        token_table=False,
        translates=True,
        data="llmviz.training.builders:translations",
        suited_plan={"corpus": "pairs", "tokenizer": "word", "context_length": 32},
    ),
    "word2vec": ModelEntry(
        "llmviz.models.word2vec:SkipGram",
        SkipGramConfig,
        "a vector for each word, learned from its neighbours",
        next_token=False,
        word_vectors=True,
        data="llmviz.training.builders:word_pairs",
        suited_plan={"tokenizer": "word"},
        suited_training={"learning_rate": 0.03, "weight_decay": 0.0},
    ),
}
DEFAULT = "gpt"  # what is trained where no model was chosen
GPT_SIZES = MODELS["gpt"].sizes  # as values for `GPTConfig.from_dict`


def entry_of(name: object) -> ModelEntry:
    """The entry of a model's name. Raises ValueError naming those that there are."""
    if not isinstance(name, str) or name not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}; got {name!r}")
    return MODELS[name]


def able(name: object, *capabilities: str) -> bool:
    """Whether a model has all the capabilities, which are fields of `ModelEntry`.

    name: as a card or a config.json has it; a model that is not in the catalogue can do nothing.

    >>> able("gpt", "next_token", "attention"), able("seq2seq", "next_token", "attention")
    (True, False)
    """
    entry = MODELS.get(name) if isinstance(name, str) else None
    return entry is not None and all(getattr(entry, capability) for capability in capabilities)
