"""Reading a learner's file: what is good comes back, what is not is refused in one line."""

import pytest

from llmviz.textfile import check_text, read_text_file, whole_number


def test_a_good_file_comes_back(tmp_path):
    path = tmp_path / "story.txt"
    path.write_bytes("\ufeffOne é\r\ntwo 🙂\n".encode())
    assert read_text_file(path) == read_text_file(path.read_bytes()) == "One é\ntwo 🙂\n"
    assert read_text_file(str(path)) == "One é\ntwo 🙂\n"
    assert read_text_file(b"") == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("é".encode("latin-1"), "not UTF-8: byte 0xE9 at byte 0"),
        ("text".encode("utf-16"), "UTF-16"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "looks binary"),
        (b"x" * 101, "is 101 bytes; the limit is 100 bytes"),
        ("\ud800".encode("utf-8", "surrogatepass"), "not UTF-8"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(data, message, tmp_path):
    (tmp_path / "bad.txt").write_bytes(data)
    for source in (data, tmp_path / "bad.txt"):
        with pytest.raises(ValueError, match=message) as caught:
            read_text_file(source, limit_bytes=100)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"none\.txt cannot be read"):
        read_text_file(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="cannot be read"):
        read_text_file(tmp_path)


def test_checking_a_text_returns_it():
    for text in ("", "plain", "é🙂\x00\uffff"):
        assert check_text(text) is text
    with pytest.raises(ValueError, match=r"lone surrogate \(U\+DC00\) at character 1"):
        check_text("a\udc00b")
    with pytest.raises(ValueError, match="must be a string; got int"):
        check_text(5)


@pytest.mark.parametrize("text", ["", "-1", "+1", "1.0", " 1", "1_0", "²", "٣", "1²", "1" * 10])
def test_what_is_no_short_row_of_digits_is_no_whole_number(text):
    assert whole_number(text) is None


@pytest.mark.parametrize("text", ["0", "7", "007", "999999999"])
def test_a_short_row_of_digits_is_a_whole_number(text):
    assert whole_number(text) == int(text)
