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

# Read when NumPy is imported: at our sizes a second thread for a product does not pay, and beside
# another program's work each step then waits for it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import llmviz
from llmviz.cli.options import place, with_option_names
from llmviz.files.nearest import nearest
from llmviz.files.standard_streams import give_bars_room, take_any_character

WRONG, INTERRUPTED = 2, 130
FEW = 6  # choices that a refusal names all
EXAMPLES = (
    'generate --checkpoint tiny-world-gpt --prompt "It was Saturday, and"',
    "train --corpus my-text.txt --out runs/mine",
    "app",
)


class Parser(argparse.ArgumentParser):
    """argparse with one line for a mistake instead of the whole usage.

    What was parsed has the parser of the command, or of its part, as `parser`, whose `words` are
    those that it was given. Help begins with examples: lines of the command, written without the
    program's name.
    """

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.examples = tuple(examples)
        self.words: list[str] = []
        self.set_defaults(parser=self)

    def format_usage(self) -> str:
        """What must be given; all that may be given stands below, in the help."""
        if self.usage is None:
            actions = self._actions
            needed = [action for action in actions if action.required or not action.option_strings]
            formatter = self._get_formatter()
            formatter.add_usage(None, needed, self._mutually_exclusive_groups, prefix="")
            usage = " ".join(formatter.format_help().split())
            others = any(action.dest != "help" for action in actions if action not in needed)
            parts = any(action.nargs == argparse.PARSER for action in needed)
            return f"usage: {usage}{' [OPTION ...]' if others and not parts else ''}\n"
        return super().format_usage()

    def format_help(self) -> str:
        """Usage, examples as they are typed, what it does, then every option."""
        formatter = self._get_formatter()
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        lines = "".join(f"  {program()} {line}\n" for line in self.examples)
        examples = f"\nexamples:\n{lines}" if lines else ""
        return f"{self.format_usage()}{examples}\n{formatter.format_help()}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of an argument's choices; with all of them, or the nearest."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        few = len(known) <= FEW
        said = "choose from" if few else "nearest are"
        names = ", ".join(known if few else nearest(str(value), known))
        raise argparse.ArgumentError(action, f"invalid choice: {value!r}; {said} {names}")

    def explain(self, given: argparse.Namespace, problem: str) -> str:
        """A refusal of what was given, with the options as they are typed."""
        actions = [action for action in self._actions if action.option_strings]
        options = {action.dest: action.option_strings[-1] for action in actions}
        quoted = {}
        for action in actions:
            value = getattr(given, action.dest, None)
            if value is not None:
                quoted[action.dest] = options[action.dest]
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and action.type is not place:
                    quoted[text] = options[action.dest]
        options |= {name: f"--set {name}" for name, _ in getattr(given, "settings", ())}
        return with_option_names(problem, options, quoted)

    def _unknown_options(self) -> list[str]:
        """The words given that are meant as options and are none."""
        words = self.words[: self.words.index("--")] if "--" in self.words else self.words
        known = tuple(self._option_string_actions)
        if any(action.nargs == argparse.PARSER for action in self._actions):
            return []  # they may be those of a part
        names = [word.partition("=")[0] for word in words if word.startswith("--")]
        return [name for name in names if not any(option.startswith(name) for option in known)]

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help; argparse keeps silent about output that is full, where help is long."""
        (file or sys.stderr).write(message)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and remember what was given for `error`."""
        self.words = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Refuse in one line; a mistyped option is named before what is missing because of it."""
        if "required" in message and (wrong := self._unknown_options()):
            message = _unknown(self, wrong)
        self.exit(WRONG, f"{self.prog}: {_one_line(message)} (see {self.prog} --help)\n")


def program() -> str:
    """The program's name as it was called."""
    return "llmviz" if Path(sys.argv[0]).stem == "llmviz" else "python -m llmviz"


def parser() -> Parser:
    """The whole command line; commands import what they need when they run."""
    from llmviz.cli import (
        app,
        checkpoints,
        classify,
        corpus,
        evaluate,
        export,
        finetune,
        generate,
        get,
        imports,
        language,
        models,
        quantize,
        serve,
        site,
        study,
        tokenize,
        train,
        worksheet,
    )

    root = Parser(
        prog=program(),
        description="See, train and run small language models.",
        epilog="Every command has its own --help.",
        examples=EXAMPLES,
    )
    root.add_argument("--version", action="version", version=f"llmviz {llmviz.__version__}")
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    for module in (
        app,
        train,
        finetune,
        quantize,
        classify,
        generate,
        evaluate,
        export,
        serve,
        tokenize,
        corpus,
        models,
        get,
        imports,
        checkpoints,
        study,
        worksheet,
        site,
        language,
    ):
        module.add(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for a wrong argument, 130 for Ctrl-C.

    What the operating system refuses (a file that cannot be read or written, a full disk) is one
    line and 2 as well. An error that is a mistake of this program is raised.
    """
    name, given = program(), None

    def refuse(problem: str) -> int:
        with contextlib.suppress(OSError):  # nowhere is left to say it
            sys.stderr.write(f"{name}: {_one_line(problem)}\n")
        return WRONG

    if sys.stderr is None:  # closed, as by `2>&-`
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        return refuse("standard output is closed")
    take_any_character()
    give_bars_room()
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
        given, unknown = parser().parse_known_args(arguments)
        if unknown:  # the root would refuse them and point to its own help
            given.parser.error(_unknown(given.parser, unknown))
        return given
    except SystemExit:
        sys.stdout.flush()
        raise


def _unknown(parser: Parser, words: Sequence[str]) -> str:
    """A refusal of words that a command does not know, with the nearest options of its own."""
    problem = f"unrecognized arguments: {' '.join(words)}"
    wrong = next((word.partition("=")[0] for word in words if word.startswith("--")), None)
    if wrong is None:
        return problem
    known = [name for name in parser._option_string_actions if name.startswith("--")]
    return f"{problem}; nearest are {', '.join(nearest(wrong, known))}"


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
