"""Any tokenizer as a tokenizer.json, with the tokens that begin and end its texts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from llmviz.tokenizers.base import PADDING, UNKNOWN, Tokenizer
from llmviz.tokenizers.bpe import BPETokenizer
from llmviz.tokenizers.export import added_token, byte_level_content, huggingface_content
from llmviz.tokenizers.published import PublishedTokenizer
from llmviz.tokenizers.tiktoken_bridge import TiktokenTokenizer
from llmviz.tokenizers.vocabulary import CharTokenizer, VocabularyTokenizer, WordTokenizer

if TYPE_CHECKING:
    import tiktoken

# What a character is, and what a word is: the pattern of `WordTokenizer`.
PARTS = {CharTokenizer: r"[\s\S]", WordTokenizer: r"\w+(?:['’]\w+)*|[^\w\s]|\n"}


class PublishedForm(NamedTuple):
    """The object of a tokenizer.json, and what the files beside it say of its tokens."""

    content: dict[str, Any]
    begins: int | None  # the id in front of every text; None where nothing stands there
    ends: int | list[int]  # with which a model ends what it writes
    tokens: dict[str, str]  # bos_token, eos_token, … -> its text


def published_form(tokenizer: Tokenizer) -> PublishedForm:
    """Return a tokenizer in its published form: it gives the same ids, behind the same beginning.

    The tokens of a word tokenizer are put together with a space between all of them there.
    Raises ValueError for a kind that has no such form.
    """
    content = _content(tokenizer)
    texts = {token["id"]: token["content"] for token in content["added_tokens"]}
    vocabulary = content["model"]["vocab"]
    if isinstance(vocabulary, dict):
        texts |= {i: text for text, i in vocabulary.items() if i not in texts}
    else:
        texts = dict(enumerate(text for text, _ in vocabulary)) | texts
    start = tokenizer.start
    content = {**content, "post_processor": _behind(start, texts)}
    begins = start[0] if start else tokenizer.lone
    tokens = {"eos_token": texts[tokenizer.end]}
    if begins is not None:
        tokens["bos_token"] = texts[begins]
    for role, text in (("unk_token", UNKNOWN), ("pad_token", PADDING)):
        if text in tokenizer.special_tokens:
            tokens[role] = text
    ends = list(tokenizer.ends)
    return PublishedForm(content, begins, ends[0] if len(ends) == 1 else ends, tokens)


def _behind(start: tuple[int, ...], texts: dict[int, str]) -> dict[str, Any] | None:
    """The post-processor that puts tokens in front of a text."""
    if not start:
        return None
    front = [{"SpecialToken": {"id": texts[token_id], "type_id": 0}} for token_id in start]
    body, second = ({"Sequence": {"id": letter, "type_id": 0}} for letter in "AB")
    return {
        "type": "TemplateProcessing",
        "single": [*front, body],
        "pair": [*front, body, second],
        "special_tokens": {
            texts[token_id]: {"id": texts[token_id], "ids": [token_id], "tokens": [texts[token_id]]}
            for token_id in start
        },
    }


def _content(tokenizer: Tokenizer) -> dict[str, Any]:
    if isinstance(tokenizer, PublishedTokenizer):
        return tokenizer.to_dict()["content"]
    if isinstance(tokenizer, BPETokenizer):
        return huggingface_content(tokenizer)
    if isinstance(tokenizer, TiktokenTokenizer):
        return _of_tiktoken(tokenizer)
    if isinstance(tokenizer, CharTokenizer | WordTokenizer):
        return _of_list(tokenizer)
    raise ValueError(f"a tokenizer of the kind {tokenizer.kind} has no published form")


def _of_list(tokenizer: VocabularyTokenizer) -> dict[str, Any]:
    """A list of texts: what is a token is cut out of the text, and looked up."""
    vocabulary = {text: i for i, text in enumerate(tokenizer.vocabulary)}
    is_char = isinstance(tokenizer, CharTokenizer)
    cut = {
        "type": "Split",
        "pattern": {"Regex": PARTS[type(tokenizer)]},  # one of the two
        "behavior": "Isolated" if is_char else "Removed",
        "invert": not is_char,  # of words, what stands between them goes
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(i, text) for text, i in tokenizer.special_tokens.items()],
        "normalizer": None,
        "pre_tokenizer": cut,
        "post_processor": None,
        "decoder": {"type": "Fuse"} if is_char else None,
        "model": {
            "type": "WordLevel",
            "vocab": {**vocabulary, **tokenizer.special_tokens},
            "unk_token": UNKNOWN,
        },
    }


def _of_tiktoken(tokenizer: TiktokenTokenizer) -> dict[str, Any]:
    """An encoding of tiktoken, whose merges follow from its ranks."""
    encoding: tiktoken.Encoding = tokenizer.encoding
    ranks = encoding._mergeable_ranks
    merges = sorted(
        (rank, parts) for token, rank in ranks.items() if (parts := _parts(token, ranks))
    )
    content = byte_level_content(
        {i: token for token, i in ranks.items()},
        [parts for _, parts in merges],
        tokenizer.special_tokens,
    )
    if tokenizer.name == "gpt2":
        return content
    level = {**content["pre_tokenizer"], "use_regex": False}
    cut = {"type": "Split", "pattern": {"Regex": encoding._pat_str}, "behavior": "Isolated"}
    content["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [{**cut, "invert": False}, level],
    }
    return content


def _parts(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes] | None:
    """The two tokens that merge into one, by merging its bytes with the ranks below its own."""
    parts = [bytes([byte]) for byte in token]
    while len(parts) > 2:
        rank, at = min(
            (ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(pairwise(parts))
        )
        if rank >= ranks[token]:
            return None
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return (parts[0], parts[1]) if len(parts) == 2 else None
