"""The tokenizer in a published model's folder: tokenizer.json, vocab.json and merges.txt, or
SentencePiece's tokenizer.model.

The `tokenizers` library reads and applies it, or for SentencePiece's own file the package
sentencepiece, so a text gets the ids that the model was trained on. Byte-level BPE is read, which
the models of the GPT-2 family have, and what SentencePiece makes: BPE and Unigram whose tokens
write a space as ▁, with a token for each byte or without.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.files.text import pointer_note
from llmviz.tokenizers import sentencepiece_model
from llmviz.tokenizers.base import ENDOFTEXT, ByteTokenizer
from llmviz.tokenizers.pretokenize import byte_to_character

if TYPE_CHECKING:
    import tokenizers

WHOLE, VOCABULARY, MERGES = "tokenizer.json", "vocab.json", "merges.txt"
OPTIONS, SPECIAL, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
GPT2_CLASSES = ("GPT2Tokenizer", "GPT2TokenizerFast")
BARE = ("tokenizer.model", "spiece.model")  # what SentencePiece itself writes
FILES = (WHOLE, VOCABULARY, MERGES, OPTIONS, SPECIAL, ADDED, *BARE)


class PublishedTokenizer(ByteTokenizer):
    """A tokenizer with the ids and the rules of its publisher.

    One of SentencePiece's may put a space in front of a text. `decode` takes it away again.

    Args:
        content: the object in its tokenizer.json. `encode` gives the ids of the whole text: nothing
            is cut off, filled up or added. What the post-processor puts in front of a text is
            `front`. What it puts behind is left out: a text that goes on has not ended.
        vocab_size: how many ids the model has; it may have more than there are tokens.
        end: the id of the token that ends a text. `special_tokens` has it under its own text, and
            as `<|endoftext|>` where no other token is called so.
        more_ends: further ids with which the model ends what it writes.
        model: SentencePiece's own file, which makes and reads the ids where it is given.

    Raises:
        ValueError: the content is no such tokenizer, or has an id that the model does not have.
    """

    kind = "published"

    def __init__(
        self,
        content: dict[str, Any],
        vocab_size: int,
        end: int,
        name: str = "published",
        more_ends: Sequence[int] = (),
        model: bytes | None = None,
    ) -> None:
        self.name = name
        content = {**content, "truncation": None, "padding": None}
        self._content = {**content, "post_processor": None}
        _check_parts(content)
        by_bytes = _decoders(content["decoder"]) == [BYTE_LEVEL]
        spelled = _spelled if by_bytes else _spelled_with_spaces
        self._drops_space = _drops_space(content["decoder"])
        self._compiled = _compiled(content)
        self.front = _front(self._compiled)
        self._compiled.post_processor = None
        self._compiled.encode_special_tokens = True  # their texts are ordinary unless allowed
        ids = self._compiled.get_vocab(with_added_tokens=True)
        last = max(ids.values(), default=-1)
        if type(vocab_size) is not int:
            raise ValueError(f"vocab_size must be a whole number; got {vocab_size!r}")
        if last >= vocab_size:
            raise ValueError(f"its ids go up to {last:,}, and the model has {vocab_size:,} tokens")
        added = self._compiled.get_added_tokens_decoder()
        self._bytes = [b""] * vocab_size
        for text, token_id in ids.items():
            self._bytes[token_id] = text.encode() if token_id in added else spelled(text)
        self._applied = None if model is None else sentencepiece_model.Applied(model)
        if self._applied is not None:
            self._bytes[: len(self._applied.spelled)] = self._applied.spelled
        self.unused_ids = frozenset(range(vocab_size)) - set(ids.values())
        self.special_tokens = {token.content: i for i, token in added.items() if token.special}
        if type(end) is not int or not 0 <= end < vocab_size or end in self.unused_ids:
            raise ValueError(f"the id of the end-of-text token must be a token's; got {end!r}")
        if ENDOFTEXT not in self.special_tokens:
            self.special_tokens[ENDOFTEXT] = end
        self._ends = tuple(dict.fromkeys((end, *more_ends)))
        for token in (*self.front, *self._ends):
            if type(token) is not int or not 0 <= token < vocab_size or token in self.unused_ids:
                raise ValueError(f"what opens or ends a text must be a token; got the id {token!r}")

    @property
    def end(self) -> int:
        """The id of the token that ends a text, whatever another token is called."""
        return self._ends[0]

    @property
    def ends(self) -> tuple[int, ...]:
        """The ids with which the model ends what it writes, `end` first."""
        return self._ends

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the ids; bytes that make no character become U+FFFD."""
        if self._applied is not None:
            ids = self.check_ids(ids)
            return super().decode(ids)[self._applied.leading(ids) :]
        text = super().decode(ids)
        return text[1:] if self._drops_space and text.startswith(" ") else text

    def to_dict(self) -> dict:
        """Return the content of its tokenizer.json, and what the model's config says of it."""
        own = self._applied and {"sentencepiece": base64.b64encode(self._applied.data).decode()}
        return {
            "content": self._content,
            "vocab_size": self.vocab_size,
            "end": self.end,
            "more_ends": self.ends[1:],
            **(own or {}),
        }

    @classmethod
    def from_dict(cls, content: dict) -> PublishedTokenizer:
        """Build the tokenizer of a saved file's content.

        A file from before `front` was kept does not say what stands in front of a text; models were
        then read behind the end-of-text token.
        """
        inner, more_ends = content.get("content"), content.get("more_ends", [])
        if not isinstance(inner, dict):
            raise ValueError('"content" must be the object of a tokenizer.json')
        if not isinstance(more_ends, list):
            raise ValueError(f'"more_ends" must be a list of ids; got {more_ends!r}')
        size: Any = content.get("vocab_size")  # both are checked by the class
        end: Any = content.get("end")
        model = content.get("sentencepiece")
        try:
            data = None if model is None else base64.b64decode(model, validate=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f'"sentencepiece" must be a file in base64: {error}') from None
        tokenizer = cls(inner, size, end, content["name"], more_ends, data)
        tokenizer.front = None
        return tokenizer

    def _encode_ordinary(self, text: str) -> list[int]:
        if self._applied is not None:
            return self._applied.encode(text)
        return self._compiled.encode(text, add_special_tokens=False).ids

    def _spans_ordinary(self, text: str) -> Iterator[tuple[int, int, int]]:
        ids = self._encode_ordinary(text)
        if not self._drops_space and self.decode_bytes(ids) == text.encode():
            start = 0
            for token_id in ids:
                end = start + len(self._bytes[token_id])
                yield token_id, start, end
                start = end
            return
        # The tokenizer changed the text first: it says itself what a token is of.
        if self._applied is not None:
            spans = self._applied.offsets(text)
        else:
            place = [0]
            for character in text:
                place.append(place[-1] + len(character.encode()))
            encoded = self._compiled.encode(text, add_special_tokens=False)
            spans = [(place[start], place[end]) for start, end in encoded.offsets]
        for token_id, (start, end) in zip(ids, spans, strict=True):
            yield token_id, start, end


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds a tokenizer of its own."""
    return _source(folder).is_file() and (
        _source(folder).name != VOCABULARY or (folder / MERGES).is_file()
    )


def _source(folder: Path) -> Path:
    """The file that a tokenizer is read from, the one that says most."""
    for name in (WHOLE, VOCABULARY, *BARE):
        if (folder / name).is_file():
            return folder / name
    return folder / VOCABULARY


def read_published_tokenizer(
    folder: Path, vocab_size: int, ends: Sequence[int] = (), lone: int | None = None
) -> PublishedTokenizer:
    """Return the tokenizer in a published model's folder.

    Args:
        folder: where its files are.
        vocab_size: how many ids the model has.
        ends: the ids that the model's config gives for the end of a text. Without one that is a
            token's, the token `<|endoftext|>` is the end.
        lone: the id that the model's config gives for the beginning of a text. An empty text is
            read as this token where nothing stands in front of texts.

    Raises:
        ValueError: a file is missing or damaged, the tokenizer is of another kind, has more ids
            than the model, or no token for the end of a text.
    """
    source = _source(folder)
    try:
        model = source.read_bytes() if source.name in BARE else None
        if model is not None and (note := pointer_note(model)):
            raise ValueError(note)
        content = _content(folder, source, model)
        _check_parts(content)
        tokens = _compiled(content)
        if model is not None:
            ends = (*ends, sentencepiece_model.end_of(model))
        fitting = list(dict.fromkeys(i for i in ends if _is_token(tokens, i)))
        end = fitting[0] if fitting else tokens.token_to_id(ENDOFTEXT)
        if end is None:
            raise ValueError(
                f"has no {ENDOFTEXT}, and the model's config names no other end of a text"
            )
        tokenizer = PublishedTokenizer(content, vocab_size, end, more_ends=fitting[1:], model=model)
        tokenizer.lone = lone if _is_token(tokens, lone) else None
        return tokenizer
    except (ValueError, OSError) as error:
        raise ValueError(f"{source}: {error}") from error


def _content(folder: Path, source: Path, model: bytes | None) -> dict[str, Any]:
    """The content of a tokenizer.json for what a folder has."""
    if source.name == WHOLE:
        return _object(source)
    if model is None:
        return _from_vocabulary(folder)
    options = _object_if_there(folder / OPTIONS)
    return sentencepiece_model.content_of(model, begins=options.get("add_bos_token") is not False)


def _is_token(tokens: tokenizers.Tokenizer, token_id: Any) -> bool:
    return type(token_id) is int and token_id >= 0 and tokens.id_to_token(token_id) is not None


def _front(tokens: tokenizers.Tokenizer) -> tuple[int, ...]:
    """The ids that a post-processor puts in front of a text."""
    for text in ("a", "1", ".", " "):  # a vocabulary without the letter reads nothing of it
        encoded = tokens.encode(text)
        added = encoded.special_tokens_mask
        if 0 in added:
            return tuple(encoded.ids[: added.index(0)])
    return ()


def _from_vocabulary(folder: Path) -> dict[str, Any]:
    """The content of a tokenizer.json for a vocab.json and a merges.txt in GPT-2's form."""
    vocabulary = _object(folder / VOCABULARY)
    try:
        lines = (folder / MERGES).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{MERGES} cannot be read: {error}") from error
    merges = [line.rstrip("\r").split(" ") for line in lines if not line.startswith("#version")]
    options = _object_if_there(folder / OPTIONS)
    kind = options.get("tokenizer_class", GPT2_CLASSES[0])
    if kind not in GPT2_CLASSES:
        raise ValueError(
            f"{VOCABULARY} and {MERGES} are read in GPT-2's form, of the tokenizer_class "
            f"{GPT2_CLASSES[0]}; got {kind!r}, which needs a {WHOLE}"
        )
    byte_level = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}
    prefix = options.get("add_prefix_space", False)
    return {
        "version": "1.0",
        "added_tokens": _added_tokens(folder, vocabulary, options),
        "normalizer": None,
        "post_processor": _in_front(folder, options, vocabulary),
        "pre_tokenizer": {**byte_level, "add_prefix_space": prefix},
        "decoder": {**byte_level, "add_prefix_space": prefix},
        "model": {
            "type": "BPE",
            "vocab": vocabulary,
            "merges": [pair for pair in merges if pair != [""]],
        },
    }


