"""Class heads: what is frozen stays to the bit, fillers are unseen; and what each token gave."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F

from llmviz.finetuning import classifier as c
from llmviz.finetuning.explain import gradient_times_input, occlusion
from llmviz.finetuning.labels import stories
from llmviz.models import GPT, Bigram, BigramConfig
from llmviz.nn.fast_linear import PackedLinear
from llmviz.nn.lora import lora_layers
from llmviz.training import train
from tests.training.small_plans import small_training

STEPS = small_training(steps=4, learning_rate=1e-2, warmup_steps=0)


@pytest.fixture(scope="module")
def parts():
    return stories("about", 40).split(0.25)


def weights(module):
    return {name: one.detach().clone() for name, one in module.named_parameters()}


CHANGED = {  # which weights of the body a way trains
    "head": lambda name: False,
    "last": lambda name: name.startswith(("blocks.1.", "norm_final.")),
    "all": lambda name: True,
    "nothing": lambda name: True,
    "lora": lambda name: ".adapters." in name,
}


@pytest.mark.parametrize("way", c.WAYS)
def test_each_way_changes_what_it_says_and_nothing_else(model, tokenizer, parts, way):
    before = weights(model)
    own = c.classifier(model, 3, way)
    start, head = weights(own.body), weights(own.head)
    trained, data = c.prepare_classes(own, tokenizer, *parts, way)
    records = list(train(trained, data, STEPS))
    assert records[-1].step == 4 and records[-1].validation_loss > 0
    assert not torch.equal(own.head.linear.weight, head["linear.weight"])
    still = []
    for name, parameter in own.body.named_parameters():
        if CHANGED[way](name):
            still += [name] * torch.equal(parameter, start[name])
        else:
            assert torch.equal(parameter, start[name]), name
            assert torch.equal(parameter, before[name.replace(".base.", ".")]), name
    # rows of positions and of tokens that no text has get no gradient, but some rows do
    assert not still
    assert all(torch.equal(one, before[name]) for name, one in model.named_parameters())
    assert bool(lora_layers(own.body)) == (way == "lora")


def test_from_nothing_begins_at_random_weights(model):
    own = c.classifier(model, 3, "nothing", seed=1)
    assert not torch.equal(own.body.token.weight, model.token.weight)
    again = c.classifier(model, 3, "nothing", seed=1)
    assert torch.equal(own.body.token.weight, again.body.token.weight)


def test_the_head_trained_on_kept_features_is_the_head_trained_in_the_model(
    model, tokenizer, parts
):
    kept, whole = (c.classifier(model, 3, "head") for _ in range(2))
    head, data = c.prepare_classes(kept, tokenizer, *parts, "head")
    list(train(head, data, STEPS))
    whole_data = c.prepare_classes(whole, tokenizer, *parts, "last")[1]
    list(train(whole, whole_data, STEPS))
    assert torch.allclose(kept.head.linear.weight, whole.head.linear.weight, atol=1e-5)


def test_a_head_trained_to_its_end_is_logistic_regression(model, tokenizer):
    from sklearn.linear_model import LogisticRegression

    some = stories("who", 60)
    own = c.classifier(model, 2, "head")
    x = c.features(own.body, c.encode(tokenizer, some.texts, own.context_length))
    y = torch.tensor(some.labels)
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(x.numpy(), y.numpy())
    w = torch.zeros(2, 16, requires_grad=True)
    b = torch.zeros(2, requires_grad=True)
    step = torch.optim.LBFGS(
        [w, b], max_iter=2000, tolerance_grad=1e-9, line_search_fn="strong_wolfe"
    )

    def loss():
        step.zero_grad()
        # one weight vector of scikit-learn's is the difference of our two
        total = F.cross_entropy(x @ w.T + b, y, reduction="sum") + w.square().sum()
        total.backward()
        return total

    step.step(loss)
    with torch.no_grad():
        own.head.linear.weight.copy_(w)
        own.head.linear.bias.copy_(b)
    found = own.head(x)[0].softmax(-1)[:, 1].detach().numpy()
    assert abs(found - theirs.predict_proba(x.numpy())[:, 1]).max() < 1e-3


@pytest.mark.parametrize("way", ["head", "lora"])
def test_features_are_the_hidden_states_of_a_whole_pass_at_the_last_real_tokens(
    model, tokenizer, way
):
    texts = [text[: 40 + 23 * i] for i, text in enumerate(stories("who", 40).texts)]
    sizes = {"n_embd": 144, "n_layer": 2, "vocab_size": tokenizer.vocab_size}  # layers are packed
    wide = GPT(dataclasses.replace(model.config, **sizes)).eval()
    own = c.classifier(wide, 2, way)
    for layer in lora_layers(own.body).values():
        torch.nn.init.normal_(layer.adapters["default"].B, std=0.02)
    idx, lengths = c.encode(tokenizer, texts, own.context_length)
    with torch.no_grad():
        hidden = own.body(idx)[0]  # (N, T, C)
        expected = torch.stack([row[n - 1] for row, n in zip(hidden, lengths, strict=True)])
        found = c.features(own.body, c.Texts(idx, lengths))
        assert torch.allclose(found, expected, atol=3e-5)
        assert torch.allclose(own(idx, lengths)[0], own.head(expected)[0], atol=3e-5)
    assert not any(isinstance(one, PackedLinear) for one in own.modules())


def test_fillers_are_never_seen_and_a_long_text_keeps_its_end(model, tokenizer):
    texts = ["Anna found a lamp.", "Then Anna walked to the mill and Otto sang loudly."]
    own = c.classifier(model, 2, "head")
    both = c.encode(tokenizer, texts, own.context_length)
    alone = [c.features(own.body, c.encode(tokenizer, [t], own.context_length)) for t in texts]
    assert torch.allclose(c.features(own.body, both), torch.cat(alone), atol=1e-6)
    changed = both.idx.clone()
    changed[0, int(both.lengths[0]) :] = 3
    again = c.features(own.body, c.Texts(changed, both.lengths))
    assert torch.equal(again, c.features(own.body, both))
    long = " ".join(texts * 40)
    cut = c.encode(tokenizer, [long], 320)
    assert cut.idx.shape == (1, 320)
    assert cut.idx[0].tolist() == tokenizer.encode(long)[-320:]
    with pytest.raises(ValueError, match="at least one text"):
        c.encode(tokenizer, [], 320)


def test_tables_and_scores_equal_scikit_learns():
    from sklearn.metrics import balanced_accuracy_score, confusion_matrix

    generator = torch.Generator().manual_seed(0)
    labels, chosen = torch.randint(0, 4, (2, 200), generator=generator)
    table = c.confusion(labels, chosen, 4)
    assert (table.numpy() == confusion_matrix(labels, chosen)).all()
    assert c.accuracy(table) == pytest.approx((labels == chosen).double().mean().item())
    theirs = balanced_accuracy_score(labels, chosen)
    assert c.balanced_accuracy(table) == pytest.approx(theirs)
    wider = c.confusion(labels, chosen, 6)  # no text has the last two classes
    assert c.balanced_accuracy(wider) == pytest.approx(theirs)


def test_balanced_weights_make_classes_count_the_same():
    weights = c.balanced_weights([0, 0, 0, 1], 2)
    assert weights.tolist() == pytest.approx([4 / 6, 2.0])
    head = c.Head(4, 2, weights)
    x, y = torch.randn(4, 4), torch.tensor([0, 0, 0, 1])
    expected = F.cross_entropy(head(x)[0].detach(), y, reduction="none")
    assert head(x, y)[1].item() == pytest.approx(
        float((expected[:3].mean() + expected[3]) / 2), abs=1e-6
    )
    with pytest.raises(ValueError, match="every class needs an example"):
        c.balanced_weights([0, 0], 2)


def test_what_cannot_be_trained_is_refused(model):
    with pytest.raises(ValueError, match="way must be one of head, last, all, nothing, lora"):
        c.classifier(model, 2, "most")
    with pytest.raises(ValueError, match="needs a gpt; got Bigram"):
        c.classifier(Bigram(BigramConfig(vocab_size=5)), 2, "head")


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
