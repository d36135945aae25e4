"""Scores add up: whole documents from their start, each token once, against known models."""

import math

import pytest
import torch

from llmviz.corpus import PROBES, entropy_floor, generate
from llmviz.models import build
from llmviz.models.bigram import CountBigram
from llmviz.tokenizers import train_tokenizer
from llmviz.training import evaluate
from llmviz.training.measures import Share, bits_per_byte, distance_to_floor, perplexity

DOCUMENTS = ["ann met bob", "é", "bob saw ann and dan and eve and ann"]


@pytest.fixture(scope="module")
def chars():
    return train_tokenizer("char", DOCUMENTS)


def gpt(tokenizer, context):
    torch.manual_seed(0)
    sizes = {"n_layer": 1, "n_head": 1, "n_embd": 8, "positions": "none"}
    return build("gpt", {**sizes, "vocab_size": tokenizer.vocab_size, "context_length": context})


def by_hand(model, tokenizer, documents):
    """Document by document, token by token, with all that came before."""
    end, total = tokenizer.special_tokens["<|endoftext|>"], 0.0
    for document in documents:
        ids = [end, *tokenizer.encode(document), end]
        for i in range(1, len(ids)):
            row = model(torch.tensor([ids[:i]]))[0][0, -1].detach().double()
            total -= float(row.log_softmax(-1)[ids[i]])
    return total


def test_a_score_is_the_sum_over_all_tokens_and_ends(chars):
    model = gpt(chars, 64)
    score = evaluate.evaluate_documents(model, chars, DOCUMENTS)
    assert score.nats == pytest.approx(by_hand(model, chars, DOCUMENTS), rel=1e-5)
    assert score.tokens == sum(map(len, DOCUMENTS)) + 3
    assert score.characters == sum(map(len, DOCUMENTS))
    assert score.bytes == score.characters + 1  # é has two
    assert score.documents == 3
    assert score.per_document * 3 == pytest.approx(score.nats)
    assert score.bits_per_byte == pytest.approx(score.nats / math.log(2) / score.bytes)


@pytest.mark.parametrize("context", [1, 2, 3, 7, 16, 35, 36, 37])
def test_long_documents_have_each_token_scored_once(chars, context):
    end = chars.special_tokens["<|endoftext|>"]
    ids = [i for d in DOCUMENTS for i in [end, *chars.encode(d), end]]
    counted = CountBigram.fit(ids, chars.vocab_size, smoothing=1.0)
    sizes = {"vocab_size": chars.vocab_size, "context_length": context}
    bigram = build("bigram", sizes)  # what lies further back does not matter to it
    with torch.no_grad():
        bigram.table.weight.copy_(counted.probabilities().log())
    expected = -sum(
        float(counted.probabilities()[a, b].log())
        for d in DOCUMENTS
        for a, b in zip([end, *chars.encode(d)], [*chars.encode(d), end], strict=True)
    )
    assert evaluate.evaluate_documents(bigram, chars, DOCUMENTS).nats == pytest.approx(
        expected, rel=1e-5
    )


def test_a_model_that_knows_nothing_scores_ln_v_and_is_above_the_floor(chars):
    stories = [story.text for story in generate(5)]
    tokenizer = train_tokenizer("bpe", stories, 300)
    score = evaluate.evaluate_documents(build("bigram", {"vocab_size": 300}), tokenizer, stories)
    assert score.per_token == pytest.approx(math.log(300), rel=1e-5)
    assert score.perplexity == pytest.approx(300, rel=1e-4)
    floor = entropy_floor(stories, tokenizer)
    assert score.tokens == floor.tokens and score.characters == floor.characters
    assert distance_to_floor(score.per_document, floor.per_document) > 1
    assert distance_to_floor(score.per_token, floor.per_token) == pytest.approx(
        distance_to_floor(score.per_document, floor.per_document)
    )


def test_the_mode_of_the_model_is_left_alone(chars):
    model = gpt(chars, 64).train()
    evaluate.evaluate_documents(model, chars, DOCUMENTS)
    assert model.training


