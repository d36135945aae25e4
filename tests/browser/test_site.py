"""A part of the course as plain files in a real browser, from the disk and without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from plotly.offline import get_plotlyjs_version

from llmviz import cli
from llmviz.course.components._shared.saver.page import CARTESIAN, DRAWN
from llmviz.course.components.machine.view import MachineValues
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.attention.steps import words
from llmviz.course.lessons.home.machine import read
from llmviz.course.site.live import INT8, MODELS
from llmviz.course.ui import guess_given
from llmviz.course.ui.question import Question
from llmviz.nn.attention import attention, causal_mask
from llmviz.pretrained import load_bundled
from llmviz.quantization.grids import dequantize, quantize
from llmviz.sampling import sampling_steps
from llmviz.similarity import cosine
from llmviz.tokenizers.training import train_steps
from llmviz.tokenizers.vocabulary import WordTokenizer
from llmviz.trace import record
from tests.browser.hand import until
from tests.browser.test_pages import nobody_is_kept_out

pytestmark = pytest.mark.slow  # of the second tier: the site

APP = "https://school.example/llmviz"
ONLY = ("embeddings/lookup", "attention/steps", "errors/facts", "errors/memorization")
RUNGS = words.variants  # the parts of the first one
FIRST_LOAD = 2_000_000  # bytes; a table of 3,071 vectors stands on the first screen
TEXTS = {"names-gpt": 150, "tiny-world-char": 40, "tiny-world-gpt": 10}
PIECES = [
    "Once Anna",
    " met",
    " Samir at the market.",
    "  Then\n",
    "ünï",
    " 🙂",
    "\t12",
    "don't",
    "—",
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "course"
    wanted = [word for name in ONLY for word in ("--only", name)]
    covers, guess_given.COVERS = (
        guess_given.COVERS,
        True,
    )  # tests of pages in this process show it all
    try:
        assert cli.main(["site", str(folder), "--app", APP, *wanted]) == 0
    finally:
        guess_given.COVERS = covers
    return folder


@pytest.fixture
def window(computing_browser: Any) -> Iterator[Any]:
    """A window without a network that notes what goes wrong, and the size of what was loaded."""
    context = computing_browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.wrong, page.asked = [], []
    page.on("console", lambda one: page.wrong.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    assert page.wrong == []
    assert [url for url in page.asked if not url.startswith(("file:", "blob:", "data:"))] == []
    context.close()


class Links(HTMLParser):
    """What a page refers to, and its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                (self.found if tag == "a" else self.loaded).append(value or "")


def test_pages_refer_to_files_that_exist_and_to_the_app(course):
    pages = sorted(course.rglob("*.html"))
    looks = [page for page in pages if ".look." in page.name]
    assert len(pages) - len(looks) == 4 + len(ONLY) + len(RUNGS) - 1
    led_to = set()
    for page in pages:
        text = page.read_text("utf-8")
        links = Links(text)
        for link in links.found + links.loaded:
            path, _, anchor = link.partition("#")
            if link.startswith("https://"):
                assert link in links.found
                assert link.startswith(APP) or "github" in link, link
            elif path:
                target = (page.parent / path).resolve()
                assert target.is_file(), f"{page}: {link}"
                assert not anchor or f'id="{anchor}"' in target.read_text("utf-8")
        data = json.loads(re.search(r'id="page">(.*?)</script>', text, re.S)[1])
        names = [one["data"] for one in data["pictures"] + (data["live"] or {}).get("models", [])]
        names += [part for one in data["pictures"] for part in one["parts"].values()]
        for name in names:
            assert (course / f"assets/data/{name}.js").is_file()
        for file in data["looks"].values():
            assert (course / file).is_file()
            led_to.add(course / file)
        for one in data["pictures"]:
            assert (course / f"assets/pictures/{one['name']}.js").is_file()
        for one in data["charts"]:
            assert (course / f"assets/{one['library']}.js").is_file()
    assert looks and set(looks) <= led_to


