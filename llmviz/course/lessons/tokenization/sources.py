"""Where the chapters get a tokenizer and a corpus from."""

import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

import streamlit as st

from llmviz.corpus import corpus_from_text, load_corpus
from llmviz.course.lessons.tokenization import words
from llmviz.course.ui import codec, engine, kit
from llmviz.files.text import check_text
from llmviz.tokenizers import (
    TOKENIZERS,
    Film,
    Tokenizer,
    WordTokenizer,
    film,
    get_tokenizer,
    load_tokenizer,
)

TRAINED, LOADED = "trained", "loaded"
YOUR_TEXT, OWN = "text", "own"
FORMS = "word-forms"  # the bundled corpus in which stems meet endings often
BUNDLED = ("tiny-world-sample", FORMS, "story", "names")
MEGABYTE = 2**20
CORPUS_LIMIT = codec.MOST_OF_A_TEXT  # bytes of a file with a learner's corpus
TOKENIZER_FILE_LIMIT = 2 * MEGABYTE  # some 200,000 words, which are read in less than a second
QUOTED = 2_000  # characters of a corpus that a snippet quotes

OFFERED = [*TOKENIZERS, kit.REAL, TRAINED, LOADED]
TOKENIZER = codec.choice("tokenizer", "bpe", OFFERED, shared=True)
TRAINING = [
    codec.choice("corpus", BUNDLED[0], [*BUNDLED, YOUR_TEXT, OWN]),
    codec.text("own", words.own_corpus, codec.MOST_OF_A_TEXT),
    codec.integer("size", 1024, 0, 4096),
]

REAL_CODE = (
    "from llmviz.pretrained import load_bundled\n\nmodel, tokenizer, card = load_bundled({name!r})"
)

_FILE_SLOT = "tokenization.file"


def choices(*names: str) -> list[str]:
    """Return `names` and what this session has besides: the trained one, a file that was loaded."""
    real = [kit.REAL] if not names and kit.REAL in engine.obtained() else []
    return [
        *(names or TOKENIZERS),
        *real,
        TRAINED,
        *([LOADED] if _FILE_SLOT in st.session_state else []),
    ]


def tokenizer_called(state: kit.PageState, name: str) -> Tokenizer:
    """Return the tokenizer of a name, training it where need be.

    Raises ValueError: it cannot be had now; the message says why.
    """
    if name == TRAINED:
        return trained(state).tokenizer
    if name == LOADED:
        if _FILE_SLOT not in st.session_state:
            raise ValueError(words.no_file)
        return _read(*st.session_state[_FILE_SLOT])
    return engine.tokenizer(name) if name == kit.REAL else get_tokenizer(name)


def list_tokenizers(state: kit.PageState) -> None:
    listed = dict.fromkeys([*choices(), state["tokenizer"]])
    labels = {name: f"{name} · {words.tokenizers[name]}" for name in listed}
    st.selectbox(
        words.choose_tokenizer,
        list(labels),
        format_func=labels.__getitem__,  # in the language of the page
        width=460,
        **state.bind("tokenizer"),
    )


def chosen_tokenizer(state: kit.PageState) -> tuple[str, Tokenizer, str]:
    """Return the chosen tokenizer and its name, or the bundled BPE and why it stands in."""
    name = state["tokenizer"]
    try:
        return name, tokenizer_called(state, name), ""
    except ValueError as reason:
        return "bpe", get_tokenizer("bpe"), f"{reason} {words.bpe_instead}"


def take_file(data: bytes) -> Tokenizer:
    """Read an uploaded tokenizer file and keep it for this session, as the file that it is.

    A tokenizer takes ten times the memory of its file; visitors with the same file share one.

    Raises ValueError: it is too large, cut off, changed, or no tokenizer file.
    """
    if len(data) > TOKENIZER_FILE_LIMIT:
        raise ValueError(words.file_large.format(count=len(data), most=TOKENIZER_FILE_LIMIT))
    file = sha256(data).hexdigest(), data
    tokenizer = _read(*file)
    st.session_state[_FILE_SLOT] = file
    return tokenizer


@kit.cached(8, key=lambda digest, data: digest)
def _read(digest: str, data: bytes) -> Tokenizer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "the file"
        path.write_bytes(data)
        return load_tokenizer(path)


def file_of(tokenizer: Tokenizer) -> bytes:
    """Return the JSON file that `tokenizer.save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tokenizer.save(path)
        return path.read_bytes()


def own_corpus(state: kit.PageState) -> str | None:
    """Return the learner's own corpus, or None for a bundled one."""
    slot = {YOUR_TEXT: kit.LEARNER_TEXT.key, OWN: "own"}.get(state["corpus"])
    return None if slot is None else state[slot]


def trained(state: kit.PageState) -> Film:
    """Return the training that the controls of the chapter on learning ask for.

    Raises ValueError: the vocabulary size has no room, or the corpus is empty.
    """
    return training(*asked_training(state))


def asked_training(state: kit.PageState) -> tuple[str, str | None, int]:
    """Return the corpus, its text where it is the learner's own, and the size of vocabulary."""
    return state["corpus"], own_corpus(state), state["size"]


# A film is frozen, so all sessions may share it; a copy for each rerun would take longer than
# drawing it.
@st.cache_resource(max_entries=24, show_spinner=words.training, show_time=True)
def training(name: str, text: str | None, size: int) -> Film:
    """Return the training on a corpus, done once for each corpus and size."""
    corpus = load_corpus(name) if text is None else corpus_from_text(check_text(text))
    return film(corpus.documents, "", size)


def code_for(state: kit.PageState, name: str) -> str | None:
    """Return Python that makes the tokenizer; None where it would quote a file or a book."""
    if name in TOKENIZERS:
        return f"from llmviz.tokenizers import get_tokenizer\n\ntokenizer = get_tokenizer({name!r})"
    if name == kit.REAL:
        return REAL_CODE.format(name=name)
    corpus = code_for_corpus(state)
    if name != TRAINED or corpus is None:
        return None
    return (
        f"from llmviz.tokenizers import BPETokenizer\n{corpus}"
        f"tokenizer = BPETokenizer.train(documents, {state['size']})"
    )


def code_for_corpus(state: kit.PageState) -> str | None:
    """Return Python that makes `documents`, or None where the text is too long to quote."""
    text = own_corpus(state)
    if text is None:
        call = f"load_corpus({state['corpus']!r})"
    elif len(text) <= QUOTED:
        call = f"corpus_from_text({text!r})"
    else:
        return None
    return f"from llmviz.corpus import {call.split('(')[0]}\n\ndocuments = {call}.documents\n"


def occurrences(state: kit.PageState, followed: list[str]) -> list[int]:
    """Return how often each of some words stands in the corpus of the chapter on learning."""
    counts = _word_counts(state["corpus"], own_corpus(state))
    return [counts.get(word, 0) for word in followed]


def times_in_forms(wanted: list[str]) -> list[int]:
    """Return how often each of some words stands in the bundled word forms."""
    return [_word_counts(FORMS, None).get(word, 0) for word in wanted]


@st.cache_resource(max_entries=8, show_spinner=False)  # only read from
def _word_counts(name: str, text: str | None) -> dict[str, int]:
    documents = load_corpus(name).documents if text is None else [text]
    return dict(Counter(word for document in documents for word in WordTokenizer.split(document)))
