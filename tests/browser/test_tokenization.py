"""The lesson on tokens under a hand: typing, pointing, stepping, sharing, and hostile text."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

from playwright.sync_api import expect

from llmviz.tokenizers import get_tokenizer

BPE = get_tokenizer("bpe")
ATTACK = (
    "<script>window.stolen=1</script><img src=x onerror='window.stolen=2'>"
    "<b id=planted>x</b> [[token]] {0} $x$ ![i](http://foreign.example/i)"
)


def type_text(visit, text: str) -> None:
    """Put a text into the learner's box, as pasting does, and leave the box."""
    box = visit.page.locator("textarea").first
    box.fill(text)
    box.press("Control+Enter")


def expect_text(visit, text: str) -> None:
    """Wait until the learner's box holds this text."""
    visit.page.wait_for_function(
        "text => document.querySelector('textarea')?.value === text", arg=text
    )


def chips(page) -> list[str]:
    return page.locator(".chip .text").all_inner_texts()


def wait_for_chips(page, n: int) -> None:
    expect(page.locator(".flow").first.locator(".chip")).to_have_count(n)


def link(page) -> dict[str, str]:
    return {key: value[0] for key, value in parse_qs(urlsplit(page.url).query).items()}


def wait_for_address(page, key: str, value: str) -> None:
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get(key) == [value])


def test_chips_follow_the_text_also_a_broken_or_a_long_one_and_a_click_is_in_the_link(visit, other):
    visit.open("tokenization")
    visit.page.wait_for_selector(".chip")
    text = "the kitten and the cat"
    type_text(visit, text)
    wait_for_chips(visit.page, len(BPE.encode(text)))
    first = [BPE.decode([i]).replace(" ", "·") for i in BPE.encode(text)]
    assert chips(visit.page)[: len(first)] == first
    visit.page.locator('.tok[data-at="0,1"]').first.click()
    wait_for_address(visit.page, "token", "1")
    visit.page.get_by_text("Token 2 of").wait_for()
    # The same address in a fresh window shows the same lesson.
    other.page.goto(visit.page.url)
    other.page.wait_for_selector(".chip.selected, .tok.selected")
    wait_for_chips(other.page, len(BPE.encode(text)))
    expect_text(other, text)
    other.page.get_by_text("Token 2 of").wait_for()
    other.assert_clean()
    half_a_character_is_mended_and_said(visit)
    a_long_paste_is_cut_where_it_is_drawn(visit)
    visit.assert_clean()


def test_pointing_at_a_token_lights_the_same_characters_in_every_row(visit):
    visit.open(f"tokenization?part=compare&rows=word,char,bpe&text={quote('the kitten')}")
    row = visit.page.locator('.tok[data-at="0,1"]').first
    row.wait_for()
    row.hover()
    visit.page.locator(".letter.hot").first.wait_for()
    lit = visit.page.locator(".letter.hot").all_inner_texts()
    assert "".join(lit) == "kitten"
    lit_rows = visit.page.locator(".tok.hot").evaluate_all(
        "nodes => [...new Set(nodes.map(node => node.dataset.at.split(',')[0]))]"
    )
    assert sorted(lit_rows) == ["0", "1", "2"]
    visit.assert_clean()


def test_the_film_is_stepped_by_keyboard_and_its_step_is_in_the_link(visit):
    visit.open("tokenization?part=learn&size=300&step=5&show=1")
    scrub = visit.page.locator(".scrub").first
    scrub.wait_for()
    before = visit.page.locator(".news").inner_text()
    scrub.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("ArrowRight")
    assert visit.page.locator(".count").first.inner_text().startswith("7 /")
    assert visit.page.locator(".news").inner_text() != before
    wait_for_address(visit.page, "step", "7")
    visit.page.get_by_text("After 7 merges of").wait_for()
    visit.page.keyboard.press("ArrowLeft")
    wait_for_address(visit.page, "step", "6")
    assert visit.page.locator(".count").first.inner_text().startswith("6 /")
    visit.assert_clean()


def test_a_merge_tree_keeps_its_place_in_the_link(visit):
    visit.open("tokenization?part=merge")
    for key, merges in (("ArrowRight", "1"), ("End", "-1")):  # which means all of them
        visit.page.locator(".scrub").first.press(key)
        wait_for_address(visit.page, "merges", merges)
    visit.assert_clean()


def test_hostile_text_stays_text_in_every_chapter_and_a_control_reruns_only_its_chapter(visit):
    page, attack = visit.page, quote(ATTACK)
    visit.open(
        f"tokenization?part=cut&show=1&text={attack}&follow={attack}&word={attack}"
        "&corpus=text&sample=own"
    )
    text_stays_text(visit)
    for chapter in ("Learn", "Compare"):
        page.get_by_role("radio", name=chapter, exact=True).click()
        wait_for_address(page, "part", chapter.lower())
        text_stays_text(visit)
    a_control_of_a_chapter_reruns_only_the_chapter(page)
    page.get_by_role("radio", name="Merge", exact=True).click()
    wait_for_address(page, "part", "merge")
    text_stays_text(visit)
    visit.open(f"training?part=loss&show=1&sentence={attack}")
    text_stays_text(visit)
    page.locator("[data-window='2']").click()  # it keeps its place in the link
    wait_for_address(page, "window", "2")
    visit.assert_clean()


def text_stays_text(visit):
    visit.page.wait_for_selector(".lv > *:not([hidden])")
    visit.settle()
    expect_text(visit, ATTACK)
    assert visit.page.evaluate("window.stolen") is None, visit.page.url
    assert visit.page.locator("#planted").count() == 0, visit.page.url
    assert visit.page.locator("img[src=x]").count() == 0, visit.page.url
    visit.assert_clean()


def a_control_of_a_chapter_reruns_only_the_chapter(page):
    page.evaluate("document.querySelector('h1').dataset.mark = 'kept'")
    page.get_by_role("radio", name="한국어").click()
    wait_for_address(page, "sample", "hangul")
    assert page.evaluate("document.querySelector('h1').dataset.mark") == "kept"


def half_a_character_is_mended_and_said(visit):
    visit.page.wait_for_selector(".lv .line", state="attached")
    visit.page.evaluate(
        """() => {
          const box = document.querySelector('textarea');
          const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set;
          set.call(box, 'a\\ud800b\\u0000c 🙂');
          box.dispatchEvent(new Event('input', { bubbles: true }));
        }"""
    )
    visit.page.locator("textarea").first.press("Control+Enter")
    mended = "a\ufffdb\x00c 🙂"
    wait_for_chips(visit.page, len(BPE.encode(mended)))
    expect_text(visit, mended)
    visit.page.get_by_text("half of a character").wait_for()
    assert link(visit.page)["text"] == mended


def a_long_paste_is_cut_where_it_is_drawn(visit):
    text = "The cat sat on the mat. " * 10_000
    type_text(visit, text)
    visit.page.get_by_text("looks at the first 10,000").wait_for()
    expect_text(visit, text)


def test_a_look_of_a_later_section_stays_at_the_picture_of_that_section(visit):
    visit.open("tokenization?part=compare&show=1", ".look")
    page = visit.page
    head = page.get_by_role("heading", name="Why does one smiley cost four tokens?")
    stage = page.locator("[class*='st-key-lv-stage-compare']")
    for look, there, gone in (("Two é", head, stage), ("letters alone", stage, head)):
        page.get_by_role("button", name=look).click()
        visit.settle()
        expect(there).to_be_in_viewport()
        expect(gone).not_to_be_in_viewport()
    visit.assert_clean()
