"""A widget's script in a real browser, called as anywidget calls it; a saved HTML of a notebook."""

from __future__ import annotations

import base64
from html import escape

from playwright.sync_api import expect

import llmviz
from tests.browser.hand import drag, frames, let_go, until

# What anywidget gives a script: a model with get, set and save_changes, and a node to draw in.
RENDER = """async ({ script, traits, messages, ground }) => {
  document.body.style.background = ground;
  const bytes = (text) => {
    const letters = atob(text);
    return new DataView(Uint8Array.from(letters, (one) => one.charCodeAt(0)).buffer);
  };
  const known = { ...traits, messages: messages.map(bytes), parts: {}, state: {} };
  const model = {
    get: (name) => known[name],
    set: (name, value) => (known[name] = value),
    save_changes: () => (window.state = known.state),
  };
  const el = document.createElement("div");
  document.body.append(el);
  const source = new Blob([script], { type: "text/javascript" });
  const widget = (await import(URL.createObjectURL(source))).default;
  window.end = await widget.render({ model, el });
}"""


def test_a_widget_draws_says_what_the_hand_sets_and_goes(visit):
    picture = llmviz.show.attention("names-gpt", "anna <b>")
    page = visit.page
    page.goto(f"{visit.url}/_stcore/health")
    messages = [base64.b64encode(one).decode() for one in picture.messages]
    told = {"script": picture._esm, "traits": {"pictures": picture.pictures}, "messages": messages}
    page.evaluate(RENDER, told | {"ground": "rgb(17, 20, 25)"})
    root = page.locator(".lv")
    expect(root).to_have_class("lv dark")  # the colour of the notebook around
    frames(page)
    heads = root.locator("canvas.heads")
    box = heads.bounding_box()
    heads.click(position={"x": 0.95 * box["width"], "y": 0.9 * box["height"]})
    until(page, lambda: page.evaluate("window.state?.chosen?.join()") == "1,3")
    assert "layer 1, head 3" in root.locator(".told").first.inner_text()
    page.evaluate("window.end()")
    assert root.count() == 0
    visit.assert_clean()


def test_a_notebook_that_was_saved_as_html_is_alive_without_a_network(browser):
    picture = llmviz.show.tokens("names-gpt", "anna <b>")
    html = picture._repr_mimebundle_()[0]["text/html"]
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(f"<title>{escape('<b>')}</title>{html}")
    inside = page.frame_locator("iframe")
    tokens = inside.locator(".tok")
    expect(tokens.first).to_be_visible()
    assert [text.split("\n")[0] for text in tokens.all_inner_texts()][-3:] == list("<b>")
    outside = "(frame) => frame.getBoundingClientRect().height"
    held = "(page) => page.getBoundingClientRect().height"  # the frame is as high as its page
    for width in (1200, 300):
        page.set_viewport_size({"width": width, "height": 800})
        frames(page)
        whole = inside.locator("html").evaluate(held)
        assert abs(page.locator("iframe").evaluate(outside) - whole) < 1
    tokens.first.hover()
    expect(inside.locator(".card")).to_be_visible()
    assert [url for url in asked if url.startswith("http")] == []
    context.close()


def test_a_sampler_on_a_page_follows_one_slider_and_says_what_it_cannot(browser, tmp_path):
    page = browser.new_context(offline=True).new_page()
    saved = llmviz.show.sampler("names-gpt", "ann").save(tmp_path / "sampler.html", "Sampling")
    page.goto(saved.as_uri())
    value = page.locator(".slide:has([aria-label='temperature']) .value")
    before = value.inner_text()
    bars = page.locator(".cell .share").all_inner_texts()
    drag(page, "temperature", 0)
    let_go(page, "temperature")
    frames(page)
    assert value.inner_text() != before and page.locator(".cell .share").all_inner_texts() != bars
    expect(page.locator("#told")).to_contain_text("one slider moves at a time")
    drag(page, "top-k", 1)
    frames(page)
    assert value.inner_text() == before  # what is drawn is always the model's own
    page.context.close()
