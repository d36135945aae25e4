"""What SentencePiece itself writes, a tokenizer.model: applied, and as a tokenizer.json.

The package sentencepiece reads the file and applies it, because the `tokenizers` library has rules
of its own: it normalizes groups of characters, and its Unigram finds control tokens in texts.
Reference: Kudo and Richardson (2018), SentencePiece; the fields are those of its
sentencepiece_model.proto.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

SPACE = "\u2581"  # ▁, as SentencePiece writes a space
UNIGRAM, BPE = 1, 2  # TrainerSpec.ModelType
UNKNOWN, CONTROL, DEFINED, BYTE = 2, 3, 4, 6  # SentencePiece.Type
NEVER = 1000.0  # by so much the score of what stands for no text is below all others


class Applied:
    """A tokenizer.model as SentencePiece applies it.

    Raises ValueError for what is no such file, and where the package sentencepiece is missing.
    """

    def __init__(self, data: bytes) -> None:
        model = _read(data)
        from sentencepiece import SentencePieceProcessor

        self.data = data
        self._processor = SentencePieceProcessor(model_proto=data)
        rules, unknown = model.normalizer_spec, model.trainer_spec.unk_surface
        self._drops_spaces = rules.remove_extra_whitespaces
        self._drops_space = rules.add_dummy_prefix
        self._opening = [
            token.piece.startswith(SPACE) and token.type not in (UNKNOWN, CONTROL)
            for token in model.pieces
        ]
        self.spelled = [_spelled(token.piece, token.type, unknown) for token in model.pieces]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return self._processor.encode(text)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the first byte of each token and that behind its last."""
        from sentencepiece import sentencepiece_pb2

        fields: Any = sentencepiece_pb2
        whole = fields.SentencePieceText()
        whole.ParseFromString(self._processor.encode(text, out_type="serialized_proto"))
        return [(token.begin, token.end) for token in whole.pieces]

    def leading(self, ids: list[int]) -> int:
        """Return how many spaces in front of a text's ids are not written."""
        count = 0
        for token_id in ids if self._drops_space or self._drops_spaces else ():
            opens = token_id < len(self._opening) and self._opening[token_id]
            count += opens
            if not (opens and self._drops_spaces and self.spelled[token_id] == b" "):
                break
        return count


def _spelled(piece: str, kind: int, unknown: str) -> bytes:
    if kind in (UNKNOWN, CONTROL):
        return (unknown if kind == UNKNOWN else piece).encode()
    return bytes([int(piece[3:5], 16)]) if kind == BYTE else piece.replace(SPACE, " ").encode()


def content_of(data: bytes, *, begins: bool) -> dict[str, Any]:
    """Return the content of a tokenizer.json for a tokenizer.model, for other programs.

    Its ids are the same ones for texts without the names of control tokens (Unigram), and where the
    normalization changes no character that stands with others in a group.

    begins: whether its token for the beginning stands in front of every text, if it has one.
    Raises ValueError as `Applied` does, and for an option that is not read.
    """
    model = _read(data)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    if trainer.model_type not in (UNIGRAM, BPE):
        raise ValueError("its model must be of type BPE or unigram; words and characters are not")
    if trainer.treat_whitespace_as_suffix:
        raise ValueError("its tokens must have a space in front of a word, not behind it")
    if not normalizer.escape_whitespaces:
        raise ValueError("it must write a space as ▁; its escape_whitespaces is off")
    if model.denormalizer_spec.precompiled_charsmap:
        raise ValueError("its texts must be those of its tokens; it has a denormalizer")
    pieces = [(token.piece, token.score) for token in model.pieces]
    silent = {n for n, token in enumerate(model.pieces) if token.type in (UNKNOWN, CONTROL, BYTE)}
    unigram = trainer.model_type == UNIGRAM
    return {
        "version": "1.0",
        "added_tokens": [
            _added(number, token.piece, special=token.type != DEFINED)
            for number, token in enumerate(model.pieces)
            if token.type in (UNKNOWN, CONTROL, DEFINED)
        ],
        "normalizer": {"type": "Sequence", "normalizers": _normalizers(normalizer)},
        "pre_tokenizer": None,
        "post_processor": _in_front(pieces, trainer.bos_id) if begins else None,
        "decoder": _decoder(normalizer.add_dummy_prefix),
        "model": (_unigram if unigram else _bpe)(pieces, silent, trainer),
    }


