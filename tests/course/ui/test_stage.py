"""Looks: links of a document that put the page into a state, checked when the server starts."""

import pytest

from llmviz.course.document.check import Names, check
from llmviz.course.document.marks import as_markdown, looks, marked, unmarked
from llmviz.course.document.read import DocumentError
from llmviz.course.ui import guess_given
from tests.pages.harness import fine, open_part, sent

DOCUMENT = "---\ntitle: A\n---\n\nlooks\n:   - At [a step]({look}) it is known.\n"


def take(control: str, written: str) -> float:
    """Read a control of a page that has one, `step`."""
    return {"step": float}[control](written)


def checked(tmp_path, look):
    path = tmp_path / "chapter.md"
    path.write_text(DOCUMENT.replace("{look}", look), "utf-8")
    (tmp_path / "code.py").write_text("words.looks\nknown(at=1)\n", "utf-8")
    check(path, Names([tmp_path / "code.py"]), take)


@pytest.mark.parametrize("look", ["look: step=3", "look: step={at}", "look: step=1&step=2"])
def test_a_look_that_leads_somewhere_is_taken(look, tmp_path):
    checked(tmp_path, look)


@pytest.mark.parametrize("look", ["look: stop=3", "look: step=here", "look: step=3&heat=1"])
def test_a_look_that_leads_nowhere_is_refused_with_its_line(look, tmp_path):
    with pytest.raises(DocumentError, match=r"line 5: no look leads to"):
        checked(tmp_path, look)


def test_a_look_with_a_space_in_its_link_is_refused_and_not_shown_as_it_is_written(tmp_path):
    with pytest.raises(DocumentError, match=r"line 5: a look cannot be read"):
        checked(tmp_path, "look: step=3 and=4")


def test_a_look_is_plain_text_where_nothing_can_be_pressed():
    text = marked("At [a **b**](look: t=0.2&k=3) and [[token|tokens]].")
    assert unmarked(text) == "At a b and tokens." and as_markdown(text) == "At a **b** and tokens."
    assert looks(text)[1] == ("a b", "t=0.2&k=3")
    assert marked("[x](y)") == "[x](y)"  # other links are none


def test_the_look_at_which_a_page_is_stands_out():
    app = open_part("sampling", "temperature", temperature="0.2", show="1")
    fine(app)
    pieces = [piece for passage in sent(app, "looks")["passages"] for piece in passage if piece[1]]
    assert [on for _, look, on in pieces] == [look == "temperature=0.2" for _, look, _ in pieces]
    assert len(pieces) >= 3


def test_the_picture_is_there_before_the_answer_and_holds_back_what_would_tell(monkeypatch):
    monkeypatch.setattr(guess_given, "COVERS", True)
    app = open_part("sampling", "temperature")
    whole = open_part("sampling", "temperature", show="1")
    before, after = sent(app, "softmax_view"), sent(whole, "softmax_view")
    assert min(before["stops"][:-1]) == 1 and min(after["stops"][:-1]) == 0
    assert before["names"] == after["names"]
