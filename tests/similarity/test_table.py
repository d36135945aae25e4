"""Tables of vectors: a word finds its row, a row is a product, a file gives the numbers back."""

import csv
import io

import numpy as np
import pytest

from llmviz import similarity as sim
from llmviz.similarity import NotOneRow, VectorTable
from llmviz.tokenizers import BPETokenizer, CharTokenizer, WordTokenizer

TEXT = "The cat sat on the mat. The cat saw a dog. A cat and a dog sat on a mat by the cat. " * 3


def table_of(tokenizer, width=5, seed=0):
    rows = np.random.default_rng(seed).normal(size=(tokenizer.vocab_size, width))
    return VectorTable("t", rows.astype(np.float32), tokenizer)


@pytest.fixture(scope="module")
def pieces():
    return table_of(BPETokenizer.train(TEXT, 280))


@pytest.fixture(scope="module")
def whole():
    return table_of(WordTokenizer.train(TEXT))


def test_word_inside_a_text_comes_before_the_word_at_its_beginning(pieces):
    row = pieces.find("cat")
    assert pieces.bytes_of[row] == b" cat"
    assert pieces.tokenizer.encode("a cat")[-1] == row
    assert pieces.find(" cat ") == row and pieces.find(f"#{row}") == row
    assert pieces.name_of(row) == "cat"


def test_every_row_is_found_by_its_name(pieces, whole):
    chars = table_of(CharTokenizer.train(TEXT))
    for table in (pieces, whole, chars):
        assert [table.find(table.name_of(row)) for row in range(table.size)] == list(
            range(table.size)
        )


def test_word_in_pieces_names_them_and_what_is_spelled_like_it(pieces):
    with pytest.raises(NotOneRow, match="no row of its own") as caught:
        pieces.find("cats")
    assert pieces.tokenizer.decode(caught.value.ids) == " cats"
    assert "cat" in caught.value.spellings
    assert pieces.read("cats") == caught.value.ids
    mean = np.mean([pieces.matrix[row] for row in caught.value.ids], axis=0)
    np.testing.assert_allclose(pieces.mean(caught.value.ids), mean, rtol=1e-6)


def test_unknown_word_is_named_with_its_likes(whole):
    with pytest.raises(NotOneRow, match="'catt' is not in the vocabulary") as caught:
        whole.read("the catt sat")
    assert caught.value.ids == () and caught.value.spellings[0] == "cat"
    assert whole.read("the cat sat") == tuple(whole.tokenizer.encode("the cat sat"))


@pytest.mark.parametrize(("word", "rule"), [("", "no word"), ("  ", "no word"), ("#999", "rows 0")])
def test_no_word_and_no_such_row_are_refused(whole, word, rule):
    with pytest.raises(ValueError, match=rule):
        whole.find(word)


def test_table_needs_a_row_for_each_token(whole):
    with pytest.raises(ValueError, match="one row for each"):
        VectorTable("t", whole.matrix[:-1], whole.tokenizer)


def test_lookup_is_a_product(whole):
    for row in (0, whole.size // 2, whole.size - 1):
        hot = sim.one_hot(row, whole.size)
        assert np.array_equal(hot @ whole.matrix, whole.matrix[row])
    with pytest.raises(ValueError, match="0 to"):
        sim.one_hot(whole.size, whole.size)


def test_new_ids_change_no_distance():
    new = sim.renumbered(50, 3)
    assert sorted(new) == list(range(50))
    assert not np.array_equal(new, sim.renumbered(50, 4))
    rows = np.random.default_rng(0).normal(size=(50, 4))
    moved = np.empty_like(rows)
    moved[new] = rows
    again = sim.pairwise(moved)[np.ix_(new, new)]
    np.testing.assert_allclose(again, sim.pairwise(rows), atol=1e-12)


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1"])
def test_no_label_is_a_formula_in_a_table(pieces, formula):
    labels = [formula] * pieces.size
    rows = list(csv.reader(io.StringIO(pieces.csv(labels), newline="")))
    assert {row[1] for row in rows[1:]} == {"'" + formula}


def test_files_give_the_same_numbers_back(pieces):
    labels = [f"t{i}" for i in range(pieces.size)]
    labels[0], labels[1] = 'a,"b', "tab\there"
    rows = list(csv.reader(io.StringIO(pieces.csv(labels), newline="")))
    assert rows[0] == ["id", "token", *(f"d{j}" for j in range(pieces.width))]
    assert [row[1] for row in rows[1:]] == labels
    back = np.array([row[2:] for row in rows[1:]], dtype=np.float32)
    assert np.array_equal(back, pieces.matrix)
    tsv = np.loadtxt(io.StringIO(pieces.tsv()), delimiter="\t", dtype=np.float32)
    assert np.array_equal(tsv, pieces.matrix)
    lines = sim.projector_labels(labels).splitlines()
    assert len(lines) == pieces.size and "\t" not in lines[1]
