"""Live chapters of the site on a real model: the switch, what each computes, and what goes wrong.

A small Llama with the blocks of the published one stands in its place. What its own page is held to
is in test_site_real.py.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from llmviz.course.components._shared.transport import unpack
from llmviz.course.components.machine.view import MachineValues
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.document import languages, texts_of
from llmviz.course.lessons.home import REAL_TEXT
from llmviz.course.lessons.home.machine import read
from llmviz.course.lessons.home.sentence import machine_rows, sentence
from llmviz.course.lessons.sampling.temperature.chapter import STOPS
from llmviz.course.site import shards
from llmviz.course.site.live.words import words as live
from llmviz.course.site.own import OWN, STORIES
from llmviz.course.site.real_page import real_page
from llmviz.interpretability.heads_on_text import chances_without, head_maps
from llmviz.interpretability.patching import patch_map, read_prompt
from llmviz.obtainable.catalogue import SETTING, path_of
from llmviz.pretrained import load_bundled, published
from llmviz.sampling import sampling_steps
from llmviz.similarity import cosine
from tests.browser.conftest import PATIENCE
from tests.browser.hand import until
from tests.browser.test_site import _in_int8
from tests.browser.test_site_own import FIELDS, OWL, nobody_is_kept_out_at_any_width
from tests.browser.test_site_real import REFUSING, served, visitor
from tests.browser.test_site_training import own_page
from tests.course.site.small_llama import NAME, in_its_place

pytestmark = pytest.mark.slow  # of the second tier: the site

__all__ = ["visitor"]
REAL = [name for name, own in OWN.items() if own.real]
TEXT = "What is the capital of Italy?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """The small model, and a folder of chapters' own parts that can load it."""
    folder = tmp_path_factory.mktemp("switch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD", 30_000)
        file = in_its_place(patch, tmp_path_factory.mktemp("models"))
        real = real_page(NAME)
        for name in REAL:
            own_page(folder, name, real)
    return published(file), folder


@pytest.fixture(scope="module")
def trained(made: tuple[Any, Path]) -> Any:
    return made[0]


@pytest.fixture
def host(made: tuple[Any, Path]) -> Iterator[str]:
    server, address = served(made[1])
    yield address
    server.shutdown()
    server.server_close()


def opened(page: Any, host: str, name: str, state: str = "") -> str:
    """Open a chapter; returns what the ids of its own part begin with."""
    page.goto(f"{host}/{'index' if name == 'home' else name}.html{state}")
    return FIELDS[name]


def load(page: Any, prefix: str) -> None:
    page.locator(f"#{prefix}-real-load").click()
    button = page.locator(f"#{prefix}-real")
    expect(button).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)
    rests(page, prefix)


def rests(page: Any, prefix: str) -> None:
    """Wait until what was typed is read."""
    page.wait_for_timeout(300)
    expect(page.locator(f"#{prefix}-live")).not_to_have_class("waits", timeout=PATIENCE)


def typed(page: Any, prefix: str, text: str) -> None:
    page.locator(f"#{prefix}-text").fill(text)
    rests(page, prefix)


def logits_of(trained: Any, text: str) -> np.ndarray:
    with torch.inference_mode():
        return trained.model(torch.tensor([trained.tokenizer.encode(text)]))[0][0, -1].numpy()


@pytest.mark.parametrize("name", REAL)
def test_it_is_loaded_after_a_click_and_the_next_chapter_opens_it(host, visitor, name):
    prefix = opened(visitor, host, name)
    button = visitor.locator(f"#{prefix}-real-load")
    expect(button).to_contain_text("MB)", timeout=PATIENCE)
    assert visitor.asked == []
    example = visitor.locator(f"#{prefix}-text").input_value()
    load(visitor, prefix)
    expect(visitor.locator(f"#{prefix}-live")).to_be_visible()  # of the example, too
    assert visitor.locator(f"#{prefix}-text").input_value() == (OWN[name].real_text or example)
    assert f"model={NAME}" in visitor.url
    nobody_is_kept_out_at_any_width(visitor, f"{name} on a real model")
    visitor.locator(f"#{prefix}-small").click()
    # In the lesson about the real model its example's picture is of that one.
    written = name not in ("home", "real/travels")
    expect(visitor.locator("#example")).to_be_visible(visible=written)
    expect(visitor.locator(f"#{prefix}-live")).to_be_visible(visible=not written)
    assert "model=" not in visitor.url
    visitor.locator(f"#{prefix}-real").click()
    visitor.asked.clear()
    visitor.reload()
    button = visitor.locator(f"#{prefix}-real")
    expect(button).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)
    assert visitor.asked == []
    visitor.locator(f"#{prefix}-real-forget").click()
    until(visitor, lambda: visitor.evaluate("caches.keys()") == [])
    visitor.reload()
    expect(visitor.locator(f"#{prefix}-real-load")).to_contain_text("Load ")


