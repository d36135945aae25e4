"""The lesson on words under a hand: the lattice plays and opens, cells are clicked, tags change."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from llmviz.corpus.roles import TAGS
from llmviz.course.lessons.language.tags import words
from tests.browser.test_tokenization import wait_for_address

# What lies at the left edge of a grid, beside the name of its first row, once it is scrolled.
AT_THE_EDGE = """(frame) => {
  frame.scrollLeft = 100;
  const name = frame.querySelector("th.row").getBoundingClientRect();
  const x = frame.getBoundingClientRect().left + 1;
  return frame.getRootNode().elementFromPoint(x, name.top + name.height / 2).className;
}"""
NUMBER = re.compile(r"−?\d+\.\d\d")


def numbers(text: str) -> list[float]:
    return [float(one.replace("−", "-")) for one in NUMBER.findall(text)]


def test_the_lattice_is_played_by_hand_and_its_cells_open(visit):
    visit.open("language?show=1&part=tags&sentence=Then+Anna+saw+a+saw.&column=0", ".lattice-frame")
    page = visit.page
    told = page.locator(".lattice-told")
    expect(told).to_contain_text("Then comes first")
    later = page.locator('.node[data-at="1.0"]')
    expect(later).to_have_class(re.compile("later"))
    page.get_by_label("one step on").first.click()
    expect(told).to_contain_text("Anna: each cell takes the best")
    expect(later).not_to_have_class(re.compile("later"))
    wait_for_address(page, "column", "1")
    later.click()
    wait_for_address(page, "cell", "1.0")
    ways = [numbers(line) for line in page.locator(".lattice-ways tr").all_inner_texts()[1:]]
    assert len(ways) == len(TAGS)
    assert all(abs(a + b - total) < 0.02 for a, b, total in ways)
    best = numbers(page.locator(".lattice-ways tr.best").inner_text())[-1]
    assert best == max(total for _, _, total in ways)
    head, own, score = numbers(page.locator(".lattice-total").inner_text())
    assert head == best and abs(head + own - score) < 0.02
    later.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_address(page, "cell", "1.1")
    linked = page.url
    page.goto("about:blank")
    page.goto(linked)  # the link holds the step and the cell
    expect(page.locator('.node[data-at="1.1"]')).to_have_class(re.compile("chosen"))
    expect(page.locator(".lattice-told")).to_contain_text("Anna")
    visit.assert_clean()


def test_counts_are_written_as_whole_numbers_and_a_word_has_no_id(visit):
    visit.open("language?show=1&part=counts&text=the+cat+saw+the+dog&weighed=idf.0.0", ".chip")
    page = visit.page
    page.locator(".chip").first.hover()
    card = page.locator(".card:not([hidden])")
    expect(card).to_contain_text("count2")
    expect(card).not_to_contain_text("id")
    scales = page.locator(".scale")
    expect(scales.first).to_have_text("02count")  # of the words
    expect(scales.nth(1)).to_have_text("02")  # of tf
    expect(page.locator(".sum.num")).to_have_text("idf(1) = 0.0000")  # of df
    visit.assert_clean()


def test_a_cell_of_the_stemmer_opens_its_rule(visit):
    visit.open("language?show=1&part=stems&forms=relational+feed", ".cells")
    page = visit.page
    expect(page.get_by_text("ATIONAL → ATE").first).to_be_visible()
    page.locator('td[data-at="2.1"]').first.click()
    wait_for_address(page, "rule", "1.2")
    expect(page.get_by_text("does not hold, so nothing changes")).to_be_visible()
    visit.assert_clean()


def test_a_tag_that_is_changed_changes_both_scores(visit):
    visit.open("language?show=1&part=tags&story=1", ".cells")
    page = visit.page
    names = page.get_by_role("grid", name=words.name_grid)
    scores = page.get_by_text(re.compile(r"^\d+ ÷ \d+$"))
    before = scores.all_inner_texts()
    word = names.locator("td", has_text="I-PERSON").last
    place = word.get_attribute("data-at").split(".")[1]
    word.click()
    wait_for_address(page, "nword", place)
    page.get_by_role("radio", name="O", exact=True).click()
    wait_for_address(page, "changed", f"{place}.O")
    visit.settle()
    after = scores.all_inner_texts()
    right = [[int(texts[at].split()[0]) for at in (0, 3)] for texts in (before, after)]
    assert [a - b for a, b in zip(*right, strict=True)] == [1, 1]
    page.get_by_role("button", name=words.undo).click()
    expect(scores.first).to_have_text(before[0])
    frame = page.locator(".cells-frame", has=names)
    frame.scroll_into_view_if_needed()
    assert frame.evaluate(AT_THE_EDGE) == "row"
    visit.assert_clean()