def _in_front(
    folder: Path, options: dict[str, Any], vocabulary: dict[str, Any]
) -> dict[str, Any] | None:
    """The post-processor that the options beside a vocab.json ask for, as transformers does it."""
    if not options.get("add_bos_token"):
        return None
    about = {"bos_token": ENDOFTEXT, **_object_if_there(folder / SPECIAL), **options}["bos_token"]
    text = about.get("content") if isinstance(about, dict) else about
    ids = vocabulary | _object_if_there(folder / ADDED)
    if text is None:
        return None
    if not isinstance(text, str) or type(ids.get(text)) is not int:
        raise ValueError(f"add_bos_token needs a bos_token with an id; got {text!r}")
    return sentencepiece_model.in_front(text, ids[text])


def _added_tokens(
    folder: Path, vocabulary: dict[str, Any], options: dict[str, Any]
) -> list[dict[str, Any]]:
    """What the files beside a vocab.json say of special tokens, in the order of their ids."""
    ids = vocabulary | _object_if_there(folder / ADDED)
    by_id: dict[int, dict[str, Any]] = {}

    def add(token_id: Any, about: Any, special: bool) -> None:
        about = {"content": about} if isinstance(about, str) else about
        if type(token_id) is not int or not isinstance(about, dict):
            raise ValueError(f"a special token must be a text with an id; got {about!r}")
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        given = {name: about[name] for name in flags if name in about}
        content, special = about.get("content"), about.get("special", special)
        by_id[token_id] = {**flags, **given, "id": token_id, "content": content, "special": special}

    for text, token_id in ids.items():
        if text not in vocabulary:
            add(token_id, text, False)
    roles = _object_if_there(folder / SPECIAL).values()
    for about in [*roles, *(options.get(f"{role}_token") for role in ("bos", "eos", "unk", "pad"))]:
        role = about.get("content") if isinstance(about, dict) else about
        if isinstance(role, str) and role in ids:
            add(ids[role], about, True)
    if ENDOFTEXT in ids:
        add(ids[ENDOFTEXT], ENDOFTEXT, True)
    decoder = options.get("added_tokens_decoder", {})
    for token_id, about in decoder.items() if isinstance(decoder, dict) else ():
        add(int(token_id) if str(token_id).isdecimal() else None, about, False)
    return [by_id[token_id] for token_id in sorted(by_id)]