@pytest.mark.parametrize("name", REAL)
def test_title_and_hook_are_true_of_another_text(host, visitor, name):
    own, head = OWN[name].own(), visitor.locator("h1")
    prefix = opened(visitor, host, name)
    hook = visitor.locator("#own").locator("xpath=preceding-sibling::*[1]")
    wait_for = {"timeout": PATIENCE}
    said = own.get("hooks", {}).get("small") or "It begins."
    expect(hook).to_have_text("It begins.", **wait_for)
    visitor.locator(f"#{prefix}-text").fill(OWL)
    expect(head).to_have_text(own.get("title") or "A chapter", **wait_for)
    expect(hook).to_have_text(said)
    visitor.locator(f"#{prefix}-back").click()
    expect(head).to_have_text("A chapter", **wait_for)
    expect(hook).to_have_text("It begins.")
    load(visitor, prefix)
    said = own.get("hooks", {}).get("real") or "It begins."
    shown = name == "real/travels"
    expect(hook).to_have_text("It begins." if shown else said, **wait_for)


def test_the_example_stays_until_something_comes_in_its_place(host, visitor):
    prefix = opened(visitor, host, "attention/trained")
    visitor.evaluate("""() => {
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (message) {
        setTimeout(() => post.call(this, message), message.question ? 1500 : 0);
      };
    }""")
    visitor.locator(f"#{prefix}-real-load").click()
    button = visitor.locator(f"#{prefix}-real")
    expect(button).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)
    assert visitor.locator("#example").is_visible()
    assert visitor.locator(f"#{prefix}-live").is_hidden()
    expect(visitor.locator(f"#{prefix}-live")).to_be_visible(timeout=PATIENCE)
    assert visitor.locator("#example").is_hidden()


def test_temperature_divides_its_logits(trained, host, visitor):
    prefix = opened(visitor, host, "sampling/temperature")
    load(visitor, prefix)
    typed(visitor, prefix, TEXT)
    logits = logits_of(trained, TEXT).astype(np.float64)
    live = visitor.locator(f"#{prefix}-live")
    slider, line = live.locator("input[type=range]"), live.locator("p.line")
    for stop in (0.5, 2.0):
        slider.fill(str(STOPS.index(stop)))
        share = sampling_steps(logits, temperature=stop).probabilities.max()
        expect(line).to_contain_text(f"At T = {stop:g} ")
        told = float(line.inner_text().split("has ")[-1].split("\u00a0%")[0])
        assert told == pytest.approx(100 * share, rel=0.02)
    slider.fill("0")
    slider.dispatch_event("change")
    visitor.locator("#temperature-write").click()
    texts = visitor.locator("#temperature-written li")
    expect(texts.last).not_to_be_empty(timeout=PATIENCE)
    until(visitor, lambda: len(set(texts.all_inner_texts())) == 1)
    best = trained.tokenizer.decode([int(logits.argmax())])
    assert texts.first.inner_text().startswith(f"…{best}".rstrip("\ufffd "))


def test_a_text_is_cut_as_the_publisher_cuts_it_without_its_weights(trained, host, visitor):
    prefix = opened(visitor, host, "tokenization/cut")
    load(visitor, prefix)
    assert len(visitor.asked) == 1
    for text in (TEXT, "😀👩‍👩‍👧‍👦 12345 <|im_end|> <b>x</b>", "word " * 5000):
        typed(visitor, prefix, text)
        count = len(trained.tokenizer.encode(text))
        expect(visitor.locator("#cut-said")).to_contain_text(f"became {count:,} numbers")
        assert visitor.locator("#cut-live b:has-text('x')").count() == 0
    typed(visitor, prefix, "")
    expect(visitor.locator("#cut-told")).to_contain_text("Type something")


