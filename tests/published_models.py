"""Small models in published formats, and a hub of them on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from llmviz.models import GPT, GPTConfig
from llmviz.models.llama_format import config_from_llama, stored_tensors
from llmviz.tokenizers import BPETokenizer
from tests.random_weights import with_random_weights

WEIGHTS = "model.safetensors"
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 320,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
}


SMALL_GPT2 = dict(vocab_size=37, n_positions=16, n_embd=24, n_layer=2, n_head=3)


def their_gpt2(**changes: Any) -> torch.nn.Module:
    """Return a small random GPT-2 of transformers; changes: other options of its config."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(**SMALL_GPT2 | changes)).eval()
    return with_random_weights(model, 0.2)


def make_gpt2(folder: Path, layers: int = 2, heads: int = 4, width: int = 32) -> Path:
    """Write a small random GPT-2 with a tokenizer of its own."""
    folder.mkdir(parents=True)
    shape = dict(n_layer=layers, n_head=heads, n_embd=width, context_length=64)
    torch.manual_seed(0)
    GPT(GPTConfig(vocab_size=320, activation="gelu_tanh", **shape)).to_gpt2(folder)
    change_config(folder, eos_token_id=_tokenizer(folder))
    return folder


def make_llama(folder: Path, **options: Any) -> Path:
    """Write a small random model of the Llama type with a tokenizer of its own."""
    folder.mkdir(parents=True)
    values = LLAMA | options
    config = config_from_llama(values)
    torch.manual_seed(0)
    names = stored_tensors(config, (False, False), mlp_bias=False)
    save_file({one.name: torch.randn(one.shape) for one in names}, folder / WEIGHTS)
    values["eos_token_id"] = _tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(values), "utf-8")
    return folder


def _tokenizer(folder: Path) -> int:
    """Write a tokenizer and return the id of its end of a text."""
    own = BPETokenizer.train("The cat sat on the mat. " * 9, 280, ["</s>"])
    own.to_huggingface(folder / "tokenizer.json")
    return own.vocab_size - 1


def change_config(folder: Path, **changes: Any) -> None:
    """Change options of a folder's config.json."""
    values = json.loads((folder / "config.json").read_text("utf-8")) | changes
    (folder / "config.json").write_text(json.dumps(values), "utf-8")


class Hub:
    """What a server in the layout of the hub has, and what it was asked for.

    gate: while it is closed, a file of weights comes as far as its middle. away: it hangs up.
    """

    def __init__(self) -> None:
        self.folders: dict[str, Path] = {}
        self.asked: list[tuple[str, str]] = []  # path, Authorization
        self.sent = 0  # bytes of weights
        self.wrong_sha256 = self.away = False
        self.gate = threading.Event()
        self.gate.set()
        self.url = ""

    def listing(self, name: str) -> dict[str, Any]:
        """What the hub says of a repository's files."""
        files = []
        for path in sorted(self.folders[name].iterdir()):
            one: dict[str, Any] = {"rfilename": path.name, "size": path.stat().st_size}
            if path.suffix == ".safetensors":
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                one["lfs"] = {"sha256": "0" * 64 if self.wrong_sha256 else digest}
            files.append(one)
        return {"id": name, "siblings": [*files, {"rfilename": "onnx/model.onnx", "size": 9}]}


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Serve a hub on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if hub.away:
                return
            hub.asked.append((self.path, self.headers.get("Authorization", "")))
            path = self.path.partition("?")[0].strip("/")
            name = next((name for name in hub.folders if name in path), "")
            if name and path == f"api/models/{name}":
                return self.answer(json.dumps(hub.listing(name)).encode())
            file = path.removeprefix(f"{name}/resolve/main/")
            if name and (hub.folders[name] / file).is_file() and "/" not in file:
                return self.answer((hub.folders[name] / file).read_bytes(), file == WEIGHTS)
            self.send_error(404)

        def answer(self, content: bytes, gated: bool = False) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            middle = len(content) // 2
            try:
                self.wfile.write(content[:middle])
                self.wfile.flush()
                if gated:
                    hub.gate.wait(60)
                self.wfile.write(content[middle:])
                hub.sent += len(content) if gated else 0
            except OSError:  # it was cancelled
                return

        def log_message(self, *line: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        hub.gate.set()
        server.shutdown()
        server.server_close()
