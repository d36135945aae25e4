"""The chapter "Looking things up" of the lesson "Rewards and reasoning"."""

from llmviz.corpus.facts_in_passages import MOST_PASSAGES
from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import BM, RANKINGS
from llmviz.course.ui import codec
from llmviz.similarity.bm25 import K1, B

words = beside(__file__)

MOST_OF_DOCUMENTS, MOST_OF_QUESTION, MOST_OF_PASSAGE = 6_000, 200, 300  # characters
MOST_SENTENCES = 4  # of a passage
DOCUMENTS = """Ada lives in Lorn. She works as a baker. She keeps a badger. It often rains in Lorn.

Anders is a butcher. He has a house in Kelda. He likes cheese.

Bella keeps a camel. She lives in Estry. Every archer wakes up early.

Axel is fond of broth. He works as an astronomer. The market in Kelda is old.

Anya owns a bat. Anya is a builder. She has a house in Lorn.

Benno likes bacon. He keeps a crab. The badger sleeps all day.

Alice works as an archer. She lives in Hollin. She is fond of cake.

Arlo lives in Grenna. He is a beekeeper. The cheese is fresh."""
AS_FOUND, LIE, TOLD, OWN = "found", "lie", "told", "own"
CHANGES = (AS_FOUND, LIE, TOLD, OWN)
NUMBERS = [str(number) for number in range(1, MOST_PASSAGES + 1)]

PARAMS = [
    codec.text("lookdocs", DOCUMENTS, MOST_OF_DOCUMENTS),
    codec.text("lookask", "Where does Alice live?", MOST_OF_QUESTION),
    codec.integer("looklong", 2, 1, MOST_SENTENCES),
    codec.integer("lookover", 1, 0, MOST_SENTENCES - 1),
    codec.number("lookk1", K1, 0.0, 3.0),
    codec.number("lookb", B, 0.0, 1.0),
    codec.choice("lookby", BM, RANKINGS),
    codec.integer("looktake", 2, 0, MOST_PASSAGES),
    codec.choices("lookoff", (), NUMBERS),
    codec.choice("lookchange", AS_FOUND, CHANGES),
    codec.choice("lookat", NUMBERS[0], NUMBERS),
    codec.text("lookown", "Ada works as an acrobat.", MOST_OF_PASSAGE),
]