def test_the_main_button_leads_from_home_to_the_end(course, window):
    """On each page, all is drawn, what it loads is small, and nothing keeps people out."""
    window.goto(f"{course.as_uri()}/index.html")
    seen = []
    while True:
        until(window, lambda: "…" not in window.locator("#live-told").all_inner_texts())
        loaded = {url.split("#")[0] for url in window.asked if url.startswith("file:")}
        live = json.loads(window.locator("#page").text_content())["live"] or {}
        loaded = {url for url in loaded if not url.endswith(f"/{live.get('model')}.js")}  # later
        size = sum(Path(url.removeprefix("file://")).stat().st_size for url in loaded)
        assert size < FIRST_LOAD, window.url
        if window.locator("#machine-live").count():  # in the place of the example's picture
            expect(window.locator("#machine-live")).to_be_visible(timeout=60_000)
        for node in window.locator("[data-picture]:visible, [data-chart]:visible").all():
            node.scroll_into_view_if_needed()
            expect(node).to_have_attribute("data-drawn", "")
            assert node.bounding_box()["height"] > 20
        while window.locator(".show:visible").count():
            window.locator(".show:visible").first.click()
        nobody_is_kept_out(window, window.url)
        seen.append(window.url.removeprefix(course.as_uri()))
        if not window.locator("a.next").count():
            break
        window.asked.clear()
        window.locator("a.next").click()
        window.wait_for_load_state()
    assert seen == [
        "/index.html",
        "/home/model.html",
        "/home/parts.html",
        *(f"/{name}.html" for name in ONLY),
        "/glossary.html",
    ]


def test_a_question_is_graded_and_shows_its_reasons(course, window):
    window.goto(f"{course.as_uri()}/embeddings/lookup.html")
    question = window.locator("[data-question]")
    question.locator("input:not([data-right])").first.check()
    expect(question.locator(".grade")).to_contain_text("Not this one.")
    assert question.locator(".grade .why").count() == 2  # of this answer, and of the right one
    question.locator("input[data-right]").check()
    expect(question.locator(".grade")).to_contain_text("Right.")
    link = window.locator("footer a.to-app").get_attribute("href")
    assert link == f"{APP}/embeddings?part=lookup"
    controls = (
        "document.querySelectorAll('main :is(select, input:not([name^=q]), textarea)').length"
    )
    assert window.evaluate(controls) == 0  # none that would need the app


def _hands(window: Any) -> dict[str, dict[str, Any]]:
    return window.evaluate("JSON.parse(document.getElementById('page').textContent).hands")


@pytest.mark.parametrize("wins", [True, False])
def test_a_bar_that_is_dragged_is_the_answer_and_then_the_picture_tells(course, window, wins):
    window.goto(f"{course.as_uri()}/attention/steps.html")
    question, hand = window.locator("[data-question]"), _hands(window)["0"]
    covered, instead = window.locator(".covered .picture"), window.locator(".instead .picture")
    expect(question.locator("input")).to_have_count(0)
    expect(covered.first).to_be_hidden()
    assert covered.first.get_attribute("data-drawn") is None
    done = instead.locator(".done")
    expect(done).to_be_disabled()
    value = hand["values"][hand["right"] if wins else hand["right"] - 1][0]
    handle = instead.locator("input.handle")
    handle.evaluate(
        "(range, to) => { range.value = to; range.dispatchEvent(new Event('input')); }",
        1000 * value,
    )
    done.click()
    grade = question.locator(".grade")
    expect(grade.locator(".right" if wins else ".wrong")).to_contain_text("You said ")
    expect(grade.locator(".why")).to_have_count(1 if wins else 2)
    expect(instead.first).to_be_hidden()
    expect(covered.locator(".own")).to_have_count(1)  # what was guessed, where it was set
    place = covered.locator(".own").evaluate("node => parseFloat(node.style.left)")
    assert place == pytest.approx(100 * value, abs=0.5)
    expect(covered.locator(".ghost")).to_have_count(len(hand["values"]) - 1)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("line", [False, True])
