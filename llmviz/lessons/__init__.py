"""All lessons, in the order to take them: the router, the home page and the tests read this list.

Each has a folder here, and each of its chapters a folder inside that (`llmviz.ui.lesson`).
"""

from llmviz.lessons.attention import LESSON as ATTENTION
from llmviz.lessons.before_after import LESSON as BEFORE_AFTER
from llmviz.lessons.discoveries import LESSON as DISCOVERIES
from llmviz.lessons.efficiency import LESSON as EFFICIENCY
from llmviz.lessons.embeddings import LESSON as EMBEDDINGS
from llmviz.lessons.errors import LESSON as ERRORS
from llmviz.lessons.finetuning import LESSON as FINETUNING
from llmviz.lessons.glossary import LESSON as GLOSSARY
from llmviz.lessons.history import LESSON as HISTORY
from llmviz.lessons.home import LESSON as HOME
from llmviz.lessons.language import LESSON as LANGUAGE
from llmviz.lessons.reasoning import LESSON as REASONING
from llmviz.lessons.sampling import LESSON as SAMPLING
from llmviz.lessons.tokenization import LESSON as TOKENIZATION
from llmviz.lessons.training import LESSON as TRAINING
from llmviz.lessons.transformer import LESSON as TRANSFORMER

LESSONS = [
    HOME,
    TOKENIZATION,
    EMBEDDINGS,
    ATTENTION,
    TRANSFORMER,
    HISTORY,
    TRAINING,
    SAMPLING,
    FINETUNING,
    LANGUAGE,
    EFFICIENCY,
    ERRORS,
    DISCOVERIES,
    REASONING,
    BEFORE_AFTER,
    GLOSSARY,
]