# The worker's answers to questions, in the page, by the model that it can load.
ANSWERS = """async ({ name, question, given, options }) => {
  const page = JSON.parse(document.getElementById("page").textContent).live;
  const { engine, questions } = globalThis[page.name];
  const heard = [];
  const hear = engine(questions, (report) => heard.push(report));
  const base = new URL(page.real.root, location.href).href;
  await hear({ load: { ...page.real, base, most: 64, watched: true, options } });
  await hear({ small: await llmvizSite.data(page.model) });
  const answers = [];
  for (const [number, [on, one]] of given.entries()) {
    await hear({ question, on, given: one, number: number + 1 });
    const plain = (key, value) => (ArrayBuffer.isView(value) ? [...value] : value);
    answers.push(JSON.parse(JSON.stringify(heard.at(-1).value, plain)));
  }
  return answers;
}"""


def answers(page: Any, host: str, name: str, question: str, given: list[Any], **more: Any) -> Any:
    opened(page, host, name)
    page.wait_for_function("globalThis[JSON.parse(page.textContent).live.name]")
    return page.evaluate(ANSWERS, {"question": question, "given": given, **more})


def test_the_machine_draws_its_numbers_and_writes_into_the_text(trained, host, visitor):
    given = [["real", {"text": TEXT, "more": [], "key": "k"}]]
    (got,) = answers(visitor, host, "home", "machine", given)
    told = unpack(bytes(got["picture"]))
    ids = trained.tokenizer.encode(TEXT)
    reading = read(trained.model, ids)
    for name in MachineValues.__dataclass_fields__.keys() - {"top_texts"}:
        wanted = getattr(reading, name)
        assert told["values"][name].shape == wanted.shape, name
        if name == "top_ids":
            assert (told["values"][name][:, 0] == wanted[:, 0]).all()
        else:
            assert np.abs(told["values"][name] - wanted).max() <= 2e-2 * np.abs(wanted).max(), name
    rows = machine_rows(sentence(TEXT, trained.tokenizer, None), trained.tokenizer)
    same = ("text", "id", "position", "whole", "special")
    assert told["rows"] == [{name: getattr(row, name) for name in same} for row in rows]
    prefix = opened(visitor, host, "home")
    load(visitor, prefix)
    typed(visitor, prefix, TEXT)
    visitor.locator(f"#{prefix}-live button", has_text="Write").first.click()
    best = trained.tokenizer.decode([int(logits_of(trained, TEXT).argmax())])
    expect(visitor.locator(f"#{prefix}-text")).to_have_value(TEXT + best, timeout=PATIENCE)


def test_a_text_that_is_too_long_is_refused_with_its_number(trained, host, visitor):
    for name, most in (("home", 64), ("sampling/temperature", 400)):
        prefix = opened(visitor, host, name)
        if name == "home":
            load(visitor, prefix)
        long = "the " * 2000
        visitor.locator(f"#{prefix}-text").fill(long)
        count = f"{len(trained.tokenizer.encode(long)):,}"
        said = f"This text has {count} tokens. This page reads {most} at most"
        expect(visitor.locator(f"#{prefix}-told")).to_contain_text(said, timeout=PATIENCE)
        expect(visitor.locator(f"#{prefix}-live")).to_be_hidden()
        typed(visitor, prefix, TEXT)
        expect(visitor.locator(f"#{prefix}-live")).to_be_visible()
        expect(visitor.locator(f"#{prefix}-told")).to_be_empty()


def test_the_neighbours_of_a_token_are_those_of_its_row(trained, host, visitor):
    prefix = opened(visitor, host, "embeddings/similarity")
    load(visitor, prefix)
    typed(visitor, prefix, TEXT)
    ids = trained.tokenizer.encode(TEXT)
    visitor.locator("#alike-tokens button").nth(1).click()
    table = trained.model.token.weight.detach().double().numpy()
    alike = np.array([cosine(table[ids[1]], row) for row in table])
    alike[ids[1]] = -2
    best = np.argsort(-alike, kind="stable")[:12]
    names = [visible_text(trained.tokenizer.token_bytes(int(i)))[0] for i in best]
    expect(visitor.locator("#alike-rows button").first).to_have_text(names[0])
    shown = visitor.locator("#alike-rows td").all_inner_texts()
    assert np.abs(np.array([float(one) for one in shown]) - alike[best]).max() < 1e-3