def end_of(data: bytes) -> int:
    """The id for the end of a text; −1 where it has none."""
    return _read(data).trainer_spec.eos_id


def _fields() -> Any:
    """The fields of a tokenizer.model. Raises ValueError without the package sentencepiece."""
    try:
        from sentencepiece import sentencepiece_model_pb2
    except ModuleNotFoundError as error:
        raise ValueError(
            "reading it needs the package sentencepiece: pip install sentencepiece"
        ) from error
    return sentencepiece_model_pb2


def _read(data: bytes) -> Any:
    model = _fields().ModelProto()
    from google.protobuf.message import DecodeError

    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(f"it cannot be read as a model of SentencePiece: {error}") from error
    if not model.pieces:
        raise ValueError("it holds no tokens, so it is no model of SentencePiece")
    return model


def _normalizers(spec: Any) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if spec.precompiled_charsmap:
        table = base64.b64encode(spec.precompiled_charsmap).decode()
        steps.append({"type": "Precompiled", "precompiled_charsmap": table})
    if spec.remove_extra_whitespaces:
        for pattern, content in ((rf"\A +|[ {SPACE}]+\z", ""), (" {2,}", " ")):  # U+0020 alone
            steps.append({"type": "Replace", "pattern": {"Regex": pattern}, "content": content})
    if spec.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": SPACE})
    steps.append({"type": "Replace", "pattern": {"String": " "}, "content": SPACE})
    return steps


def _decoder(prefix: bool) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if prefix:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}


def _unigram(pieces: list[tuple[str, float]], silent: set[int], trainer: Any) -> dict[str, Any]:
    """Tokens with their scores; those that stand for no text are not found in one."""
    lowest = min(score for _, score in pieces) - NEVER
    return {
        "type": "Unigram",
        "unk_id": trainer.unk_id,
        "vocab": [[text, lowest if n in silent else s] for n, (text, s) in enumerate(pieces)],
        "byte_fallback": trainer.byte_fallback,
    }


def _bpe(pieces: list[tuple[str, float]], silent: set[int], trainer: Any) -> dict[str, Any]:
    """Its file has no merges: two tokens are joined where the joined one is a token, best first."""
    ids = {piece: number for number, (piece, _) in enumerate(pieces)}
    merges = [
        (-score, ids[piece[:at]], ids[piece[at:]], piece[:at], piece[at:])
        for number, (piece, score) in enumerate(pieces)
        if number not in silent
        for at in range(1, len(piece))
        if piece[:at] in ids and piece[at:] in ids
    ]
    return {
        "type": "BPE",
        "vocab": ids,
        "merges": [list(merge[3:]) for merge in sorted(merges)],
        "unk_token": pieces[trainer.unk_id][0],
        "fuse_unk": True,
        "byte_fallback": trainer.byte_fallback,
    }


def _added(number: int, text: str, *, special: bool) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": text, "special": special, **flags}


def _in_front(pieces: list[tuple[str, float]], begin: int) -> dict[str, Any] | None:
    if begin < 0:
        return None
    return in_front(pieces[begin][0], begin)


def in_front(text: str, token_id: int) -> dict[str, Any]:
    """The post-processor that puts a token in front of every text."""
    special = {"SpecialToken": {"id": text, "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [special, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [special, *({"Sequence": {"id": letter, "type_id": 0}} for letter in "AB")],
        "special_tokens": {text: {"id": text, "ids": [token_id], "tokens": [text]}},
    }


def written(
    tokens: Iterable[tuple[str, float, int]],
    *,
    unknown: int,
    begins: int,
    ends: int,
    prefix: bool,
    drops_spaces: bool,
) -> bytes:
    """Return the file of a BPE whose tokens are known: text, score, type.

    unknown, begins, ends: ids, −1 for none. prefix: whether a space is put in front of a text;
    drops_spaces: whether spaces at both ends, and all but one between words, are left out.
    Raises ValueError where the package sentencepiece is missing, or cannot apply what it is given.
    """
    model = _fields().ModelProto()
    for text, score, kind in tokens:
        model.pieces.add(piece=text, score=score, type=kind)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type, trainer.vocab_size = BPE, len(model.pieces)
    trainer.byte_fallback = any(token.type == BYTE for token in model.pieces)
    trainer.unk_id, trainer.bos_id, trainer.eos_id = unknown, begins, ends
    normalizer.name, normalizer.add_dummy_prefix = "identity", prefix
    normalizer.remove_extra_whitespaces = drops_spaces
    return bytes(model.SerializeToString())
