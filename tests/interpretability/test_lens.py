"""The logit lens: its last point is the model, its others follow from the stream."""

import pytest
import torch

from llmviz.interpretability.lens import logit_lens
from llmviz.models import build
from llmviz.trace import record
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt


@pytest.mark.parametrize("options", (OPTIONS | NO_SUM).values(), ids=(OPTIONS | NO_SUM).keys())
def test_the_last_point_is_the_model(options):
    model = gpt(**options)
    lens = logit_lens(model, IDS, listed=19)
    with torch.inference_mode():
        p = model(torch.tensor([IDS]))[0][0].softmax(-1)
    assert lens.probabilities.shape == (4, 6, 19)
    torch.testing.assert_close(lens.probabilities[-1], p.sort(-1, descending=True).values)
    torch.testing.assert_close(p.gather(1, lens.tokens[-1]), lens.probabilities[-1])
    assert lens.agrees[-1].all()
    torch.testing.assert_close(lens.of_last[-1], p.amax(-1))
    torch.testing.assert_close(lens.entropy[-1], -(p * p.log()).sum(-1))


def test_each_point_is_the_model_that_stops_there():
    model = gpt()
    lens = logit_lens(model, IDS, listed=3)
    for layer in range(3):
        shorter = gpt()
        shorter.load_state_dict(model.state_dict())
        shorter.blocks = shorter.blocks[: layer + 1]
        with torch.inference_mode():
            p = shorter(torch.tensor([IDS]))[0][0].softmax(-1)
        torch.testing.assert_close(lens.probabilities[layer + 1], p.topk(3).values)
        best = lens.tokens[-1, :, 0]
        torch.testing.assert_close(lens.of_last[layer + 1], p.gather(1, best[:, None])[:, 0])
        assert torch.equal(lens.agrees[layer + 1], p.argmax(-1) == best)
    with torch.inference_mode(), record("embed") as trace:
        model(torch.tensor([IDS]))
        p = model.head(model.norm_final(trace["embed"][0])).softmax(-1)
    torch.testing.assert_close(lens.probabilities[0], p.topk(3).values)


def test_models_without_layers_are_refused():
    with pytest.raises(ValueError, match=r"a transformer \(gpt, bert\); got a LSTM"):
        logit_lens(build("lstm", {"vocab_size": 9, "context_length": 4}), [1, 2])
    with pytest.raises(ValueError, match="token ids must be from 0 to 18"):
        logit_lens(gpt(), [19])
