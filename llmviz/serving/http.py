"""An engine behind HTTP, in the form of OpenAI's completions, whole or as server-sent events.

    POST /v1/completions     GET /v1/models     GET /v1/models/NAME     GET /health

Reference: OpenAI's API reference, "Completions". What of it is not here is refused by name.
Several texts to a prompt come by `n`: samples, or, with "use_beam_search": true, the n best beams
of a search n wide, scored with "length_penalty" (both as in vLLM's API); `best_of` is refused.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from llmviz.sampling import SamplingSettings
from llmviz.serving import protocol, requests
from llmviz.serving.protocol import ApiError, Completion
from llmviz.serving.service import Answer, Closed, Ended, Service
from llmviz.serving.text_stream import TextStream
from llmviz.tokenizers import Tokenizer

JSON_BODY = "application/json"
EVENTS = "text/event-stream"
BODY_SECONDS = 30.0  # that a body may take to come
MOST_PER_TOKEN = 64  # characters of a prompt for each token that the model reads


@dataclass(frozen=True)
class Served:
    """A model behind HTTP.

    name: how requests call it. tokenizer: its tokens of the beginning stand before each prompt that
    comes as a text, and those of the end end what is written. banned: tokens that are never
    written. context: the longest text that the model reads, in tokens. vocabulary: how many tokens
    there are.
    """

    name: str
    tokenizer: Tokenizer
    service: Service
    context: int
    vocabulary: int
    banned: tuple[int, ...] = ()
    created: int = field(default_factory=lambda: int(time.time()))

    def ids(self, prompt: str | tuple[int, ...]) -> tuple[int, ...]:
        """Return the tokens of a prompt. Raises ApiError: too long, or an id is out of range."""
        if isinstance(prompt, str):
            if len(prompt) > MOST_PER_TOKEN * self.context:  # not split: that would take long
                raise self._too_long(f"{len(prompt):,} characters")
            prompt = tuple(self.tokenizer.encode_from_start(prompt))
        if len(prompt) > self.context:
            raise self._too_long(f"{len(prompt):,} tokens")
        for token in prompt:
            if not 0 <= token < self.vocabulary:
                rule = f"token ids must be from 0 to {self.vocabulary - 1}; got {token}"
                raise ApiError(400, rule, "prompt")
        return prompt

    def _too_long(self, size: str) -> ApiError:
        message = f"the prompt has {size}; {self.name} reads {self.context:,} tokens at most"
        return ApiError(400, message, "prompt", "context_length_exceeded")

    def requests(self, wanted: Completion, name: str) -> list[requests.Request]:
        """Return what the engine is asked for, a request for each prompt.

        Raises ApiError: a prompt is too long, an id or top_k is out of range.
        """
        if wanted.top_k is not None and wanted.top_k > self.vocabulary:
            rule = f"top_k must be at most {self.vocabulary}, the number of tokens"
            raise ApiError(400, f"{rule}; got {wanted.top_k}", "top_k")
        sampling = SamplingSettings(
            temperature=0.0 if wanted.beam_search else wanted.temperature,
            top_k=wanted.top_k,
            top_p=wanted.top_p if wanted.top_p < 1 else None,
            banned=self.banned,
        )
        seed = wanted.seed if wanted.seed is not None else uuid.uuid4().int % protocol.MOST_SEED
        return [
            requests.Request(
                id=f"{name}.{number}",
                prompt=self.ids(prompt),
                max_new_tokens=wanted.max_tokens,
                sampling=sampling,
                stop_ids=self.tokenizer.ends,
                seed=seed,
                n=1 if wanted.beam_search else wanted.n,
                beams=wanted.n if wanted.beam_search else None,
                length_penalty=wanted.length_penalty if wanted.beam_search else 0.0,
            )
            for number, prompt in enumerate(wanted.prompts)
        ]


def application(served: Served, hosts: Sequence[str] = ("*",)) -> Starlette:
    """Return the application. hosts: names under which it answers, as the browser calls it.

    On a loopback address only its own names are given, so that no page of another site, whose
    name was pointed here, can talk to it.
    """

    async def completions(request: Request) -> Response:
        return await _complete(served, request)

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [_card(served)]})

    async def model(request: Request) -> Response:
        _check_model(served, request.path_params["name"])
        return JSONResponse(_card(served))

    async def health(request: Request) -> Response:
        service = served.service
        state = {"status": service.ended or "ok", "busy": service.busy}
        return JSONResponse(state, 503 if service.ended else 200)

    return Starlette(
        routes=[
            Route("/v1/completions", completions, methods=["POST"]),
            Route("/v1/models", models),
            Route("/v1/models/{name:path}", model),
            Route("/health", health),
        ],
        exception_handlers={ApiError: _refused, HTTPException: _not_here},
        middleware=[Middleware(TrustedHostMiddleware, list(hosts), www_redirect=False)],
    )


def _card(served: Served) -> dict[str, Any]:
    return {"id": served.name, "object": "model", "created": served.created, "owned_by": "llmviz"}


def _check_model(served: Served, name: str) -> None:
    if name != served.name:
        rule = f"there is no model {name[:100]!r} here; there is {served.name!r}"
        raise ApiError(404, rule, "model", "model_not_found")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    headers = {"Retry-After": "1"} if error.status == 429 else None
    return JSONResponse(error.body(), error.status, headers)


async def _not_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"{request.method} {request.url.path[:100]}: {error.detail}"
    body = ApiError(error.status_code, message).body()
    return JSONResponse(body, error.status_code, error.headers)


async def _body(request: Request) -> bytes:
    """The body, read no further than it may be long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON_BODY:  # a page of another site could send any other kind unasked
        raise ApiError(415, f"the body must be {JSON_BODY}; got {kind[:100]!r}")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > protocol.MOST_BYTES:
                    raise ApiError(413, f"the body is longer than {protocol.MOST_BYTES:,} bytes")
    except TimeoutError:
        raise ApiError(408, f"the body did not come within {BODY_SECONDS:g} seconds") from None
    return bytes(body)