@pytest.mark.parametrize("simd", [True, False])
def test_a_head_that_is_off_changes_what_the_engine_says_it_changes(trained, host, visitor, simd):
    """For the real model and for the small one, whose matrices are rounded."""
    small, words, _ = load_bundled(STORIES)
    models = {"real": (trained.model, trained.tokenizer), "small": (_in_int8(small), words)}
    asked = [
        ("real", TEXT, (0, 1)),
        ("real", TEXT, (2, 3)),
        ("small", OWL, (0, 0)),
        ("small", OWL, (3, 2)),
    ]
    told = {"words": {}, "headName": "layer {layer}, head {head}", "keys": ["a", "b"]}
    given = [[on, {"text": text, "wanted": head, **told}] for on, text, head in asked]
    options = {"simd": simd}
    found = answers(visitor, host, "attention/trained", "heads", given, options=options)
    for (on, text, head), got in zip(asked, found, strict=True):
        model, tokenizer = models[on]
        ids = tokenizer.encode_from_start(text)
        full, (less,) = chances_without(model, ids, [head])
        best, now = int(full.argmax()), int(less.argmax())
        name = [visible_text(tokenizer.token_bytes(token))[0] for token in (best, now)]
        assert [got["places"]["best"], got["places"]["now"]] == name
        assert (got["how"] == "flips") == (best != now)
        top = np.argsort(-np.maximum(full, less), kind="stable")[:5]
        wanted = np.stack([full[top], less[top]], 1)
        assert np.abs(np.array([row[1:] for row in got["rows"]]) - wanted).max() < 5e-3
        assert not np.allclose(wanted[:, 0], wanted[:, 1], atol=5e-3)  # the head matters
        assert got["place"] == list(head)
        grid = unpack(bytes(got["grid"]))
        maps = head_maps(model, ids).maps
        rows = np.tril_indices(len(ids))
        assert grid["shape"] == list(maps.shape)
        off = np.abs(grid["cells"].reshape(*maps.shape[:2], -1).astype(int) - maps[:, :, *rows])
        assert off.max() <= 2
        look = unpack(bytes(got["look"]))
        assert np.abs(look["cells"][0].astype(int) - maps[head]).max() <= 2


@pytest.mark.parametrize("name", ["real", "small"])
def test_a_head_is_chosen_in_the_grid_and_a_link_carries_it(trained, host, visitor, name):
    prefix = opened(visitor, host, "attention/trained", "#layer=1&head=2")
    if name == "real":
        load(visitor, prefix)
    typed(visitor, prefix, TEXT)
    said = visitor.locator("#trained-off")
    expect(said).to_have_text("without layer 1, head 2", timeout=PATIENCE)
    visitor.locator("#trained-grid canvas").first.focus()
    for key in ("ArrowUp", "Enter"):
        visitor.keyboard.press(key)
    expect(said).to_have_text("without layer 0, head 2")
    assert "layer=0&head=2" in visitor.url
    visitor.reload()
    expect(said).to_have_text("without layer 0, head 2", timeout=PATIENCE)
    visitor.goto("about:blank")
    opened(visitor, host, "attention/trained", "#layer=77&head=2&text=Once")
    expect(said).to_contain_text("without layer", timeout=PATIENCE)
    expect(said).not_to_contain_text("77")


def test_a_head_that_nobody_chose_is_found_anew_for_each_text(trained, host, visitor):
    prefix = opened(visitor, host, "attention/trained")
    load(visitor, prefix)
    told = set()
    for text in (TEXT, OWL, "Once upon a time", "one two three four five six"):
        typed(visitor, prefix, text)
        told.add(visitor.locator("#trained-off").inner_text())
        assert "layer=" not in visitor.url
    assert len(told) > 1  # the grid was told of another head


def test_the_head_that_matters_most_is_told_of_first(trained, host, visitor):
    """Of those that look hardest at one word, as the chapter chooses it."""
    told = {"words": {}, "headName": "{layer} {head}", "keys": ["a", "b"], "wanted": [-1, -1]}
    found = answers(visitor, host, "attention/trained", "heads", [["real", {"text": TEXT, **told}]])
    ids = trained.tokenizer.encode(TEXT)
    rows = head_maps(trained.model, ids).maps[:, :, -1].astype(int)
    word = 1 + int(rows[:, :, 1:-1].max((0, 1)).argmax())
    order = np.argsort(-rows[:, :, word], axis=None, kind="stable")[:4]
    heads = [divmod(int(at), rows.shape[1]) for at in order]
    full, less = chances_without(trained.model, ids, heads)
    assert found[0]["place"] == list(heads[int(less[:, full.argmax()].argmin())])


