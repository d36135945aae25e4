"""Windows are the shift by one, cover every target once an epoch, and follow from (seed, step)."""

from collections import Counter

import numpy as np
import pytest
import torch

from llmviz.corpus import Corpus
from llmviz.tokenizers import train_tokenizer
from llmviz.training import Stream, TrainData
from llmviz.training.data import POOL
from llmviz.training.stream import Epochs

END = 0


def make(documents, context, windows, seed=0, vocab=100):
    stream = Stream.join(documents, END)
    return TrainData(stream, stream, context, vocab, windows, seed)


KINDS = ["random", "documents", "padded", "sorted"]
DOCUMENTS = [[1, 2, 3], [4], [5, 6, 7, 8, 9, 10, 11], [12, 13]]


def test_a_stream_opens_and_closes_each_document_with_the_end_token():
    stream = Stream.join([[1, 2], [], [3]], END)
    assert stream.ids.tolist() == [0, 1, 2, 0, 3, 0]
    assert stream.starts.tolist() == [0, 3]
    assert stream.lengths.tolist() == [3, 2]


@pytest.mark.parametrize("windows", KINDS)
def test_targets_are_the_inputs_shifted_by_one(windows):
    inputs, targets = make(DOCUMENTS, 4, windows).batch(1, 5)
    assert inputs.dtype == targets.dtype == torch.int64 and inputs.shape == targets.shape
    kept = targets[:, :-1] != -1
    assert torch.equal(inputs[:, 1:][kept], targets[:, :-1][kept])


def test_padded_scores_every_token_of_every_document_once_an_epoch():
    data = make(DOCUMENTS, 4, "padded")
    seen = Counter()
    for step in range(1, data.rows_per_epoch + 1):
        targets = data.batch(step, 1)[1]
        seen.update(targets[targets != -1].tolist())
    expected = Counter(token for document in DOCUMENTS for token in [*document, END])
    assert seen == expected


