"""A model behind HTTP: what it reads of a request, and what it is asked in the engine's words."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from llmviz.sampling import SamplingSettings
from llmviz.serving import requests
from llmviz.serving.chat_template import Conversation
from llmviz.serving.http import protocol
from llmviz.serving.http.chat_protocol import Chat
from llmviz.serving.http.protocol import ApiError, Completion
from llmviz.serving.http.scoring import Scorer
from llmviz.serving.http.service import Service
from llmviz.serving.settings import Limits
from llmviz.tokenizers import Tokenizer
from llmviz.tokenizers.unread import notes_on

MOST_PER_TOKEN = 64  # characters of a prompt for each token that the model reads
MOST_LOGGED = 20  # notes, so that no client fills the log
_log = logging.getLogger(__name__)


class Prompt(NamedTuple):
    """A prompt as the model reads it: `ids`, of which `front` were not in the request."""

    ids: tuple[int, ...]
    front: int = 0

    @property
    def given(self) -> tuple[int, ...]:
        """The ids of what was in the request."""
        return self.ids[self.front :]


@dataclass(frozen=True)
class Served:
    """A model behind HTTP.

    name: how requests call it. tokenizer: its tokens of the beginning stand before each prompt that
    comes as a text, and those of the end end what is written. banned: tokens that are never
    written. context: the longest text that the model reads, in tokens. vocabulary: how many tokens
    there are. room: tokens that the engine's memory holds; the context if None. scorer: gives
    log-probabilities; None where there are none. conversation: how the model reads a chat; by a
    template of ours if None. limits: how much a request may ask for.
    """

    name: str
    tokenizer: Tokenizer
    service: Service
    context: int
    vocabulary: int
    banned: tuple[int, ...] = ()
    room: int | None = None
    scorer: Scorer | None = None
    conversation: Conversation | None = None
    limits: Limits = field(default_factory=Limits)
    created: int = field(default_factory=lambda: int(time.time()))
    _logged: set[str] = field(default_factory=set, repr=False)

    def prompt(self, given: str | tuple[int, ...], *, special: bool = False) -> Prompt:
        """Return the tokens of a prompt. Raises ApiError: too long, or an id is out of range."""
        if isinstance(given, str):
            if len(given) > MOST_PER_TOKEN * self.context:  # not split: that would take long
                raise self._too_long(f"{len(given):,} characters")
            own = self.tokenizer.encode(given, "all" if special else ())
            ids = tuple(self.tokenizer.behind_start(own, special=special))
            prompt = Prompt(ids, len(ids) - len(own))
        else:
            prompt = Prompt(given)
        if len(prompt.ids) > self.context:
            raise self._too_long(f"{len(prompt.ids):,} tokens")
        for token in prompt.ids:
            if not 0 <= token < self.vocabulary:
                rule = f"token ids must be from 0 to {self.vocabulary - 1}; got {token}"
                raise ApiError(400, rule, "prompt")
        return prompt

    def _too_long(self, size: str) -> ApiError:
        message = f"the prompt has {size}; {self.name} reads {self.context:,} tokens at most"
        return ApiError(400, message, "prompt", "context_length_exceeded")

    def prompts(self, wanted: Completion) -> list[Prompt]:
        """Return the tokens of each prompt.

        Raises ApiError: one is too long, an id or top_k is out of range, or there is no scorer.
        """
        if wanted.logprobs is not None and self.scorer is None:
            message = "logprobs is not supported here; leave it out"
            raise ApiError(400, message, "logprobs", "unsupported_parameter")
        if wanted.top_k is not None and wanted.top_k > self.vocabulary:
            rule = f"top_k must be at most {self.vocabulary}, the number of tokens"
            raise ApiError(400, f"{rule}; got {wanted.top_k}", "top_k")
        for token in wanted.stop_ids:
            if not 0 <= token < self.vocabulary:
                rule = f"stop_token_ids must be from 0 to {self.vocabulary - 1}; got {token}"
                raise ApiError(400, rule, "stop_token_ids")
        return [self.prompt(given, special=wanted.special) for given in wanted.prompts]

    def tokens_behind(self, prompt: Prompt, wanted: int) -> int:
        """Return how many tokens are written at most: as many as asked for, or as there is room."""
        room = self.context if self.room is None else min(self.context, self.room)
        return min(wanted, max(1, room - len(prompt.ids) + 1))  # the last one is not read again

    def notes(
        self, wanted: Completion, prompts: Sequence[Prompt], *, chat: bool = False
    ) -> list[str]:
        """Return what is to be known of how a request is read; the log has the first ones, too.

        chat: whether a template wrote the prompt.
        """
        notes: dict[str, None] = {}  # each once
        for given, prompt in zip(wanted.prompts, prompts, strict=True):
            room = self.tokens_behind(prompt, wanted.max_tokens)
            if room < wanted.max_tokens:
                notes[
                    f"max_tokens is {wanted.max_tokens:,}; behind a prompt of {len(prompt.ids):,} "
                    f"tokens {self.name} has room for {room:,}"
                ] = None
            if isinstance(given, str):
                option = '"special": true'
                notes |= dict.fromkeys(
                    notes_on(self.tokenizer, given, option, special=wanted.special)
                )
            elif not chat and given[: len(self.tokenizer.start)] != self.tokenizer.start:
                notes[
                    f"a prompt of token ids does not begin with {list(self.tokenizer.start)}, the "
                    f"ids in front of every text that {self.name} learned from; without them it "
                    "is less sure of what it reads"
                ] = None
        for note in notes:
            if note not in self._logged and len(self._logged) < MOST_LOGGED:
                self._logged.add(note)
                _log.warning("note: %s", note)
        return list(notes)

    def read(self, chat: Chat) -> Completion:
        """Return a chat as the completion of its one prompt.

        Raises ApiError: the template refuses the messages, or they are too long.
        """
        conversation = self.conversation or Conversation(self.tokenizer, None)
        try:
            prompt = self.prompt(conversation.ids(chat.messages)).ids
        except ApiError as error:
            raise ApiError(error.status, str(error), "messages", error.code) from None
        except ValueError as refusal:
            raise ApiError(400, str(refusal), "messages") from None
        wanted = replace(chat.completion, prompts=(prompt,))
        if not wanted.stop:
            wanted = replace(wanted, stop=conversation.stops)
        if chat.open:
            wanted = replace(
                wanted, max_tokens=self.tokens_behind(Prompt(prompt), self.context + 1)
            )
        return wanted

    def requests(
        self,
        wanted: Completion,
        prompts: Sequence[Prompt],
        name: str,
        client: str = "",
    ) -> list[requests.Request]:
        """Return what the engine is asked for, a request for each prompt."""
        sampling = SamplingSettings(
            temperature=0.0 if wanted.beam_search else wanted.temperature,
            top_k=wanted.top_k,
            top_p=wanted.top_p if wanted.top_p < 1 else None,
            min_p=wanted.min_p or None,
            repetition_penalty=wanted.repetition_penalty,
            banned=self.banned,
        )
        seed = wanted.seed if wanted.seed is not None else uuid.uuid4().int % protocol.MOST_SEED
        return [
            requests.Request(
                id=f"{name}.{number}",
                client=client,
                turn=number * (1 if wanted.beam_search else wanted.n),
                prompt=prompt.ids,
                max_new_tokens=self.tokens_behind(prompt, wanted.max_tokens),
                sampling=sampling,
                stop_ids=(*self.tokenizer.ends, *wanted.stop_ids),
                seed=seed,
                n=1 if wanted.beam_search else wanted.n,
                beams=wanted.n if wanted.beam_search else None,
                length_penalty=wanted.length_penalty if wanted.beam_search else 0.0,
            )
            for number, prompt in enumerate(prompts)
        ]
