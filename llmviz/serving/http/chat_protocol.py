"""The body of a chat request in the form of OpenAI's API: read, checked, and answered.

Reference: OpenAI's API reference, "Chat Completions". What of it is not here is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmviz.serving.http.protocol import (
    ApiError,
    Completion,
    check_fields,
    flag,
    read_object,
    settings_of,
    whole,
)
from llmviz.serving.settings import Limits

ROLES = ("system", "developer", "user", "assistant")
MOST_MESSAGES = 1_000
# What the API takes and this one has nothing for: these values change nothing, others do.
WITHOUT_EFFECT: Mapping[str, tuple[Any, ...]] = {
    "frequency_penalty": (None, 0),
    "functions": (None, []),
    "logit_bias": (None, {}),
    "modalities": (None, ["text"]),
    "parallel_tool_calls": (None, False, True),
    "presence_penalty": (None, 0),
    "response_format": (None, {"type": "text"}),
    "store": (None, False),
    "tool_choice": (None, "none", "auto"),
    "tools": (None, []),
}
KNOWN = (
    *("model", "messages", "max_tokens", "max_completion_tokens", "n", "temperature", "top_p"),
    *("top_k", "seed", "stop", "stream", "stream_options", "user", "metadata", "logprobs"),
    *("top_logprobs", "min_p", "repetition_penalty", "stop_token_ids"),
)
MOST_LIKELY = 20  # tokens listed beside each token


@dataclass(frozen=True)
class Chat:
    """A conversation, and how it is to be answered. The prompt of `completion` is still to come.

    open: whether the answer may be as long as the context has room for.
    """

    messages: tuple[dict[str, str], ...]
    completion: Completion
    open: bool


def read_chat(body: bytes, limits: Limits | None = None) -> Chat:
    """Return what a body asks for. Raises ApiError (400) as `protocol.read_completion`."""
    given = read_object(body)
    check_fields(given, KNOWN, WITHOUT_EFFECT)
    most = "max_completion_tokens" if "max_completion_tokens" in given else "max_tokens"
    if most == "max_completion_tokens" and given.get("max_tokens") is not None:
        raise ApiError(400, "give max_completion_tokens or max_tokens, not both", "max_tokens")
    listed = flag(given, "logprobs")
    top = whole(given, "top_logprobs", 0, MOST_LIKELY, None)
    if top is not None and not listed:
        raise ApiError(400, "top_logprobs is for logprobs = true alone", "top_logprobs")
    rest = {name: value for name, value in given.items() if name not in (most, "logprobs")}
    fields = {**rest, "max_tokens": given.get(most), "logprobs": (top or 0) if listed else None}
    settings = settings_of(fields, limits or Limits(), most)
    messages = _messages(given.get("messages"))
    return Chat(messages, Completion(prompts=(), **settings), given.get(most) is None)


def _messages(given: Any) -> tuple[dict[str, str], ...]:
    if not isinstance(given, list) or not given:
        raise ApiError(400, "messages must be a list with at least one message", "messages")
    if len(given) > MOST_MESSAGES:
        rule = f"there are {len(given)} messages; at most {MOST_MESSAGES}"
        raise ApiError(400, rule, "messages")
    return tuple(_message(message, f"messages[{i}]") for i, message in enumerate(given))


def _message(given: Any, where: str) -> dict[str, str]:
    if not isinstance(given, dict):
        raise ApiError(400, f"{where} must be an object with role and content", where)
    role, name = given.get("role"), given.get("name")
    if role not in ROLES:
        raise ApiError(400, f"{where}.role must be one of {', '.join(ROLES)}", f"{where}.role")
    if name is not None and not isinstance(name, str):
        raise ApiError(400, f"{where}.name must be a text", f"{where}.name")
    for other in given:
        if other not in ("role", "content", "name"):
            place = f"{where}.{other[:60].encode('utf-8', 'replace').decode()}"
            raise ApiError(400, f"{place} is not supported here; leave it out", place)
    return {
        "role": "system" if role == "developer" else role,
        "content": _content(given.get("content"), f"{where}.content"),
    }


def _content(given: Any, where: str) -> str:
    """The text of a message: a text, or a list of parts that are texts."""
    texts: list[Any]
    if isinstance(given, list):
        texts = []
        for i, part in enumerate(given):
            if not isinstance(part, dict) or part.get("type") != "text":
                raise ApiError(400, f"{where}[{i}] must be of type text", f"{where}[{i}]")
            texts.append(part.get("text"))
    else:
        texts = [given]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ApiError(400, f"{where} must be a text", where)
    text = "\n".join(texts)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a pair of surrogates
        raise ApiError(400, f"{where} has characters that are no text", where) from None
    return text
