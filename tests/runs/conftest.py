"""What tests of runs share with those of training."""

from tests.training.conftest import (  # noqa: F401
    bundle,
    config,
    corpus,
    data,
    folder,
    home,
    plan,
    system_locks,
    tokenizer,
)
