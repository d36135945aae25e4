"""The real model that `get` fetches: pages on it, thirty visitors, and the engine beside theirs.

    python -m benchmarks.real_model [--part engine|pages|class] [--visitors 30] [--seconds 60]

It is skipped where the model is not here (`python -m llmviz get smollm2`). Parts:

engine     seconds and memory of loading; reading a prompt of 256 tokens and writing 48 behind it,
           with the model's own weights and with weights packed as `generate --precision` has
           them, float32 and int8, beside transformers' on the same weights: medians of
           interleaved rounds, and the ratio. The aim is 1.5.
pages      a new text of twelve words on the pages that a visitor meets first: the wall's seconds
           until the picture has come, and the server's processor time. Aims: home 0.2,
           A trained model 0.25, Reading the stream 0.4, sampling 0.25.
class      visitors on the home page, each with a new text every four seconds. Aims for thirty:
           half of the pictures within 400 ms, 95 % within 1,200.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import time
from collections.abc import Callable

import psutil
import torch

from benchmarks.classroom import app, cpu_seconds
from benchmarks.generation import race
from benchmarks.visitor import Visitor, query
from llmviz.models.base import LanguageModel
from llmviz.obtainable.catalogue import path_of

NAME = "smollm2"
PROMPT, WRITTEN = 256, 48
WORDS = "the a my old small river house dog king city story winter people often said".split()  # noqa: SIM905
# What a visitor meets first: page, chapter, the control that holds the text.
PAGES = (
    ("", "", "text"),
    ("attention", "trained", "text"),
    ("transformer", "stream", "text"),
    ("sampling", "temperature", "prompt"),
    ("sampling", "writing", "prompt"),
)


def sentence(chance: random.Random, words: int = 12) -> str:
    """A text that nobody has sent before."""
    return " ".join(chance.choices(WORDS, k=words)).capitalize()


def engine(rounds: int) -> None:
    """Load, read and write, beside transformers."""
    from transformers import AutoModelForCausalLM

    from llmviz.models.decoder import optimize_for_inference
    from llmviz.pretrained import obtained
    from llmviz.sampling import generate

    process = psutil.Process()
    before, begun = process.memory_info().rss, time.perf_counter()
    model = obtained(NAME).model
    took, grown = time.perf_counter() - begun, process.memory_info().rss - before
    print(f"loading {took:.1f} s, {grown / 2**20:,.0f} MB")
    path = path_of(NAME)
    assert path is not None
    given = {} if path.is_dir() else {"gguf_file": path.name}
    folder = path if path.is_dir() else path.parent
    theirs = AutoModelForCausalLM.from_pretrained(folder, **given).eval()
    ids = torch.randint(0, 49_000, (1, PROMPT), generator=torch.Generator().manual_seed(0))
    ends = {"eos_token_id": None, "pad_token_id": 0, "do_sample": False}

    def read(one: torch.nn.Module) -> None:
        with torch.inference_mode():
            one(ids)

    def write_theirs() -> None:
        theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=WRITTEN, **ends)

    def write(one: LanguageModel) -> Callable[[], None]:
        def written() -> None:
            for _ in generate(one, ids[0].tolist(), WRITTEN, temperature=0.0):
                pass

        return written

    times = race(
        {
            "reading, theirs": lambda: read(theirs),
            "reading, ours": lambda: read(model),
            "writing, theirs": write_theirs,
            "writing, ours": write(model),
            **{
                f"writing, ours, {precision}": write(optimize_for_inference(model, precision))
                for precision in ("float32", "int8")
            },
        },
        rounds,
    )
    for name, seconds in times.items():
        base = times[name.partition(",")[0] + ", theirs"]
        count = PROMPT if name.startswith("reading") else WRITTEN
        print(f"{name:22} {count / seconds:8,.1f} tokens/s  {base / seconds:5.2f} × transformers")


async def pages(host: str, process: psutil.Process, rounds: int) -> None:
    """A new text on each of the first pages."""
    chance = random.Random(0)
    for page, part, text in PAGES:
        async with Visitor(host) as visitor:
            chosen = {"model": NAME, **({"part": part} if part else {})}
            await visitor.open(page, query(**chosen, **{text: sentence(chance)}))
            walls, cpus = [], []
            for _ in range(rounds):
                before = cpu_seconds(process)
                link = query(**chosen, **{text: sentence(chance)})
                got = await visitor.open(page, link)
                assert not got.exceptions, got.exceptions
                walls.append(got.picture)
                cpus.append(cpu_seconds(process) - before)
            wall, cpu = statistics.median(walls), statistics.median(cpus)
            print(f"{page or 'home'}/{part:12} picture {wall:5.2f} s, processor {cpu:5.2f} s")


async def everybody(host: str, visitors: int, seconds: float) -> None:
    """Visitors on the home page, each with a new text every four seconds."""
    waits: list[float] = []

    async def one(number: int) -> None:
        chance = random.Random(number)
        async with Visitor(host) as visitor:
            await visitor.open("", query(model=NAME, text=sentence(chance)))
            await asyncio.sleep(4 * chance.random())
            ends = time.perf_counter() + seconds
            while time.perf_counter() < ends:
                begun = time.perf_counter()
                got = await visitor.open("", query(model=NAME, text=sentence(chance)))
                assert not got.exceptions, got.exceptions
                waits.append(got.picture)
                await asyncio.sleep(max(0.0, 4 - (time.perf_counter() - begun)))

    await asyncio.gather(*map(one, range(visitors)))
    cuts = statistics.quantiles(waits, n=20)
    print(
        f"{visitors} visitors, {len(waits)} texts: half within {statistics.median(waits):.2f} s, "
        f"95 % within {cuts[-1]:.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("engine", "pages", "class"))
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if path_of(NAME) is None:
        parser.exit(0, f"skipped: {NAME} is not here (python -m llmviz get {NAME})\n")
    if given.part in (None, "engine"):
        engine(given.rounds)
    if given.part != "engine":
        os.environ.setdefault("LLMVIZ_BROWSER_WINDOWS", "100")
        with app() as (host, process):
            if given.part in (None, "pages"):
                asyncio.run(pages(host, process, given.rounds))
            if given.part in (None, "class"):
                asyncio.run(everybody(host, given.visitors, given.seconds))


if __name__ == "__main__":
    main()
