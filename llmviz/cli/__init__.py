"""The command line: one file a command; a wrong argument gets one line and exit code 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

WRONG, INTERRUPTED = 2, 130


class Parser(argparse.ArgumentParser):
    """argparse with one line for a mistake instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> Parser:
    """The whole command line; commands import what they need when they run."""
    from llmviz.cli import app, checkpoints, corpus, generate, imports, models, tokenize, train

    root = Parser(
        prog="python -m llmviz",
        description="See, train and run small language models.",
        epilog="Every command has its own --help.",
    )
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    for module in (app, train, generate, tokenize, corpus, models, imports, checkpoints):
        module.add(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for a wrong argument, 130 for Ctrl-C."""
    given = parser().parse_args(arguments)
    try:
        return given.run(given)
    except ValueError as error:
        sys.stderr.write(f"python -m llmviz {given.command}: {error}\n")
        return WRONG
    except (MemoryError, RuntimeError) as error:
        if not _lacks_memory(error):
            raise
        sys.stderr.write(
            f"python -m llmviz {given.command}: there is not enough memory for this; "
            "try a smaller model, batch or context\n"
        )
        return WRONG
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


def _lacks_memory(error: Exception) -> bool:
    """Whether the machine, or its GPU, ran out of memory; torch has no one class for it."""
    said = str(error).lower()
    phrases = ("can't allocate memory", "not enough memory", "out of memory")
    return isinstance(error, MemoryError) or any(phrase in said for phrase in phrases)
