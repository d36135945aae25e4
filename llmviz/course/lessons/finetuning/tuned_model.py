"""The models that the lesson compares: random, pretrained, and with a bundled adapter."""

from llmviz.course.ui import engine, kit
from llmviz.finetuning import tuned_models
from llmviz.finetuning.continuations import Continuation, continuation, untrained
from llmviz.finetuning.plan import BASE


def base() -> engine.Bundled:
    """Return the model that the bundled adapters were made for; ValueError where it is not here."""
    return engine.load(BASE)


def tuned(name: str) -> engine.Bundled:
    """Return that model with a bundled adapter added in, the same object for all visitors.

    Raises ValueError where the adapter is not in this copy, or belongs to other weights.
    """
    return _tuned(base(), name)


@kit.cached(4)
def _tuned(bundled: engine.Bundled, name: str) -> engine.Bundled:
    return bundled.changed(name, tuned_models.tuned_model(bundled.model, name))


@kit.cached(256)
def written(bundled: engine.Bundled, prompt: str, tokens: int) -> Continuation:
    """Return what one of the models writes after a prompt."""
    return continuation(bundled.model, bundled.tokenizer, prompt, tokens)


def random_one() -> engine.Bundled:
    """Return a model of that shape before any training."""
    return _random(base())


@kit.cached(2)
def _random(bundled: engine.Bundled) -> engine.Bundled:
    return bundled.changed("random weights", untrained(bundled.model))
