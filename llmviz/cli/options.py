"""What several commands share: types of arguments, output, a polite Ctrl-C, refusals.

A refusal names the option as it is typed (`--lr`), not the setting that it fills.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import shlex
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from llmviz.config import default_of, settings_of
from llmviz.files.standard_streams import is_unicode
from llmviz.files.text import decode

_QUOTED = r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)"  # a value, whose words are no names


def with_option_names(
    message: str, options: Mapping[str, str], quoted: Mapping[str, str] | None = None
) -> str:
    """Return a message with the names of settings replaced by the options that fill them.

    A name of one word, such as `steps`, is taken for a setting where a rule follows it or its
    value; one with an underscore always. What stands in quotes is left as it is. A message that
    names no option that was given, but quotes a name or value of one, begins with that option.

    options: setting -> option. quoted: what may stand in quotes -> the option it was given with.

    >>> with_option_names("n_head must divide n_embd; got n_head=3", {"n_head": "--n-head"})
    '--n-head must divide n_embd; got --n-head=3'
    >>> with_option_names("there is no text 'x'", {}, {"x": "--corpus", "gpt": "--model"})
    "--corpus: there is no text 'x'"
    """
    names = sorted(options, key=len, reverse=True)
    whole = "|".join(re.escape(name) for name in names if "_" in name) or "(?!)"
    words = "|".join(re.escape(name) for name in names if "_" not in name) or "(?!)"
    rule = r"(?==| (?:must|cannot|is for)\b)"
    pattern = rf"{_QUOTED}|(?<![\w./-])(?:(?:{whole})(?![\w./])|(?:{words}){rule})"
    named = re.sub(pattern, lambda match: options.get(match[0], match[0]), message)
    quoted = quoted or {}
    if any(re.search(rf"{option}\b", named) for option in quoted.values()):
        return named
    meant = {option for text, option in quoted.items() if _quotes(named, text)}
    return f"{meant.pop()}: {named}" if len(meant) == 1 else named


def _quotes(message: str, text: str) -> bool:
    """Whether a message quotes a text, or the beginning of a long one."""
    begin = repr(text[:80])[:-1]
    return begin + ("" if len(text) > 80 else begin[0]) in message


STANDARD_INPUT = "-"  # in place of a text or a file
GAP = "  "  # between two columns
NARROWEST = 16  # characters that a column has at least where it is cut into lines
LARGEST = 2**31 - 1  # whole number that an option takes: all that count with it have room for it

SHORT = {"learning_rate": "lr"}  # setting -> option, where it is named otherwise


def whole(low: int, high: int = LARGEST) -> Callable[[str], int]:
    """A whole number of at least `low` and at most `high`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {low}; got {text}"
            )
        if value > high:
            raise argparse.ArgumentTypeError(f"must be at most {high}; got {text}")
        return value

    return parse


def place(text: str) -> str:
    """The name of a file or folder, or of what is found by a name; not the empty one.

    An empty name is a shell's variable that was not set, and would be the present folder.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def named(text: str) -> str:
    """The name of a model or a text, which a refusal quotes; not the empty one."""
    return place(text)


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number; got {text}")
    return value


def setting(text: str) -> tuple[str, Any]:
    """NAME=VALUE; the value is read as JSON where it is JSON, else as text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE; got {text}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
    except (ValueError, RecursionError):  # digits or brackets without end
        raise argparse.ArgumentTypeError(f"the value of {name} is too long to read") from None


def add_settings(
    parser: argparse.ArgumentParser,
    config: type,
    *,
    without: Sequence[str] = (),
    defaults: Mapping[str, str] | None = None,
) -> None:
    """Declare an option for each setting of a class; one that is not given is None.

    without: settings that have no option here, or one of their own. defaults: what help says in
    place of a default that follows from other options.
    """
    for name, about in settings_of(config).items():
        if name in without:
            continue
        flag, default = f"--{SHORT.get(name, name).replace('_', '-')}", default_of(config, name)
        said = about.help.replace("%", "%%")
        if isinstance(default, bool):
            switch = argparse.BooleanOptionalAction if default else "store_true"
            parser.add_argument(flag, dest=name, action=switch, default=None, help=said)
            continue
        kind: Callable[[str], Any] = whole(1 if about.low else 0)
        if isinstance(default, str | float):
            kind = named if isinstance(default, str) else number
        if default is not None:
            shown = f"{default:g}" if isinstance(default, float) else default
            said += f"; default {(defaults or {}).get(name, shown)}"
        parser.add_argument(flag, dest=name, type=kind, help=said)


