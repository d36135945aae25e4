"""What each token gave, against the classifier itself asked by hand."""

import pytest
import torch

from llmviz.finetuning import classifier as c
from llmviz.finetuning.explain import gradient_times_input, occlusion


@pytest.fixture
def asked(model, tokenizer):
    own = c.classifier(model, 3, "head").eval()
    with torch.no_grad():
        own.head.linear.weight.normal_(0, 1)
    return own, c.encode(tokenizer, ["Anna found a small red lamp."], 320).idx[0]


def score(own, ids):
    return own(ids[None], torch.tensor([len(ids)]))[0][0, 1].item()


def test_occlusion_is_the_answer_without_a_token(asked):
    own, ids = asked
    table = own.body.token.weight
    found = occlusion(own, ids, 1)
    spare = next(i for i in range(len(table)) if i not in ids.tolist())
    with torch.no_grad():
        table[spare] = table.mean(0)
    for at in range(len(ids)):
        changed = ids.clone()
        changed[at] = spare
        assert found[at].item() == pytest.approx(score(own, ids) - score(own, changed), abs=1e-4)


def test_the_gradient_is_the_slope_by_each_embedding(asked):
    own, ids = asked
    own.double()
    found = gradient_times_input(own, ids, 1)
    table, small = own.body.token.weight, 1e-5
    for at in (1, 3, len(ids) - 1):
        if ids.tolist().count(ids[at].item()) > 1:
            continue
        row = table[ids[at]].clone()
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                table[ids[at]] = row * (1 + sign * small)
            ends.append(score(own, ids))
        with torch.no_grad():
            table[ids[at]] = row
        assert found[at].item() == pytest.approx((ends[0] - ends[1]) / (2 * small), rel=1e-4)
