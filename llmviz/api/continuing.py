"""A text and what a model writes behind it, in pieces that never have to be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import able
from llmviz.models.translator import Translator
from llmviz.sampling import GeneratedToken, generate
from llmviz.serving.text_stream import TextStream
from llmviz.training.data import end_id, padding_ids
from llmviz.training.run_folder import Trained

_REPLACEMENT = "\ufffd".encode()


class Continuation:
    """A prompt that a model continues; iterating yields (token, the text that it completes).

    A character whose bytes have not all come waits for them: its text comes with its last token,
    and U+FFFD with the last token of all where they never come. The token that ends the text comes,
    too.

    read: the ids of the prompt; from_start: with those in front of every text. written: the ids
    that came so far, without the one that ends it. shown: the prompt as the model reads it, with
    its unknown characters.
    """

    def __init__(
        self,
        trained: Trained,
        prompt: str,
        tokens: int,
        seed: int = 0,
        module: LanguageModel | None = None,
        banned: tuple[int, ...] = (),
        *,
        special: bool = False,
        **settings: Any,
    ) -> None:
        """Check all that is asked for; nothing is computed yet.

        module: what writes, in place of the model, such as its packed copy. special: whether the
          names of special tokens in the prompt are these tokens. settings: those of
          `llmviz.sampling.generate`.
        Raises ValueError for a setting out of range, and a tokenizer without an end of text.
        """
        tokenizer = trained.tokenizer
        end_id(tokenizer)  # it must have one
        self.read = tokenizer.encode(prompt, "all" if special else ())
        self.from_start = tokenizer.behind_start(self.read, special=special)
        self.shown = tokenizer.decode(self.read)
        self.written: list[int] = []
        self._tokenizer, self._ends, self._most = tokenizer, tokenizer.ends, tokens
        self._tokens = generate(
            module or trained.model,
            self.from_start,
            tokens,
            banned=(*padding_ids(tokenizer), *banned),
            generator=torch.Generator().manual_seed(seed),
            stop_id=self._ends,
            **settings,
        )

    def __iter__(self) -> Iterator[tuple[GeneratedToken, str]]:
        stream = TextStream(self._tokenizer, self.read)
        for token in self._tokens:
            if token.id in self._ends:
                yield token, stream.end()
                continue
            self.written.append(token.id)
            piece = stream.push(token.id)
            yield token, piece + stream.end() if len(self.written) == self._most else piece

    @property
    def is_cut(self) -> bool:
        """Whether the last bytes that were written make no whole character."""
        data = b"".join(map(self._tokenizer.token_bytes, self.written))
        return data.decode("utf-8", "replace").endswith("\ufffd") and not data.endswith(
            _REPLACEMENT
        )


def translation(trained: Trained, sentence: str, tokens: int) -> str:
    """The translation of a sentence by an encoder–decoder; ValueError for an empty one."""
    if not sentence.strip():
        raise ValueError("prompt must be a sentence to translate; got an empty one")
    ids = trained.tokenizer.encode(sentence)
    model = trained.model
    assert isinstance(model, Translator)
    translated = model.translate(torch.tensor([ids]), tokens)[0] if tokens else []
    unwritten = padding_ids(trained.tokenizer)
    return trained.tokenizer.decode(id for id in translated if id not in unwritten)


def check_writes(trained: Trained, name: str) -> None:
    """Raise ValueError for a model that neither continues nor translates, naming some that do."""
    kind = trained.description["model"]["name"]
    if able(kind, "next_token") or able(kind, "translates"):
        return
    if able(kind, "word_vectors"):
        reason = f"{kind} has a vector for each word and writes no text"
    else:
        reason = f"{name} is a {kind}: it says which word is hidden and continues no text"
    from llmviz.pretrained import bundled, read_card

    names = [model for model in bundled() if able(read_card(model)["model"], "next_token")]
    raise ValueError(f"{reason}; those that do: {', '.join(names)}")
