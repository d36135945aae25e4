"""All lessons, in the order to take them: the router, the home page and the tests read this list.

Each has a folder here, and each of its chapters a folder inside that (`llmviz.course.ui.lesson`).
"""

from llmviz.course.lessons.attention import LESSON as ATTENTION
from llmviz.course.lessons.before_after import LESSON as BEFORE_AFTER
from llmviz.course.lessons.discoveries import LESSON as DISCOVERIES
from llmviz.course.lessons.efficiency import LESSON as EFFICIENCY
from llmviz.course.lessons.embeddings import LESSON as EMBEDDINGS
from llmviz.course.lessons.errors import LESSON as ERRORS
from llmviz.course.lessons.finetuning import LESSON as FINETUNING
from llmviz.course.lessons.glossary import LESSON as GLOSSARY
from llmviz.course.lessons.history import LESSON as HISTORY
from llmviz.course.lessons.home import LESSON as HOME
from llmviz.course.lessons.home import words
from llmviz.course.lessons.language import LESSON as LANGUAGE
from llmviz.course.lessons.models import LESSON as MODELS
from llmviz.course.lessons.next import LESSON as NEXT
from llmviz.course.lessons.real import LESSON as REAL
from llmviz.course.lessons.reasoning import LESSON as REASONING
from llmviz.course.lessons.sampling import LESSON as SAMPLING
from llmviz.course.lessons.tokenization import LESSON as TOKENIZATION
from llmviz.course.lessons.training import LESSON as TRAINING
from llmviz.course.lessons.transformer import LESSON as TRANSFORMER
from llmviz.course.lessons.ways import SENTENCES, WAYS
from llmviz.course.ui.course import Contents, tell

LESSONS = [
    HOME,
    TOKENIZATION,
    EMBEDDINGS,
    HISTORY,
    ATTENTION,
    TRANSFORMER,
    TRAINING,
    SAMPLING,
    REAL,
    FINETUNING,
    LANGUAGE,
    EFFICIENCY,
    ERRORS,
    DISCOVERIES,
    REASONING,
    NEXT,
    BEFORE_AFTER,
    GLOSSARY,
    MODELS,
]
tell(Contents(LESSONS, WAYS, words, SENTENCES))
