"""A trained model with its tokenizer: what it writes, predicts and attends to.

T tokens of a text as the model reads it, V vocabulary, L layers, H heads.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, overload

import torch
from torch import Tensor

from llmviz.api.continuing import Continuation, check_writes, translation
from llmviz.files.nearest import nearest
from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import able
from llmviz.pretrained import find_model, save_trained
from llmviz.tokenizers import Tokenizer
from llmviz.trace import Trace, record, tap_names
from llmviz.training.evaluate import Score, score_each
from llmviz.training.run_folder import Trained

WEIGHTS = "*.attn.weights"


def load(name: str | Path) -> Model:
    """Return a trained model by its name, its folder, or its repository on the hub.

    name: a bundled model (`tiny-world-gpt`), a run in the folder of runs (`run:NAME`, or
      `run:NAME@STEP`), a folder (a run or a fine-tuning of ours, or a published model of the type
      GPT-2 or Llama), or `hub:OWNER/NAME`, which downloads it once.
    The model is in eval mode, float32, on the CPU. What is to be known of its files, such as a
    damaged checkpoint that was passed over, comes as a warning and stays in `notes`.

    Raises: ValueError naming what is missing or damaged, and the nearest names.
    """
    model = Model(find_model(name), str(name))
    for note in model.notes:
        warnings.warn(f"{name}: {note}", stacklevel=2)
    return model


class Model:
    """A trained model with its tokenizer.

    Every text is read from its start: `tokens(text)` shows what the model reads, with what stands
    in front of it. Nothing here changes the model.
    """

    def __init__(self, trained: Trained, name: str = "") -> None:
        self._trained = trained
        self.name = name

    def __repr__(self) -> str:
        about = f"{self.kind}, {self.parameters:,} parameters, {self.tokenizer.name}"
        return f"<llmviz.Model {self.name}: {about}>"

    @property
    def module(self) -> LanguageModel:
        """The network itself: `module(idx)` with idx (B, T) gives (logits (B, T, V), None)."""
        return self._trained.model

    @property
    def tokenizer(self) -> Tokenizer:
        """Text to ids and back: `encode`, `decode`, `tokens`."""
        return self._trained.tokenizer

    @property
    def description(self) -> Mapping[str, Any]:
        """What the model is and how it was made: the content of its config.json."""
        return self._trained.description

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the model's files; empty where there is nothing."""
        return self._trained.notes

    @property
    def kind(self) -> str:
        """The model's name in the catalogue: gpt, lstm, bert, …"""
        return str(self.description["model"]["name"])

    @property
    def parameters(self) -> int:
        """How many parameters it has, embeddings included."""
        return sum(parameter.numel() for parameter in self.module.parameters())

    @property
    def context_length(self) -> int:
        """The most tokens that it reads at once."""
        return self.module.context_length

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """Return the T ids that the model reads for a text, with those in front of every text.

        special: whether the names of special tokens in it, such as `<|im_end|>`, are these tokens;
          otherwise they are ordinary text.
        """
        return self.tokenizer.encode_from_start(text, special=special)

    def tokens(self, text: str) -> list[str]:
        """Return the T tokens that the model reads for a text, each as text.

        They name the rows of `logits` and both sides of `attention`. Bytes that are no whole
        character alone are shown as U+FFFD.
        """
        ids = self.encode(text)
        return [self.tokenizer.token_bytes(id).decode("utf-8", "replace") for id in ids]

    def logits(self, text: str) -> Tensor:
        """Return the logits (T, V): row i scores every token as the one that comes after token i.

        A model that says which word is hidden scores the word at place i instead.
        Raises: ValueError for a text longer than the context, or a model that reads two texts.
        """
        return self._forward(text)

    def attention(self, text: str) -> Tensor:
        """Return the attention weights (L, H, T, T): from token i (row) to token j, rows sum to 1.

        Raises: ValueError as `logits`, and for a model without attention.
        """
        if not able(self.kind, "attention"):
            raise ValueError(f"{self._called()} is a {self.kind}, which has no attention")
        return torch.cat(list(self.trace(text, WEIGHTS).values()))

    def trace(self, text: str, names: str | Sequence[str] = "*") -> Trace:
        """Return the intermediates of one forward pass by name, with a batch of 1 in front.

        names: patterns such as `blocks.*.attn.weights`; `trace_names` lists them all.
        Raises: ValueError as `logits`, and for a pattern that no name fits.
        """
        with record(names) as trace:
            self._forward(text)
        for pattern in (names,) if isinstance(names, str) else names:
            if not any(fnmatchcase(name, pattern) for name in trace):
                near = ", ".join(nearest(pattern, self.trace_names))
                raise ValueError(f"nothing is recorded as {pattern!r}; nearest are {near}")
        return trace

    @property
    def trace_names(self) -> list[str]:
        """The names that `trace` can give."""
        return tap_names(self.module)

    def score(
        self, texts: str | Sequence[str], *, end: bool = False, stride: int | None = None
    ) -> list[Score]:
        """Return what each text costs: nats, tokens and bytes, and from them bits per byte.

        end: whether the token that ends a text is scored, too. stride: tokens that a window moves
          by where a text is longer than the context; half the context if None. A smaller one
          leaves each token more to read before it, and takes longer.
        Raises: ValueError for a model that does not predict the next token, and no text.
        """
        if not able(self.kind, "next_token"):
            raise ValueError(f"{self._called()} is a {self.kind}, which predicts no next token")
        texts = [texts] if isinstance(texts, str) else list(texts)
        return score_each(self.module, self.tokenizer, texts, end=end, stride=stride)

    def loss(
        self, text: str | Sequence[str], *, end: bool = False, stride: int | None = None
    ) -> float:
        """Return the mean loss of a text, or of several together, in nats per token.

        Each token is predicted from all before it; the first one only where something stands in
        front of every text. Arguments and refusals are those of `score`.
        Raises: ValueError, too, for a text of which no token is predicted.
        """
        total = Score.sum(self.score(text, end=end, stride=stride))
        if not total.tokens:
            raise ValueError("the text must have a token that is predicted; this one has none")
        return total.per_token

    @overload
    def generate(
        self, prompt: str = ..., tokens: int = ..., *, samples: None = ..., **settings: Any
    ) -> str: ...

    @overload
    def generate(
        self, prompt: Sequence[str], tokens: int = ..., *, samples: None = ..., **settings: Any
    ) -> list[str]: ...

    @overload
    def generate(
        self, prompt: str = ..., tokens: int = ..., *, samples: int, **settings: Any
    ) -> list[str]: ...

    def generate(
        self,
        prompt: str | Sequence[str] = "",
        tokens: int = 100,
        *,
        samples: int | None = None,
        seed: int = 0,
        **settings: Any,
    ) -> str | list[str]:
        """Return what the model writes behind a prompt, without the prompt; a translation for
        a model that translates.

        prompt: a text, or several, which give as many answers. "" is the beginning of a text.
        tokens: the most that are written; the model may end its text before.
        samples: so many answers to one prompt; the first is that without `samples`.
        seed: of the random numbers; the answer of sample or prompt number i is that of seed + i.
        settings: `temperature` (1; 0 takes the most probable token), `top_k`, `top_p`, `min_p`,
          `repetition_penalty`, `banned` (ids), `order` of these steps: `llmviz.sampling.STEPS`;
          `special`, whether the names of special tokens in a prompt are these tokens.

        Raises: ValueError for a setting out of range, and a model that writes nothing.
        """
        if samples is None:
            if isinstance(prompt, str):
                return "".join(self.stream(prompt, tokens, seed=seed, **settings))
            prompts = list(prompt)
        elif samples < 1:
            raise ValueError(f"samples must be at least 1; got {samples}")
        elif not isinstance(prompt, str):
            raise ValueError("samples go with one prompt; leave it out for several")
        else:
            prompts = [prompt] * samples
        return [
            "".join(self.stream(text, tokens, seed=seed + i, **settings))
            for i, text in enumerate(prompts)
        ]

    def stream(
        self, prompt: str = "", tokens: int = 100, *, seed: int = 0, **settings: Any
    ) -> Iterator[str]:
        """Yield what `generate` returns piece by piece, as soon as it is written.

        All that is asked for is checked at the call.
        """
        check_writes(self._trained, self._called())
        if able(self.kind, "translates"):
            if settings:
                raise ValueError(f"{self.kind} translates and takes no {next(iter(settings))}")
            return iter([translation(self._trained, prompt, tokens)])
        parts = Continuation(self._trained, prompt, tokens, seed, **settings)
        return (piece for _, piece in parts if piece)

    def save(self, folder: str | Path) -> Path:
        """Write the model to a new folder that `load`, every command and the lessons read.

        Weights are written as float32. Returns the folder.
        Raises: ValueError where the folder holds files already or cannot be written.
        """
        return save_trained(self._trained, Path(folder))

    def _forward(self, text: str) -> Tensor:
        if not able(self.kind, "next_token") and not able(self.kind, "hidden_words"):
            raise ValueError(f"{self._called()} is a {self.kind}, which does not read one text")
        with torch.no_grad():
            return self.module(torch.tensor([self.encode(text)]))[0][0]

    def _called(self) -> str:
        return self.name or "this model"
