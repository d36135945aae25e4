"""tiktoken's encodings: known ids offline, and a bounded wait where the file cannot be had."""

import hashlib
import json
import os
import re
import shutil
import socket
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import platformdirs
import pytest
import tiktoken

from llmviz.cli import main
from llmviz.tokenizers import TOKENIZERS, TiktokenTokenizer, TokenizerUnavailable, load_tokenizer
from llmviz.tokenizers import download as download_module
from llmviz.tokenizers.download import cache_folder, ensure_cached
from llmviz.tokenizers.tiktoken_bridge import ENCODING_FILES
from tests.tokenizers.samples import ROOT, random_texts

SHARED_CACHE = ROOT.parent / "shared" / "tiktoken_cache"
CONTENT = b"the content of an encoding's file"
GOOD = hashlib.sha256(CONTENT).hexdigest()


def has_files(folder: Path | None, name: str) -> bool:
    return folder is not None and all(
        (folder / hashlib.sha1(url.encode()).hexdigest()).exists() for url in ENCODING_FILES[name]
    )


def encoding(name: str, monkeypatch) -> TiktokenTokenizer:
    """Return the encoding from whichever cache has its file."""
    if not has_files(cache_folder(), name):
        if not has_files(SHARED_CACHE, name):
            pytest.skip(f"the file of {name} is in no cache: set TIKTOKEN_CACHE_DIR")
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(SHARED_CACHE))
    return TiktokenTokenizer(name)


def test_gpt2_gives_the_published_ids(monkeypatch):
    gpt2 = encoding("gpt2", monkeypatch)
    assert gpt2.encode("Every effort moves you") == [6109, 3626, 6100, 345]
    assert gpt2.encode("Hello, world!") == [15496, 11, 995, 0]
    assert gpt2.vocab_size == 50257
    assert gpt2.special_tokens == {"<|endoftext|>": 50256}
    assert gpt2.encode("a<|endoftext|>", "all") == [64, 50256]
    assert 50256 not in gpt2.encode("a<|endoftext|>")
    assert gpt2.decode([6109, 3626, 6100, 345, 50256]) == "Every effort moves you<|endoftext|>"


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_texts_come_back_and_spans_cover_them(name, monkeypatch):
    tokenizer = encoding(name, monkeypatch)
    for text in random_texts(300, seed=4):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        tokens = tokenizer.tokens(text)
        assert [token.id for token in tokens] == ids
        assert b"".join(token.data for token in tokens) == text.encode()
        assert all(tokenizer.token_bytes(token.id) == token.data for token in tokens)


def test_ids_out_of_range_or_unused_are_refused(monkeypatch):
    tokenizer = encoding("cl100k_base", monkeypatch)
    with pytest.raises(ValueError, match="out of range: cl100k_base has 100,277"):
        tokenizer.decode([100277])
    assert 100261 in tokenizer.unused_ids
    with pytest.raises(ValueError, match="not used by cl100k_base"):
        tokenizer.decode([100261])


def test_a_saved_encoding_is_its_name(monkeypatch, tmp_path):
    encoding("gpt2", monkeypatch).save(tmp_path / "t.json")
    assert load_tokenizer(tmp_path / "t.json").encode("Every effort") == [6109, 3626]


def test_a_name_that_is_none_of_tiktokens_is_refused():
    with pytest.raises(ValueError, match="must be one of gpt2, cl100k_base, o200k_base"):
        TiktokenTokenizer("gpt5")


class Handler(BaseHTTPRequestHandler):
    """Serves the file, another file, or nothing at all."""

    requests = 0

    def do_GET(self):
        Handler.requests += 1
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/slow":
            time.sleep(0.6)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(CONTENT if self.path != "/other" else b"something else")

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(download_module, "_transfers", {})
    for variable in list(os.environ):
        if variable.lower().endswith("_proxy"):
            monkeypatch.delenv(variable)
    Handler.requests = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_file_is_fetched_once_into_the_cache(server, tmp_path):
    path = ensure_cached("x", server + "/file", GOOD)
    assert path.read_bytes() == CONTENT
    assert path.name == hashlib.sha1(f"{server}/file".encode()).hexdigest()
    assert ensure_cached("x", server + "/file", GOOD) == path
    assert Handler.requests == 1
    assert [p.name for p in (tmp_path / "cache").iterdir()] == [path.name]


def test_a_damaged_cached_file_is_fetched_again(server):
    path = ensure_cached("x", server + "/file", GOOD)
    path.write_bytes(b"damaged")
    download_module._transfers.clear()
    assert ensure_cached("x", server + "/file", GOOD).read_bytes() == CONTENT


@pytest.mark.parametrize(("page", "reason"), [("/other", "checksum"), ("/missing", "Not Found")])
def test_a_failure_says_why_and_is_remembered(server, page, reason, tmp_path):
    for _ in range(3):
        with pytest.raises(TokenizerUnavailable, match=reason) as caught:
            ensure_cached("o200k_base", server + page, GOOD)
        assert "o200k_base is not available" in str(caught.value)
    assert Handler.requests == 1
    assert not list((tmp_path / "cache").glob("*"))


