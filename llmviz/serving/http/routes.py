"""An engine behind HTTP, in the form of OpenAI's API, whole or as server-sent events.

    POST /v1/completions    POST /v1/chat/completions    GET /v1/models    GET /v1/models/NAME
    GET /health             GET /, a page to type into

Reference: OpenAI's API reference, "Completions" and "Chat Completions". What of it is not here is
refused by name.
Several texts to a prompt come by `n`: samples, or, with "use_beam_search": true, the n best beams
of a search n wide, scored with "length_penalty" (both as in vLLM's API); `best_of` is refused.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from llmviz.processes import read_to_end
from llmviz.serving import requests
from llmviz.serving.chat_template import UNTAUGHT
from llmviz.serving.http import protocol
from llmviz.serving.http.answering import Answering, ChatForm, TextForm
from llmviz.serving.http.chat_protocol import read_chat
from llmviz.serving.http.page import page_routes
from llmviz.serving.http.protocol import ApiError, Completion
from llmviz.serving.http.served import Prompt, Served
from llmviz.serving.http.service import Closed

JSON_BODY = "application/json"
EVENTS = "text/event-stream"


def application(served: Served, hosts: Sequence[str] = ("*",)) -> Starlette:
    """Return the application. hosts: names under which it answers, as the browser calls it.

    On a loopback address only its own names are given, so that no page of another site, whose
    name was pointed here, can talk to it.
    """

    async def completions(request: Request) -> Response:
        return await _complete(served, request)

    async def chat(request: Request) -> Response:
        return await _chat(served, request)

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
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/models", models),
            Route("/v1/models/{name:path}", model),
            Route("/health", health),
            *page_routes(),
        ],
        exception_handlers={ApiError: _refused, HTTPException: _not_here},
        middleware=[
            Middleware(read_to_end.ReadToEnd),
            Middleware(TrustedHostMiddleware, list(hosts), www_redirect=False),
        ],
    )


def _card(served: Served) -> dict[str, Any]:
    card = {"id": served.name, "object": "model", "created": served.created, "owned_by": "llmviz"}
    taught = served.conversation is not None and served.conversation.taught
    return card if taught else {**card, "chat_note": UNTAUGHT}


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


async def _body(request: Request, most: int) -> bytes:
    """The body, read no further than it may be long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON_BODY:  # a page of another site could send any other kind unasked
        raise ApiError(415, f"the body must be {JSON_BODY}; got {kind[:100]!r}")
    body = bytearray()
    too_long = ApiError(413, f"the body is longer than {most:,} bytes")
    if int(request.headers.get("content-length", 0)) > most:
        raise too_long
    try:
        async with asyncio.timeout(read_to_end.BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise too_long
    except TimeoutError:
        seconds = f"{read_to_end.BODY_SECONDS:g} seconds"
        raise ApiError(408, f"the body did not come within {seconds}") from None
    return bytes(body)


async def _complete(served: Served, request: Request) -> Response:
    try:
        body = await _body(request, served.limits.max_body)
        wanted = protocol.read_completion(body, served.limits)
    except ClientDisconnect:
        return Response(status_code=499)  # nobody reads it
    _check_model(served, wanted.model)
    return await _answer(served, request, wanted, TextForm())


async def _chat(served: Served, request: Request) -> Response:
    try:
        chat = read_chat(await _body(request, served.limits.max_body), served.limits)
    except ClientDisconnect:
        return Response(status_code=499)
    _check_model(served, chat.completion.model)
    wanted = await asyncio.to_thread(served.read, chat)
    return await _answer(served, request, wanted, ChatForm())


async def _answer(
    served: Served, request: Request, wanted: Completion, form: TextForm | ChatForm
) -> Response:
    name = f"{form.prefix}-{uuid.uuid4().hex}"
    client = request.client.host if request.client else ""
    try:
        # Splitting a long text takes a while, and others are served meanwhile.
        prompts, notes = await asyncio.to_thread(_read, served, wanted, form)
        answer = None
        if wanted.max_tokens:
            answer = await served.service.submit(served.requests(wanted, prompts, name, client))
    except ApiError:
        raise
    except requests.TooManyWaiting as problem:
        raise ApiError(429, str(problem)) from None
    except Closed as problem:
        raise ApiError(503, str(problem)) from None
    except ValueError as refusal:
        raise _engine_refusal(str(refusal)) from None
    answering = Answering(served, wanted, form, name, prompts, answer, notes)
    if wanted.stream:
        return StreamingResponse(
            answering.events(request), media_type=EVENTS, headers={"Cache-Control": "no-cache"}
        )
    return await answering.whole(request)


def _read(
    served: Served, wanted: Completion, form: TextForm | ChatForm
) -> tuple[list[Prompt], list[str]]:
    prompts = served.prompts(wanted)
    return prompts, served.notes(wanted, prompts, chat=isinstance(form, ChatForm))


def _engine_refusal(problem: str) -> ApiError:
    """What the engine refused, with the field of the request that it is about."""
    if problem.startswith(("n must", "beams must")):
        return ApiError(400, problem, "n")
    return ApiError(400, problem, "max_tokens", "context_length_exceeded")