def test_what_is_set_by_hand_is_graded_here_as_in_the_app(course, window, log, line):
    window.goto(f"{course.as_uri()}/errors/memorization.html")
    drawn = np.random.default_rng(5).uniform(0.01, 3, (300, 5, 6)).round(2)
    for count in (1, 2, 5, 6):
        *answers, guess = drawn[:, :, :count].swapaxes(0, 1).tolist()
        for values, own in zip(zip(*answers, strict=True), guess, strict=True):
            hand = {"values": values, "right": 2, "log": log, "line": line}
            here = window.evaluate(
                "([hand, guess]) => llmvizSite.nearest(hand, guess)", [hand, own]
            )
            asked = Question("?", list("abcd"), 2, list("wxyz"), values=list(values))
            assert here == guess_given.nearest(asked, own, log=log, line=line), (values, own)


def test_who_is_near_a_wrong_answer_reads_which_one_its_reason_is_about(course, window):
    window.goto(f"{course.as_uri()}/attention/steps.html")
    hand = _hands(window)["0"]
    at = hand["right"] - 1
    (value,), answer = hand["values"][at], hand["answers"][at]
    window.locator(".instead .picture input.handle").evaluate(
        "(range, to) => { range.value = to; range.dispatchEvent(new Event('input')); }",
        1000 * value + 20,
    )
    window.locator(".instead .done").click()
    told = window.locator("[data-question='0'] .grade .wrong")
    expect(told).to_contain_text(f"Others would say {answer}")
    expect(told).not_to_contain_text(f"You said {answer}")


def test_a_picture_that_is_shown_without_an_answer_has_no_guess_in_it(course, window):
    window.goto(f"{course.as_uri()}/errors/memorization.html")
    for _ in range(2):
        window.locator(".show:visible").first.click()
    rows = window.locator(".covered .rows:visible .row")
    expect(rows).not_to_have_count(0)
    assert window.locator(".covered .own, .covered .ghost").count() == 0


def test_a_passage_leads_to_a_page_in_its_state_on_which_nothing_is_covered(course, window):
    window.goto(f"{course.as_uri()}/attention/steps.html")
    window.locator(".show").first.click()
    link = window.locator("button.look:not(.on)").first
    said = link.inner_text()
    asking = window.locator(".covered .label mark").first.inner_text()
    link.click()
    window.wait_for_url("**/steps.look.*.html#told")
    expect(window.locator("button.look.on", has_text=said)).to_have_count(1)
    expect(window.locator("mark").first).not_to_have_text(asking)
    assert window.locator(".covered:not([hidden]), [data-by]").count() == 0
    expect(window.locator(".rows .own")).to_have_count(0)
    link = window.locator("footer a.to-app").get_attribute("href")
    assert link is not None and link.startswith(f"{APP}/attention?part=steps&")
    before = window.url
    window.locator("button.look:not(.on)").last.click()
    window.wait_for_url(lambda url: url != before and url.endswith(".html#told"))
    expect(window.locator("button.look.on")).not_to_have_count(0)
    expect(window.locator(".show:visible")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "act", "there"),
    [
        ("look", "word=Paris&model=smollm2", "embeddings?part=lookup&word=Paris&model=smollm2"),
        ("chapter", "transformer/block", "transformer?part=block"),
        ("chapter", "transformer?part=block&text=a+b", "transformer?part=block&text=a+b"),
    ],
)
def test_what_the_site_has_no_page_for_is_linked_in_the_app(course, window, name, act, there):
    before = f"{course.as_uri()}/embeddings/lookup.html"
    window.goto(before)
    window.evaluate("([name, act]) => llmvizSite.asks(null, name, act)", [name, act])
    expect(window.locator("#told a")).to_have_attribute("href", f"{APP}/{there}")
    assert window.url == before


