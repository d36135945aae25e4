"""Where a text may be cut, the ids of both parts are those of the whole, whatever comes behind."""

import regex
import tiktoken_ext.openai_public as published
from hypothesis import given
from hypothesis import strategies as st

from llmviz.tokenizers import BPETokenizer, CharTokenizer, WordTokenizer
from llmviz.tokenizers.pretokenize import GPT2_PATTERN, last_cut

TEXTS = st.text(
    st.sampled_from("abé日'st019 .,/-_(\u0301\u00a0\u2028\x1c\t\r\n" + " \n" * 3), max_size=30
)


def patterns() -> list[str]:
    """Those of tiktoken's encodings, without their merges, which would be downloaded."""
    own = published.load_tiktoken_bpe
    published.load_tiktoken_bpe = lambda *_, **__: {}
    try:
        found = [published.cl100k_base()["pat_str"], published.o200k_base()["pat_str"]]
    finally:
        published.load_tiktoken_bpe = own
    return [GPT2_PATTERN, *found]


PATTERNS = [regex.compile(one) for one in patterns()]


@given(TEXTS, TEXTS)
def test_no_piece_of_a_published_pattern_crosses_a_cut(text, behind):
    at = last_cut(text)
    for pattern in PATTERNS:
        whole = pattern.findall(text + behind)
        assert pattern.findall(text[:at]) + pattern.findall(text[at:] + behind) == whole


LEARNED = ["a b ab abé\n's 日日 a\nb 019 's s\u0301", "(/ab) é-t_t .,"]
TOKENIZERS = [
    BPETokenizer.train(LEARNED, 280),
    CharTokenizer.train(LEARNED),
    WordTokenizer.train(LEARNED),
]


@given(TEXTS, TEXTS)
def test_ids_of_both_parts_are_those_of_the_whole(text, behind):
    for tokenizer in TOKENIZERS:
        at = tokenizer.cut(text)
        parts = tokenizer.encode(text[:at]) + tokenizer.encode(text[at:] + behind)
        assert parts == tokenizer.encode(text + behind), tokenizer.kind


def test_a_usual_text_can_be_cut_near_its_end():
    text = "The cat sat on the mat. It slept.\nThe dog did not. " * 20
    for tokenizer in TOKENIZERS:
        assert tokenizer.cut(text) > len(text) - 20
