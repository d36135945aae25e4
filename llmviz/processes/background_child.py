"""The child's side of `background`: does one call after the other, as its parent says."""

from __future__ import annotations

import importlib
import pickle
import sys
import traceback
from typing import IO, Any

from llmviz.processes.child import serve_parent

NICE = 5  # the server and its pages come first


def imported(module: str) -> Any:
    """Import a module; yields nothing."""
    importlib.import_module(module)
    yield from ()


def send(pipe: IO[bytes], message: Any) -> None:
    """Write a message whole; `pickle.load` reads it at the other end."""
    pipe.write(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))
    pipe.flush()


def main() -> None:
    """Do one call after the other, as the parent says, until it is gone."""
    orders = sys.stdin.buffer
    answers = serve_parent(NICE, "wb")
    while True:
        try:
            target, arguments = pickle.load(orders)
        except EOFError:
            return
        module, _, name = target.partition(":")
        try:
            generator = getattr(importlib.import_module(module), name)(**arguments)
            for value in generator:
                send(answers, ("value", value))
                if pickle.load(orders) == "stop":
                    generator.close()
                    break
            send(answers, ("end", None))
        except EOFError:
            return
        except ValueError as error:
            send(answers, ("refused", str(error)))
        except Exception:  # nothing is hidden: the parent is told all of it and reports a failure
            send(answers, ("failed", traceback.format_exc()))


if __name__ == "__main__":
    main()