def test_log_probabilities_multiply_along_a_text(chars):
    model = gpt(chars, 64).eval()
    parts = [("ann", " met"), ("ann met", " bob"), ("ann", " met bob"), ("", "ann")]
    first, second, both, start = evaluate.log_probabilities(model, chars, parts)
    assert first + second == pytest.approx(both, rel=1e-5)
    assert start < 0
    (cut,) = evaluate.log_probabilities(gpt(chars, 4).eval(), chars, [("ann met", " bob")])
    assert math.isfinite(cut)


@pytest.mark.parametrize("context", [2, 3, 4, 5, 9])
def test_what_is_beyond_the_context_is_left_out_from_the_front(chars, context):
    model = gpt(chars, context).eval()
    end = chars.special_tokens["<|endoftext|>"]
    ids = [end, *chars.encode("ann met bob")][-(context + 1) :]
    scored = min(4, context)
    rows = model(torch.tensor([ids[:-1]]))[0][0].log_softmax(-1)
    expected = rows[range(context - scored, context), ids[-scored:]].sum().item()
    (found,) = evaluate.log_probabilities(model, chars, [("ann met", " bob")])
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_tie_is_no_right_answer(chars):
    from llmviz.corpus.probes import Probe

    asked = [
        Probe("any", "ann ", right, wrong) for right, wrong in (("met", "bob"), ("bob", "met"))
    ]
    even = build("bigram", {"vocab_size": chars.vocab_size, "context_length": 16})
    with torch.no_grad():
        even.table.weight.zero_()
    assert evaluate.share_right(even, chars, asked) == Share(0, 2)


def test_two_answers_that_are_equally_probable_are_no_right_answer(chars):
    """Nor where both are long, or of another length in tokens than one expects."""
    from llmviz.corpus.probes import Probe

    pairs = (("met", "bob"), ("bob", "met"), ("a", "d"))
    asked = [Probe("any", "ann ", right, wrong) for right, wrong in pairs]
    even = build("bigram", {"vocab_size": chars.vocab_size, "context_length": 16})
    with torch.no_grad():
        even.table.weight.zero_()
    assert evaluate.probe_score(even, chars, asked).of_two == Share(0, 3)
    with torch.no_grad():
        even.table.weight[:, chars.encode("m")[0]] = 1.0  # one of them is likelier by now
    assert evaluate.probe_score(even, chars, asked).of_two == Share(1, 3)


class WithoutStart:
    """A tokenizer of pieces of UTF-8, which puts nothing in front of texts; 0 ends them."""

    start, end, vocab_size = (), 0, 300

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def encode(self, text: str) -> list[int]:
        ids, left = [], text.encode()
        while left:
            best = max((p for p in self.pieces if left.startswith(p)), key=len, default=left[:1])
            ids.append(256 + self.pieces.index(best) if best in self.pieces else best[0])
            left = left[len(best) :]
        return ids

    def token_bytes(self, token: int) -> bytes:
        return self.pieces[token - 256] if token >= 256 else bytes([token])

    def behind_start(self, ids: list[int]) -> list[int]:
        return ids


@pytest.mark.parametrize(
    ("text", "pieces", "characters", "size"),
    [
        ("abc", [], 2, 2),  # a is not scored
        ("abc", [b"ab"], 1, 1),
        ("éa", ["é".encode()], 1, 1),
        ("éa", [], 2, 2),  # half of é is not: of its bytes one, and of its characters none
        ("🙂🙂", ["🙂".encode()], 1, 4),
        ("a", [], 0, 0),
        ("", [], 0, 0),
    ],
)
def test_of_a_first_token_without_anything_before_it_nothing_counts(text, pieces, characters, size):
    tokenizer = WithoutStart(pieces)
    model = build("bigram", {"vocab_size": 300, "context_length": 8})
    (found,) = evaluate.score_each(model, tokenizer, [text])
    assert (found.characters, found.bytes) == (characters, size)
    assert found.tokens == len(tokenizer.encode(text)) if text else found.tokens == 0


