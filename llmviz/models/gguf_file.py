"""GGUF, llama.cpp's format of one file: settings, tokenizer and weights, read by the package gguf.

Whatever is wrong with a file is said in one line: what the package raises for one that is cut off,
or is none of its kind, is anything from IndexError to UnicodeDecodeError.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llmviz.files.text import POINTER, pointer_note
from llmviz.nn.finite import wrong_tensor

SUFFIX = ".gguf"
MAGIC = b"GGUF"
EMBEDDING = "token_embd.weight"
VERSIONS = (2, 3)
FLOATS = ("F32", "F16", "BF16")  # by gguf's names
QUANTIZED = (
    *("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"),
    *("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"),
)


class GGUFFile:
    """The settings of a file, and its tensors by name; the file stays open for as long as it lives.

    Raises: ValueError in one line for a file that is not there, cut off, of a version or byte order
    that is not read, one of several parts, or with a tensor of a type that is not read.
    """

    def __init__(self, path: Path):
        self.path = path
        _check_head(path)
        try:
            from gguf import GGUFReader

            reader = GGUFReader(path)
            self.fields: dict[str, Any] = {
                name: field.contents() for name, field in reader.fields.items()
            }
            tensors = reader.tensors
        except Exception as error:  # of a damaged file: anything from IndexError on; it is told
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise ValueError(f"{path} is damaged or cut off: {said}") from error
        if int(self.fields.get("split.count") or 1) > 1:
            raise ValueError(
                f"{path} is one of {self.fields['split.count']} parts; llama.cpp's "
                "llama-gguf-split --merge makes one file of them, which can be read"
            )
        for tensor in tensors:
            if tensor.tensor_type.name not in FLOATS + QUANTIZED:
                raise ValueError(
                    f"{path}: {tensor.name} must be of type {', '.join(FLOATS + QUANTIZED)}; "
                    f"got {tensor.tensor_type.name}"
                )
        self.tensors = {tensor.name: tensor for tensor in tensors}

    @property
    def vocab_size(self) -> int:
        """How many tokens the model has; 0 without an embedding."""
        return self.shape(EMBEDDING)[0] if EMBEDDING in self.tensors else 0

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, as torch would say it."""
        return tuple(int(size) for size in reversed(self.tensors[name].shape))

    def read(self, name: str) -> Tensor:
        """A tensor in float32. Raises ValueError for one that no model can compute with."""
        from gguf import dequantize

        stored = self.tensors[name]
        numbers = np.array(dequantize(stored.data, stored.tensor_type), dtype=np.float32)
        tensor = torch.from_numpy(numbers).view(self.shape(name))
        if wrong := wrong_tensor([(name, tensor)]):
            raise ValueError(f"{self.path}: {wrong}")
        return tensor


def is_gguf(path: str | Path) -> bool:
    """Whether a file is meant: its name ends in .gguf."""
    return str(path).lower().endswith(SUFFIX)


def _check_head(path: Path) -> None:
    try:
        with path.open("rb") as file:
            beginning = file.read(len(POINTER))
            head = beginning[:8]
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, and no GGUF file") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    if head[:4] != MAGIC or len(head) < 8:
        why = pointer_note(beginning) or f"it does not begin with {MAGIC.decode()}"
        raise ValueError(f"{path} is no GGUF file: {why}")
    if int.from_bytes(head[4:], "little") in VERSIONS:
        return
    if int.from_bytes(head[4:], "big") in VERSIONS:
        raise ValueError(f"{path} is big-endian; little-endian files are read")
    version = int.from_bytes(head[4:], "little")
    raise ValueError(f"{path} is of version {version} of GGUF; 2 and 3 are read")