def _check_parts(content: dict[str, Any]) -> None:
    """Refuse what is none of the kinds that are read."""
    model, decoder = content.get("model"), content.get("decoder")
    kind = model.get("type", "BPE") if isinstance(model, dict) else model
    if not isinstance(model, dict) or kind not in ("BPE", "Unigram"):
        raise ValueError(f'its model must be of type "BPE" or "Unigram"; got {kind!r}')
    steps = _decoders(decoder)
    if kind == "Unigram" and steps == [BYTE_LEVEL]:
        raise ValueError('its decoder must be that of SentencePiece; got "ByteLevel"')
    if steps != [BYTE_LEVEL] and not _writes_spaces(steps):
        got = decoder.get("type") if isinstance(decoder, dict) else decoder
        raise ValueError(
            f'its decoder must be of type "ByteLevel", "Metaspace", or that of SentencePiece; '
            f"got {got!r}"
        )
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name):
            raise ValueError(f"its model must have no {name}; got {model[name]!r}")


BYTE_LEVEL = "ByteLevel"
SPACE = sentencepiece_model.SPACE
_BYTE = re.compile("<0x([0-9A-F]{2})>")


def _decoders(decoder: Any) -> list[Any]:
    """The types of the steps that put tokens together; a step of a kind with options has them."""
    if not isinstance(decoder, dict):
        return [decoder]
    if decoder.get("type") == "Sequence" and isinstance(decoder.get("decoders"), list):
        return [step for part in decoder["decoders"] for step in _decoders(part)]
    kind = decoder.get("type")
    if kind == "Replace":
        return [(kind, decoder.get("pattern"), decoder.get("content"))]
    if kind == "Strip":
        return [(kind, decoder.get("content"), decoder.get("start"), decoder.get("stop"))]
    if kind == "Metaspace":
        return [(kind, decoder.get("replacement"))]
    return [kind]


