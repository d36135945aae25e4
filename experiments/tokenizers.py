"""Makes the bundled tokenizers again: `python -m experiments make tokenizers`.

Trains one tokenizer of each kind on the bundled text and writes `data/tokenizers/`. The same text
gives the same files, byte for byte.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from llmviz.files.paths import TOKENIZER_FOLDER
from llmviz.files.text import read_text_file
from llmviz.tokenizers.registry import BUNDLED_TEXT, DEFAULT_BPE_SIZE, TOKENIZERS, train_tokenizer

SIZES = {"word": 4096, "char": None, "bpe": DEFAULT_BPE_SIZE}


def make_bundled(text_file: Path = BUNDLED_TEXT, folder: Path = TOKENIZER_FOLDER) -> list[Path]:
    """Train the three kinds on a text, write them into a folder, and return the files."""
    text = read_text_file(text_file)
    written = []
    for name, size in SIZES.items():
        path = folder / TOKENIZERS[name].file
        train_tokenizer(name, text, size).save(path)
        written.append(path)
    return written


def main() -> None:
    """Read the arguments and write the files."""
    parser = argparse.ArgumentParser(description=make_bundled.__doc__)
    parser.add_argument("--text", type=Path, default=BUNDLED_TEXT, help="UTF-8 training text")
    parser.add_argument("--out", type=Path, default=TOKENIZER_FOLDER, help="folder for the files")
    arguments = parser.parse_args()
    make_bundled(arguments.text, arguments.out)


if __name__ == "__main__":
    main()
