"""One request on its way to its client: its pieces, its log-probabilities, its form."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from llmviz.serving import requests
from llmviz.serving.http import protocol
from llmviz.serving.http.protocol import ApiError, Completion
from llmviz.serving.http.scoring import TokenScore
from llmviz.serving.http.served import Prompt, Served
from llmviz.serving.http.service import Answer, Ended
from llmviz.serving.text_stream import TextStream
from llmviz.tokenizers import Tokenizer


class TextForm:
    """How completions are written."""

    prefix, kind, chunk_kind = "cmpl", "text_completion", "text_completion"

    def opening(self, index: int) -> list[dict[str, Any]]:
        """What a stream says of a choice before its first piece."""
        return []

    def chunk(self, index: int, text: str, reason: str | None) -> dict[str, Any]:
        """A piece of a choice. reason: why it ended; None while it goes on."""
        return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}

    def choice(self, index: int, text: str, reason: str, scores: Scored | None) -> dict[str, Any]:
        """A whole choice."""
        return self.chunk(index, text, reason) | {
            "logprobs": None if scores is None else scores.of_a_completion()
        }


class ChatForm:
    """How chats are written."""

    prefix, kind, chunk_kind = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def opening(self, index: int) -> list[dict[str, Any]]:
        """What a stream says of a choice before its first piece."""
        delta = {"role": "assistant", "content": ""}
        return [{"index": index, "delta": delta, "logprobs": None, "finish_reason": None}]

    def chunk(self, index: int, text: str, reason: str | None) -> dict[str, Any]:
        """A piece of a choice. reason: why it ended; None while it goes on."""
        delta = {"content": text} if text else {}
        return {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}

    def choice(self, index: int, text: str, reason: str, scores: Scored | None) -> dict[str, Any]:
        """A whole choice."""
        return {
            "index": index,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "logprobs": None if scores is None else scores.of_a_chat(),
            "finish_reason": reason,
        }


def token_text(tokenizer: Tokenizer, token_id: int) -> str:
    """A token as text; bytes that are no text of their own as `bytes:\\xe2`, as OpenAI has it."""
    data = tokenizer.token_bytes(token_id)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)


def offsets(tokenizer: Tokenizer, before: Sequence[int], ids: Sequence[int]) -> list[int]:
    """Return where each token begins in the text of ids that stand behind others.

    A character with bytes of several tokens begins with the first of them.
    """
    ends = [len(tokenizer.settled([*before, *ids[:i]])) for i in range(len(ids))]
    return [end - ends[0] for end in ends]


class Scored:
    """The tokens of an answer with their log-probabilities.

    ids: those that are shown; scores, offsets: their log-probabilities and where they begin in the
    text that is shown.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        ids: Sequence[int],
        scores: Sequence[TokenScore | None],
        offsets: Sequence[int],
        text: str,
    ) -> None:
        self._tokenizer, self._ids, self._scores = tokenizer, list(ids), list(scores)
        self._offsets = list(offsets)
        # A stop text, which is not shown, may be written by tokens that are.
        shown = sum(offset < len(text) for offset in self._offsets)
        del self._ids[shown:], self._scores[shown:], self._offsets[shown:]

    def of_a_completion(self) -> dict[str, Any]:
        """As completions have it: lists of equal length."""
        top: list[dict[str, float] | None] = []
        for score in self._scores:
            likely: dict[str, float] = {}
            if score is not None:
                for id, value in (*score.top, (score.id, score.logprob)):
                    likely.setdefault(token_text(self._tokenizer, id), value)
            top.append(None if score is None else likely)
        return {
            "tokens": [token_text(self._tokenizer, id) for id in self._ids],
            "token_logprobs": [None if score is None else score.logprob for score in self._scores],
            "top_logprobs": top,
            "text_offset": self._offsets,
        }

    def of_a_chat(self) -> dict[str, Any]:
        """As chats have it: an object for each token."""
        content = []
        for score in self._scores:
            assert score is not None  # a conversation stands in front of every answer
            likely = [self._entry(id, value) for id, value in score.top]
            content.append(self._entry(score.id, score.logprob) | {"top_logprobs": likely})
        return {"content": content, "refusal": None}

    def _entry(self, id: int, value: float) -> dict[str, Any]:
        data = list(self._tokenizer.token_bytes(id))
        return {"token": token_text(self._tokenizer, id), "logprob": value, "bytes": data}


