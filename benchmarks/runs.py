"""Runs behind the page: how soon they begin, how fast they go, whom they hold up, how they draw.

    python -m benchmarks.runs [--quick] [--rounds 5] [--skip-browser]

Each figure is a median of rounds in which the contestants take turns; absolute times belong to the
machine and its load. Goals: first point within 1 s of the start; a run behind the page at least
0.95 of the speed of the command line's; another visitor's control at most twice its undisturbed
time; twenty runs of 5,000 points drawn within 200 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from llmviz.course.lessons.training.runs import plan_controls, presets
from llmviz.runs import store
from llmviz.runs.manager import RunManager
from llmviz.training import locks, read_metrics
from llmviz.training.config import Plan
from llmviz.training.curves import CurveFile

ROOT = Path(__file__).resolve().parents[1]
LONG = 300.0
NICE = 10  # as llmviz.runs.worker has it; importing that would import torch


def plan_of(preset: str, **train: Any) -> Plan:
    """The plan of a starting point, as the page makes it."""
    state = {plan_controls.MARK + name: value for name, value in presets.values_of(preset).items()}
    plan, _ = plan_controls.plan_of(state)  # type: ignore[arg-type]
    return replace(plan, train=replace(plan.train, **train))


def first_points(rounds: int) -> None:
    """Seconds from a start to the first point, with a process that waits."""
    manager = RunManager(limit=1)
    manager.warm()
    for preset in ("names", "stories", "words"):
        taken = []
        for seed in range(rounds):
            wait_idle(manager)
            begun = time.perf_counter()
            run = manager.start("bench", plan_of(preset, seed=seed))
            manager.wait(run.name, LONG)
            taken.append(time.perf_counter() - begun)
            manager.stop(run.name, "bench")
            wait_idle(manager)
            manager.discard(run.name, "bench")
        print(
            f"first point, {preset:8s} {statistics.median(taken):6.3f} s  "
            f"({min(taken):.3f}-{max(taken):.3f}, goal: at most 1)"
        )
    manager.close()


def wait_idle(manager: RunManager) -> None:
    """Wait until a process waits for a run."""
    with manager._life.changed:
        manager._life.changed.wait_for(
            lambda: any(worker.ready for worker in manager._life.pool._jobs), LONG
        )


def speeds(rounds: int, steps: int, even: bool) -> None:
    """The same run behind the page and on the command line, in turns: steps a second.

    even: the command line is niced as the run behind the page is, for a machine that others use.
    """
    manager = RunManager(limit=1)
    manager.warm()
    plan = plan_of("stories", steps=steps, sample_every=0, eval_every=0, log_every=1)
    ratios = []
    for _ in range(rounds):
        wait_idle(manager)
        run = manager.start("bench", plan)
        with manager._life.changed:
            manager._life.changed.wait_for(
                lambda name=run.name: not manager._life.runs[name].active, LONG
            )
        behind = rate(run.folder)
        manager.discard(run.name, "bench")
        with tempfile.TemporaryDirectory() as folder:
            command_line(plan, Path(folder) / "run", even)
            alone = rate(Path(folder) / "run")
        ratios.append(behind / alone)
        print(f"  behind the page {behind:6.1f} steps/s, command line {alone:6.1f} steps/s")
    manager.close()
    print(f"speed, page / command line: {statistics.median(ratios):.3f} (goal: at least 0.95)")


def rate(folder: Path) -> float:
    """Steps a second of a run, its first tenth left out."""
    records = read_metrics(folder)
    first = records[len(records) // 10]
    return (records[-1].step - first.step) / (records[-1].seconds - first.seconds)


def command_line(plan: Plan, out: Path, even: bool) -> None:
    """Train a plan by `python -m llmviz train`."""
    train, options = plan.train, plan.model_options
    flags = {
        "out": out,
        "model": plan.model,
        "corpus": plan.corpus,
        "tokenizer": plan.tokenizer,
        "context-length": plan.context_length,
        "windows": plan.windows,
        "lr": train.learning_rate,
        **{
            name.replace("_", "-"): getattr(train, name)
            for name in ("steps", "batch_size", "min_lr", "warmup_steps", "weight_decay")
        },
        **{
            name.replace("_", "-"): getattr(train, name)
            for name in ("eval_every", "eval_batches", "log_every", "checkpoint_every", "dtype")
        },
        "snapshot-every": train.snapshot_every,
        "threads": 1,
        "compile": "off",
    }
    command = ["nice", "-n", str(NICE)] if even else []
    command += [sys.executable, "-m", "llmviz", "train"]
    for name, value in flags.items():
        command += [f"--{name}", str(value)]
    for name, value in options.items():
        command += ["--set", f"{name}={json.dumps(value)}"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment)


def make_long_runs(home: Path, runs: int, points: int) -> None:
    """Runs whose curve is a real one's, repeated until it is long enough."""
    source = ROOT / "data" / "checkpoints" / "names-gpt"
    records = read_metrics(source)
    for number in range(runs):
        folder = home / f"long-{number:02d}"
        shutil.copytree(source, folder)
        lines = []
        for step in range(1, points + 1):
            old = records[(step + 7 * number) % len(records)]
            new = replace(old, step=step, tokens=500 * step, seconds=0.01 * step, sample=None)
            lines.append(replace(new, train_loss=old.train_loss + 0.05 * number).to_json())
        (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextmanager
def window(home: Path) -> Iterator[tuple[Any, str]]:
    """A server on a folder of runs, and a browser."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, app

    with app(LLMVIZ_RUNS=str(home), LLMVIZ_MAX_RUNS="1") as url, sync_playwright() as playwright:
        path = os.environ.get("LLMVIZ_CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser, url
        browser.close()


def drawing(rounds: int, runs: int = 20, points: int = 5000) -> None:
    """Milliseconds that twenty long runs take: in Python, and to paint."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_long_runs(home, runs, points)
        read = [CurveFile(home / f"long-{number:02d}") for number in range(runs)]
        begun = time.perf_counter()
        for file in read:
            file.read()
        print(f"reading {runs} files anew {1000 * (time.perf_counter() - begun):6.0f} ms, once")
        names = ",".join(f"run:long-{number:02d}" for number in range(runs))
        with window(home) as (browser, url):
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.goto(f"{url}/training?part=curves&show=1&runs={names}")
            chart = page.locator(".lv[data-ms]").last
            chart.wait_for(timeout=120_000)
            page.wait_for_timeout(2000)
            painted = []
            for _ in range(rounds):
                page.get_by_role("button", name="Zoom in").click()
                page.get_by_role("button", name="Show all").click()
                painted.append(float(chart.get_attribute("data-ms")))
            print(
                f"painting {runs} runs of {points:,} points {statistics.median(painted):6.1f} ms  "
                f"({min(painted):.1f}-{max(painted):.1f}, goal: at most 200)"
            )
            controls = {
                "another unit": [f"input[value='{unit}']" for unit in ("perplexity", "nats")],
                "another axis": [f"input[value='{axis}']" for axis in ("tokens", "steps")],
                "another mean": [".mean input"] * 2,
            }
            for name, (there, back) in controls.items():
                taken = [paint_after(page, place) for place in [there, back] * rounds]
                print(
                    f"from {name} to the new chart {statistics.median(taken):6.0f} ms  "
                    f"({min(taken):.0f}-{max(taken):.0f}, goal: at most 200)"
                )
            taken = [
                paint_after(page, f"tr:nth-child({runs}) button.name") for _ in range(2 * rounds)
            ]
            print(
                f"from a run hidden or shown to the new chart {statistics.median(taken):6.0f} ms  "
                f"({min(taken):.0f}-{max(taken):.0f}, goal: at most 200)"
            )
            growth(page, home / "long-00")
            taken = []
            for _ in range(rounds):
                taken.append(rows_after(page, runs - 1, lambda: remove_run(page)))
                page.goto(f"{url}/training?part=curves&show=1&runs={names}")
                chart.wait_for(timeout=120_000)
                page.wait_for_timeout(2000)
            print(f"from one run less to the new chart {statistics.median(taken):6.0f} ms")


PAINTED = """([place]) => new Promise((done) => {
  const deep = (node) => node.querySelector(place) || [...node.querySelectorAll("*")]
    .map((one) => one.shadowRoot && deep(one.shadowRoot)).find(Boolean);
  const input = deep(document);
  const chart = input.closest(".lv");
  const begun = performance.now();
  new MutationObserver((_, watch) => {
    watch.disconnect();
    // The frame that shows it, and the one after, when it has been shown.
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
  }).observe(chart, { attributes: true, attributeFilter: ["data-ms"] });
  if (input.type !== "range") return input.click();
  input.value = (Number(input.value) + 1) % (Number(input.max) + 1);
  input.dispatchEvent(new Event("input"));
})"""


def paint_after(page: Any, place: str) -> float:
    """Milliseconds in the browser from a control of the chart until its new picture is there."""
    taken = float(page.evaluate(PAINTED, [place]))
    page.wait_for_timeout(800)  # what it told the server is answered
    return taken


def growth(page: Any, folder: Path, seconds: int = 8) -> None:
    """What one run that grows among all costs each second: bytes, and time to take them up."""
    page.add_init_script(ARRIVALS)
    with (folder / "metrics.jsonl").open("a+", encoding="utf-8") as file:
        locks.lock(file)  # which tells the page that somebody writes it
        page.goto(page.url)
        page.locator(".lv[data-ms]").last.wait_for(timeout=120_000)
        page.wait_for_timeout(4000)
        last = json.loads((folder / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
        page.evaluate("() => { window.arrived = 0; window.busy = 0; }")
        for _ in range(seconds):
            for _ in range(20):
                last |= {"step": last["step"] + 1, "tokens": last["tokens"] + 500}
                file.write(json.dumps(last) + "\n")
            file.flush()
            page.wait_for_timeout(1000)
        bytes_, busy = page.evaluate("() => [window.arrived, window.busy]")
    print(
        f"one of them growing: {bytes_ / seconds / 1000:.0f} kB and {busy / seconds:.0f} ms of "
        "long tasks in the browser, each second"
    )


ARRIVALS = """
window.arrived = 0;
window.busy = 0;
const Own = WebSocket;
window.WebSocket = class extends Own {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      window.arrived += data.byteLength ?? data.size ?? data.length;
    });
  }
};
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.busy += task.duration;
}).observe({ type: "longtask" });
"""

ROWS = """(wanted) => new Promise((done) => {
  const count = (node) => node.querySelectorAll(".values tbody tr").length + [
    ...node.querySelectorAll("*")].reduce((n, one) => n + (one.shadowRoot ? count(one.shadowRoot)
    : 0), 0);
  const look = () => count(document) === wanted ? done(performance.now() - window.begun)
    : requestAnimationFrame(look);
  document.addEventListener("click", () => { window.begun = performance.now(); look(); },
    { capture: true, once: true });
})"""


def remove_run(page: Any) -> None:
    """Take the last of the runs off the chart."""
    page.get_by_test_id("stMultiSelectTagsContainer").get_by_label("Remove").last.click()


def rows_after(page: Any, rows: int, act: Callable[[], None]) -> float:
    """Milliseconds in the browser from a click until the chart's table has so many rows."""
    handle = page.evaluate_handle(f"() => {{ window.waiting = ({ROWS})({rows}); }}")
    act()
    taken = float(page.evaluate("() => window.waiting"))
    handle.dispose()
    return taken


def disturbance(rounds: int, clicks: int) -> None:
    """Another visitor's control while a run goes on, against the same without one."""
    with tempfile.TemporaryDirectory() as folder, window(Path(folder)) as (browser, url):
        os.environ["LLMVIZ_RUNS"] = folder
        trainer = browser.new_context().new_page()
        trainer.goto(f"{url}/training?part=runs&r_steps=100000&r_eval_every=0&r_sample_every=0")
        trainer.get_by_role("button", name="Start", exact=True).wait_for(timeout=120_000)
        page = browser.new_context().new_page()
        page.goto(f"{url}/sampling?part=dice")
        page.get_by_role("button", name="Draw once").wait_for(timeout=120_000)
        page.wait_for_timeout(3000)
        times: dict[bool, list[float]] = {False: [], True: []}
        going = False
        for turn in range(2 * rounds):
            if turn % 2:
                name = "Go on" if going else "Start"
                trainer.get_by_role("button", name=name, exact=True).click(timeout=60_000)
                trainer.get_by_role("button", name="Pause", exact=True).wait_for(timeout=60_000)
                going = True
                page.wait_for_timeout(3000)
            for _ in range(clicks):
                times[bool(turn % 2)].append(one_draw(page))
            if turn % 2:
                trainer.get_by_role("button", name="Pause", exact=True).click()
                trainer.get_by_role("button", name="Go on", exact=True).wait_for(timeout=60_000)
        calm, busy = (statistics.median(times[key]) for key in (False, True))
        print(
            f"another visitor's control: {calm:.0f} ms alone, {busy:.0f} ms beside a run, "
            f"ratio {busy / calm:.2f} (goal: at most 2)"
        )


def one_draw(page: Any) -> float:
    """Milliseconds from a click on "Draw once" until its result stands there."""
    text = page.locator(".last").last
    before = text.inner_text()
    begun = time.perf_counter()
    page.get_by_role("button", name="Draw once").click()
    while text.inner_text() == before and time.perf_counter() - begun < 20:
        page.wait_for_timeout(2)
    return 1000 * (time.perf_counter() - begun)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: a smoke test")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=150, help="of a run whose speed is taken")
    parser.add_argument("--skip-browser", action="store_true")
    parser.add_argument("--even", action="store_true", help="nice the command line as well")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.steps = 1, 20
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LLMVIZ_RUNS"] = folder
        assert store.root() == Path(folder)
        first_points(given.rounds)
        speeds(given.rounds, given.steps, given.even)
    if not given.skip_browser:
        drawing(given.rounds)
        disturbance(2 if not given.quick else 1, 10 if not given.quick else 3)


if __name__ == "__main__":
    main()
