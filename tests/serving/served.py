"""A server on loopback for tests of its HTTP side: the engine is real, the model a stand-in."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from llmviz.serving.engine import Engine
from llmviz.serving.http.routes import application
from llmviz.serving.http.served import Served
from llmviz.serving.http.server import Server, hosts_for, listen
from llmviz.serving.http.service import Service
from llmviz.serving.plan import Draw, Plan
from llmviz.serving.record import record_all
from llmviz.serving.requests import Outcome, Request
from llmviz.serving.settings import ServingConfig
from llmviz.serving.simulate import SimulatedModel
from llmviz.tokenizers import ENDOFTEXT, get_tokenizer

PATIENCE = 30  # seconds after which a client that got nothing fails
NAME, CONTEXT = "stand-in", 48
TOKENIZER = get_tokenizer("char")
END = TOKENIZER.special_tokens[ENDOFTEXT]
CONFIG = ServingConfig(max_batch=8, block_size=4, n_blocks=64, max_waiting=200)


class GatedModel(SimulatedModel):
    """A stand-in that computes nothing while its gate is closed, and counts its steps."""

    def __init__(self, config: ServingConfig) -> None:
        super().__init__(config, TOKENIZER.vocab_size, CONTEXT)
        self.gate = threading.Event()
        self.gate.set()
        self.steps: Counter[int] = Counter()  # by how many new tokens a request asks for
        self.broken = False
        self.spoiled: int | None = None  # no token is drawn for prompts that have this one

    def compute(self, plan: Plan) -> list[int]:
        """Wait for the gate, then compute."""
        if not self.gate.wait(PATIENCE):
            raise TimeoutError("nobody opened the gate")
        if self.broken:
            raise ArithmeticError("the stand-in is broken")
        sequences = [*plan.decode, *(one for one, _, _ in plan.prefill)]
        self.steps.update(one.request.max_new_tokens for one in sequences)
        return super().compute(plan)

    def draw(self, plan: Plan, computed: list[int]) -> list[Draw]:
        """Draw as the stand-in does, but for prompts with a spoiled token."""
        return [
            ValueError("logits must be finite; got nan")
            if self.spoiled in sequence.request.prompt
            else token
            for (_, sequence), token in zip(plan.draws, super().draw(plan, computed), strict=True)
        ]


class Running:
    """A server that runs."""

    def __init__(self, port: int, model: Any, service: Service, server: Server) -> None:
        self.port, self.model, self.service, self.server = port, model, service, server
        self.url = f"http://127.0.0.1:{port}/v1"

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Return the status and the body of an answer; its head stays as `headers`."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            self.headers = dict(answer.getheaders())
            return answer.status, answer.read()
        finally:
            connection.close()

    def complete(self, **fields: Any) -> tuple[int, Any]:
        """Return the status and the JSON of a completion that is not streamed."""
        status, body = self.ask("POST", "/v1/completions", written(**fields), Content_Type=JSON)
        return status, json.loads(body)

    def open_stream(self, **fields: Any) -> HTTPConnection:
        """Begin a completion and return its connection; nothing is read yet."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Content-Type": JSON}
        connection.request("POST", "/v1/completions", written(**fields), headers)
        return connection

    def until_busy(self, samples: int) -> None:
        """Return once so many samples wait or run."""
        deadline = time.monotonic() + PATIENCE
        while json.loads(self.ask("GET", "/health")[1])["busy"] != samples:
            assert time.monotonic() < deadline, f"there were never {samples} samples"

    def end(self) -> None:
        """End the server, and open the gate of its model once nothing more is taken."""
        self.service.stop()
        self.server.should_exit = True
        self.model.gate.set()


JSON = "application/json"


def written(**fields: Any) -> bytes:
    """Return the body of a completion request; a model and a prompt are there if not given."""
    return json.dumps(
        {"model": NAME, "prompt": "ab", "temperature": 0, "seed": 0, **fields}
    ).encode()


def events(body: bytes) -> list[Any]:
    """Return what the events of a stream hold; its end as a text."""
    parts = body.decode().split("\n\n")
    assert parts.pop() == ""
    assert all(part.startswith("data: ") for part in parts)
    texts = [part.removeprefix("data: ") for part in parts]
    return [text if text == "[DONE]" else json.loads(text) for text in texts]


def alone(prompt: str, tokens: int, seed: int = 0) -> Outcome:
    """Return what the stand-in writes to a prompt that is served alone."""
    ids = (END, *TOKENIZER.encode(prompt))
    request = Request("alone", ids, tokens, seed=seed, stop_ids=(END,))
    model = SimulatedModel(CONFIG, TOKENIZER.vocab_size, CONTEXT)
    return record_all(model, [request], CONFIG).outcomes["alone"]


def text_of(outcome: Outcome) -> str:
    """Return the text of an outcome, without its end token."""
    return TOKENIZER.decode([token for token in outcome.tokens if token != END])


@contextmanager
def listening(
    served: Served, service: Service, model: Any, host: str = "127.0.0.1"
) -> Iterator[Running]:
    """Serve on a free port for as long as the block runs."""
    server = Server(application(served, hosts_for(host)), service)
    opened = listen(host, 0)
    thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
    service.start()
    thread.start()
    try:
        yield Running(opened.getsockname()[1], model, service, server)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


@contextmanager
def running(config: ServingConfig = CONFIG, host: str = "127.0.0.1") -> Iterator[Running]:
    """Serve the stand-in for as long as the block runs."""
    model = GatedModel(config)
    service = Service(Engine(model, config))
    served = Served(NAME, TOKENIZER, service, CONTEXT, TOKENIZER.vocab_size)
    with listening(served, service, model, host) as one:
        try:
            yield one
        finally:
            model.gate.set()
