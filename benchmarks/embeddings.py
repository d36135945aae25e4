"""The lesson on embeddings: what a hand waits for on 4,000 tokens × 256 numbers, beside the limits.

    python -m benchmarks.embeddings [--rounds 15] [--tokens 4000] [--width 256] [--no-browser]
                                    [--only WORD]

First the computing alone, then a server of its own and a headless Chromium, taken inside the page
from the key or the click to the frame in which what it asked for has been drawn. Medians in
milliseconds. Run nothing beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch

from benchmarks.timing import median_ms
from llmviz.course.components import pack, table_picture
from llmviz.models import GPT, GPTConfig
from llmviz.similarity import (
    VectorTable,
    analogy,
    crowd,
    measure_all,
    nearest,
    one_hot,
    pairwise,
    score_analogies,
)
from llmviz.tokenizers import WordTokenizer
from llmviz.training import TrainConfig
from llmviz.training.run_folder import describe
from llmviz.training.tensors import save_tensors

LIMIT = 100  # ms, of every control
SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "ru", "sa", "te", "vi", "zo")
NAME = "tiny-world-gpt"


def words(count: int) -> list[str]:
    """That many different words."""
    found = []
    for i in range(count):
        word, rest = "", i
        for _ in range(4):
            word, rest = word + SYLLABLES[rest % len(SYLLABLES)], rest // len(SYLLABLES)
        found.append(word)
    return found


def checkpoint(folder: Path, tokens: int, width: int) -> VectorTable:
    """Write an untrained model with a table of this size; return its table."""
    tokenizer = WordTokenizer(words(tokens - 3))
    torch.manual_seed(0)
    config = GPTConfig(
        vocab_size=tokenizer.vocab_size, context_length=32, n_layer=1, n_head=4, n_embd=width
    )
    model = GPT(config).eval()
    target = folder / NAME
    target.mkdir()
    save_tensors(target / "model.safetensors", model.state_dict(), torch.float32)
    tokenizer.save(target / "tokenizer.json")
    about = describe("gpt", model, tokenizer, TrainConfig(), {"corpus": "none"}, "none")
    (target / "config.json").write_text(json.dumps(about), encoding="utf-8")
    card = {"name": NAME, "model": "gpt", "parameters": about["parameters"], "corpus": "none"}
    (target / "card.json").write_text(json.dumps(card), encoding="utf-8")
    return VectorTable(NAME, model.token.weight.detach().numpy(), tokenizer)


def computing(table: VectorTable, rounds: int) -> None:
    """Print what each picture takes to compute."""
    rows, chance = table.matrix, np.random.default_rng(0)
    labels = [data.decode() for data in table.bytes_of]
    asked = chance.integers(0, table.size, (870, 4))
    picture = table_picture(rows, labels)
    tasks: dict[str, Callable[[], object]] = {
        "the whole table (once a table)": lambda: table_picture(rows, labels),
        "the whole table, packed": lambda: pack({"half": picture.half, "labels": labels}),
        "one-hot × table": lambda: one_hot(7, table.size) @ rows,
        "cosine with all tokens": lambda: measure_all(rows, rows[7]),
        "30 neighbours": lambda: nearest(rows, rows[7], 30, exclude=[7]),
        "tokens in one direction": lambda: crowd(rows, measure_all(rows, rows[7])),
        "cosines of 16 words": lambda: pairwise(rows[:16]),
        "an analogy": lambda: analogy(rows, 1, 2, 3, 10),
        "870 analogies (once a table)": lambda: score_analogies(rows, asked),
        "spellings like a word": lambda: table.spelled_like("bazofidex"),
        "all rows as CSV (on demand)": lambda: table.csv(labels),
    }
    for name, work in tasks.items():
        print(f"{name:<32}{median_ms(work, rounds):8.1f} ms")


# ---- in the browser: each task yields milliseconds


def typed(page, box: str, texts: list[str], seen: str, rounds: int) -> Iterator[float]:
    """Enter in a box, until `seen` (a script of the text typed) holds."""
    from benchmarks.browser import quiet

    page.evaluate(
        "addEventListener('keydown', (e) => { if (e.key === 'Enter') window.entered ="
        " performance.now(); }, true)"
    )
    field = page.get_by_label(box, exact=True)
    for i in range(rounds + 2):
        text = texts[(i + 3) % len(texts)]  # what stands there now would change nothing
        field.fill(text)
        page.wait_for_timeout(150)
        field.press("Enter")
        taken = page.evaluate(f"(text) => until(() => {seen}, entered)", text)
        if i >= 2:
            yield taken
        quiet(page)


def clicked(page, press: str, seen: str, rounds: int) -> Iterator[float]:
    """A click by script, until `seen` no longer says what it said before."""
    from benchmarks.browser import quiet

    for i in range(rounds + 2):
        taken = page.evaluate(
            f"(i) => {{ const said = () => {seen}; const before = said(); const since ="
            f" performance.now(); {press}; return until(() => said() !== before, since); }}",
            i,
        )
        if i >= 2:
            yield taken
        quiet(page)


DRAWN = "(drawn.get(text) ?? 0) > entered"
PROSE = "[...document.querySelectorAll('.lv-prose')].map((p) => p.textContent).join()"
HEADS = "deep('.matrix .label').map((label) => label.textContent).join()"  # of matrices
BUTTON = (
    "[...document.querySelectorAll('button')].find((b) => b.textContent.includes('{}')).click()"
)
ROW = (
    "const canvas = deep('.whole canvas')[0]; const box = canvas.getBoundingClientRect();"
    " canvas.dispatchEvent(new PointerEvent('click', {bubbles: true, clientX: box.left +"
    " box.width * 0.3, clientY: box.top + box.height * (0.05 + 0.05 * (i % 18))}))"
)
MOVES = ["ArrowRight", "ArrowLeft"]
NEXT_METRIC = (
    "[...document.querySelectorAll('[role=radio]')].find((b) => b.textContent.trim() ==="
    " ['distance', 'dot product', 'cosine'][i % 3]).click()"
)


def pressed(page, box: str, keys: list[str], seen: str, rounds: int) -> Iterator[float]:
    """A key on a slider, until `seen` no longer says what it said before."""
    from benchmarks.browser import quiet

    page.evaluate(
        f"addEventListener('keydown', () => {{ window.entered = performance.now();"
        f" window.was = {seen}; }}, true)"
    )
    slider = page.locator("[data-testid$=Slider]", has_text=box).first.locator("input").first
    for i in range(rounds + 2):
        slider.focus()
        page.wait_for_timeout(150)
        slider.press(keys[i % len(keys)])
        taken = page.evaluate(f"() => until(() => {seen} !== was, entered)")
        if i >= 2:
            yield taken
        quiet(page)


def in_browser(folder: Path, tokens: int, rounds: int, only: str) -> None:
    """Print what a hand waits for."""
    from playwright.sync_api import Page, sync_playwright

    from benchmarks.browser import opened, timed
    from benchmarks.startup import FLAGS, ROOT, server, wait_until_up

    os.environ["LLMVIZ_CHECKPOINTS"] = str(folder)
    some = words(tokens - 3)[5 : tokens - 3 : 97]
    lists = [", ".join(some[i : i + 12]) for i in range(len(some) - 12)]
    metric = "document.querySelector('[data-testid=stMetricValue]')?.textContent"
    part = "embeddings?part=similarity&word={0}&other={1}&plus={0}&minus={1}&add={2}&look="
    look = f"list={','.join(some[-3:])}&look=".join(part.format(*some[:3]).split("look="))
    lookup = f"embeddings?part=lookup&word={some[0]}&other={some[1]}"
    waves = "embeddings?part=ways&length=256&width=128"
    turned = f"embeddings?part=ways&placing=rotary&asks={some[0]}&answers={some[1]}"
    shown = "drawn.get(text.split(', ')[1]) > entered"
    tasks = {
        "table: a word typed": (lookup, ".whole", "Word, or #id", some, DRAWN),
        "table: a row clicked": (lookup, ".whole", None, ROW, PROSE),
        "table: new ids dealt": (lookup, ".whole", None, BUTTON.format("Deal"), PROSE),
        "pair: a word typed": (look + "pair", ".matrix", "First word", some, f"{metric} !== was"),
        "list: words typed": (
            look + "list",
            ".matrix",
            "Words, with commas between them",
            lists,
            shown,
        ),
        "neighbours: a word typed": (look + "neighbours", ".matrix", "Word, or #id", some, DRAWN),
        "neighbours: another measure": (look + "neighbours", ".matrix", None, NEXT_METRIC, HEADS),
        "analogy: a word typed": (look + "analogy", ".matrix", "Word", some, DRAWN),
        "positions: another base": (waves, "canvas", "Base of the wavelengths", MOVES, PROSE),
        "positions: rotary, a place": (turned, ".matrix", "at position", MOVES, PROSE),
    }

    def task(page: Page, url: str, asked: tuple) -> Iterator[float]:
        path, ready, box, what, seen = asked
        opened(page, url, path, ready)
        if "!== was" in seen:
            seen = seen.replace("!== was", "!== window.was && (window.was = " + metric + ")")
            page.evaluate(f"() => {{ window.was = {metric}; }}")
        if box is None:
            return clicked(page, what, seen, rounds)
        return (pressed if what is MOVES else typed)(page, box, what, seen, rounds)

    with sync_playwright() as playwright, server(ROOT / "app.py") as (url, _):
        wait_until_up(url)
        chromium = os.environ.get("LLMVIZ_CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, asked in tasks.items():
            if only in name:
                timed(browser, name, LIMIT, partial(task, url=url, asked=asked))
        browser.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--tokens", type=int, default=4_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--only", default="", help="the tasks of the browser whose name has this")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        table = checkpoint(Path(folder), given.tokens, given.width)
        print(f"{table.size:,} tokens × {table.width} numbers")
        computing(table, given.rounds)
        if not given.no_browser:
            in_browser(Path(folder), given.tokens, given.rounds, given.only)


if __name__ == "__main__":
    main()
