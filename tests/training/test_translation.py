"""The two measures of a translator, on models whose answers are known."""

import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.models import build
from llmviz.tokenizers import train_tokenizer
from llmviz.training.pairs import PairData
from llmviz.training.translation import cross_attention, evaluate_pairs


@pytest.fixture(scope="module")
def pairs():
    return list(load_corpus("pairs"))[:6]


@pytest.fixture(scope="module")
def tokenizer(pairs):
    return train_tokenizer("word", [f"{a} {b}" for a, b in pairs])


def small(tokenizer):
    torch.manual_seed(0)
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 32, "context_length": 16}
    return build(
        "seq2seq",
        {**sizes, **PairData.special_ids(tokenizer), "vocab_size": tokenizer.vocab_size},
    )


def test_untrained_finds_little_and_trained_by_heart_finds_all(pairs, tokenizer):
    model = small(tokenizer)
    before = evaluate_pairs(model, tokenizer, pairs)
    assert before.exact == 0 and before.sentences == 6 and before.words > 12
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    data = PairData.from_pairs(pairs, pairs, tokenizer, 16)
    for step in range(1, 80):
        optimizer.zero_grad()
        model(*data.batch(step, 6))[1].backward()
        optimizer.step()
    after = evaluate_pairs(model, tokenizer, pairs)
    assert after.exact == 1.0 and 0 <= after.aligned <= 1


def test_cross_attention_has_a_row_for_each_target_token_and_rows_sum_to_one(pairs, tokenizer):
    model = small(tokenizer).eval()
    source = torch.tensor([tokenizer.encode(pairs[0][0])])
    target = tokenizer.encode(pairs[0][1])
    weights = cross_attention(model, source, [target])
    assert weights.shape == (1, len(target) + 1, source.shape[1])
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, len(target) + 1))


def test_batches_are_source_shifted_target_and_target(pairs, tokenizer):
    data = PairData.from_pairs(pairs, pairs[:2], tokenizer, 16)
    source, read, written = data.batch(1, 4)
    ends = tokenizer.special_tokens["<|endoftext|>"]
    assert (read[:, 0] == ends).all()
    kept = written[:, :-1] != -1
    inside = kept & (written[:, 1:] != -1)
    assert torch.equal(read[:, 1:][inside], written[:, :-1][inside])
    assert ((written == ends).sum(dim=1) == 1).all()
    assert source.shape[0] == 4
    seen = {tuple(row.tolist()) for step in (1, 2, 3) for row in data.batch(step, 2)[2]}
    assert len(seen) == len(pairs)  # one epoch shows each pair once, whatever its padding


def test_bad_input(pairs, tokenizer):
    with pytest.raises(ValueError, match="at least one pair"):
        evaluate_pairs(small(tokenizer), tokenizer, [])
    with pytest.raises(ValueError, match="longest sentence"):
        PairData.from_pairs(pairs, pairs, tokenizer, 2)
    with pytest.raises(ValueError, match="at least one pair"):
        PairData.from_pairs(pairs, [], tokenizer, 16)
    bpe = train_tokenizer("bpe", [a for a, _ in pairs], 260)
    with pytest.raises(ValueError, match="word or char"):
        PairData.special_ids(bpe)


@pytest.mark.parametrize(("source", "target", "longest"), [("a b", "a b c", 4), ("a b c", "a", 3)])
def test_the_context_holds_a_source_and_a_target_with_its_end(source, target, longest):
    tokenizer, pairs = train_tokenizer("word", [source, target]), [(source, target)]
    data = PairData.from_pairs(pairs, pairs, tokenizer, longest)
    assert data.longest_row == longest == max(part.shape[1] for part in data.batch(1, 1))
    with pytest.raises(ValueError, match=f"longest sentence, {longest} tokens; got {longest - 1}"):
        PairData.from_pairs(pairs, pairs, tokenizer, longest - 1)


@pytest.mark.parametrize("name", ["seq2seq", "seq2seq-rnn"])
def test_exact_translations_are_counted_by_the_length_of_their_source(pairs, tokenizer, name):
    torch.manual_seed(0)
    sizes = {"n_embd": 16, "context_length": 16, "vocab_size": tokenizer.vocab_size}
    model = build(name, {**sizes, **PairData.special_ids(tokenizer)})
    known = dict(pairs)
    # A model that knows three of the pairs by heart, whatever its weights.
    first = {tuple(tokenizer.encode(source)): target for source, target in pairs[:3]}

    def translate(batch):
        rows = [
            tuple(token for token in row if token != model.config.pad_id) for row in batch.tolist()
        ]
        return [tokenizer.encode(first[row]) if row in first else [] for row in rows]

    model.translate = translate
    score = evaluate_pairs(model, tokenizer, pairs)
    assert score.exact == 0.5
    counts: dict[int, list[int]] = {}
    for at, source in enumerate(known):
        one = counts.setdefault(len(source.split()), [0, 0])
        one[0] += 1
        one[1] += at < 3
    assert {words: list(two) for words, two in score.by_length.items()} == counts
    assert score.to_dict()["by_length"] == {str(words): counts[words] for words in sorted(counts)}
    assert (score.aligned is None) == (name == "seq2seq-rnn")
