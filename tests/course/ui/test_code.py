"""The folds below a picture: closed at first, complete once opened."""

from streamlit.testing.v1 import AppTest

from llmviz.course.ui.code import OPENED


def _asides() -> None:
    from llmviz.course.ui import kit

    kit.measured("Three seeds, the mean of {count} texts.", count=7)
    kit.measured("The bars are medians.")
    kit.programmers("Cut the columns, then swap the axes.", "(B, T, C)")


def _shown(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html")]


def test_an_aside_says_nothing_until_it_is_opened() -> None:
    app = AppTest.from_function(_asides).run()
    assert [fold.label for fold in app.expander] == [
        *["How this was measured"] * 2,
        "For programmers",
    ]
    assert not _shown(app)
    assert not app.code


def test_an_opened_aside_has_its_text_with_its_numbers_and_its_lines_of_code() -> None:
    app = AppTest.from_function(_asides)
    app.session_state[OPENED] = True
    app.run()
    assert not app.exception
    texts = " ".join(_shown(app))
    assert "the mean of 7 texts" in texts
    assert "medians" in texts
    assert "swap the axes" in texts
    assert app.code[0].value == "(B, T, C)"
