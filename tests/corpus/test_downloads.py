"""Downloads: from a server of our own, with everything that can go wrong."""

import errno
import hashlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from llmviz.corpus import CorpusUnavailable, load_corpus
from llmviz.corpus.downloads import DOWNLOADS, Download, cache_folder, fetch

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
TEXT = b"to be or not to be\n" * 400


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        promised = len(body) * 2 if self.path == "/cut" else len(body)
        self.send_header("Content-Length", str(promised))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.files, made.asked = {"/text": TEXT, "/cut": TEXT}, []
        made.url = f"http://127.0.0.1:{made.server_port}"
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


def at(server, path, sha256=None):
    return Download(server.url + path, sha256 or hashlib.sha256(TEXT).hexdigest(), "text.txt")


def test_a_text_is_fetched_once(server, tmp_path):
    for _ in range(2):
        path = fetch("a text", tmp_path, download=at(server, "/text"))
        assert path.read_bytes() == TEXT
    assert server.asked == ["/text"]
    assert [one.name for one in tmp_path.iterdir()] == ["text.txt"]


def test_a_damaged_copy_is_fetched_again(server, tmp_path):
    (tmp_path / "text.txt").write_bytes(b"damaged")
    assert fetch("a text", tmp_path, download=at(server, "/text")).read_bytes() == TEXT


def refused(tmp_path, download, said, folder=None):
    with pytest.raises(CorpusUnavailable, match=said) as refusal:
        fetch("a text", folder or tmp_path, download=download)
    assert "\n" not in str(refusal.value)
    assert list(tmp_path.glob("*")) == [] or folder is not None


@pytest.mark.parametrize(
    ("path", "sha256", "said"),
    [
        ("/text", "0" * 64, "not the expected file"),
        ("/gone", None, "answered 404"),
        ("/cut", None, "no connection|not the expected file"),
    ],
)
def test_what_is_not_the_whole_file_leaves_nothing(server, tmp_path, path, sha256, said):
    refused(tmp_path, at(server, path, sha256), said)


def test_no_network(server, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    gone = Download(f"http://127.0.0.1:{port}/text", "0" * 64, "text.txt")
    refused(tmp_path, gone, "no connection")


def test_a_wrong_update_keeps_the_copy_that_was_there(server, tmp_path):
    (tmp_path / "text.txt").write_bytes(b"older")
    with pytest.raises(CorpusUnavailable):
        fetch("a text", tmp_path, download=at(server, "/text", "0" * 64))
    assert [one.name for one in tmp_path.iterdir()] == ["text.txt"]
    assert (tmp_path / "text.txt").read_bytes() == b"older"


def test_a_full_disk(server, tmp_path, monkeypatch):
    import pooch

    def full(self, url, output_file, *_args, **_kwargs):
        Path(output_file).write_bytes(TEXT[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", full)
    refused(tmp_path, at(server, "/text"), "cannot be written .* No space left")


def test_a_folder_that_cannot_be(server, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    refused(tmp_path, at(server, "/text"), "cannot be written", folder=blocked / "cache")


def test_an_unknown_name():
    with pytest.raises(ValueError, match="no download 'war-and-peace'"):
        fetch("war-and-peace")
    assert cache_folder().name == "corpora"


@pytest.mark.parametrize(
    ("name", "file_name", "documents"),
    [
        ("names-ssa", "names.txt", 32_033),
        ("tinyshakespeare", "tinyshakespeare.txt", 1),
        ("the-verdict", "the-verdict.txt", 1),
    ],
)
def test_the_published_texts(name, file_name, documents, server, tmp_path, monkeypatch):
    if not (SHARED / file_name).exists():
        pytest.skip("the published texts are not at hand")
    published = (SHARED / file_name).read_bytes()
    server.files["/published"] = published
    mirror = Download(server.url + "/published", DOWNLOADS[name].sha256, DOWNLOADS[name].file_name)
    monkeypatch.setitem(DOWNLOADS, name, mirror)
    monkeypatch.setattr("llmviz.corpus.downloads.cache_folder", lambda: tmp_path)
    corpus = load_corpus(name)
    assert len(corpus) == documents
    assert corpus.text.strip() == published.decode().strip()
    assert load_corpus(name).documents == corpus.documents
    assert server.asked == ["/published"]