def _writes_spaces(steps: list[Any]) -> bool:
    """Whether ▁ becomes a space, a byte's token its byte, and no more than one space is dropped."""
    spaces = [("Replace", {"String": SPACE}, " "), ("Metaspace", SPACE)]
    others = ["ByteFallback", "Fuse", ("Strip", " ", 1, 0)]
    return any(step in spaces for step in steps) and all(step in spaces + others for step in steps)


def _drops_space(decoder: dict[str, Any]) -> bool:
    """Whether the space in front of a text is taken away where tokens are put together."""
    if decoder.get("type") == "Sequence":
        return any(_drops_space(part) for part in decoder["decoders"])
    if decoder.get("type") == "Metaspace":
        return decoder.get("prepend_scheme", "always") != "never"
    return decoder.get("type") == "Strip"


def _spelled_with_spaces(text: str) -> bytes:
    """The bytes of a token of SentencePiece's."""
    byte = _BYTE.fullmatch(text)
    return bytes([int(byte[1], 16)]) if byte else text.replace(SPACE, " ").encode()


def _compiled(content: dict[str, Any]) -> tokenizers.Tokenizer:
    try:
        import tokenizers
    except ModuleNotFoundError as error:
        raise ValueError(
            "reading it needs the package tokenizers, which is not installed"
        ) from error
    try:
        return tokenizers.Tokenizer.from_str(json.dumps(content))
    except Exception as error:
        # The library's own refusals are plain Exceptions; anything else is a mistake of ours.
        if type(error) is not Exception and not isinstance(error, RecursionError):
            raise
        raise ValueError(f"the tokenizers library cannot read it: {error}") from error


@cache
def _character_to_byte() -> dict[str, int]:
    return {character: byte for byte, character in enumerate(byte_to_character())}


def _spelled(text: str) -> bytes:
    """The bytes of a token that is spelled in GPT-2's printable alphabet."""
    byte_of = _character_to_byte()
    known = all(character in byte_of for character in text)
    return bytes(byte_of[character] for character in text) if known else text.encode()


def _object_if_there(path: Path) -> dict[str, Any]:
    return _object(path) if path.is_file() else {}


def _object(path: Path) -> dict[str, Any]:
    raw = b""
    try:
        raw = path.read_bytes()
        content = json.loads(raw.decode("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        why = pointer_note(raw) or error
        raise ValueError(f"{path.name} cannot be read as JSON: {why}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} does not hold a JSON object")
    return content
