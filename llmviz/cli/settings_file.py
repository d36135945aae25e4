"""`--config`: settings from a TOML file, as if they had been typed; what was typed counts more."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from llmviz.nearest import nearest

NOT_SETTINGS = ("help", "out", "config", "resume", "json")


def take_settings(given: argparse.Namespace, read: Any) -> None:
    """Fill what was not given with the settings of the file that `given.config` names.

    read: gives the file's settings by name. Each has to pass what its option has to.
    Raises ValueError for a name that is no option of the command, with the nearest ones, and for a
    value that its option would refuse.
    """
    path = Path(given.config)
    options = {
        word[2:]: action
        for action in given.parser._actions
        for word in action.option_strings
        if word.startswith("--") and action.dest not in NOT_SETTINGS
    }
    typed = {name for name, _ in given.settings}
    sizes = {"n_layer", "n_head", "n_embd"}
    typed |= {name for name in sizes if getattr(given, name) is not None}
    for name, value in read(path).items():
        action = options.get(name.replace("_", "-"))
        if action is None:
            near = ", ".join(nearest(name, options))
            raise ValueError(f"{path} has a setting {name!r}, which does not exist; {near} do")
        if action.dest == "settings":
            if not isinstance(value, dict):
                raise ValueError(f"{path}: {name} must be a table of settings; got {value!r:.80}")
            given.settings += [setting for setting in value.items() if setting[0] not in typed]
        elif getattr(given, action.dest) is None and action.dest not in typed:
            setattr(given, action.dest, _value(action, value, f"{path}: {name}"))


def _value(action: argparse.Action, value: Any, name: str) -> Any:
    """A value as its option makes it of what is typed."""
    if action.nargs == 0:  # a switch
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false; got {value!r:.80}")
        return value or None
    several = action.nargs == "+" or isinstance(action, argparse._AppendAction)
    if isinstance(value, list) and several:
        if not value:
            raise ValueError(f"{name} must not be empty")
        return [_one(action, part, name) for part in value]
    single = _one(action, value, name)
    return [single] if several else single


def _one(action: argparse.Action, value: Any, name: str) -> Any:
    takes_text = action.type in (None, str) or getattr(action.type, "__name__", "") == "named"
    if takes_text != isinstance(value, str) or isinstance(value, bool | list | dict):
        kind = "a text" if takes_text else "a number"
        raise ValueError(f"{name} must be {kind}; got {value!r:.80}")
    try:
        read = value if action.type is None else action.type(str(value))  # type: ignore[operator]  # a function: argparse also takes names
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{name} {error}") from None
    if action.choices is not None and read not in action.choices:
        listed = ", ".join(map(str, action.choices))
        raise ValueError(f"{name} must be one of {listed}; got {value!r:.80}")
    return read
