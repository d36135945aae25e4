"""The chapter "A model of preference" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

STORY = (
    "This is the story of Delia Fennelhurst, a pleasant watchman. Across the glacier lived Helga "
    "Ravenwick, a lucky bricklayer. They were at the bank. Delia galloped to the jetty. Along came "
    "a girl and a boy. The boy was proud of his satchel, and he winked boldly. A little later "
    'Helga found a small white bell beside the crate. "I would like some dumplings with my '
    'lettuce," said Delia.'
)
ONE = "In the end Helga Ravenwick was glad and ate nougat."
TWO = "And where was Helga? At the bank. Nobody ever forgot Delia Fennelhurst."

PARAMS = [
    codec.text("prefstory", STORY, 1000),
    codec.text("prefone", ONE, 300),
    codec.text("preftwo", TWO, 300),
    codec.integer("prefsamples", 16, 0, 64),
    codec.integer("prefrounds", 24, 1, 60),
    codec.integer("prefdraw", 0, 0, 999),
    codec.flag("prefrun", False),
]
