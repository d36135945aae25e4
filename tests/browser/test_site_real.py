"""The page of a real model: what it computes, how it is loaded, and what goes wrong on the way.

A small Llama with the blocks of the published one stands in its place, apart from the last tests,
which want the published one and are skipped where it is not.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from llmviz import cli
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.home import words as home
from llmviz.course.site import shards
from llmviz.course.site.own import STORIES
from llmviz.obtainable.catalogue import SETTING, path_of
from llmviz.pretrained import published
from tests.browser.conftest import PATIENCE
from tests.browser.hand import until
from tests.browser.test_pages import nobody_is_kept_out
from tests.browser.test_site_hour import Quiet
from tests.course.site.small_llama import NAME, in_its_place

pytestmark = pytest.mark.slow  # of the second tier: the site

PAGE = "home/real.html"
FITS = "document.documentElement.scrollWidth <= innerWidth"
TEXTS = [
    *(
        "The capital of France is",
        "the CAPITAL of france",
        " ",
        "\n\n",
        "   three  spaces ",
        "a\tb",
    ),
    *("12345 and 3.14", "2026-11-30", "x²+½ ٣٤", "Don't stop! They've said: \"we'll\"", "I'M'S"),
    *("日本語のテキスト", "Привет, мир", "مرحبا بالعالم", "ÀÉÎÕÜ ñ ß œ", "e\u0301", "\u00a0\u2003"),
    *("😀👩‍👩‍👧‍👦 emoji", "<|im_end|> a", "https://example.com/?q=1", "def f(x):\n    return x\n"),
]
# Loads the model in this window, and tells what it makes of texts: ids, logits, the text again, and
# what it writes by always taking the most probable token.
COMPUTE = """async ({ texts, most, options }) => {
  const { manifest, root } = JSON.parse(document.getElementById("page").textContent).live;
  let heard = [];
  const hear = llmvizReal.engine(llmvizReal.questions, (report) => heard.push(report));
  const load = { manifest, base: new URL(root, location.href).href, most: 400, options };
  await hear({ load });
  if (!heard.at(-1).ready) throw new Error(JSON.stringify(heard.at(-1)));
  const found = [];
  let number = 0;
  for (const text of texts) {
    heard = [];
    const written = [];
    const read = async () => {
      const given = { text, more: written };
      await hear({ question: "read", on: "real", given, number: ++number });
      return heard.at(-1).value;
    };
    const { logits, top } = await read();
    const { cut } = heard.find(({ part }) => part?.cut).part;
    for (let next = top; written.length < most; next = (await read()).top) written.push(next[0][0]);
    found.push({ ids: cut.map(([id]) => id), logits: [...logits], written });
  }
  return found;
}"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The file of the small model, and the site that was written with it."""
    folder = tmp_path_factory.mktemp("real") / "course"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD", 30_000)
        file = in_its_place(patch, tmp_path_factory.mktemp("models"))
        assert cli.main(["site", str(folder), "--only", "glossary", "--model", NAME]) == 0
    return file, folder


@pytest.fixture(scope="module")
def small(made: tuple[Path, Path]) -> Path:
    return made[0]


@pytest.fixture(scope="module")
def written(made: tuple[Path, Path]) -> Path:
    return made[1]


@pytest.fixture
def site(written: Path, tmp_path: Path) -> Path:
    """The site in a folder that a test may spoil: what has the same content is the same file."""
    for path in written.rglob("*"):
        copy = tmp_path / "course" / path.relative_to(written)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            copy.write_bytes(path.read_bytes())
    return tmp_path / "course"