def test_sorted_shows_every_row_once_an_epoch_with_less_padding():
    sizes = np.random.default_rng(0).integers(1, 30, 40 * POOL)
    documents = [[token % 60 + 1] * size for token, size in enumerate(sizes)]
    padding, seen = {}, {}
    for windows in ("padded", "sorted"):
        data = make(documents, 32, windows)
        batches = [data.batch(step, 10)[1] for step in range(1, data.rows_per_epoch // 10 + 1)]
        padding[windows] = sum(int((batch == -1).sum()) for batch in batches)
        seen[windows] = Counter(
            tuple(row[row != -1].tolist()) for batch in batches for row in batch
        )
    assert seen["sorted"] == seen["padded"]
    assert padding["sorted"] < padding["padded"] / 4


def test_sorted_batches_come_in_no_order_of_length():
    documents = [[1] * size for size in range(1, 10 * POOL + 1)]
    data = make(documents, 100, "sorted")
    widths = [data.batch(step, 10)[0].shape[1] for step in range(1, POOL + 1)]
    assert sorted(widths) != widths != sorted(widths, reverse=True)
    assert min(widths) < 20 and max(widths) > 75  # each batch has its own length


@pytest.mark.parametrize("windows", KINDS)
def test_every_place_where_a_window_may_begin_occurs_and_no_other(windows):
    data = make([list(range(1, 12))], 4, windows)  # with the ends 13 tokens, each once but those
    batches = [data.batch(step, 8) for step in range(1, 60)]
    found = Counter(int(row[0]) for inputs, _ in batches for row in inputs)
    # Of a window of four and the token behind it the last begins at the ninth token.
    wanted = range(9) if windows == "random" else (0, 4, 8)
    assert sorted(found) == sorted(wanted)
    scored = {int(token) for _, targets in batches for token in targets.flatten()}
    assert scored - {-1} == {*range(1, 12), END}


@pytest.mark.parametrize("context", range(1, 10))
def test_rows_are_documents_in_pieces_of_the_context(context):
    """Any length of document: whole pieces, and what is left for the last one."""
    stream = Stream.join(DOCUMENTS, END)
    starts, lengths = stream.rows(context)
    rows = [stream.ids[a + 1 : a + 1 + n].tolist() for a, n in zip(starts, lengths, strict=True)]
    expected = [
        [*document, END][first : first + context]
        for document in DOCUMENTS
        for first in range(0, len(document) + 1, context)
    ]
    assert rows == expected


def test_each_pool_deals_out_its_batches_anew():
    documents = [[1] * size for size in range(1, 2 * POOL + 1)]
    data = make(documents * 10, 100, "sorted")  # the lengths of a pool's batches, ranked
    widths = [data.batch(step, 20)[0].shape[1] for step in range(1, 6 * POOL + 1)]
    pools = [widths[first : first + POOL] for first in range(0, len(widths), POOL)]
    assert len({tuple(np.argsort(pool, kind="stable")) for pool in pools}) > 1


@pytest.mark.parametrize(("fitting", "windows"), [(8, "documents"), (9, "padded"), (10, "padded")])
def test_a_row_each_is_chosen_where_nine_documents_of_ten_fit(fitting, windows):
    tokenizer = train_tokenizer("char", ["ab"])
    texts = ["ab"] * fitting + ["abababab"] * (10 - fitting)
    assert TrainData.from_documents(texts, texts, tokenizer, 3).windows == windows


def test_padded_rows_begin_with_the_end_token_and_hold_one_document():
    data = make([[1, 2], [3, 4, 5]], 8, "padded")
    rows = {tuple(r.tolist()) for step in (1, 2) for r in data.batch(step, 1)[0]}
    assert rows == {(END, 1, 2), (END, 3, 4, 5)}


def test_documents_start_at_a_document_and_run_on():
    data = make(DOCUMENTS, 4, "documents")
    starts = {tuple(data.batch(step, 1)[0][0].tolist()) for step in range(1, 40)}
    assert (END, 1, 2, 3) in starts and (END, 4, END, 5) in starts
    assert (8, 9, 10, 11) in starts  # the second window of the long document


def test_a_batch_follows_from_seed_and_step_alone():
    for windows in KINDS:
        one, other = make(DOCUMENTS, 4, windows, 7), make(DOCUMENTS, 4, windows, 7)
        for step in range(1, 9):  # one goes through the epochs in order, the other jumps
            kept = one.batch(step, 3)
            if step in (2, 8):
                assert all(map(torch.equal, kept, other.batch(step, 3)))
        different = [make(DOCUMENTS, 4, windows, seed).batch(1, 16)[0].tolist() for seed in (0, 1)]
        assert different[0] != different[1]


def test_the_orders_of_two_epochs_are_in_memory_however_many_there_were():
    epochs = Epochs(10, 0)
    for step in range(1, 40):
        epochs.rows(step, 4)
        assert len(epochs._orders) <= 2


def test_epochs_differ_in_order_but_not_in_content():
    data = make([[i] for i in range(1, 21)], 4, "padded")
    first, second = data.batch(1, 20)[0], data.batch(2, 20)[0]
    assert first.tolist() != second.tolist()
    assert sorted(first.tolist()) == sorted(second.tolist())


@pytest.mark.parametrize("windows", KINDS)
def test_validation_is_the_same_each_time(windows):
    data = make(DOCUMENTS * 5, 4, windows)
    once, again = (list(data.validation_batches(3, 2)) for _ in range(2))
    assert len(once) == 2
    for a, b in zip(once, again, strict=True):
        assert all(map(torch.equal, a, b))


@pytest.mark.parametrize("own", [[5], [5, 6, 7]])
def test_of_a_validation_text_shorter_than_the_context_every_token_is_scored_once(own):
    text = Stream.join([[1, 2, 3, 4] * 5], END), Stream.join([own], END)
    ((inputs, targets),) = TrainData(*text, 8, 10, "random").validation_batches(4, 0)
    assert inputs.tolist() == [[END, *own]] and targets.tolist() == [[*own, END]]


def test_the_kind_of_window_is_chosen_by_the_documents(tokenizer):
    lines = Corpus("names", ["ann", "bob", "dan"] * 10)
    story = Corpus("story", ["ann saw bob " * 20])
    long = Corpus("stories", ["ann saw bob " * 4] * 10)
    kinds = [TrainData.from_corpus(c, tokenizer, 8).windows for c in (lines, story, long)]
    assert kinds == ["padded", "random", "documents"]


def test_bad_input(tokenizer):
    stream = Stream.join([[1, 2, 3]], END)
    with pytest.raises(ValueError, match=r"longer than the context.*context_length=64"):
        TrainData(stream, stream, 64, 10)
    with pytest.raises(ValueError, match=r"token ids must be in 0 … 2; got 3"):
        TrainData(stream, stream, 2, 3)
    with pytest.raises(ValueError, match="token ids must be in"):
        TrainData(Stream(np.array([0, -5, 1]), stream.starts, stream.lengths), stream, 1, 9)
    with pytest.raises(ValueError, match="context_length must be at least 1"):
        TrainData(stream, stream, 0, 9)
    with pytest.raises(ValueError, match="windows must be one of"):
        TrainData(stream, stream, 2, 9, "sideways")
    with pytest.raises(ValueError, match="empty"):
        TrainData(Stream.join([], END), stream, 2, 9)
    with pytest.raises(ValueError, match="too short"):
        TrainData.from_corpus(Corpus("x", ["a"]), tokenizer, 8)
