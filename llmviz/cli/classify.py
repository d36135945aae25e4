"""`classify`: which class a text belongs to, by a fine-tuned classifier."""

from __future__ import annotations

import argparse
from typing import Any

from llmviz.cli.options import STANDARD_INPUT, place, standard_input, table, write, write_json
from llmviz.files.text import read_text_file

BEGINNING = 50  # characters of a text in the table
AT_ONCE = 256  # texts whose classes are told before the next are read


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "classify",
        help="tell the classes of texts with a fine-tuned classifier",
        description=(
            "Tell the most probable class of a text, or of each line of a file, with a classifier "
            "that `finetune` trained."
        ),
        examples=(
            'classify --checkpoint runs/about "The owl baked bread."',
            "classify --checkpoint runs/about --file stories.txt --json",
            "classify --checkpoint runs/about -",
        ),
    )
    given = parser.add_argument
    given(
        "--checkpoint",
        type=place,
        required=True,
        metavar="DIR|NAME",
        help="the folder of a fine-tuning to classes, or run:NAME",
    )
    given("--file", type=place, metavar="FILE", help="a text a line; empty lines are left out")
    given("--json", action="store_true", help="one JSON object per text")
    given(
        "text",
        metavar="TEXT",
        nargs="?",
        help=f"the text; {STANDARD_INPUT} = standard input, a text a line",
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write a line for each text."""
    texts = _texts(given)

    from llmviz.finetuning.tuned import tuning_folder
    from llmviz.finetuning.tuned_classes import load_classes
    from llmviz.pretrained import find_model

    folder = tuning_folder(given.checkpoint)
    if folder is None:
        find_model(given.checkpoint)  # refuses what is not there
        raise ValueError(f"{given.checkpoint} is no classifier; `finetune --task` trains one")
    classes = load_classes(folder)
    rows = [("class", "probability", "text")]
    for first in range(0, len(texts), AT_ONCE):
        some = texts[first : first + AT_ONCE]
        for text, row in zip(some, classes.probabilities(some).tolist(), strict=True):
            best = max(range(len(row)), key=row.__getitem__)
            if given.json:
                chances = dict(zip(classes.names, row, strict=True))
                write_json({"text": text, "class": classes.names[best], "probabilities": chances})
            else:
                shown = repr(text[:BEGINNING])[1:-1]
                rows.append((classes.names[best], f"{row[best]:.4f}", shown))
    if not given.json:
        write(table(rows))
    return 0


def _texts(given: argparse.Namespace) -> list[str]:
    if (given.text is None) == (given.file is None):
        raise ValueError("give a text, or --file FILE")
    if given.text is not None and given.text != STANDARD_INPUT:
        return [given.text]
    whole = read_text_file(given.file) if given.file is not None else standard_input()
    texts = [line.rstrip("\r") for line in whole.split("\n") if line.strip()]
    if not texts:
        raise ValueError("there is no text to classify")
    return texts