def served(folder: Path) -> tuple[ThreadingHTTPServer, str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def host(site: Path) -> Iterator[str]:
    server, address = served(site)
    yield address
    server.shutdown()
    server.server_close()


@pytest.fixture
def visitor(computing_browser: Any) -> Iterator[Any]:
    """A window that notes which files of the model it asks for."""
    context = computing_browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.wrong, page.asked = [], []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    context.on(
        "request",
        lambda one: page.asked.append(one.url) if "/models/" in one.url else None,
    )
    yield page
    assert page.wrong == []
    context.close()


def told(page: Any) -> dict[str, Any]:
    return json.loads(page.locator("#page").text_content())["live"]


def load(page: Any) -> None:
    page.locator("#real-load").click()
    expect(page.locator("#real-writing")).to_be_visible(timeout=PATIENCE)


def ours(file: Path, texts: list[str], most: int) -> list[dict[str, Any]]:
    """What the engine makes of the texts."""
    trained = published(file)
    found = []
    for text in texts:
        ids = trained.tokenizer.encode(text)
        with torch.inference_mode():
            read = list(ids)
            logits = trained.model(torch.tensor([read]))[0][0, -1]
            for _ in range(most):
                read.append(int(trained.model(torch.tensor([read]))[0][0, -1].argmax()))
        found.append({"ids": ids, "logits": logits.numpy(), "written": read[len(ids) :]})
    return found


def same(theirs: list[dict[str, Any]], wanted: list[dict[str, Any]], texts: list[str]) -> None:
    for text, one, other in zip(texts, theirs, wanted, strict=True):
        assert one["ids"] == other["ids"], text
        logits = np.array(one["logits"])
        assert np.abs(logits - other["logits"]).max() <= 2e-2 * np.abs(other["logits"]).max(), text
        assert logits.argmax() == other["logits"].argmax(), text
        assert one["written"] == other["written"], text


@pytest.mark.parametrize("simd", [True, False])
def test_it_computes_what_the_python_engine_computes(small, host, visitor, simd):
    visitor.goto(f"{host}/{PAGE}")
    visitor.wait_for_function("globalThis.llmvizReal")
    given = {"texts": TEXTS, "most": 20, "options": {"simd": simd}}
    same(visitor.evaluate(COMPUTE, given), ours(small, TEXTS, 20), TEXTS)


def test_simd_is_there_and_differs_by_its_rounding_alone(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    visitor.wait_for_function("globalThis.llmvizReal")
    given = {"texts": TEXTS[:1], "most": 0, "options": {"simd": True}}
    one = visitor.evaluate(COMPUTE, given)[0]["logits"]
    given["options"] = {"simd": False}
    other = visitor.evaluate(COMPUTE, given)[0]["logits"]
    assert one != other  # it is another way
    assert np.abs(np.array(one) - other).max() < 2e-3 * np.abs(other).max()


# A function of the page's tokenizer, alone.
OPENED = """async (given) => {
  const { manifest, root } = JSON.parse(document.getElementById("page").textContent).live;
  const answer = await fetch(new URL(manifest.tokenizer.path, new URL(root, location.href)));
  const tokenizer = new llmvizReal.ByteLevel(await answer.json());
  return (DONE)(given);
}"""
NAMES = OPENED.replace("DONE", "() => tokenizer.known.map((_, id) => tokenizer.nameOf(id))")


def named(file: Path) -> list[str]:
    tokenizer = published(file).tokenizer
    ids = range(tokenizer.vocab_size)
    return [visible_text(tokenizer.token_bytes(token))[0] for token in ids]


def test_a_token_is_shown_as_in_the_app(small, host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    visitor.wait_for_function("globalThis.llmvizReal")
    assert visitor.evaluate(NAMES) == named(small)


def test_the_first_page_speaks_of_the_model_that_reads_there(written):
    """The published model may be on the machine that writes: the page loads it after a click."""
    page = (written / "index.html").read_text("utf-8")
    assert home.purposes[STORIES] in page.split('<section class="own"')[0]


def test_nothing_is_loaded_before_a_click_that_says_how_much(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    button = visitor.locator("#real-load")
    expect(button).to_have_text("Load the model (0.1 MB)")
    expect(visitor.locator("#real-next tr")).to_have_count(10)  # of the example
    assert visitor.asked == []
    load(visitor)
    listed = told(visitor)["manifest"]
    files = [*listed["shards"], listed["tokenizer"]]
    assert len(files) >= 4
    assert [url.removeprefix(f"{host}/") for url in visitor.asked] == [one["path"] for one in files]


def test_it_is_kept_until_it_is_forgotten(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    load(visitor)
    visitor.asked.clear()
    visitor.reload()
    expect(visitor.locator("#real-load")).to_have_text(
        "Open the model (0.1 MB, kept in this browser)"
    )
    load(visitor)
    assert visitor.asked == []
    visitor.locator("#real-forget").click()
    expect(visitor.locator("#real-told")).to_contain_text("keeps the model no more")
    until(visitor, lambda: visitor.evaluate("caches.keys()") == [])
    visitor.reload()
    expect(visitor.locator("#real-load")).to_have_text("Load the model (0.1 MB)")


def spoil(how: str, path: Path) -> None:
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[:-7])
    elif how == "longer":
        path.write_bytes(content + b"more")
    else:
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("missing", "is missing on the host"),
        ("cut", "was cut off after"),
        ("longer", "is another file"),
        ("foreign", "is another file"),
    ],
)
def test_a_spoiled_shard_is_named_and_loading_goes_on_behind_it(site, host, visitor, how, said):
    visitor.goto(f"{host}/{PAGE}")
    second = told(visitor)["manifest"]["shards"][1]["path"]
    whole = (site / second).read_bytes()
    spoil(how, site / second)
    visitor.locator("#real-load").click()
    expect(visitor.locator("#real-told")).to_contain_text(said, timeout=PATIENCE)
    expect(visitor.locator("#real-told")).to_contain_text(Path(second).name)
    expect(visitor.locator("#real-load")).to_contain_text("Go on loading")
    (site / second).write_bytes(whole)
    visitor.asked.clear()
    load(visitor)
    assert visitor.asked[0].endswith(second)  # the first one is not asked for again
    expect(visitor.locator("#real-told")).to_be_empty()


def test_a_lost_network_says_so_and_a_later_visit_goes_on(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    second = told(visitor)["manifest"]["shards"][1]["path"]
    visitor.context.route(f"**/{second}", lambda route: route.abort())
    visitor.locator("#real-load").click()
    expect(visitor.locator("#real-told")).to_contain_text("The network was lost", timeout=PATIENCE)
    visitor.context.unroute_all()
    visitor.reload()
    expect(visitor.locator("#real-load")).to_contain_text("Go on loading")
    visitor.asked.clear()
    load(visitor)
    assert visitor.asked[0].endswith(second)


def test_a_loading_that_is_stopped_goes_on(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    second = told(visitor)["manifest"]["shards"][1]["path"]
    visitor.context.route(f"**/{second}", lambda route: None)  # it never comes
    button = visitor.locator("#real-load")
    button.click()
    expect(button).to_have_text("Stop loading")
    until(visitor, lambda: any(url.endswith(second) for url in visitor.asked))
    button.click()
    expect(button).to_contain_text("Go on loading")
    visitor.context.unroute_all()
    load(visitor)


def test_kept_files_that_were_spoiled_are_loaded_again(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    load(visitor)
    visitor.evaluate("""async () => {
      const kept = await caches.open((await caches.keys())[0]);
      const [first] = await kept.keys();
      await kept.put(first, new Response("no shard"));
    }""")
    visitor.asked.clear()
    visitor.reload()
    load(visitor)
    assert len(visitor.asked) == 1


# A browser that lacks something, also in a worker, which is made of the page's script.
REFUSING = """REFUSES;
  const Made = Blob;
  globalThis.Blob = function (parts, given) {
    const works = String(parts[0]).endsWith("serve(self)");
    return new Made(works ? [`REFUSES;`, ...parts] : parts, given);
  };"""


@pytest.mark.parametrize(
    "refuses",
    [
        "Object.defineProperty(globalThis, 'caches', { value: undefined })",
        "CacheStorage.prototype.open = () => Promise.reject(new DOMException('', 'SecurityError'))",
        "Cache.prototype.put = () => Promise.reject(new DOMException('', 'QuotaExceededError'))",
    ],
)
def test_a_browser_that_keeps_nothing_says_so_and_computes(host, visitor, refuses):
    visitor.add_init_script(REFUSING.replace("REFUSES", refuses))
    visitor.goto(f"{host}/{PAGE}")
    load(visitor)
    expect(visitor.locator("#real-told")).to_contain_text("may not keep it")
    expect(visitor.locator("#real-forget")).to_be_hidden()
    expect(visitor.locator("#real-next tr")).to_have_count(10)


def test_from_a_disk_it_names_the_small_server(site, visitor):
    visitor.goto(f"{site.as_uri()}/{PAGE}")
    expect(visitor.locator("#real-told code")).to_have_text("python -m http.server")
    expect(visitor.locator("#real-load")).to_be_hidden()
    expect(visitor.locator("#real-next tr")).to_have_count(10)


def test_who_has_little_memory_or_saves_data_is_told_before(host, visitor):
    visitor.add_init_script("""
      Object.defineProperty(navigator, "deviceMemory", { get: () => 2 });
      Object.defineProperty(navigator, "connection", { get: () => ({ saveData: true }) });""")
    visitor.goto(f"{host}/{PAGE}")
    expect(visitor.locator("#real-told")).to_contain_text("This device has 2 GB of memory")
    expect(visitor.locator("#real-told")).to_contain_text("this would load 0.1 MB")
    assert visitor.asked == []


def rows(page: Any) -> list[tuple[str, str]]:
    return page.evaluate(
        "[...document.querySelectorAll('#real-next tr')].map((row) => row.innerText.split('\\t'))"
    )


def type_text(page: Any, text: str) -> None:
    page.locator("#real-text").fill(text)
    expect(page.locator("#real-shares")).not_to_have_class("waits", timeout=PATIENCE)


def test_an_own_sentence_is_cut_read_and_gone_on_with(small, host, visitor):
    text = "What is the capital of Italy?"
    wanted = ours(small, [text], 20)[0]
    visitor.goto(f"{host}/{PAGE}#t=0")
    load(visitor)
    visitor.locator("#real-text").fill(text)
    chips = visitor.locator("#real-chips .chip")
    expect(chips).to_have_count(len(wanted["ids"]), timeout=PATIENCE)
    assert "".join(chips.all_inner_texts()).replace("·", " ") == text
    expect(visitor.locator("#real-next tr").first).to_contain_text("100.0 %", timeout=PATIENCE)
    visitor.locator("#real-temperature").fill("1")
    shares = torch.softmax(torch.tensor(wanted["logits"]), -1).topk(10).values
    until(visitor, lambda: "100.0" not in rows(visitor)[0][1])
    for (_, said), share in zip(rows(visitor), shares.tolist(), strict=True):
        assert abs(float(said.split()[0]) - 100 * share) < 0.2
    visitor.locator("#real-temperature").fill("0")
    visitor.locator("#real-write").click()
    expect(visitor.locator("#real-ended")).not_to_be_empty(timeout=PATIENCE)
    bytes_of = published(small).tokenizer.decode(wanted["written"])
    whole = bytes_of.rstrip("\ufffd")  # the last sign may go on in the next token
    said = visitor.locator("#real-written strong").text_content()
    assert said.startswith(whole[: len(said)]) and said
    visitor.locator("#real-back").click()
    expect(visitor.locator("#real-written strong")).to_have_text("", timeout=PATIENCE)


def test_writing_stops_at_the_button_and_at_escape(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    load(visitor)
    # An answer each tenth of a second, as the published model gives.
    button = visitor.locator("#real-write")
    for stop in (button.click, lambda: visitor.keyboard.press("Escape")):
        visitor.evaluate("""() => {
          const post = Worker.prototype.postMessage;
          Worker.prototype.postMessage = function (message) {
            setTimeout(() => post.call(this, message), 100);
          };
        }""")
        button.click()
        expect(button).to_have_text("Stop")
        until(visitor, lambda: visitor.locator("#real-written strong").text_content())
        stop()
        expect(button).to_have_text("Write on")
        visitor.wait_for_timeout(300)  # what was being read then is shown, and no more
        before = visitor.locator("#real-written").text_content()
        visitor.wait_for_timeout(400)
        assert visitor.locator("#real-written").text_content() == before


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "Type something"), ("the " * 2000, "This page reads 400 at most")],
)
def test_a_text_that_cannot_be_read_is_answered_and_stays(host, visitor, text, said):
    visitor.goto(f"{host}/{PAGE}")
    load(visitor)
    visitor.locator("#real-text").fill(text)
    expect(visitor.locator("#real-said")).to_contain_text(said, timeout=PATIENCE)
    assert visitor.locator("#real-text").input_value() == text
    if text:
        expect(visitor.locator("#real-said")).to_contain_text(",")  # the number of its tokens
    visitor.locator("#real-text").fill("The capital")
    expect(visitor.locator("#real-said")).to_be_empty(timeout=PATIENCE)
    expect(visitor.locator("#real-live")).to_be_visible()


def test_a_link_is_the_state_of_the_page(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    visitor.locator("#real-text").fill("Once & <b>only</b>")
    visitor.evaluate("document.getElementById('real-live').hidden")
    load(visitor)
    visitor.locator("#real-temperature").fill("0.5")
    link = visitor.url
    assert link.startswith(f"{host}/{PAGE}#")
    visitor.goto("about:blank")
    visitor.goto(link)
    assert visitor.locator("#real-text").input_value() == "Once & <b>only</b>"
    assert visitor.locator("#real-temperature").input_value() == "0.5"
    expect(visitor.locator("#real-said")).to_contain_text("once it is loaded")
    load(visitor)
    expect(visitor.locator("#real-chips .chip").first).to_be_visible(timeout=PATIENCE)
    assert visitor.locator("#real-chips b, #real-written b").count() == 0


def test_each_layer_says_what_it_would(small, host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    load(visitor)
    type_text(visitor, "The capital")
    visitor.locator("#real-lens summary").click()
    lines = visitor.locator("#real-layers tr")
    expect(lines).to_have_count(4, timeout=PATIENCE)
    assert lines.last.inner_text().split("\t")[1:] == list(rows(visitor)[0])


def test_nobody_is_kept_out_at_any_width(host, visitor):
    visitor.goto(f"{host}/{PAGE}")
    for width in (1440, 390):
        visitor.set_viewport_size({"width": width, "height": 844})
        until(visitor, lambda: visitor.evaluate(FITS))
        nobody_is_kept_out(visitor, f"before, at {width}")
    load(visitor)
    type_text(visitor, "What is the capital?")
    visitor.locator("#real-lens summary").click()
    for width in (1440, 390):
        visitor.set_viewport_size({"width": width, "height": 844})
        until(visitor, lambda: visitor.evaluate(FITS))
        nobody_is_kept_out(visitor, f"loaded, at {width}")


# ---- the published model


@pytest.fixture(scope="module")
def real_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SETTING, raising=False)  # the user's own folder
        file = path_of(NAME)
        if file is None:
            pytest.skip("the published model is not here")
        folder = tmp_path_factory.mktemp("published") / "course"
        assert cli.main(["site", str(folder), "--only", "glossary", "--model", NAME]) == 0
        server, address = served(folder)
        yield file, address
        server.shutdown()
        server.server_close()


def test_the_published_model_computes_what_the_python_engine_computes(real_site, visitor):
    file, address = real_site
    visitor.goto(f"{address}/{PAGE}")
    visitor.wait_for_function("globalThis.llmvizReal")
    encode = "texts => texts.map((text) => tokenizer.encode(text))"
    theirs = visitor.evaluate(OPENED.replace("DONE", encode), TEXTS)
    tokenizer = published(file).tokenizer
    assert theirs == [tokenizer.encode(text) for text in TEXTS]
    names = zip(visitor.evaluate(NAMES), named(file), strict=True)
    # Only of characters that one of both does not know yet.
    assert sum(one != other for one, other in names) < 3
    few = ["The capital of France is", "Once upon a time"]
    given = {"texts": few, "most": 20, "options": {}}
    same(visitor.evaluate(COMPUTE, given), ours(file, few, 20), few)
