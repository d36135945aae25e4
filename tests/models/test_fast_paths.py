"""What a faster way does not know, it leaves to the modules: a value, and a whole setting."""

from dataclasses import dataclass, fields

import pytest
import torch

from llmviz.course.site import live
from llmviz.models import GPT, GPTConfig
from llmviz.models.decoder import COMPUTES, can_decode
from llmviz.models.fast_paths import ANY
from llmviz.models.numpy_decoder import NUMPY_COMPUTES
from llmviz.serving import paged_model

PATHS = {
    "decoder": COMPUTES,
    "numpy": NUMPY_COMPUTES,
    "served": paged_model.COMPUTES,
    "site": live.COMPUTES,
}
SMALL = dict(vocab_size=19, context_length=8, n_layer=1, n_head=2, n_embd=16)


@dataclass(frozen=True)
class Newer(GPTConfig):
    """As if somebody had added a setting to the models, and to nothing else."""

    spin: str = "usual"


def with_value(name: str, value: object, kind: type[GPTConfig] = GPTConfig) -> GPTConfig:
    config = kind(**SMALL)
    object.__setattr__(config, name, value)  # past the check, as after adding it there
    return config


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_the_usual_model_goes_by_every_fast_path(path):
    assert path.refused(GPTConfig(**SMALL)) is None
    assert path.refused(Newer(**SMALL)) is None


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("name", [part.name for part in fields(GPTConfig) if part.name not in ANY])
def test_a_value_that_nobody_knows_is_refused_by_every_fast_path(path, name):
    if name in path.free:
        pytest.skip("any value is computed, by the same arithmetic")
    assert path.refused(with_value(name, "of tomorrow")) == name


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_a_setting_that_nobody_knows_is_refused_by_every_fast_path(path):
    assert path.refused(with_value("spin", "of tomorrow", Newer)) == "spin"


def test_a_model_with_a_new_kind_of_positions_writes_by_its_modules():
    model = GPT(GPTConfig(**SMALL)).eval()
    assert can_decode(model)
    model.config = with_value("positions", "of tomorrow")
    assert not can_decode(model)
    assert model.new_decoder() is None
    with pytest.raises(ValueError, match="positions='of tomorrow'"):
        paged_model.check_can_serve(model)
    with pytest.raises(ValueError, match="without mistakes, with norms before"), torch.no_grad():
        model.config = with_value("spin", "of tomorrow", Newer)
        from llmviz.models.decoder import optimize_for_inference

        optimize_for_inference(model)
