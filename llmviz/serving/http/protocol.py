"""The body of a completion request in the form of OpenAI's API: read, checked, and answered.

What the engine cannot do is refused by name and never passed over, so that nobody takes an answer
for something else than it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from llmviz.serving.settings import Limits

MOST_SAMPLES = 32  # of a prompt
MOST_STOP_LENGTH = 200  # characters
MOST_STOP_IDS = 1_000
MOST_SEED = 2**31 - 1
MOST_REPETITION = 100.0
LEAST_TEMPERATURE = 1e-6  # above 0
USUAL_TOKENS = 16  # as OpenAI's API has it
MOST_PENALTY = 10.0  # on the length of a beam
MOST_LIKELY = 20  # tokens listed beside each token
USUAL_PENALTY = 1.0  # as vLLM has it: the mean log-probability of a token
# What OpenAI's API takes and this one has nothing for: these values change nothing, others do.
WITHOUT_EFFECT: Mapping[str, tuple[Any, ...]] = {
    "best_of": (None, 1),
    "frequency_penalty": (None, 0),
    "logit_bias": (None, {}),
    "presence_penalty": (None, 0),
    "suffix": (None, ""),
}
KNOWN = (
    *("model", "prompt", "max_tokens", "n", "temperature", "top_p", "top_k", "seed", "stop"),
    *("stream", "stream_options", "user", "echo", "logprobs"),
    # Not OpenAI's: as vLLM's API calls them.
    *("use_beam_search", "length_penalty", "min_p", "repetition_penalty", "stop_token_ids"),
    "special",  # ours
)
# What draws at random, or ends a text where the search does not know of it: not with beam search.
NOT_WITH_BEAMS: Mapping[str, tuple[Any, ...]] = {
    "temperature": (None, 0),
    "top_p": (None, 1),
    "top_k": (None, -1, 0),
    "min_p": (None, 0),
    "repetition_penalty": (None, 1),
    "stop": (None, []),
    "stop_token_ids": (None, []),
}


CODES: Mapping[int, str] = {  # of refusals that name no other
    400: "invalid_value",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
    500: "failed",
    503: "closed",
}


class ApiError(ValueError):
    """A refusal: its HTTP status, one clear line, the field that it is about, if any, and a code.

    code: a word for programs; that of the status if none is given.
    """

    def __init__(self, status: int, message: str, param: str | None = None, code: str = "") -> None:
        super().__init__(message)
        self.status, self.param = status, param
        self.code = code or CODES.get(status, "invalid_request")

    def body(self) -> dict[str, Any]:
        """Return the refusal as the API writes it."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        if self.status == 429:
            kind = "rate_limit_error"
        error = {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        return {"error": error}


@dataclass(frozen=True)
class Completion:
    """What a body asks for: prompts as texts or as token ids, and how each is to be continued.

    n: samples of each prompt, or, with beam_search, beams.
    """

    model: str
    prompts: tuple[str | tuple[int, ...], ...]
    max_tokens: int = USUAL_TOKENS
    n: int = 1
    beam_search: bool = False
    length_penalty: float = USUAL_PENALTY
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int | None = None
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_ids: tuple[int, ...] = ()
    stream: bool = False
    include_usage: bool = False
    echo: bool = False  # the prompt comes first
    logprobs: int | None = None  # so many likely tokens beside each token's log-probability
    special: bool = False  # the names of special tokens in a text are these tokens


def read_completion(body: bytes, limits: Limits | None = None) -> Completion:
    """Return what a body asks for.

    Raises ApiError (400): it is no JSON object, a field is missing, of a wrong type, out of range
    or not known, or asks for what the engine cannot do.
    """
    limits = limits or Limits()
    given = read_object(body)
    check_fields(given, KNOWN, WITHOUT_EFFECT)
    beam_search = flag(given, "use_beam_search")
    if beam_search:
        for name, allowed in NOT_WITH_BEAMS.items():
            if not any(_same(given.get(name), value) for value in allowed):
                raise ApiError(400, f"{name} does not go with use_beam_search; leave it out", name)
    elif given.get("length_penalty") is not None:
        rule = "length_penalty is for use_beam_search = true alone"
        raise ApiError(400, rule, "length_penalty")
    return Completion(
        prompts=_prompts(given.get("prompt"), limits.max_prompts),
        beam_search=beam_search,
        length_penalty=_number(given, "length_penalty", 0.0, MOST_PENALTY, USUAL_PENALTY),
        echo=flag(given, "echo"),
        special=flag(given, "special"),
        **settings_of(given, limits),
    )


def check_fields(
    given: Mapping[str, Any],
    known: Sequence[str],
    without_effect: Mapping[str, tuple[Any, ...]],
) -> None:
    """Raise ApiError for a field that is not known, or for a value that would have an effect."""
    for name, value in given.items():
        if name in without_effect:
            if not any(_same(value, usual) for usual in without_effect[name]):
                message = f"{name} is not supported here; leave it out"
                raise ApiError(400, message, name, "unsupported_parameter")
        elif name not in known:
            readable = name[:100].encode("utf-8", "replace").decode("utf-8")
            message = f"there is no field {_quoted(name)}"
            raise ApiError(400, message, readable, "unknown_parameter")


def settings_of(
    given: Mapping[str, Any], limits: Limits, most: str = "max_tokens"
) -> dict[str, Any]:
    """The fields that completions and chats share, read and checked.

    most: how the request calls `max_tokens`.
    """
    model = given.get("model")
    if model is None:
        raise ApiError(400, "model must be the name of a model", "model", "missing_parameter")
    if not isinstance(model, str) or not model:
        raise ApiError(400, "model must be the name of a model", "model")
    options = given.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise ApiError(400, "stream_options must be an object", "stream_options")
    stream = flag(given, "stream")
    if options is not None and not stream:
        raise ApiError(400, "stream_options is for stream = true alone", "stream_options")
    logprobs = whole(given, "logprobs", 0, MOST_LIKELY, None)
    if stream and logprobs is not None:
        rule = "logprobs come with the whole answer; leave out stream"
        raise ApiError(400, rule, "logprobs", "unsupported_parameter")
    try:
        tokens = whole(given, "max_tokens", 0, MOST_SEED, USUAL_TOKENS)
    except ApiError as error:
        raise ApiError(400, str(error).replace("max_tokens", most), most) from None
    return {
        "model": model,
        "max_tokens": tokens,
        "n": whole(given, "n", 1, MOST_SAMPLES, 1),
        "temperature": _temperature(given),
        "top_p": _number(given, "top_p", 0.0, 1.0, 1.0, above=True),
        "top_k": _top_k(given),
        "min_p": _number(given, "min_p", 0.0, 1.0, 0.0),
        "repetition_penalty": _number(
            given, "repetition_penalty", 0.0, MOST_REPETITION, 1.0, above=True
        ),
        "seed": whole(given, "seed", 0, MOST_SEED, None),
        "stop": _stops(given.get("stop"), limits.max_stops),
        "stop_ids": _stop_ids(given.get("stop_token_ids")),
        "stream": stream,
        "include_usage": flag(options or {}, "include_usage"),
        "logprobs": logprobs,
    }


def read_object(body: bytes) -> dict[str, Any]:
    """The object of a body; ApiError (400) where it is none."""
    try:
        given = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ApiError(400, f"the body is not JSON: {error}"[:300], code="invalid_json") from None
    except (RecursionError, ValueError):  # brackets or digits without end
        raise ApiError(400, "the body is not JSON that can be read", code="invalid_json") from None
    if not isinstance(given, dict):
        raise ApiError(400, "the body must be a JSON object", code="invalid_json")
    return given


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _same(value: Any, other: Any) -> bool:
    """Whether two values are equal and, as in JSON, neither is a number and the other a boolean."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def flag(given: Mapping[str, Any], name: str) -> bool:
    """A field that is true or false; false where it is left out."""
    value = given.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise ApiError(400, f"{name} must be true or false", name)
    return value


Usual = TypeVar("Usual", int, None)


def whole(given: Mapping[str, Any], name: str, low: int, high: int, usual: Usual) -> int | Usual:
    """A field that is a whole number; `usual` where it is left out."""
    value = given.get(name)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ApiError(400, f"{name} must be a whole number from {low} to {high}", name)
    return value


def _number(
    given: Mapping[str, Any], name: str, low: float, high: float, usual: float, above: bool = False
) -> float:
    value = given.get(name)
    if value is None:
        return usual
    wrong = isinstance(value, bool) or not isinstance(value, int | float)
    if wrong or not (low <= value <= high) or (above and value == low):
        rule = f"above {low:g} and at most {high:g}" if above else f"from {low:g} to {high:g}"
        raise ApiError(400, f"{name} must be a number {rule}", name)
    return float(value)


def _temperature(given: Mapping[str, Any]) -> float:
    value = _number(given, "temperature", 0.0, 2.0, 1.0)
    if 0 < value < LEAST_TEMPERATURE:  # what is divided by it might not be finite any more
        rule = f"temperature must be 0, or a number from {LEAST_TEMPERATURE:g} to 2"
        raise ApiError(400, rule, "temperature")
    return value


def _top_k(given: Mapping[str, Any]) -> int | None:
    """How many of the most probable tokens are kept; -1 and 0 are all, as in vLLM's API."""
    count = whole(given, "top_k", -1, MOST_SEED, None)
    return None if count in (-1, 0) else count


def _prompts(given: Any, most: int) -> tuple[str | tuple[int, ...], ...]:
    several = isinstance(given, list) and bool(given) and not _is_id(given[0])
    prompts = given if several else [given]
    if len(prompts) > most:
        raise ApiError(400, f"there are {len(prompts)} prompts; at most {most}", "prompt")
    return tuple(_prompt(prompt) for prompt in prompts)


def _prompt(given: Any) -> str | tuple[int, ...]:
    if isinstance(given, str):
        try:
            given.encode("utf-8")
        except UnicodeEncodeError:  # half of a pair of surrogates
            raise ApiError(400, "prompt has characters that are no text", "prompt") from None
        return given
    if isinstance(given, list) and given and all(_is_id(value) for value in given):
        return tuple(given)
    rule = "prompt must be a text, a list of token ids, or a list of either"
    raise ApiError(400, rule, "prompt")


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _stop_ids(given: Any) -> tuple[int, ...]:
    ids = [] if given is None else given
    if not isinstance(ids, list) or len(ids) > MOST_STOP_IDS or not all(map(_is_id, ids)):
        rule = f"stop_token_ids must be a list of at most {MOST_STOP_IDS} token ids"
        raise ApiError(400, rule, "stop_token_ids")
    return tuple(ids)


def _stops(given: Any, most: int) -> tuple[str, ...]:
    stops = [] if given is None else [given] if isinstance(given, str) else given
    if (
        not isinstance(stops, list)
        or len(stops) > most
        or not all(isinstance(stop, str) and 0 < len(stop) <= MOST_STOP_LENGTH for stop in stops)
    ):
        raise ApiError(
            400,
            f"stop must be at most {most} texts of 1 to {MOST_STOP_LENGTH} characters",
            "stop",
        )
    return tuple(stops)


def usage(prompt: int, completion: int) -> dict[str, int]:
    """Return how many tokens were read and written."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def event(data: Mapping[str, Any] | str) -> bytes:
    """Return a server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, allow_nan=False)
    return f"data: {text}\n\n".encode()
