"""Texts in the formats that users have them in: read whole, or refused with the line."""

import gzip
import json

import pyarrow
import pyarrow.parquet
import pytest

from llmviz.corpus import corpora, load_corpora, load_corpus
from llmviz.corpus.pieces import pieces_of
from llmviz.corpus.sources import files_of
from tests.test_cli import call, refused

DOCUMENTS = ["The cat sat\non the mat.", "café 🙂", "A dog\0 ran."]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "\n".join(json.dumps({"id": i, "text": one}) for i, one in enumerate(DOCUMENTS))
    (tmp_path / "a.jsonl").write_text(lines + "\n\n", "utf-8")
    table = pyarrow.table({"body": DOCUMENTS, "n": [1, 2, 3]})
    pyarrow.parquet.write_table(table, tmp_path / "b.parquet")
    with gzip.open(tmp_path / "c.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(lines)
    with pyarrow.CompressedOutputStream(pyarrow.OSFile("d.txt.zst", "wb"), "zstd") as file:
        file.write(b"plain text\n")
    (tmp_path / "e.md").write_text("# Title\n\nSome words.\n", "utf-8")
    return tmp_path


def test_each_format_gives_its_documents(here):
    assert load_corpus("a.jsonl").documents == DOCUMENTS
    assert load_corpus("b.parquet", column="body").documents == DOCUMENTS
    assert load_corpus("c.jsonl.gz").documents == DOCUMENTS
    assert load_corpus("d.txt.zst").documents == ["plain text\n"]
    assert load_corpus("e.md").documents == ["# Title\n\nSome words.\n"]


def test_a_folder_a_pattern_and_several_are_all_their_files_in_order(here):
    (here / "sub" / ".git").mkdir(parents=True)
    (here / "sub" / "z.txt").write_text("last", "utf-8")
    (here / "sub" / ".git" / "x.txt").write_text("hidden", "utf-8")
    (here / "sub" / "picture.png").write_bytes(b"\x89PNG")
    (here / "b.parquet").unlink()
    names = ["a.jsonl", "c.jsonl.gz", "d.txt.zst", "e.md", "sub/z.txt"]
    assert [path.as_posix() for path in files_of(".")] == names
    whole = load_corpus(".").documents
    assert whole == [*DOCUMENTS, *DOCUMENTS, "plain text\n", "# Title\n\nSome words.\n", "last"]
    assert load_corpus("**/*.txt").documents == ["last"]
    assert load_corpora(["e.md", "sub"]).documents == [*load_corpus("e.md").documents, "last"]
    assert load_corpora(["e.md"]).documents == load_corpus("e.md").documents


def test_a_model_is_trained_and_measured_on_several_and_the_run_goes_on(here, capsys):
    for i in range(3):
        (here / f"part-{i}.txt").write_text(f"cat {i} sat there\n" * 30, "utf-8")
    small = ["--model", "bigram", "--context-length", "8", "--batch-size", "2", "--eval-batches=1"]
    given = ["train", "--corpus", "a.jsonl", "part-*.txt", "b.parquet", "--column", "text"]
    line = refused(capsys, *given, "--out", "run", *small, "--steps", "2")
    assert "b.parquet has no column 'text'; it has body, n" in line and not (here / "run").exists()
    given = ["train", "--corpus", "a.jsonl", "part-*.txt", "--out", "run", *small]
    assert call(capsys, *given, "--steps", "2")[0] == 0
    assert call(capsys, *given, "--steps", "3", "--resume")[0] == 0
    config = json.loads((here / "run" / "config.json").read_text("utf-8"))
    assert (config["plan"]["corpus"], config["plan"]["files"]) == ("a.jsonl", ["part-*.txt"])
    assert config["data"]["documents"] + config["data"]["validation_documents"] == 6
    given = ["eval", "--checkpoint", "run", "--json", "--corpus"]
    code, out, _ = call(capsys, *given, "a.jsonl", "e.md")
    assert code == 0 and json.loads(out)["documents"] == 4
    (here / "part-1.txt").write_text("changed\n" * 40, "utf-8")
    line = refused(capsys, "train", "--out", "run", "--resume", "--steps", "4")
    assert "is not the one that run was trained on" in line


BAD = {
    "broken line": ("x.jsonl", b'{"text": "a"}\n{"text": \n', "line 2 of x.jsonl is not JSON"),
    "no object": ("x.jsonl", b"[1]", "line 1 of x.jsonl is no object"),
    "no field": ("x.jsonl", b'{"body": "a"}', "has no field 'text'; it has body"),
    "no text": ("x.jsonl", b'{"text": 5}', "line 1 of x.jsonl: text must be a text; got int"),
    "nested": ("x.jsonl", b"[" * 100_000, "line 1 of x.jsonl is not JSON"),
    "surrogate": ("x.jsonl", b'{"text": "a\\ud83d"}', "line 1 of x.jsonl: text: the text holds"),
    "empty": ("x.jsonl", b"\n\n", "is empty"),
    "no parquet": ("x.parquet", b"PAR1 no", "x.parquet cannot be read"),
    "no gzip": ("x.txt.gz", b"plain", "x.txt.gz cannot be unpacked"),
    "cut gzip": ("x.txt.gz", gzip.compress(b"a" * 999)[:-9], "x.txt.gz cannot be unpacked"),
    "no zstd": ("x.txt.zst", b"plain", "x.txt.zst cannot be unpacked"),
    "twice": ("x.parquet.gz", gzip.compress(b"x"), "is compressed twice"),
    "binary inside": ("x.txt.gz", gzip.compress(b"a\0b"), "x.txt.gz looks binary"),
    "not UTF-8": ("x.md", b"\xff\xfa", "x.md is not UTF-8"),
}


@pytest.mark.parametrize(("name", "data", "words"), BAD.values(), ids=BAD)
def test_a_file_that_is_damaged_is_refused_with_its_place(tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=words):
        load_corpus(tmp_path / name)


def test_what_unpacks_to_too_much_is_read_no_further(tmp_path, monkeypatch):
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"a" * 5000))
    monkeypatch.setattr(corpora, "LIMIT", 1000)
    with pytest.raises(ValueError, match=r"holds more than 1,000 characters"):
        load_corpus(tmp_path / "x.txt.gz")


def test_a_line_without_end_is_not_held_to_see_whether_the_text_is_a_list():
    read: list[int] = []

    def blocks():
        for number in range(50):
            read.append(number)
            yield "no line ends here "

    first = next(pieces_of(blocks))
    assert first.text == "no line ends here " and not first.ends
    assert len(read) == 50 + 3 + 1, "all for marks, 41 characters for a list, then its beginning"


def test_what_stands_for_no_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for source, words in (
        ("empty", "holds no file of a kind"),
        ("*.txt", "no file fits the pattern"),
        ("nowhere", "no corpus and no file"),
    ):
        with pytest.raises(ValueError, match=words):
            load_corpus(source)
    with pytest.raises(ValueError, match="give it alone"):
        load_corpora(["names", "pairs"])