def test_an_exchanged_vector_moves_what_the_engine_says_it_moves(trained, host, visitor):
    """Of sentences of unequal length, too, and for the small model as for the real one."""
    small, words, _ = load_bundled(STORIES)
    models = {"real": (trained.model, trained.tokenizer), "small": (_in_int8(small), words)}
    asked = [
        ("real", TEXT, "What is the capital of France?"),
        ("real", "The capital of France is", "The Italy is"),
        ("small", OWL, "The cat ate jam. Then the cat"),
    ]
    page = visitor
    opened(page, host, "real/travels")
    page.wait_for_function("globalThis.llmvizTravels")
    for on, text, other in asked:
        model, tokenizer = models[on]
        ids = [tokenizer.encode_from_start(one) for one in (text, other)]
        reads = [read_prompt(model, one) for one in ids]
        best = [int(one.logits.argmax()) for one in reads]
        assert best[0] != best[1]
        logits = patch_map(model, *reads, best, ("stream",)).stream.flip(1).double().numpy()
        wanted = 1 / (1 + np.exp(logits[..., 0] - logits[..., 1]))
        if page.locator("#travels-small").get_attribute("aria-pressed") == "true" and on == "real":
            load(page, "travels")
        if on == "small":
            page.locator("#travels-small").click()
        page.locator("#travels-other").fill(other)
        typed(page, "travels", text)
        count = wanted.shape[1]
        cells = page.locator("#travels-map td")
        expect(cells).to_have_count(wanted.size, timeout=PATIENCE)
        until(page, lambda cells=cells: "…" not in cells.all_inner_texts())
        shown = np.array([float(one) for one in cells.all_inner_texts()]).reshape(-1, count)
        assert np.abs(shown - 100 * wanted).max() < 3, (on, text)
    page.locator("#travels-other").fill(OWL)
    expect(page.locator("#travels-told")).to_contain_text("Both sentences are the same")
    expect(page.locator("#travels-live")).to_be_hidden()
    page.locator("#travels-other").fill("<b>Once</b>")
    expect(page.locator("#travels-live")).to_be_visible()
    assert page.locator("#travels-map b").count() == 0
    assert "other=%3Cb%3EOnce" in page.url


# ---- what goes wrong


def shard(page: Any) -> str:
    """The second file of the weights."""
    return json.loads(page.locator("#page").text_content())["live"]["real"]["manifest"]["shards"][
        1
    ]["path"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": 404}, "is missing on the host"),
        ({"body": "cut"}, "was cut off after"),
        ({"body": "x" * 30_000}, "is another file than this page was written with"),
        (None, "The network was lost. What has come is not lost."),
    ],
)
def test_a_shard_that_does_not_come_is_told_and_the_small_model_reads_on(
    trained, host, visitor, answer, said
):
    prefix = opened(visitor, host, "sampling/temperature")
    path = shard(visitor)

    def fail(route: Any) -> None:
        route.abort() if answer is None else route.fulfill(**answer)

    visitor.context.route(f"**/{path}", fail)
    visitor.locator(f"#{prefix}-real-load").click()
    expect(visitor.locator(f"#{prefix}-real-told")).to_contain_text(said, timeout=PATIENCE)
    expect(visitor.locator(f"#{prefix}-real-load")).to_contain_text("Go on loading")
    typed(visitor, prefix, OWL)
    expect(visitor.locator(f"#{prefix}-live")).to_be_visible()
    expect(visitor.locator(f"#{prefix}-models")).to_be_hidden()
    visitor.context.unroute_all()
    visitor.asked.clear()
    load(visitor, prefix)
    assert visitor.asked[0].endswith(path)  # those before it are not asked for again
    expect(visitor.locator(f"#{prefix}-real-told")).to_be_empty()


