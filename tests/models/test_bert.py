"""The masked-word model: sees both sides, its loss against torch's, padding is not there."""

import pytest
import torch
import torch.nn.functional as F

from llmviz.models import BERT, GPT, BERTConfig, GPTConfig, build
from tests.random_weights import with_random_weights

SHAPE = dict(vocab_size=15, context_length=9, n_layer=2, n_head=2, n_embd=16)


def bert(**options) -> BERT:
    torch.manual_seed(0)
    model = BERT(BERTConfig(**SHAPE | options)).eval()
    return with_random_weights(model, 0.3)


def ids(batch: int = 2, t: int = 7) -> torch.Tensor:
    return torch.randint(0, 13, (batch, t), generator=torch.Generator().manual_seed(0))


def test_it_is_a_gpt_without_a_mask():
    model = bert()
    twin = GPT(GPTConfig(**SHAPE, mask="none")).eval()
    twin.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(ids())[0], twin(ids())[0], atol=1e-5, rtol=1e-5)


def test_every_token_sees_both_sides():
    model = bert()
    plain = model(ids())[0]
    for place in range(7):
        changed = ids()
        changed[:, place] = (changed[:, place] + 1) % 13
        assert not torch.isclose(model(changed)[0], plain).all(-1).any()


def test_the_loss_is_torchs_over_hidden_tokens_alone():
    model, targets = bert(), torch.full((2, 7), -1)
    targets[0, 3], targets[1, 0], targets[1, 6] = 4, 8, 2
    hidden = torch.where(targets >= 0, model.config.mask_id, ids())
    logits, loss = model(hidden, targets)
    expected = F.cross_entropy(logits.mT, targets, ignore_index=-1)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_padding_is_as_if_it_were_not_there():
    model = bert()
    padded = torch.full((2, 9), model.config.pad_id)
    padded[:, :7] = ids()
    torch.testing.assert_close(model(padded)[0][:, :7], model(ids())[0], atol=1e-5, rtol=1e-5)


def test_fill_in_hides_the_token():
    model, text = bert(), ids(1)[0].tolist()
    filled = model.fill_in(text, 3)
    hidden = torch.tensor([[*text[:3], model.config.mask_id, *text[4:]]])
    torch.testing.assert_close(filled, model(hidden)[0][0, 3].softmax(-1))
    for other in range(13):  # what stands there changes nothing
        assert torch.equal(model.fill_in([*text[:3], other, *text[4:]], 3), filled)
    for place in (-1, 7):
        with pytest.raises(ValueError, match=f"place must be from 0 to 6; got {place}"):
            model.fill_in(text, place)


@pytest.mark.parametrize(
    "options",
    [dict(norm_kind="rms", positions="rotary"), dict(n_kv_head=1), dict(n_expert=2)],
    ids=str,
)
def test_switches_of_the_gpt_are_those_of_the_bert(options):
    model = bert(**options).train()
    model(ids(), ids())[1].backward()
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(mask="causal"), "mask must be one of none; got 'causal'"),
        (dict(shift=False), "shift is about the next token"),
        (dict(vocab_size=2), "vocab_size must be above 2"),
        (dict(window=3), "a window needs"),
    ],
)
def test_settings_of_another_kind_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        build("bert", SHAPE | options)
    with pytest.raises(ValueError, match="there is nothing to cache"):
        bert().new_cache()
    assert bert().new_decoder() is None