def test_a_title_of_the_machine_names_the_chapter_that_the_site_has_not(course, window):
    window.goto(f"{course.as_uri()}/index.html")
    window.locator("#machine-picture a.name", has_text="Scores").click()
    there = f"{APP}/sampling?part=pipeline"
    expect(window.locator("#told a")).to_have_attribute("href", there)
    expect(window.locator("#told")).to_contain_text("no page for that")


def test_a_line_that_is_drawn_is_the_answer(course, window):
    """Along the values of each answer in turn, the hand is graded as that answer."""
    for at in range(2):
        window.goto(f"{course.as_uri()}/errors/memorization.html")
        window.evaluate("localStorage.clear()")  # nothing was answered yet
        window.reload()
        hand = _hands(window)["0"]
        plot = window.locator(".instead canvas.plot").first
        plot.scroll_into_view_if_needed()
        expect(plot).to_have_attribute("role", "slider")
        low, high = (float(plot.get_attribute(f"aria-value{end}")) for end in ("min", "max"))
        for n, value in enumerate(hand["values"][at]):
            if n:
                plot.press("ArrowRight")
            plot.press("ArrowUp")
            now = float(plot.get_attribute("aria-valuenow"))
            step = (high - low) / 50
            for _ in range(round(abs(value - now) / step)):
                plot.press("ArrowUp" if value > now else "ArrowDown")
        window.locator(".instead .done").first.click()
        grade = window.locator("[data-question='0'] .grade")
        expect(grade.locator(".right" if at == hand["right"] else ".wrong")).to_have_count(1)
        expect(window.locator(".covered canvas.plot:visible")).to_have_count(1)


def test_each_part_of_a_chapter_is_a_page_that_leads_to_the_others(course, window):
    window.goto(f"{course.as_uri()}/attention/steps.html")
    said, titles = [], set()
    for at in range(len(RUNGS)):
        parts = window.locator(".parts a")
        expect(parts).to_have_count(len(RUNGS))
        parts.nth(at).click()
        expect(parts.nth(at)).to_have_attribute("aria-current", "page")
        expect(window.locator(".parts [aria-current]")).to_have_count(1)
        said.append(window.locator("main").inner_text())
        titles.add(window.title())
        link = window.locator("footer a.to-app").get_attribute("href")
        variant = list(RUNGS)[at]
        own = "" if variant == "causal" else f"&rung={variant}"
        assert link == f"{APP}/attention?part=steps{own}"
        assert window.locator("a.next").get_attribute("href") == "../errors/facts.html"
    assert len(titles) == len(set(said)) == len(RUNGS)
    begins = unmarked(words.variant_texts["heads"]).split(".")[0]
    assert [begins in one for one in said] == [variant == "heads" for variant in RUNGS]


def test_the_small_plotly_draws_what_its_list_says_and_has_the_version_of_the_whole(
    computing_browser,
):
    page = computing_browser.new_page()
    page.add_script_tag(path=CARTESIAN)
    version, kinds = page.evaluate("[Plotly.version, Object.keys(Plotly.PlotSchema.get().traces)]")
    page.close()
    assert set(kinds) == DRAWN
    assert version == get_plotlyjs_version()


def test_a_question_covers_what_it_covers_and_no_more(course, window):
    window.goto(f"{course.as_uri()}/errors/facts.html")
    held = "[...document.querySelectorAll('[data-by]')].map((one) => [one.dataset.by, one.hidden])"
    before = window.evaluate(held)
    assert {by for by, _ in before} >= {"0", "1"}
    window.locator(".show").first.click()
    for (by, was), (_, hidden) in zip(before, window.evaluate(held), strict=True):
        assert hidden == (not was if by == "0" else was)
    window.locator(".show").first.click()
    expect(window.locator(".show")).to_have_count(0)
    assert [one[1] for one in window.evaluate(held)] == [not was for _, was in before]