def test_a_model_that_was_loaded_reads_on_without_a_network(trained, host, visitor):
    prefix = opened(visitor, host, "attention/trained")
    load(visitor, prefix)
    visitor.context.set_offline(True)
    typed(visitor, prefix, TEXT)
    best = visible_text(trained.tokenizer.token_bytes(int(logits_of(trained, TEXT).argmax())))[0]
    expect(visitor.locator("#trained-rows th")).to_contain_text([best], timeout=PATIENCE)


def test_two_tabs_load_at_once_and_one_that_forgets_leaves_the_other(trained, host, visitor):
    other = visitor.context.new_page()
    prefixes = [opened(page, host, "sampling/temperature") for page in (visitor, other)]
    for page, prefix in zip((visitor, other), prefixes, strict=True):
        page.locator(f"#{prefix}-real-load").click()
    for page, prefix in zip((visitor, other), prefixes, strict=True):
        button = page.locator(f"#{prefix}-real")
        expect(button).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)
    other.locator(f"#{prefixes[1]}-real-forget").click()
    until(visitor, lambda: visitor.evaluate("caches.keys()") == [])
    typed(visitor, prefixes[0], TEXT)
    expect(visitor.locator("#temperature-live p.line")).to_contain_text("At T = 1")
    expect(visitor.locator(f"#{prefixes[0]}-told")).to_be_empty()


@pytest.mark.parametrize(
    "refuses",
    [
        "Object.defineProperty(globalThis, 'caches', { value: undefined })",
        "Cache.prototype.put = () => Promise.reject(new DOMException('', 'QuotaExceededError'))",
        "WebAssembly.validate = () => false",  # a browser without SIMD
    ],
)
def test_without_storage_or_simd_it_computes_all_the_same(trained, host, visitor, refuses):
    visitor.add_init_script(REFUSING.replace("REFUSES", refuses))
    prefix = opened(visitor, host, "attention/trained")
    load(visitor, prefix)
    if "validate" not in refuses:
        expect(visitor.locator(f"#{prefix}-real-told")).to_contain_text("may not keep it")
    typed(visitor, prefix, TEXT)
    best = visible_text(trained.tokenizer.token_bytes(int(logits_of(trained, TEXT).argmax())))[0]
    expect(visitor.locator("#trained-rows th")).to_contain_text([best], timeout=PATIENCE)


def test_escape_ends_what_the_machine_writes(trained, host, visitor):
    prefix = opened(visitor, host, "home")
    load(visitor, prefix)
    typed(visitor, prefix, "The")
    visitor.evaluate("""() => {
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (message) {
        setTimeout(() => post.call(this, message), 200);
      };
    }""")
    field = visitor.locator(f"#{prefix}-text")
    visitor.locator(f"#{prefix}-live button", has_text="Write 10").click()
    until(visitor, lambda: len(field.input_value()) > 3)
    visitor.keyboard.press("Escape")
    visitor.wait_for_timeout(600)  # what was being read then is shown, and no more
    before = field.input_value()
    visitor.wait_for_timeout(600)
    assert field.input_value() == before


def test_a_hidden_tab_goes_on_when_it_is_seen_again(trained, host, visitor):
    prefix = opened(visitor, host, "home")
    load(visitor, prefix)
    typed(visitor, prefix, "The")
    session = visitor.context.new_cdp_session(visitor)
    visitor.locator(f"#{prefix}-live button", has_text="Write 10").click()
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    time.sleep(0.5)
    session.send("Page.setWebLifecycleState", {"state": "active"})
    field = visitor.locator(f"#{prefix}-text")
    ids = trained.tokenizer.encode("The")
    with torch.inference_mode():
        for _ in range(10):
            ids.append(int(trained.model(torch.tensor([ids]))[0][0, -1].argmax()))
    text = trained.tokenizer.decode(ids)
    until(visitor, lambda: field.input_value() == text)


def test_a_worker_that_dies_is_told_and_the_small_model_reads(trained, host, visitor):
    visitor.add_init_script("""
      const Made = Blob;
      globalThis.Blob = function (parts, given) {
        const works = String(parts[0]).endsWith("serve(self)");
        const dies = "addEventListener('message', ({ data }) => " +
          "{ if (data.on === 'real') throw new Error('out of memory'); });";
        return new Made(works ? [...parts, `;${dies}`] : parts, given);
      };""")
    prefix = opened(visitor, host, "sampling/temperature")
    visitor.locator(f"#{prefix}-real-load").click()
    told = visitor.locator(f"#{prefix}-real-told")
    expect(told).to_contain_text("The model stopped: ", timeout=PATIENCE)
    expect(visitor.locator(f"#{prefix}-real-load")).to_be_visible()
    typed(visitor, prefix, OWL)
    expect(visitor.locator(f"#{prefix}-live")).to_be_visible()
    expect(visitor.locator(f"#{prefix}-told")).to_be_empty()


