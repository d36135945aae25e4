"""What SentencePiece itself writes, a tokenizer.model, as the content of a tokenizer.json.

The package sentencepiece reads the file; the `tokenizers` library applies it, as all other ones.
Reference: Kudo and Richardson (2018), SentencePiece; the fields are those of its
sentencepiece_model.proto.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

SPACE = "\u2581"  # ▁, as SentencePiece writes a space
UNIGRAM, BPE = 1, 2  # TrainerSpec.ModelType
UNKNOWN, CONTROL, DEFINED, BYTE = 2, 3, 4, 6  # SentencePiece.Type
NEVER = 1000.0  # by so much the score of what stands for no text is below all others


def content_of(path: Path, *, begins: bool) -> dict[str, Any]:
    """Return the content of a tokenizer.json with the same ids.

    begins: whether its token for the beginning stands in front of every text, if it has one.
    Raises ValueError for what is no such file, and where the package sentencepiece is missing.
    """
    model = _read(path)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    if trainer.model_type not in (UNIGRAM, BPE):
        raise ValueError("its model must be of type BPE or unigram; words and characters are not")
    if trainer.treat_whitespace_as_suffix:
        raise ValueError("its tokens must have a space in front of a word, not behind it")
    pieces = [(token.piece, token.score) for token in model.pieces]
    silent = {n for n, token in enumerate(model.pieces) if token.type in (UNKNOWN, CONTROL, BYTE)}
    unigram = trainer.model_type == UNIGRAM
    prefix = normalizer.add_dummy_prefix
    return {
        "version": "1.0",
        "added_tokens": [
            _added(number, token.piece, special=token.type != DEFINED)
            for number, token in enumerate(model.pieces)
            if token.type in (UNKNOWN, CONTROL, DEFINED)
        ],
        "normalizer": {"type": "Sequence", "normalizers": _normalizers(normalizer, unigram)},
        "pre_tokenizer": _metaspace(prefix) if unigram else None,
        "post_processor": _in_front(pieces, trainer.bos_id) if begins else None,
        "decoder": _decoder(prefix),
        "model": (_unigram if unigram else _bpe)(pieces, silent, trainer),
    }


def ends_of(path: Path) -> tuple[int, int]:
    """The ids for the beginning and the end of a text; −1 for one that it does not have."""
    trainer = _read(path).trainer_spec
    return trainer.bos_id, trainer.eos_id


def _read(path: Path) -> Any:
    try:
        from google.protobuf.message import DecodeError
        from sentencepiece import sentencepiece_model_pb2
    except ModuleNotFoundError as error:
        raise ValueError(
            "reading it needs the package sentencepiece: pip install sentencepiece"
        ) from error
    fields: Any = sentencepiece_model_pb2
    model = fields.ModelProto()
    try:
        model.ParseFromString(path.read_bytes())
    except (DecodeError, OSError) as error:
        raise ValueError(f"it cannot be read as a model of SentencePiece: {error}") from error
    if not model.pieces:
        raise ValueError("it holds no tokens, so it is no model of SentencePiece")
    return model


def _normalizers(spec: Any, unigram: bool) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if spec.precompiled_charsmap:
        table = base64.b64encode(spec.precompiled_charsmap).decode()
        steps.append({"type": "Precompiled", "precompiled_charsmap": table})
    if spec.remove_extra_whitespaces:
        steps.append({"type": "Strip", "strip_left": True, "strip_right": True})
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    if not unigram:  # its whole text is one word
        if spec.add_dummy_prefix:
            steps.append({"type": "Prepend", "prepend": SPACE})
        steps.append({"type": "Replace", "pattern": {"String": " "}, "content": SPACE})
    return steps


def _metaspace(prefix: bool) -> dict[str, Any]:
    scheme = "always" if prefix else "never"
    return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": False}


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
