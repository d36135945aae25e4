"""The command line: one file a command; a wrong argument gets one line and exit code 2."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from llmviz.cli.option_names import with_option_names
from llmviz.cli.options import place
from llmviz.standard_streams import take_any_character

WRONG, INTERRUPTED = 2, 130


class Parser(argparse.ArgumentParser):
    """argparse with one line for a mistake instead of the whole usage.

    What was parsed has the parser of the command, or of its part, as `parser`.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.set_defaults(parser=self)

    def explain(self, given: argparse.Namespace, problem: str) -> str:
        """A refusal of what was given, with the options as they are typed."""
        options = {one.dest: one.option_strings[-1] for one in self._actions if one.option_strings}
        quoted = {}
        for one in self._actions:
            value = getattr(given, one.dest, None) if one.option_strings else None
            if value is not None:
                quoted[one.dest] = options[one.dest]
            if isinstance(value, str) and one.type is not place:
                quoted[value] = options[one.dest]
        options |= {name: f"--set {name}" for name, _ in getattr(given, "settings", ())}
        return with_option_names(problem, options, quoted)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help; argparse keeps silent about output that is full, where help is long."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"{self.prog}: {_one_line(message)} (see {self.prog} --help)\n")


def parser() -> Parser:
    """The whole command line; commands import what they need when they run."""
    from llmviz.cli import (
        app,
        checkpoints,
        corpus,
        finetune,
        generate,
        imports,
        models,
        quantize,
        serve,
        tokenize,
        train,
    )

    root = Parser(
        prog="python -m llmviz",
        description="See, train and run small language models.",
        epilog="Every command has its own --help.",
    )
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    for module in (
        app,
        train,
        finetune,
        quantize,
        generate,
        serve,
        tokenize,
        corpus,
        models,
        imports,
        checkpoints,
    ):
        module.add(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for a wrong argument, 130 for Ctrl-C.

    What the operating system refuses (a file that cannot be read or written, a full disk) is one
    line and 2 as well. An error that is a mistake of this program is raised.
    """
    name, given = "python -m llmviz", None

    def refuse(problem: str) -> int:
        with contextlib.suppress(OSError):  # nowhere is left to say it
            sys.stderr.write(f"{name}: {_one_line(problem)}\n")
        return WRONG

    if sys.stderr is None:  # closed, as by `2>&-`
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        return refuse("standard output is closed")
    take_any_character()
    try:
        given = _parsed(arguments)
        name += f" {given.command}"
        return given.run(given)
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        _leave_standard_output()
        return 0
    except OSError as error:
        _leave_standard_output()
        return refuse(_system_refusal(error))
    except ValueError as error:
        return refuse(given.parser.explain(given, str(error)) if given else str(error))
    except (MemoryError, RuntimeError) as error:
        if not _lacks_memory(error):
            raise
        return refuse("there is not enough memory for this; try a smaller model, batch or context")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, checked; a help that cannot be written is refused like any other text."""
    try:
        return parser().parse_args(arguments)
    except SystemExit:
        sys.stdout.flush()
        raise


def _one_line(text: str) -> str:
    """A message whose line ends, which an argument or a library may hold, are spaces."""
    return " ".join(text.split("\n")).strip()


def _system_refusal(error: OSError) -> str:
    """What the operating system refused, and of which file where it says."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def _leave_standard_output() -> None:
    """Drop what waits to be written there, if it cannot be: its flush at exit would fail too."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _lacks_memory(error: Exception) -> bool:
    """Whether the machine, or its GPU, ran out of memory; torch has no one class for it."""
    message = str(error).lower()
    phrases = ("can't allocate memory", "not enough memory", "out of memory")
    return isinstance(error, MemoryError) or any(phrase in message for phrase in phrases)