def test_a_small_model_that_dies_is_told_once(host, visitor):
    visitor.add_init_script("""
      const Made = Blob;
      globalThis.made = 0;
      globalThis.Blob = function (parts, given) {
        const works = String(parts[0]).endsWith("serve(self)");
        if (works) globalThis.made++;
        const dies = "addEventListener('message', () => { throw new Error('no'); });";
        return new Made(works ? [...parts, `;${dies}`] : parts, given);
      };""")
    prefix = opened(visitor, host, "sampling/temperature")
    visitor.locator(f"#{prefix}-text").fill(OWL)
    told = visitor.locator(f"#{prefix}-told")
    expect(told).to_contain_text("The model stopped: ", timeout=PATIENCE)
    visitor.wait_for_timeout(500)
    assert visitor.evaluate("made") == 1


@pytest.mark.parametrize("name", REAL)
def test_in_spanish_no_live_page_speaks_english(visitor, tmp_path, monkeypatch, name):
    monkeypatch.setattr(shards, "SHARD", 30_000)
    (tmp_path / "models").mkdir()
    in_its_place(monkeypatch, tmp_path / "models")
    monkeypatch.setattr(languages, "_asks", lambda: "es")
    own_page(tmp_path / "site", name, real_page(NAME))
    server, address = served(tmp_path / "site")
    prefix = opened(visitor, address, name)
    visitor.evaluate("document.querySelector('h1').remove()")
    load(visitor, prefix)
    texts = [text for text in texts_of(live, "en").values() if isinstance(text, str)]
    english = [re.split(r"\{\w+\}", text) for text in texts]
    parts = {part.strip() for pieces in english for part in pieces if len(part.split()) > 2}
    for text in (TEXT, "", "the " * 2000):
        typed(visitor, prefix, text)
        shown = visitor.locator("main").inner_text()
        assert [part for part in parts if part in shown] == []
    server.shutdown()
    server.server_close()


def test_a_page_that_was_left_keeps_no_model_and_opens_it_again(trained, host, visitor):
    visitor.add_init_script("""
      const ends = Worker.prototype.terminate;
      Worker.prototype.terminate = function () {
        sessionStorage.ended = "yes";
        return ends.call(this);
      };""")
    prefix = opened(visitor, host, "attention/trained")
    load(visitor, prefix)
    opened(visitor, host, "tokenization/cut")
    assert visitor.evaluate("sessionStorage.ended") == "yes"
    visitor.go_back()
    button = visitor.locator(f"#{prefix}-real")
    expect(button).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)
    typed(visitor, prefix, TEXT)
    expect(visitor.locator("#trained-rows tr")).to_have_count(5)


# ---- the published model


def test_heads_of_the_published_model_matter_as_the_engine_says(tmp_path, visitor, monkeypatch):
    monkeypatch.delenv(SETTING, raising=False)  # the user's own folder
    file = path_of(NAME)
    if file is None:
        pytest.skip("the published model is not here")
    own_page(tmp_path / "site", "attention/trained", real_page(NAME))
    server, address = served(tmp_path / "site")
    heads = [(23, 4), (0, 0), (29, 8)]
    told = {"text": REAL_TEXT, "words": {}, "headName": "{layer} {head}", "keys": ["a", "b"]}
    given = [["real", {"wanted": head, **told}] for head in heads]
    found = answers(visitor, address, "attention/trained", "heads", given)
    server.shutdown()
    server.server_close()
    real = published(file)
    full, less = chances_without(real.model, real.tokenizer.encode(REAL_TEXT), heads)
    for got, wanted in zip(found, less, strict=True):
        top = np.argsort(-np.maximum(full, wanted), kind="stable")[:5]
        shares = np.stack([full[top], wanted[top]], 1)
        assert np.abs(np.array([row[1:] for row in got["rows"]]) - shares).max() < 1e-2
    assert less[0].max() < full.max() - 0.2  # the chapter's own head
