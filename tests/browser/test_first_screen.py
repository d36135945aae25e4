"""What stands on the first screen of the chapters that begin with their picture."""

import pytest
from playwright.sync_api import expect

from benchmarks.first_screen import PHONE, WIDE, screen_of

DONE = [
    "language?part=probing",
    "language?part=lemmas",
    "language?part=stems",
    "language?part=names",
    "language?part=counts",
    "language?part=tags",
    "finetuning?part=instructions",
    "finetuning?part=fewshot",
    "finetuning?part=stages",
    "finetuning?part=preferences",
    "finetuning?part=lora",
    "finetuning?part=classifier",
    "errors?part=chance",
    "errors?part=causes",
    "errors?part=letters",
    "errors?part=asked",
    "errors?part=people",
    "errors?part=calibration",
    "errors?part=facts",
    "errors?part=memorization",
    "sampling?part=temperature",
    "training?part=loss",
    "sampling?part=dice",
    "sampling?part=writing",
    "sampling?part=pipeline",
    "discoveries?part=grokking",
    "discoveries?part=induction",
    "discoveries?part=superposition",
    "discoveries?part=features",
    "discoveries?part=steering",
    "discoveries?part=circuit",
    "discoveries?part=own",
    "discoveries?part=scaling",
    "tokenization?part=cut",
    "tokenization?part=compare",
    "tokenization?part=learn",
    "tokenization?part=wordpiece",
    "tokenization?part=merge",
    "training?part=windows",
    "tokenization?part=bytes",
    "embeddings?part=similarity",
    "embeddings?part=positions",
    "embeddings?part=ways",
    "embeddings?part=sums",
    "embeddings?part=lookup",
    "embeddings?part=word2vec",
    "transformer?part=context",
    "embeddings?part=maps",
    "training?part=overfitting",
    "training?part=curves",
    "attention?part=masks",
    "training?part=step",
    "training?part=race",
    "training?part=runs",
    "history?part=memory",
    "history?part=counting",
    "history?part=mlp",
    "history?part=series",
    "history?part=wavenet",
    "history?part=where",
    "history?part=recurrent",
    "attention?part=heads",
    "attention?part=scale",
    "attention?part=cross",
    "history?part=all",
    "attention?part=why",
    "attention?part=trained",
    "attention?part=steps",
    "transformer?part=residuals",
    "transformer?part=count",
    "transformer?part=patching",
    "transformer?part=stream",
    "transformer?part=since",
    "transformer?part=masked",
    "transformer?part=halves",
    "transformer?part=units",
    "reasoning?part=best_of_n",
    "reasoning?part=reward_hacking",
    "reasoning?part=bandit",
    "reasoning?part=conversation",
    "reasoning?part=preference",
    "reasoning?part=retrieval",
    "reasoning?part=reinforce",
    "reasoning?part=tools",
    "reasoning?part=trust",
    "reasoning?part=distillation",
    "reasoning?part=chain_of_thought",
    "transformer?part=block",
    "training?part=descent",
    "training?part=optimizers",
    "training?part=backprop",
    "sampling?part=knows",
    "sampling?part=loop",
    "sampling?part=beam",
    "efficiency?part=bits",
    "efficiency?part=quantization",
    "efficiency?part=cache",
    "efficiency?part=serving",
    "efficiency?part=flash",
    "efficiency?part=systems",
    "efficiency?part=parallel",
    "efficiency?part=memory",
    "efficiency?part=speculative",
]


@pytest.mark.parametrize("chapter", DONE)
@pytest.mark.parametrize(("size", "begins", "seen"), [(WIDE, 330, 300), (PHONE, 400, 200)])
def test_a_chapter_begins_with_its_picture(visit, chapter, size, begins, seen):
    visit.page.set_viewport_size(size)
    visit.open(chapter)
    found = screen_of(visit.page)
    assert found.top <= begins and found.in_view >= seen and found.words <= 60


def test_a_look_changes_the_picture_and_the_link(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("sampling?part=temperature&temperature=2")
    visit.page.get_by_text("Show me without an answer").first.click()
    look = visit.page.get_by_role("button", name="T = 0.2")
    look.click()
    visit.page.wait_for_function("location.search.includes('temperature=0.2')")
    expect(visit.page.locator(".value.num")).to_have_text("0.20")
    expect(visit.page.locator("button.look.on")).to_have_count(1)


IN_VIEW = """() => {
    const box = document.querySelector("[class*='st-key-lv-st']").getBoundingClientRect();
    return Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
}"""


@pytest.mark.parametrize("size", [WIDE, PHONE])
@pytest.mark.parametrize("chapter", ["sampling?part=temperature", "discoveries?part=grokking"])
def test_the_picture_is_in_view_when_a_look_was_clicked(visit, chapter, size):
    """A small picture stays there on a wide page; else the page comes back to it."""
    page = visit.page
    page.set_viewport_size(size)
    visit.open(f"{chapter}&show=1")
    look = page.locator("button.look").nth(1)
    look.evaluate("node => node.scrollIntoView({ block: 'center' })")
    if "temperature" in chapter and size == WIDE:
        assert page.evaluate(IN_VIEW) > 300
    look.click()
    page.wait_for_function(f"() => ({IN_VIEW})() > 200")


def test_a_guess_is_dragged_on_the_picture_or_set_by_keys_and_what_is_true_stands_beside_it(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("tokenization?part=cut")
    handle = visit.page.locator("input.handle")
    done = visit.page.locator("button.done")
    expect(done).to_be_disabled()
    handle.focus()
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
    expect(done).to_be_enabled()
    box = handle.bounding_box()
    middle = box["y"] + box["height"] / 2
    visit.page.mouse.move(box["x"] + box["width"] / 2, middle)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.9, middle, steps=4)
    visit.page.mouse.up()
    done.click()
    expect(visit.page.get_by_text("You said")).to_be_visible()
    expect(handle).to_have_count(0)
    expect(visit.page.locator(".own")).to_have_count(1)
    expect(visit.page.locator(".row .bar")).to_have_count(2)


def test_a_guess_is_a_click_on_a_cell_of_the_row_that_asks(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("attention?part=masks&letters=amina")
    cells = visit.page.locator("canvas.heat").first
    cells.focus()
    for key in ["Home", *["ArrowDown"] * 3, *["ArrowRight"] * 4]:  # row 3 guesses column 4
        visit.page.keyboard.press(key)
    visit.page.keyboard.press("Enter")
    expect(
        visit.page.get_by_text("You said “n”, column 4, and it is “n”, column 4.")
    ).to_be_visible()
    expect(visit.page.get_by_text("Make a mask")).to_be_visible()