def chosen(given: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Setting -> value of those that were given."""
    values = {name: getattr(given, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def typed(given: argparse.Namespace) -> str:
    """The command as it was typed, which stands in what it makes and makes it anew elsewhere."""
    words = (word for word in given.parser.words if word != "--resume")  # nothing was there
    return shlex.join(["python", "-m", "llmviz", given.command, *words])


def add_run_options(parser: argparse.ArgumentParser, run: Callable[..., int]) -> None:
    """Declare the options with which every run in a folder ends, and what runs it."""
    given = parser.add_argument
    given("--resume", action="store_true", help="go on with the run in OUT")
    given("--json", action="store_true", help="records to standard output, one JSON line each")
    parser.set_defaults(run=run)


def add_language(parser: argparse.ArgumentParser) -> None:
    """Declare the language in which the course is written."""
    from llmviz.course.document.languages import ENGLISH, LANGUAGES

    help = "the language; what is not translated is in English"
    parser.add_argument("--lang", choices=list(LANGUAGES), default=ENGLISH, help=help)


def speak(given: argparse.Namespace) -> None:
    """Let the course be in the language that was given."""
    from llmviz.course.document.languages import let_choose

    let_choose(lambda: given.lang)


def add_out(parser: argparse.ArgumentParser, help: str) -> None:
    """Declare the folder that is written: `--out OUT`, or OUT behind the others."""
    out = parser.add_mutually_exclusive_group(required=True)
    out.add_argument("out", nargs="?", type=place, metavar="OUT", default=argparse.SUPPRESS)
    out.add_argument("--out", dest="out", type=place, metavar="OUT", help=help)


def write(text: str, end: str = "\n") -> None:
    """One line to standard output, at once.

    Raises OSError saying that it was standard output; BrokenPipeError where its reader has gone.
    """
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def write_json(value: Any) -> None:
    """One line of JSON to standard output; escaped where the encoding there lacks characters."""
    write(json.dumps(value, ensure_ascii=not is_unicode(sys.stdout)))


def tell(value: Any, text: str, *, json: bool) -> None:
    """What came out, to standard output: as a line of JSON, or as a text."""
    write_json(value) if json else write(text)


def standard_input() -> str:
    """All of standard input. Raises ValueError where it is closed, or no UTF-8."""
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return decode(sys.stdin.buffer.read(), "standard input")


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as columns of even width; in a terminal the last column is cut into lines that fit."""
    *before, last = range(len(rows[0]))
    widths = [max(len(row[i]) for row in rows) for i in before]
    margin = sum(widths) + len(GAP) * len(widths)
    room = shutil.get_terminal_size().columns - margin if sys.stdout.isatty() else 0
    lines: list[str] = []
    for row in rows:
        begin = "".join(row[i].ljust(width) + GAP for i, width in zip(before, widths, strict=True))
        parts = textwrap.wrap(row[last], room) if room >= NARROWEST else [row[last]]
        for part in parts or [""]:
            lines.append(f"{begin}{part}".rstrip())
            begin = " " * margin
    return "\n".join(lines)


class Interruption:
    """Whether Ctrl-C or a polite kill came; asked between steps, so that a step is never cut."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """128 + the signal's number, as shells have it: 130 for Ctrl-C; 0 if none came."""
        return 0 if self.signal is None else 128 + self.signal

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Note the first signal; the second ends the program at once."""

        def note(number: int, frame: FrameType | None) -> None:
            if self.signal is not None:
                raise KeyboardInterrupt
            self.signal = number
            sys.stderr.write("\nstopping after this step; press Ctrl-C again to stop at once\n")

        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
