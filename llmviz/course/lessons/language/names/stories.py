"""The beginnings of held-out stories, whose names the grammar knows."""

from llmviz.course.lessons.language.names.params import STORIES
from llmviz.course.lessons.language.word_roles import beginning, story_names
from llmviz.course.ui import kit
from llmviz.language.role_scores import TEST_SEED

WORDS = 40  # of a story, up to the end of a sentence


@kit.kept(1)
def beginnings() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the first sentences of each story, with the true BIO tags of their words."""
    from llmviz.language.tagger import tagged_stories, text_of

    first_words = [beginning(story, WORDS) for story in tagged_stories(STORIES, TEST_SEED)]
    return tuple((text_of(start), tuple(word.entity for word in start)) for start in first_words)


names_of_text = kit.kept(64)(story_names)
