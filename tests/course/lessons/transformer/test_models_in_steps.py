"""What the lesson computes of models: the changes since 2017, translations, the stream in depth."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.language import translate
from llmviz.course.lessons.transformer.depth import depth_study
from llmviz.course.lessons.transformer.halves.model import forced, forced_loss, free, looks, parting
from llmviz.course.lessons.transformer.masked.model import (
    all_weights,
    from_both_sides,
    from_the_left,
    hidden_at,
)
from llmviz.course.lessons.transformer.residuals.model import stream_shares
from llmviz.course.lessons.transformer.since.model import (
    CHANGES,
    FAMILY,
    READINGS,
    activations,
    checkpoint,
    config_of,
    key_lengths,
    mean_attention,
    measured,
    norm_numbers,
    position_numbers,
    routing,
    stream_sizes,
    switched,
)
from llmviz.models import count_parameters
from llmviz.models.gpt import GPT
from llmviz.pretrained import load_bundled, read_card
from llmviz.trace import record
from llmviz.training.recipes import RECIPES, SINCE_2017
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt


def test_the_family_is_all_that_the_recipes_name():
    assert {checkpoint(name) for name in FAMILY} == {n for n in RECIPES if n.startswith(SINCE_2017)}
    for before, *after in CHANGES.values():
        for name in after:
            assert switched(name, before), name


def test_all_were_trained_alike_and_read_text_alike():
    cards = [read_card(checkpoint(name)) for name in FAMILY]
    assert (
        len({(card["tokens"], card["steps"], card["corpus"], card["seed"]) for card in cards}) == 1
    )
    assert len({card["floor"]["nats_per_token"] for card in cards}) == 1
    sizes = [card["parameters"] for card in cards]
    assert max(sizes) / min(sizes) < 1.0225
    texts = [load_bundled(checkpoint(name))[1].encode_from_start("Anna met xq.") for name in FAMILY]
    assert all(text == texts[0] for text in texts)


@pytest.mark.parametrize("name", FAMILY)
def test_what_is_bundled_is_what_the_table_says(name):
    model, _, card = load_bundled(checkpoint(name))
    own, wanted = model.config.to_dict(), config_of(name).to_dict()
    assert {key for key in own if own[key] != wanted[key]} <= {"vocab_size"}
    row, cache = measured(name, card), model.new_cache()
    assert row.parameters == count_parameters(model)
    parts = (*cache.keys, *cache.values)
    assert row.per_token == sum(part[:, :, :1].numel() * part.element_size() for part in parts)
    held = min(model.config.window or model.context_length, model.context_length)
    assert row.whole == held * row.per_token
    assert row.over == pytest.approx(
        card["score"]["nats_per_token"] - card["floor"]["nats_per_token"]
    )


def test_the_stream_is_read_where_it_was_added_to():
    model = gpt()
    sizes = stream_sizes(model, IDS)
    with torch.inference_mode():
        x = model._embed(torch.tensor([IDS]), 0)
        wanted = [x]
        for block in model.blocks:
            x = x + block.attn(block.norm1(x), None, True, None, None)
            wanted.append(x)
            x = x + block.mlp(block.norm2(x))
            wanted.append(x)
    rms = torch.stack([one[0].square().mean(-1).sqrt().mean() for one in wanted])
    torch.testing.assert_close(sizes, rms)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_the_norm_is_the_models_own_without_scale_and_shift(kind):
    model = gpt(norm_kind=kind)
    torch.nn.init.ones_(model.norm_final.weight)
    if kind == "layer":
        torch.nn.init.zeros_(model.norm_final.bias)
    seen = []
    model.norm_final.register_forward_hook(lambda _, given, out: seen.append((given[0], out)))
    with torch.inference_mode():
        model(torch.tensor([IDS]))
    before, behind = seen[0]
    found = norm_numbers(model, IDS)
    torch.testing.assert_close(found[0], before[0].mean(-1))
    torch.testing.assert_close(found[1], behind[0].mean(-1), atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(found[2], behind[0].square().mean(-1).sqrt())


def test_positions_are_those_that_are_added_or_turned():
    waves, learned = gpt(positions="sinusoidal"), gpt(positions="learned")
    assert torch.equal(position_numbers(waves, IDS), waves.waves[:6])
    assert torch.equal(position_numbers(learned, IDS), learned.position.weight[:6])
    rotary = gpt(positions="rotary")
    cosines = position_numbers(rotary, IDS)
    assert cosines.shape == (6, 4)
    torch.testing.assert_close(cosines[:, 0], torch.arange(6.0).cos())
    with pytest.raises(ValueError, match="no positions"):
        position_numbers(gpt(positions="none"), IDS)


def test_activations_go_through_the_curve_or_the_gate():
    before, behind = activations(gpt(), IDS)
    torch.testing.assert_close(behind, torch.nn.functional.gelu(before))
    gated = gpt(activation="swiglu")
    before, behind = activations(gated, IDS)
    factor = behind / torch.nn.functional.silu(before)
    assert factor.std() > 0.1
    with pytest.raises(ValueError, match="experts"):
        activations(gpt(n_expert=2), IDS)


@pytest.mark.parametrize("groups", [1, 2])
def test_there_is_a_row_for_each_head_of_keys(groups):
    model = gpt(n_kv_head=groups, positions="none")
    found, cache = key_lengths(model, IDS), model.new_cache()
    with torch.inference_mode():
        model(torch.tensor([IDS]), cache=cache)
    torch.testing.assert_close(found, cache.keys[0][0, :, : len(IDS)].norm(dim=-1))
    assert found.shape == (groups, len(IDS))


def test_each_token_goes_to_its_experts_in_every_layer():
    found = routing(gpt(n_expert=3), IDS)
    assert found.shape == (3, 6, 3)
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 6))
    assert ((found > 0).sum(-1) == 2).all()
    with pytest.raises(ValueError, match="no experts"):
        routing(gpt(), IDS)


def test_the_window_closes_what_is_far():
    weights = mean_attention(gpt(window=2), IDS)
    torch.testing.assert_close(weights.sum(-1), torch.ones(6))
    assert (weights.tril(-2) == 0).all() and (weights.triu(1) == 0).all()
    assert (mean_attention(gpt(), IDS).tril() > 0).sum() == 21


def test_one_token_can_be_read_for_every_change():
    for change, names in CHANGES.items():
        for name in names[1:]:
            options = config_of(name).to_dict()
            changed = {
                k: v for k, v in options.items() if k not in ("vocab_size", "context_length")
            }
            model = GPT(config_of(name).from_dict({**changed, "vocab_size": 9})).eval()
            assert torch.isfinite(READINGS[change](model, [0])).all()


SENTENCE = "rarely the friendly king chases two poets in the train"


@pytest.fixture(scope="module", params=["pairs-seq2seq", "pairs-rnn"])
def translator(request):
    model, tokenizer, _ = load_bundled(request.param)
    return model, tokenizer.encode(SENTENCE), tokenizer.encode(translate(SENTENCE).target)


def test_a_free_decoder_reads_what_it_wrote(translator):
    model, source, _ = translator
    found, read = free(model, source), [model.config.start_id]
    for step in range(len(found.read)):
        with torch.inference_mode():
            logits = model(torch.tensor([source]), torch.tensor([read]))[0][0, -1]
        best = logits.softmax(-1).sort(descending=True)
        assert found.read[step] == read[-1]
        np.testing.assert_array_equal(found.best[step], best.indices[:5])
        np.testing.assert_allclose(found.chances[step], best.values[:5], atol=1e-5)
        read.append(int(found.best[step, 0]))
    assert read[-1] == model.config.end_id


def test_a_forced_decoder_reads_the_right_words_and_both_agree_until_they_part(translator):
    model, source, target = translator
    taught, own = forced(model, source, target), free(model, source)
    right = [*target, model.config.end_id]
    assert taught.read == (model.config.start_id, *target)
    at = parting(right, own.written)
    assert at == parting(right, taught.written)
    with torch.inference_mode():
        logits = model(torch.tensor([source]), torch.tensor([taught.read]))[0][0].double()
    p = logits.softmax(-1)[range(len(right)), right]
    assert forced_loss(model, source, target) == pytest.approx(float(-p.log().mean()), abs=1e-5)
    same = len(right) if at is None else at + 1
    assert taught.read[:same] == own.read[:same]
    assert taught.written[:same] == own.written[:same]


@given(st.lists(st.integers(0, 2), max_size=5), st.lists(st.integers(0, 2), max_size=5))
def test_the_parting_is_the_first_difference(right, written):
    at = parting(right, written)
    if at is None:
        assert right == written
    else:
        assert right[:at] == written[:at]
        assert right[at : at + 1] != written[at : at + 1]


def test_heads_look_back_in_the_decoder_and_everywhere_in_the_encoder():
    model, tokenizer, _ = load_bundled("pairs-seq2seq")
    source = tokenizer.encode(SENTENCE)
    found = looks(model, source, free(model, source).read)
    for weights in found:
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert not np.triu(found.own, 1).any()
    assert np.triu(found.encoder, 1).any()


def test_each_hidden_word_is_a_pass_of_its_own():
    both, tokenizer, _ = load_bundled("masked-words")
    left = load_bundled("words-gpt")[0]
    ids = tokenizer.encode_from_start("Once Anna met Samir at the market.")
    p, q = from_both_sides(both, ids), from_the_left(left, ids)
    assert p.shape == q.shape == (len(ids) - 1, tokenizer.vocab_size)
    for word in range(len(ids) - 1):
        alone = both.fill_in(ids, word + 1)[: tokenizer.vocab_size]
        np.testing.assert_allclose(p[word], alone, atol=1e-6)
        with torch.inference_mode():
            logits = left(torch.tensor([ids[: word + 1]]))[0][0, -1]
        np.testing.assert_allclose(q[word], logits.softmax(-1), atol=1e-6)
        changed = [
            i
            for i, (a, b) in enumerate(zip(ids, hidden_at(both, ids, word), strict=True))
            if a != b
        ]
        assert changed == [word + 1]
    with pytest.raises(ValueError, match="no word"):
        from_both_sides(both, ids[:1])
    with pytest.raises(ValueError, match="no word"):
        from_the_left(left, ids[:1])
    for model, triangle in ((both, False), (left, True)):
        weights = all_weights(model, ids)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        assert triangle == (not np.triu(weights, 1).any())


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_shares_sum_to_one_and_parts_are_the_taps(options):
    model = gpt(**options)
    found = stream_shares(model, IDS)
    torch.testing.assert_close(found.shares.sum(0), torch.ones(4, 6), atol=1e-4, rtol=1e-4)
    with torch.inference_mode(), record() as trace:
        model(torch.tensor([IDS]))
    whole, attention, mlp = trace["embed"][0], 0, 0
    torch.testing.assert_close(found.norms[0], whole.norm(dim=-1))
    assert torch.equal(found.shares[:, 0], torch.tensor([1.0, 0, 0])[:, None].expand(3, 6))
    for layer in range(3):
        attention = attention + trace[f"blocks.{layer}.attn"][0]
        mlp = mlp + trace[f"blocks.{layer}.mlp"][0]
        whole = trace[f"blocks.{layer}.residual"][0]
        torch.testing.assert_close(found.norms[layer + 1], whole.norm(dim=-1))
        for number, part in ((1, attention), (2, mlp)):
            share = (part * whole).sum(-1) / (whole * whole).sum(-1)
            torch.testing.assert_close(found.shares[number, layer + 1], share, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("options", NO_SUM.values(), ids=NO_SUM.keys())
def test_a_stream_that_is_no_sum_has_no_shares(options):
    with pytest.raises(ValueError, match="only added to"):
        stream_shares(gpt(**options), IDS)


@pytest.mark.parametrize(
    "options", [dict(), dict(norm="post"), dict(norm="none", shortcuts=False)], ids=str
)
def test_the_gradient_at_the_end_is_that_of_a_mean_product(options):
    """T·C random numbers r of mean square 1: the gradient of mean(x·r) is r / TC, 1/√(TC) long."""
    found = depth_study(3, **options)
    assert found.activations.shape == found.gradients.shape == (4,)
    assert found.gradients[-1].item() == pytest.approx((16 * 32) ** -0.5, rel=0.1)


def test_the_first_point_does_not_depend_on_depth_and_runs_repeat():
    one, two = depth_study(2), depth_study(2)
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    assert depth_study(5).activations[0] == one.activations[0] == pytest.approx(1, abs=0.1)
    assert not torch.equal(one.gradients, depth_study(2, seed=1).gradients)


def test_what_norms_and_shortcuts_are_good_for():
    bare, normed = depth_study(24, norm="none"), depth_study(24)
    assert bare.activations[-1] > 100 * normed.activations[-1]
    assert depth_study(24, norm="post").activations[1:].sub(1).abs().max() < 0.01
    without = depth_study(24, norm="none", shortcuts=False)
    assert without.gradients[0] < 1e-3 * without.gradients[-1]
    assert normed.gradients[0] > 0.1 * normed.gradients[-1]


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("shortcuts", [True, False])
def test_the_deepest_stack_gives_numbers(norm, shortcuts):
    for part in depth_study(48, norm=norm, shortcuts=shortcuts):
        assert part.isfinite().all() and (part > 0).all()


@pytest.mark.parametrize("n_layer", [0, 49])
def test_the_depth_has_a_limit(n_layer):
    with pytest.raises(ValueError, match=f"n_layer must be from 1 to 48; got {n_layer}"):
        depth_study(n_layer)
