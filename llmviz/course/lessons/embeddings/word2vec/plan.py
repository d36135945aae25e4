"""The plan that the controls of the chapter "Word2vec" stand for, and the text that it reads."""

import re

from llmviz.course.lessons.embeddings.word2vec import MOST_ALSO, words
from llmviz.course.ui import kit
from llmviz.models.word2vec_training import SkipGramTraining
from llmviz.training.word_vectors import Text, WordVectorPlan, read_text

FRAMES = 40
USUAL = 1_000_000  # characters of tiny-world


def plan_of(state: kit.PageState) -> WordVectorPlan:
    """Return what the controls ask for.

    Raises ValueError: settings that break a rule.
    """
    corpus = state["corpus"]
    return WordVectorPlan(
        corpus=corpus,
        characters=USUAL if corpus == "tiny-world" else None,
        model_options={
            "n_embd": state["dim"],
            "window": state["window"],
            "negatives": state["negatives"],
        },
        also=also(state),
        train=SkipGramTraining(
            epochs=state["epochs"],
            learning_rate=state["rate"],
            # A short text is not thinned out: there is little enough of it.
            subsample=1e-4 if corpus == "tiny-world" else 1e-3 if corpus == "story" else 0.0,
            snapshots=FRAMES,
            crowding=2.0,
            seed=state["seed"],
        ),
    )


def also(state: kit.PageState) -> tuple[str, ...]:
    """Return the words that the film must hold.

    Raises ValueError: there are too many.
    """
    typed = tuple(dict.fromkeys(word for word in re.split(r"[,;\s]+", state["also"]) if word))
    if len(typed) > MOST_ALSO:
        raise ValueError(words.also_many.format(most=MOST_ALSO, count=len(typed)))
    return typed


def own_text(state: kit.PageState) -> str | None:
    """Return the learner's text where that is the corpus, else None."""
    return state[kit.LEARNER_TEXT.key] if state["corpus"] == "text" else None


def usual_texts() -> None:
    """Read the texts with which the chapter opens; they take longer than all the rest of it."""
    from llmviz.course.lessons.embeddings.word2vec.run import bundled_plan

    for characters in {USUAL, bundled_plan().characters}:
        _text("tiny-world", characters, None)


def text_of(plan: WordVectorPlan, text: str | None) -> Text:
    """Return the corpus as word ids; one copy for all sessions.

    Raises ValueError: there is no word in it.
    """
    return _text(plan.corpus, plan.characters, text)


@kit.cached(6)
def _text(corpus: str, characters: int | None, text: str | None) -> Text:
    return read_text(WordVectorPlan(corpus=corpus, characters=characters), text)
