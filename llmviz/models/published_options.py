"""The options of a published model's config.json: each taken by name and type, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What changes no probability of a next token in any of the formats, and why.
WITHOUT_EFFECT = {
    "chunk_size_feed_forward": "the same formula, a part of the tokens at a time",
    "initializer_range": "the weights are there",
    "use_cache": "the same numbers, faster",
    "dtype": "numbers are computed in float32",
    "bos_token_id": "a matter of the tokenizer",
    "eos_token_id": "a matter of the tokenizer",
    "pad_token_id": "a matter of the tokenizer",
    "id2label": "of another head",
    "label2id": "of another head",
    "problem_type": "of another head",
    "architectures": "the head is read from the weights",
    "output_hidden_states": "what is handed out besides",
    "output_attentions": "what is handed out besides",
    "return_dict": "what is handed out besides",
    "transformers_version": "which program wrote the file",
}


class Options:
    """The values of a config.json; one that is absent has the default that is asked with.

    aliases: other names of some options -> the name that is asked for.

    Raises: ValueError where an option and its alias disagree.
    """

    def __init__(self, values: Mapping[str, Any], aliases: Mapping[str, str] | None = None):
        self.values = dict(values)
        for alias, name in (aliases or {}).items():
            if alias not in self.values:
                continue
            value = self.values[alias]
            if self.values.setdefault(name, value) != value:
                raise ValueError(
                    f"{name} and {alias} are two names of one option and must agree; "
                    f"got {name}={self.values[name]!r}, {alias}={value!r}"
                )

    def whole(self, name: str, default: int) -> int:
        """The option, a whole number; `default` where it is absent."""
        return self._of(name, default, (int,), "a whole number")

    def number(self, name: str, default: float) -> float:
        """The option, whole or not; `default` where it is absent."""
        return self._of(name, default, (float, int), "a number")

    def boolean(self, name: str, default: bool) -> bool:
        """True or false; nothing else counts as either."""
        return self._of(name, default, (bool,), "true or false")

    def one_of(self, name: str, default: str, choices: Mapping[str, str]) -> str:
        """What a choice stands for."""
        value = self.values.get(name, default)
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
        return choices[value]

    def require(self, only: Mapping[str, tuple[Any, ...]]) -> None:
        """Refuse options that are there with another value than those that can be computed."""
        for name, allowed in only.items():
            value = self.values.get(name, allowed[0])
            if not any(type(value) is type(choice) and value == choice for choice in allowed):
                raise ValueError(f"{name} must be {allowed[0]}; got {value!r}")

    def _of(self, name: str, default: Any, types: tuple[type, ...], meaning: str) -> Any:
        value = self.values.get(name, default)
        if type(value) not in types:
            raise ValueError(f"{name} must be {meaning}; got {value!r}")
        return value
