"""How often the passage that answers a question is among the first ones, for each way to rank.

Makes what `llmviz.course.lessons.reasoning.retrieval.passage_ranking` reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from experiments._command import write_to
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import (
    AMONG,
    COMMAND,
    FILE,
    PARTS,
    PIECES,
    STORIES,
    STORY,
    TABLES,
    VECTORS,
    WAYS,
    WORLD,
    Means,
    Recall,
    order_of,
    rank,
)
from llmviz.files.paths import DATA, EXPERIMENT_FOLDER
from llmviz.similarity import VectorTable, cut
from llmviz.training.files import write_json

SENTENCES, OVERLAP = 3, 1


QUESTIONS = (
    ("Which flowers did Wilhelmina put on the machine?", "putting the carnations in a jug"),
    ("Who gave the sorting machine to Wilhelmina?", "from nobody in particular"),
    ("How old was Wilhelmina?", "She was seventy-one"),
    ("What colour was the book of sea stories?", "a fat green book of sea stories"),
    ("Which drawer was open after she had sneezed?", "It was the drawer for Sea Street."),
    ("How old was Tobias Finch?", "Tobias was ten"),
    ("What was still in the drawers when they emptied them?", "three hundred dead letters"),
    ("How long did one page take with single letters?", "a whole evening to read one page"),
    ("Which ending was written out again and again?", "too lazy to write out *ing*"),
    ("When had they filled all the drawers?", "On the last day of November"),
    ("How many brass screws were behind the drawers?", "forty thousand little brass screws"),
    ("What did they use when there were no more marbles?", "had to use dried peas"),
    ("Which word did it open, whatever you read to it?", "whatever you read to it, it opened"),
    ("What did each word do to the string?", "Each word tied a knot in the string"),
    ("What kept the machine from looking ahead?", "put a board in front of those"),
    ("Which lamp shone on the previous word?", "the third lamp from the left."),
    ("Which name came after Pell in the telephone book?", "*Augusta*, said the machine."),
    ("What does Tobias still keep in his pocket?", "one marble out of the jar"),
    ("What did the baker bring to be read?", "The baker brought his recipes."),
    ("Which book did the doctor bring?", "a book about the liver"),
    ("What happens if the knob is turned to hot?", "If you turned it up to hot"),
    ("What did the captain write to the sea?", "So he wrote it a letter."),
    ("What was printed on the card on the rail?", "THIS MACHINE TELLS YOU WHAT IS LIKELY."),
    ("Who came every Thursday?", "on Thursday afternoons"),
    ("For how many years did she read to her lost husband?", "for thirty-one years"),
)
"""Questions about `data/story.txt`, each with words of the sentence that answers it."""


_FOUND = re.compile(r"(\w+) found an? (\w+) (\w+) (\w+) \w+ the (\w+)\.")


def world_text(part: int, stories: int = STORIES) -> tuple[str, list[tuple[str, str]]]:
    """Return some bundled stories as one text, and questions with the sentence that answers.

    part: which ones, from 0. A question names who found something and where: "What did Ada find at
    the lamp?"
    """
    every = (DATA / "tiny-world.txt").read_text(encoding="utf-8").split("\n\n")
    texts = every[part * stories : (part + 1) * stories]
    questions = [
        (f"What did {match[1]} find at the {match[5]}?", match[0])
        for text in texts
        for match in _FOUND.finditer(text)
    ]
    return "\n\n".join(texts), questions


def measure(
    text: str,
    questions: Sequence[tuple[str, str]],
    tables: dict[str, VectorTable],
    name: str,
    part: int = 0,
) -> Recall:
    """Rank all passages of a text for each question. ValueError for one that no passage answers."""
    passages = cut(text, SENTENCES, OVERLAP)
    texts = [passage.text for passage in passages]
    means = {way: Means.of(texts, table) for way, table in tables.items()}
    best: dict[str, list[int]] = {way: [] for way in WAYS}
    for question, words in questions:
        right = [at for at, passage in enumerate(texts) if words in " ".join(passage.split())]
        if not right:
            raise ValueError(f"no passage has {words!r}")
        scores = dict(rank(passages, question, means[VECTORS]).scores)
        scores[PIECES] = means[PIECES].cosines(question)[0]
        for way in WAYS:
            order = order_of(scores[way])
            best[way].append(min(order.index(at) for at in right))
    hits = {way: tuple(sum(at < k for at in best[way]) for k in AMONG) for way in WAYS}
    return Recall(name, part, len(passages), len(questions), hits)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Measure three parts of tiny-world, and the bundled story, and write what was found."""
    from tqdm import tqdm

    from llmviz.interpretability.vector_tables import load_table

    tables = {way: load_table(name) for way, name in TABLES.items()}
    story = (DATA / "story.txt").read_text(encoding="utf-8")
    found = [measure(*world_text(part), tables, WORLD, part) for part in tqdm(PARTS)]
    found.append(measure(story, QUESTIONS, tables, STORY))
    write_json(folder / FILE, {"command": COMMAND, "texts": [asdict(recall) for recall in found]})


if __name__ == "__main__":
    write_to(make, "Measure how well passages are found again.")