async def _complete(served: Served, request: Request) -> Response:
    try:
        wanted = protocol.read_completion(await _body(request))
    except ClientDisconnect:
        return Response(status_code=499)  # nobody reads it
    _check_model(served, wanted.model)
    name = f"cmpl-{uuid.uuid4().hex}"
    # Splitting a long text takes a while, and others are served meanwhile.
    try:
        asked = await asyncio.to_thread(served.requests, wanted, name)
        answer = await served.service.submit(asked)
    except ApiError:
        raise
    except requests.TooManyWaiting as problem:
        raise ApiError(429, str(problem), code="too_many_requests") from None
    except Closed as problem:
        raise ApiError(503, str(problem), code="closed") from None
    except ValueError as refusal:
        raise ApiError(400, str(refusal)) from None
    answering = _Answering(served, wanted, name, answer)
    if wanted.stream:
        return StreamingResponse(
            answering.events(request), media_type=EVENTS, headers={"Cache-Control": "no-cache"}
        )
    return await answering.whole(request)


class _Answering:
    """One completion on its way to its client."""

    def __init__(self, served: Served, wanted: Completion, name: str, answer: Answer) -> None:
        self.served, self.wanted, self.name, self.answer = served, wanted, name, answer
        self.created = int(time.time())
        decode, stops = served.tokenizer.decode, wanted.stop
        self.texts = [TextStream(decode, stops) for _ in range(answer.choices)]
        self.reasons: dict[int, str] = {}
        self.written = 0

    async def pieces(self) -> AsyncIterator[tuple[int, str, str | None]]:
        """Yield (choice, text, reason), the reason with a choice's last piece.

        Raises ApiError: no token could be drawn for a choice (500), the server was closed, or the
        engine failed (503). However it ends, the engine is told that nobody waits any more.
        """
        try:
            async for event in self.answer:
                choice, text = event.choice, self.texts[event.choice]
                if choice in self.reasons:  # ended by a stop text
                    continue
                if isinstance(event, Ended):
                    if event.reason in (requests.STOP, requests.LENGTH):
                        self.reasons[choice] = event.reason
                        yield choice, text.end(), event.reason
                        continue
                    if event.problem:
                        message = f"no token can be drawn here: {event.problem}"
                        raise ApiError(500, message, code=event.reason)
                    problem = "failed" if event.reason == requests.FAILED else "was closed"
                    raise ApiError(503, f"the server {problem} before the end", code=event.reason)
                self.written += 1
                if event.token in self.served.tokenizer.ends:
                    continue
                piece = text.push(event.token)
                if text.stopped:
                    self.reasons[choice] = requests.STOP
                    yield choice, piece, requests.STOP
                    if len(self.reasons) == self.answer.choices:
                        return
                elif piece:
                    yield choice, piece, None
        finally:
            self.served.service.cancel(self.answer)

    def usage(self) -> dict[str, int]:
        """Return how many tokens were read and written so far."""
        return protocol.usage(sum(len(one.prompt) for one in self.answer.requests), self.written)

    async def events(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the completion as server-sent events; a problem on the way is one, too."""
        watcher = asyncio.create_task(self._cancel_without_client(request))
        head = self.name, self.created, self.served.name
        try:
            async for choice, text, reason in self.pieces():
                yield protocol.event(protocol.chunk(*head, choice, text, reason))
            if self.wanted.include_usage:
                yield protocol.event(protocol.head(*head) | {"choices": [], "usage": self.usage()})
            yield protocol.event("[DONE]")
        except ApiError as error:
            yield protocol.event(error.body())
        finally:
            watcher.cancel()
            self.served.service.cancel(self.answer)

    async def whole(self, request: Request) -> Response:
        """Return the completion once it is whole."""
        watcher = asyncio.create_task(self._cancel_without_client(request))
        try:
            async for _ in self.pieces():
                pass
        finally:
            watcher.cancel()
        choices = [
            {"index": i, "text": text.text, "logprobs": None, "finish_reason": self.reasons[i]}
            for i, text in enumerate(self.texts)
        ]
        body = protocol.head(self.name, self.created, self.served.name)
        return JSONResponse(body | {"choices": choices, "usage": self.usage()})

    async def _cancel_without_client(self, request: Request) -> None:
        """Wait until the client has gone, and let its requests go."""
        with suppress(asyncio.CancelledError):
            while (await request.receive())["type"] != "http.disconnect":
                pass
            self.served.service.cancel(self.answer)