def test_a_failure_is_forgotten_after_a_while(server, monkeypatch):
    monkeypatch.setattr(download_module, "REMEMBER_FAILURE", 0.0)
    for _ in range(2):
        with pytest.raises(TokenizerUnavailable):
            ensure_cached("x", server + "/missing", GOOD)
    assert Handler.requests == 2


def test_a_server_that_never_answers_is_not_waited_for(server, monkeypatch):
    monkeypatch.setattr(download_module, "NETWORK_TIMEOUT", 2.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        start = time.monotonic()
        with pytest.raises(TokenizerUnavailable, match="still going on"):
            ensure_cached("o200k_base", url, GOOD)
        assert time.monotonic() - start < 2


def test_a_slow_download_is_there_when_asked_again(server, monkeypatch):
    monkeypatch.setattr(download_module, "PATIENCE", 0.1)
    with pytest.raises(TokenizerUnavailable, match="try again"):
        ensure_cached("x", server + "/slow", GOOD)
    download_module._transfers[next(iter(download_module._transfers))].finished.wait(10)
    assert ensure_cached("x", server + "/slow", GOOD).read_bytes() == CONTENT
    assert Handler.requests == 1


def test_a_file_is_kept_where_no_restart_empties_it(monkeypatch, tmp_path):
    has = [folder for folder in (cache_folder(), SHARED_CACHE) if has_files(folder, "gpt2")]
    if not has:
        pytest.skip("the file of gpt2 is in no cache: set TIKTOKEN_CACHE_DIR")
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.setenv(variable, "gone")  # so that it is put back after this test
        monkeypatch.delenv(variable)
    home = platformdirs.user_cache_path("llmviz", appauthor=False) / "tokenizers"
    assert cache_folder() == home
    assert not home.is_relative_to(tempfile.gettempdir())
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "emptied"))
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("asked the network"))
    shutil.copytree(has[0], tmp_path / "tokenizers")
    assert TiktokenTokenizer("gpt2").encode("Every effort moves you") == [6109, 3626, 6100, 345]
    assert not (tmp_path / "emptied").exists()


def test_no_message_names_a_folder(server, monkeypatch, tmp_path):
    (tmp_path / "cache").write_bytes(b"a file where the folder should be")
    monkeypatch.setattr(download_module, "PATIENCE", 0.2)
    for page in ("/file", "/missing", "/other", "/slow"):
        with pytest.raises(TokenizerUnavailable) as caught:
            ensure_cached("gpt2", server + page, GOOD)
        assert "gpt2 is not available" in str(caught.value)
        assert str(tmp_path) not in str(caught.value)


def test_problems_of_one_reason_are_one_message():
    problems = [TokenizerUnavailable([name], ": no network") for name in ("a", "b", "c")]
    problems.insert(1, TokenizerUnavailable(["d"], ": damaged"))
    together = TokenizerUnavailable.by_reason(problems)
    assert list(map(str, together)) == [
        "a, b and c are not available: no network",
        "d is not available: damaged",
    ]


def test_fetching_waits_for_the_end_and_fails_after_all(server, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(download_module, "PATIENCE", 0.01)
    pages = {"gpt2": ["/slow", "/file"], "cl100k_base": ["/file"], "o200k_base": ["/slow"]}
    for name, listed in pages.items():
        monkeypatch.setitem(ENCODING_FILES, name, {server + page: GOOD for page in listed})
    assert main(["tokenize", "--fetch", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)
    assert {name: len(listed) for name, listed in files.items()} == {
        **dict.fromkeys(TOKENIZERS, 0),
        **{name: len(listed) for name, listed in pages.items()},
    }
    assert all(Path(file).read_bytes() == CONTENT for listed in files.values() for file in listed)
    monkeypatch.setitem(ENCODING_FILES, "cl100k_base", {server + "/missing": GOOD})
    monkeypatch.setitem(ENCODING_FILES, "o200k_base", {server + "/missing": GOOD})
    assert main(["tokenize", "--fetch"]) == 2
    out, problem = capsys.readouterr()
    assert "gpt2" in out and "bundled" in out  # what could be had is there
    assert "cl100k_base and o200k_base are not available" in problem
    assert problem.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["--fetch", "some text"], "cuts no text"),
        (["--fetch", "--tokenizer", "gpt9"], f"must be one of {', '.join(TOKENIZERS)}"),
        (["--tokenizer", "bpe"], "give --tokenizer NAME and a text, or --fetch"),
        (["some text"], "give --tokenizer NAME and a text, or --fetch"),
    ],
)
def test_a_wrong_line_is_refused_in_one(given, problem, capsys):
    assert main(["tokenize", *given]) == 2
    out, said = capsys.readouterr()
    assert not out and problem in said and said.count("\n") == 1


def test_no_server_and_no_cache_are_reasons(server, monkeypatch):
    for host in ("127.0.0.1:9", "no-such-host.invalid"):
        with pytest.raises(TokenizerUnavailable) as caught:
            ensure_cached("x", f"http://{host}/file", GOOD)
        assert not re.search(r"errno|refused|name or service", str(caught.value), re.IGNORECASE)
        assert "tokenize --fetch" in str(caught.value)  # how to get it
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(TokenizerUnavailable, match="turns the cache off"):
        ensure_cached("x", server + "/file", GOOD)
