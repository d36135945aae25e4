"""Text to token ids and back: words, characters, BPE, WordPiece, tiktoken's, published ones."""

from llmviz.files.text import check_text, read_text_file
from llmviz.tokenizers.base import ENDOFTEXT, PADDING, UNKNOWN, Token, Tokenizer, in_line
from llmviz.tokenizers.bpe import BPETokenizer
from llmviz.tokenizers.download import TokenizerUnavailable
from llmviz.tokenizers.explain import EncodeStep, EncodeSteps
from llmviz.tokenizers.film import Film, FilmNode, film
from llmviz.tokenizers.merging import NEVER, MergeTree, Node
from llmviz.tokenizers.published import PublishedTokenizer, read_published_tokenizer
from llmviz.tokenizers.registry import (
    TOKENIZERS,
    TRAINERS,
    TokenizerInfo,
    get_tokenizer,
    load_tokenizer,
    train_tokenizer,
)
from llmviz.tokenizers.tiktoken_bridge import TiktokenTokenizer
from llmviz.tokenizers.training import TIE_RULES, MergeStep
from llmviz.tokenizers.vocabulary import CharTokenizer, WordTokenizer
from llmviz.tokenizers.wordpiece import PairCount, PieceStep, WordPieceTokenizer, piece_steps

__all__ = [
    "ENDOFTEXT",
    "NEVER",
    "PADDING",
    "TIE_RULES",
    "TOKENIZERS",
    "TRAINERS",
    "UNKNOWN",
    "BPETokenizer",
    "CharTokenizer",
    "EncodeStep",
    "EncodeSteps",
    "Film",
    "FilmNode",
    "MergeStep",
    "MergeTree",
    "Node",
    "PairCount",
    "PieceStep",
    "PublishedTokenizer",
    "TiktokenTokenizer",
    "Token",
    "Tokenizer",
    "TokenizerInfo",
    "TokenizerUnavailable",
    "WordPieceTokenizer",
    "WordTokenizer",
    "check_text",
    "film",
    "get_tokenizer",
    "in_line",
    "load_tokenizer",
    "piece_steps",
    "read_published_tokenizer",
    "read_text_file",
    "train_tokenizer",
]