def test_search_finds_and_the_theme_turns(course, window):
    window.goto(f"{course.as_uri()}/errors/facts.html")
    window.locator("#search").fill("softmax")
    first = window.locator("#found a").first
    expect(first).to_be_visible()
    hrefs = [one.get_attribute("href") for one in window.locator("#found a").all()]
    assert "../glossary.html#softmax" in hrefs
    window.locator("#search").fill("")
    window.locator(".show").first.click()
    chart = window.locator("[data-chart]:visible").first
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".main-svg").first).to_be_visible()
    ink = "getComputedStyle(document.querySelector('[data-chart] .xtick text')).fill"
    before = window.evaluate(ink)
    window.locator("#theme").click()
    until(window, lambda: window.evaluate(ink) != before)
    window.reload()
    assert window.evaluate("document.documentElement.dataset.theme") == "dark"


def _texts(count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    some = ["", "a", "anna", "julia"]
    for _ in range(count - len(some)):
        some.append("".join(rng.choice(PIECES, rng.integers(1, 7))))
    return some


READ = """async ({ data, texts, limit }) => {
  const { model, tokenizer } = llmvizLive.smallModel(await llmvizSite.data(data));
  return texts.map((text) => {
    const ids = [tokenizer.end, ...tokenizer.encode(text)].slice(0, limit);
    const reader = new llmvizLive.Reader(model);
    const logits = reader.read(ids);
    const last = reader.cache.weights.map((heads) => heads.map((rows) => [...rows.at(-1)]));
    return { ids, logits: [...logits], last };
  });
}"""


@pytest.mark.parametrize("name", TEXTS)
def test_a_model_in_the_page_says_what_the_python_model_says(course, window, name):
    window.goto(f"{course.as_uri()}/home/model.html")
    window.wait_for_function("globalThis.llmvizLive")
    page = json.loads(window.locator("#page").text_content())
    (about,) = [one for one in page["live"]["models"] if one["name"] == name]
    model, tokenizer, _ = load_bundled(name)
    if about["int8"]:
        model = _in_int8(model)
    texts, limit = _texts(TEXTS[name], 0), min(model.context_length, 40)
    found = window.evaluate(READ, {"data": about["data"], "texts": texts, "limit": limit})
    for text, got in zip(texts, found, strict=True):
        ids = tokenizer.encode_from_start(text)[:limit]
        assert got["ids"] == ids, text
        with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
            logits = model(torch.tensor([ids]))[0][0, -1].numpy()
        assert np.abs(logits - np.array(got["logits"])).max() < 1e-4, text
        for layer in range(model.config.n_layer):
            weights = trace[f"blocks.{layer}.attn.weights"][0, :, -1].numpy()
            assert np.abs(weights - np.array(got["last"][layer])).max() < 1e-5
    assert {one.name for one in MODELS} == set(TEXTS)


def _in_int8(model: Any) -> Any:
    """A copy of a model whose matrices are those that their codes stand for."""
    own = deepcopy(model)
    for tensor in own.state_dict().values():
        if tensor.ndim == 2:
            tensor.copy_(dequantize(quantize(tensor, INT8)))
    return own


MACHINE = """async ({ data, text }) => {
  const { model, tokenizer } = llmvizLive.smallModel(await llmvizSite.data(data));
  const reader = new llmvizLive.Reader(model);
  reader.read([tokenizer.end, ...tokenizer.encode("another text")]);  // of which nothing stays
  reader.read([tokenizer.end, ...tokenizer.encode(text)]);
  const values = Object.entries(llmvizLive.machineValues(reader, (id) => `${id}`));
  return Object.fromEntries(values.map(([name, one]) => [name, [one.shape, [...one]]]));
}"""


def test_words_are_cut_as_llmviz_cuts_them(course, window):
    window.goto(f"{course.as_uri()}/home/model.html")
    window.wait_for_function("globalThis.llmvizLive")
    odd = ["l’eau d'or '' a'b'c", "a_b ½ ² ४५ ٤ Ⅷ", "e\u0301x a\u200db \u00ad", "a\u2028b\x85\r\nc"]
    texts = [*odd, *_texts(40, 4)]
    got = window.evaluate("(texts) => texts.map(llmvizLive.words)", texts)
    assert got == [WordTokenizer.split(text) for text in texts]


@pytest.mark.parametrize("text", ["", "Once Anna and Samir met at the market"])
def test_the_machine_in_the_page_draws_the_numbers_of_llmviz(course, window, text):
    window.goto(f"{course.as_uri()}/home/model.html")
    window.wait_for_function("globalThis.llmvizLive")
    (about,) = (
        one
        for one in json.loads(window.locator("#page").text_content())["live"]["models"]
        if one["name"] == "tiny-world-char"
    )
    model, tokenizer, _ = load_bundled(about["name"])
    reading = read(model, tokenizer.encode_from_start(text))
    got = window.evaluate(MACHINE, {"data": about["data"], "text": text})
    assert got.pop("top_texts")[1][0] == [str(one) for one in reading.top_ids[0]]
    assert set(got) == set(MachineValues.__dataclass_fields__) - {"top_texts"}
    for name, (shape, numbers) in got.items():
        array = getattr(reading, name)
        assert shape == list(array.shape), name
        assert np.allclose(array.reshape(-1), numbers, atol=1e-4), name


# A clock on which every look takes 20 ms; counts the tasks in which lines of a picture are made.
SLOW = """() => {
  const now = performance.now.bind(performance);
  const make = document.createElementNS.bind(document);
  let [looks, seen] = [0, false];
  performance.now = () => now() + 20 * ++looks;
  globalThis.tasks = 0;
  document.createElementNS = (...given) => {
    if (!seen) setTimeout(() => (seen = false));
    if (!seen) tasks++;
    seen = true;
    return make(...given);
  };
}"""


def test_drawing_the_machine_gives_the_page_its_turn_after_every_layer(course, window):
    window.goto(f"{course.as_uri()}/home/model.html")
    field, drawn = window.locator("#live-text"), window.locator("#live-machine .machine")
    until(window, lambda: field.input_value() == MODELS[0].text)

    def picture(text):
        field.fill(text)
        expect(drawn.locator(".chip:not(.special, .ghost)")).to_have_count(len(text))
        html = drawn.inner_html()
        assert html.count('class="strand') == (len(text) + 1) * (2 * layers + 2)
        return re.sub(r"machine-\d+", "", html)

    layers = drawn.locator(".panel").count()
    assert layers > 1
    at_once = picture("many")
    picture("ma")
    window.evaluate(SLOW)
    assert picture("many") == at_once
    assert window.evaluate("tasks") > layers


def test_the_machine_writes_what_its_button_says(course, window):
    window.goto(f"{course.as_uri()}/home/model.html")
    field = window.locator("#live-text")
    until(window, lambda: field.input_value() == MODELS[0].text)
    field.fill("m")
    button = window.locator("#live-machine button", has_text="Write").first
    said = button.inner_text().split()[-1]
    button.click()
    expect(window.locator("#live-written")).to_have_text(f"m{said}")
    expect(window.locator("#live-drawn")).to_contain_text(f"{said} was the most probable token")


def test_the_sampler_in_the_page_is_the_one_of_llmviz(course, window):
    window.goto(f"{course.as_uri()}/home/model.html")
    window.wait_for_function("globalThis.llmvizLive")
    rng = np.random.default_rng(1)
    for _ in range(60):
        logits = np.round(rng.normal(0, 3, 40), rng.integers(0, 3))  # with ties
        known = {
            "temperature": float(rng.choice([0, 0.3, 1, 1.7])),
            "top_k": int(rng.integers(1, 41)),
            "top_p": float(rng.choice([0.05, 0.5, 0.9, 1.0])),
        }
        u = float(rng.random())
        told = [logits.tolist(), {"temperature": known["temperature"]}, u]
        told[1] |= {"topK": known["top_k"], "topP": known["top_p"]}
        after, token = window.evaluate(
            """([logits, settings, u]) => {
              const after = llmvizLive.sampled(logits, settings);
              return [[...after], llmvizLive.draw(after, u)];
            }""",
            told,
        )
        steps = sampling_steps(logits, **known)
        assert np.abs(steps.probabilities - np.array(after)).max() < 1e-12
        assert steps.draw(u) == token


def test_a_text_is_read_continued_and_never_becomes_markup(course, window):
    window.goto(f"{course.as_uri()}/home/model.html")
    field = window.locator("#live-text")
    until(window, lambda: field.input_value() == MODELS[0].text)
    field.fill("<b>anna")
    expect(window.locator("#live-written")).to_have_text("<b>anna")
    assert window.locator("#live-written b, #live-cuts b").count() == 0
    window.locator("#live-temperature").fill("0")
    expect(window.locator("#live-rest")).to_contain_text("1 of 29 tokens")
    window.locator("#live-draw").click()
    expect(window.locator("#live-drawn")).to_contain_text("had 100.0 %")
    field.fill("m")
    window.locator("#live-write").click()
    expect(window.locator("#live-time")).to_contain_text("ms")
    field.fill("a" * 40)
    expect(window.locator("#live-told")).to_contain_text("at most")
    expect(window.locator("#live-draw")).to_be_disabled()
    expect(window.locator("#live-heads canvas").first).to_be_visible()
    field.fill("")
    expect(window.locator("#live-draw")).to_be_enabled()
    assert "NaN" not in window.locator("main").inner_text()


def test_steps_on_typed_numbers_are_those_of_llmviz(course, window):
    window.goto(f"{course.as_uri()}/home/parts.html")
    window.wait_for_function("globalThis.llmvizSteps")
    for text in _texts(12, 2):
        steps = window.evaluate("(text) => llmvizSteps.learned(text, 25).steps", text)
        pairs = [(list(one.pair), one.count, one.corpus_length_after) for one in _merges(text)]
        assert [(one["pair"], one["count"], one["length"]) for one in steps] == pairs
    rng = np.random.default_rng(3)
    q, k, v = (torch.tensor(rng.normal(size=(4, 3))) for _ in range(3))
    for causal in (True, False):
        told = [q.tolist(), k.tolist(), v.tolist(), causal]
        got = window.evaluate("(given) => llmvizSteps.attention(...given)", told)
        steps = attention(q, k, v, causal_mask(4) if causal else None)
        for name in ("scores", "scaled", "weights", "output"):
            assert np.allclose(got[name], getattr(steps, name), atol=1e-12), name
    a, b = rng.normal(size=(2, 5))
    assert np.isclose(
        window.evaluate("([a, b]) => llmvizSteps.cosine(a, b)", [list(a), list(b)]), cosine(a, b)
    )


def test_wrong_numbers_are_answered_and_texts_stay_texts(course, window):
    window.goto(f"{course.as_uri()}/home/parts.html")
    wrong, shown = window.locator("#parts-wrong"), window.locator("#parts-steps-of-attention table")
    expect(shown).to_have_count(5)
    for text, said in (
        ("1 x", "is not a number"),
        ("1 2\n3", "differ"),
        ("", "no row"),
        ("1", "columns"),
    ):
        window.locator("#parts-q").fill(text)
        expect(wrong).to_contain_text(said)
        expect(shown).to_have_count(0)
    window.locator("#parts-a").fill("0 0")
    window.locator("#parts-b").fill("1 2")
    expect(window.locator("#parts-compared")).to_contain_text("no direction")
    for text in ("", "<b>aa</b> <b>aa</b>", "🙂🙂🙂", "\ud800"):
        window.locator("#parts-text").evaluate(
            "(node, text) => { node.value = text; node.dispatchEvent(new Event('input')); }", text
        )
        assert window.locator("#parts-pieces b, #parts-steps b").count() == 0
    assert "NaN" not in window.locator("main").inner_text()


def _merges(text: str) -> list[Any]:
    return list(train_steps(text, 256 + 1 + 25)) if text else []
