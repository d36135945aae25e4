"""Texts to learn from: bundled ones, downloads, the user's own, and the tiny-world grammar.

`llmviz.corpus.windows` cuts token ids into windows; it is apart because it needs torch.
"""

from llmviz.corpus.corpora import (
    CORPORA,
    TINY_WORLD_CHARACTERS,
    CorpusEntry,
    corpus_file,
    corpus_from_text,
    load_corpora,
    load_corpus,
)
from llmviz.corpus.counts import LETTERS, count_letter_pairs, letter_pair_counts
from llmviz.corpus.documents import Corpus
from llmviz.corpus.downloads import CorpusUnavailable
from llmviz.corpus.language import Translation, translate
from llmviz.corpus.pairs import PairCorpus, generate_pairs
from llmviz.corpus.probes import (
    PROBES,
    RELATIONS,
    Lookup,
    Probe,
    analogies,
    lookups,
    probes,
    word_categories,
)
from llmviz.corpus.statistics import EntropyFloor, bigram_entropy, entropy_floor, unigram_entropy
from llmviz.corpus.tiny_world import REGULARITIES, Document, WorldOptions, generate, is_story, parse
from llmviz.corpus.window_plan import WindowPlan
from llmviz.corpus.writer import Fact, NotTinyWorldError

__all__ = [
    "CORPORA",
    "LETTERS",
    "PROBES",
    "REGULARITIES",
    "RELATIONS",
    "TINY_WORLD_CHARACTERS",
    "Corpus",
    "CorpusEntry",
    "CorpusUnavailable",
    "Document",
    "EntropyFloor",
    "Fact",
    "Lookup",
    "NotTinyWorldError",
    "PairCorpus",
    "Probe",
    "Translation",
    "WindowPlan",
    "WorldOptions",
    "analogies",
    "bigram_entropy",
    "corpus_file",
    "corpus_from_text",
    "count_letter_pairs",
    "entropy_floor",
    "generate",
    "generate_pairs",
    "is_story",
    "letter_pair_counts",
    "load_corpora",
    "load_corpus",
    "lookups",
    "parse",
    "probes",
    "translate",
    "unigram_entropy",
    "word_categories",
]