def test_probes_are_won_by_who_has_read_the_right_continuations():
    from llmviz.corpus import probes

    asked = probes("sounds", 20)
    tokenizer = train_tokenizer("word", [p.prompt + p.right + p.wrong for p in asked])

    def accuracy(side):
        end = tokenizer.special_tokens["<|endoftext|>"]
        stream = [end]
        for probe in asked:
            words = tokenizer.encode(probe.prompt + getattr(probe, side))
            stream += [*words[-2:], end]
        counted = CountBigram.fit(stream, tokenizer.vocab_size, smoothing=0.01)
        sizes = {"vocab_size": tokenizer.vocab_size, "context_length": 512}
        model = build("bigram", sizes)
        with torch.no_grad():
            model.table.weight.copy_(counted.probabilities().log())
        score = evaluate.probe_scores(model, tokenizer, ["sounds"], 20)["sounds"]
        assert score.greedy.right == sum(writes(model, tokenizer, one) for one in asked)
        return score.of_two

    right, wrong = accuracy("right"), accuracy("wrong")
    assert right.share > wrong.share and right.count == wrong.count == 20


def test_the_score_of_several_kinds_is_that_of_each(chars):
    from llmviz.corpus import probes

    tokenizer = train_tokenizer("bpe", [story.text for story in generate(5)], 300)
    model = gpt(tokenizer, 64).eval()
    both = evaluate.probe_scores(model, tokenizer, ["sums", "days"], 5, seed=4)
    assert list(both) == ["sums", "days"]
    for kind, (share, greedy) in both.items():
        asked = probes(kind, 5, seed=4)
        assert share == evaluate.share_right(model, tokenizer, asked)
        better = 0
        for one in asked:
            (right,) = evaluate.log_probabilities(model, tokenizer, [(one.prompt, one.right)])
            (wrong,) = evaluate.log_probabilities(model, tokenizer, [(one.prompt, one.wrong)])
            better += right > wrong
        assert share == Share(better, 5)
        assert greedy == Share(sum(writes(model, tokenizer, one) for one in asked), 5)


def writes(model, tokenizer, probe):
    """Whether greedy writing goes on with the right continuation, token by token."""
    from llmviz.sampling.generation import generate as write

    prompt = tokenizer.encode_from_start(probe.prompt)
    wanted = tokenizer.encode_from_start(probe.prompt + probe.right)[len(prompt) :]
    return [token.id for token in write(model, prompt, len(wanted), 0)] == wanted


def test_two_continuations_of_one_text_are_those_of_each_alone(chars):
    model = gpt(chars, 16).eval()
    pairs = [("ann met", " "), ("ann met", "b"), ("bob", " s"), ("ann met", " bob"), ("bob", " ")]
    together = evaluate.log_probabilities(model, chars, pairs)
    alone = [evaluate.log_probabilities(model, chars, [pair])[0] for pair in pairs]
    assert together == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("count", [1, 2, 7, 100, 1000])
def test_the_interval_of_a_share_is_wilsons(count):
    from scipy.stats import binomtest

    for right in sorted({0, 1, count // 2, max(count - 1, 0), count}):
        low, high = Share(right, count).interval
        known = binomtest(right, count).proportion_ci(0.95, "wilson")
        assert (low, high) == pytest.approx((known.low, known.high), abs=1e-12)
        assert 0 <= low <= right / count <= high <= 1
        assert (low == 0, high == 1) == (right == 0, right == count)


@pytest.mark.parametrize(
    ("right", "count", "rule"), [(0, 0, "at least one"), (3, 2, "from 0 to 2"), (-1, 2, "from 0")]
)
def test_a_share_of_nothing_and_more_than_all_are_refused(right, count, rule):
    with pytest.raises(ValueError, match=rule):
        Share(right, count)


def test_bad_input(chars):
    with pytest.raises(ValueError, match="at least one document"):
        evaluate.evaluate_documents(gpt(chars, 8), chars, [])
    with pytest.raises(ValueError, match="at least one probe"):
        evaluate.probe_scores(gpt(chars, 8), chars, PROBES[:1], count=0)
    with pytest.raises(ValueError, match="no probe"):
        evaluate.probe_scores(gpt(chars, 8), chars, ["sorcery"])
    with pytest.raises(ValueError, match="at least one byte"):
        bits_per_byte(1.0, 0)
    with pytest.raises(ValueError, match="above 0"):
        distance_to_floor(1.0, 0.0)


def test_measures():
    assert perplexity(0.0) == 1.0 and perplexity(1e6) == math.inf
    assert perplexity(math.log(65)) == pytest.approx(65)
    assert bits_per_byte(8 * math.log(2), 4) == pytest.approx(2.0)
    assert distance_to_floor(1.05, 1.0) == pytest.approx(0.05)