class Answering:
    """One request on its way to its client.

    answer: what the engine writes; None where no token is asked for. notes: what is to be known of
    how it was read.
    """

    def __init__(
        self,
        served: Served,
        wanted: Completion,
        form: TextForm | ChatForm,
        name: str,
        prompts: Sequence[Prompt],
        answer: Answer | None,
        notes: Sequence[str] = (),
    ) -> None:
        self.served, self.wanted, self.form, self.answer = served, wanted, form, answer
        self.prompts = prompts
        self.head: dict[str, Any] = {"id": name, "object": form.kind}
        self.head["created"] = int(time.time())
        self.head["model"] = served.name
        if notes:
            self.head["notes"] = list(notes)
        self.texts = [
            TextStream(served.tokenizer, prompt.given, wanted.stop)
            for prompt in prompts
            for _ in range(wanted.n)
        ]
        self.tokens: list[list[int]] = [[] for _ in self.texts]
        self.reasons: dict[int, str] = {}
        self.written = 0

    async def pieces(self) -> AsyncIterator[tuple[int, str, str | None]]:
        """Yield (choice, text, reason), the reason with a choice's last piece.

        Raises ApiError: no token could be drawn for a choice (500), the server was closed, or the
        engine failed (503). However it ends, the engine is told that nobody waits any more.
        """
        if self.answer is None:
            for choice in range(len(self.texts)):
                self.reasons[choice] = requests.LENGTH
                yield choice, self.texts[choice].end(), requests.LENGTH
            return
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
                if event.token in (*self.served.tokenizer.ends, *self.wanted.stop_ids):
                    continue
                self.tokens[choice].append(event.token)
                piece = text.push(event.token)
                if text.stopped:
                    self.reasons[choice] = requests.STOP
                    yield choice, piece, requests.STOP
                    if len(self.reasons) == self.answer.choices:
                        return
                elif piece:
                    yield choice, piece, None
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Tell the engine that nobody waits any more."""
        if self.answer is not None:
            self.served.service.cancel(self.answer)

    def usage(self) -> dict[str, int]:
        """Return how many tokens were read and written so far."""
        return protocol.usage(sum(len(prompt.ids) for prompt in self.prompts), self.written)

    def echo(self, choice: int) -> str:
        """The text of a prompt that is shown before its answer; none without echo."""
        number = choice // self.wanted.n
        prompt = self.wanted.prompts[number] if self.wanted.echo else ""
        return prompt if isinstance(prompt, str) else self.served.tokenizer.settled(prompt)

    async def events(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the answer as server-sent events; a problem on the way is one, too."""
        watcher = asyncio.create_task(self._cancel_without_client(request))
        head = self.head | {"object": self.form.chunk_kind}
        try:
            for choice in range(len(self.texts)):
                first = self.form.opening(choice)
                if text := self.echo(choice):
                    first.append(self.form.chunk(choice, text, None))
                for part in first:
                    yield protocol.event(head | {"choices": [part]})
            async for choice, text, reason in self.pieces():
                part = self.form.chunk(choice, text, reason)
                yield protocol.event(head | {"choices": [part]})
            if self.wanted.include_usage:
                yield protocol.event(head | {"choices": [], "usage": self.usage()})
            yield protocol.event("[DONE]")
        except ApiError as error:
            yield protocol.event(error.body())
        finally:
            watcher.cancel()
            self.cancel()

    async def whole(self, request: Request) -> Response:
        """Return the answer once it is whole."""
        watcher = asyncio.create_task(self._cancel_without_client(request))
        try:
            async for _ in self.pieces():
                pass
        finally:
            watcher.cancel()
        choices = []
        for i, text in enumerate(self.texts):
            whole, scores = self.echo(i) + text.text, None
            if self.wanted.logprobs is not None:
                scores = await asyncio.to_thread(self._scored, i, whole)
            choices.append(self.form.choice(i, whole, self.reasons[i], scores))
        return JSONResponse(self.head | {"choices": choices, "usage": self.usage()})

    def _scored(self, choice: int, text: str) -> Scored:
        assert self.served.scorer is not None and self.wanted.logprobs is not None
        number, written = choice // self.wanted.n, self.tokens[choice]
        tokenizer, prompt = self.served.tokenizer, self.prompts[number]
        scores = self.served.scorer((*prompt.ids, *written), self.wanted.logprobs)
        begins, ids = len(self.echo(choice)), tuple(written)
        places = [begins + place for place in offsets(tokenizer, prompt.given, written)]
        if self.wanted.echo:
            text_or_ids = self.wanted.prompts[number]
            if isinstance(text_or_ids, str):
                allowed = "all" if self.wanted.special else ()
                before = [token.char_start for token in tokenizer.tokens(text_or_ids, allowed)]
            else:
                before = offsets(tokenizer, (), text_or_ids)
            ids, places = prompt.given + ids, before + places
        return Scored(tokenizer, ids, scores[len(scores) - len(ids) :], places, text)

    async def _cancel_without_client(self, request: Request) -> None:
        """Wait until the client has gone, and let its requests go."""
        with suppress(asyncio.CancelledError):
            while (await request.receive())["type"] != "http.disconnect":
                pass
            self.cancel()
