"""Corpora by name and by file: documents, splits, and what cannot be used."""

import hashlib
import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.names import make_names
from experiments.word_forms import make_word_forms
from llmviz.corpus import (
    CORPORA,
    Corpus,
    corpus_from_text,
    count_letter_pairs,
    entropy_floor,
    is_story,
    letter_pair_counts,
    load_corpus,
)
from llmviz.files.paths import DATA
from llmviz.tokenizers import BPETokenizer

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
BUNDLED = [name for name, entry in CORPORA.items() if entry.bundled]


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_corpus_loads_and_splits_by_document(name):
    corpus = load_corpus(name, characters=50_000 if name == "tiny-world" else None)
    assert corpus.name == name and corpus.text.strip()
    assert CORPORA[name].description and "\n" not in CORPORA[name].description
    train, held_out = corpus.split(0.1, seed=3)
    if len(corpus) > 1:
        assert sorted(train.documents + held_out.documents) == sorted(corpus.documents)
        assert len(held_out) == round(0.1 * len(corpus))
        assert corpus.split(0.1, seed=3)[1].documents == held_out.documents
        assert corpus.split(0.1, seed=4)[1].documents != held_out.documents
    else:
        assert train.text + held_out.text == corpus.text
        assert 0.05 < len(held_out.text) / len(corpus.text) < 0.15


def test_the_sample_is_what_the_generator_writes():
    sample = load_corpus("tiny-world-sample")
    assert sample.documents == load_corpus("tiny-world", characters=1_000_000).documents
    assert all(is_story(document) for document in sample.documents[:100])


def test_names_are_what_the_rule_makes():
    names = load_corpus("names").documents
    assert names == make_names()
    assert all(re.fullmatch("[a-z]{2,12}", name) for name in names)
    assert len(set(names)) == len(names) == 8_000


def test_word_forms_are_written_again_from_their_seed():
    assert load_corpus("word-forms").text.rstrip("\n") + "\n" == make_word_forms()


def test_word_forms_show_stems_and_endings():
    """After some merges, and before the words are whole, BPE has cut them where people would."""
    trained = BPETokenizer.train(load_corpus("word-forms").documents, 700)

    def cut(word: str, merges: int) -> list[str]:
        then = BPETokenizer(trained.merges[:merges])
        return [then.token_bytes(i).decode().strip() for i in then.encode(" " + word)]

    assert ["un", "happi", "ness"] in [cut("unhappiness", n) for n in range(60, 120)]
    for word, pieces in {
        "token": ["token"],
        "tokens": ["token", "s"],
        "tokenization": ["token", "ization"],
        "modernization": ["modern", "ization"],
        "boy": ["boy"],
        "boys": ["boy", "s"],
    }.items():
        assert cut(word, 120) == pieces, word


def test_the_story_is_a_story():
    words = load_corpus("story").text.split()
    assert 3_000 <= len(words) <= 6_000


def test_letter_pair_counts_belong_to_the_names_they_were_counted_on():
    table = letter_pair_counts()
    assert table.sum() == 228_146 and table[0, 0] == 0
    assert (table.sum(axis=0) == table.sum(axis=1)).all()  # every name begins and ends
    listed = SHARED / "names.txt"
    if not listed.exists():
        pytest.skip("the list of 32,033 names is not at hand; the table was checked by itself")
    counted = count_letter_pairs(listed.read_text(encoding="utf-8").split())
    assert (counted == table).all()


def test_letters_only_are_counted():
    assert count_letter_pairs(["Ab"])[1, 2] == 1
    with pytest.raises(ValueError, match="a to z"):
        count_letter_pairs(["o'neil"])


def test_readme_tells_the_checksum_of_every_bundled_text():
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^([0-9a-f]{64})  (\S+)$", readme, re.MULTILINE)
    texts = {name for _, name in listed}
    assert {"names.txt", "names-counts.csv", "story.txt", "tiny-world.txt"} <= texts
    for checksum, name in listed:
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == checksum, name


def test_a_file_of_the_user(tmp_path):
    path = tmp_path / "poem.txt"
    path.write_text("first line\n\nsecond verse, which is longer\n", encoding="utf-8")
    corpus = load_corpus(path)
    assert corpus.name == "poem" and corpus.documents == [path.read_text(encoding="utf-8")]


def test_end_of_text_separates_documents():
    corpus = corpus_from_text("One.\n<|endoftext|>\nTwo.\n<|endoftext|>\n\n")
    assert corpus.documents == ["One.", "Two."]


def test_a_list_is_one_document_a_line():
    assert corpus_from_text("\n".join(f"name {i}" for i in range(20)) + "\n").documents[19] == (
        "name 19"
    )
    prose = "\n".join(["a line of this has more than three words"] * 30)
    assert len(corpus_from_text(prose)) == 1
    assert len(corpus_from_text("\n".join(["few"] * 19))) == 1


@given(st.text(max_size=300))
@settings(max_examples=200)
def test_any_text_is_a_corpus_or_refused_and_splits_or_is_refused(text):
    try:
        corpus = corpus_from_text(text)
    except ValueError as error:
        assert "empty" in str(error)
        return
    try:
        train, held_out = corpus.split()
    except ValueError as error:
        assert "too short to split" in str(error)
        return
    assert train.text.strip() and held_out.text
    if len(corpus) == 1:
        assert train.text + held_out.text == corpus.text


@pytest.mark.parametrize("content", [b"", b"  \n\n ", b"<|endoftext|>\n"])
def test_an_empty_file_is_refused(tmp_path, content):
    path = tmp_path / "empty.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="corpus 'empty' is empty"):
        load_corpus(path)


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(b"\xff\xd8\xff\xe0\x10JFIF")
    for wrong in (path, tmp_path, tmp_path / "nothing.txt", "no-such-corpus", "x" * 5000, "a\0b"):
        with pytest.raises(ValueError) as refusal:
            load_corpus(wrong)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 2])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(ValueError, match="fraction must be above 0 and below 1"):
        Corpus("two", ["one", "two"]).split(fraction)


def test_two_documents_are_one_and_one_and_one_letter_cannot_be_split():
    train, held_out = Corpus("two", ["one", "two"]).split(0.01)
    assert len(train) == len(held_out) == 1
    with pytest.raises(ValueError, match="too short to split"):
        Corpus("one", ["x"]).split()


def test_tiny_world_of_no_size_is_refused():
    with pytest.raises(ValueError, match="at least 1 character"):
        load_corpus("tiny-world", characters=0)


def test_writing_tiny_world_shows_a_bar_in_a_terminal_when_asked(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for progress, terminal in ((True, Terminal()), (False, Terminal()), (True, io.StringIO())):
        monkeypatch.setattr("sys.stderr", terminal)
        load_corpus("tiny-world", characters=2000, progress=progress)
        wanted = progress and isinstance(terminal, Terminal)
        assert ("tiny-world" in terminal.getvalue()) == wanted


def test_held_out_stories_have_a_floor():
    held_out = load_corpus("tiny-world-sample").split()[1]
    floor = entropy_floor(held_out)
    assert floor.documents == len(held_out)
    assert floor.characters == sum(map(len, held_out))
