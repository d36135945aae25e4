"""Labels of the grammar, and every kind of bad line or table."""

import csv
import io
import re

import pytest

from llmviz.corpus.words import words
from llmviz.finetuning import labels
from llmviz.finetuning.labels import ENDINGS, GLAD, SORRY, Labelled, from_csv, from_lines, stories


@pytest.mark.parametrize("task", labels.TASKS)
def test_stories_have_labels_from_a_seed(task):
    some = stories(task, 60, seed=1)
    assert len(some.texts) == 60 and stories(task, 60, seed=1) == some
    assert some.texts != stories(task, 60, seed=2).texts
    assert all(count >= 2 for count in some.counts.values())


def test_the_labels_say_what_the_stories_tell():
    for text in stories("about", 200).texts:
        last = text.split(". ")[-1]
        assert labels.ending(text) == next(v for k, v in ENDINGS.items() if last.startswith(k))
        given = re.search(r" (gave|handed|lent|passed|brought|threw) the \w+ \w+ to [A-Z]", text)
        found = re.search(r" found an? \w+ \w+ \w+ (under|behind|beside|inside) the ", text)
        assert labels.about(text) == ("a gift" if given else "a find" if found else "people")
        named = re.findall(r"[A-Z]\w+", text)
        hero = next(name for name in named if name in words("names"))
        assert labels.who(text) == ("a woman" if hero in words("girls") else "a man")
        feeling = re.search(r"In the end \w+ \w+ was (\w+) and ate \w+\.$", text)
        kind = feeling and ("glad" if feeling[1] in GLAD else "sorry" * (feeling[1] in SORRY))
        assert labels.mood(text) == (kind or None)


def test_feelings_are_words_of_the_world_and_on_one_side_only():
    assert not {*GLAD} & {*SORRY}
    assert {*GLAD, *SORRY} <= {*words("feelings")}


def test_a_split_keeps_the_shares_and_every_text():
    some = stories("ending", 100)
    train, test = some.split(0.2, seed=3)
    assert sorted(train.texts + test.texts) == sorted(some.texts)
    for name, count in some.counts.items():
        assert test.counts[name] == max(1, round(0.2 * count))
    pair = Labelled.of([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    assert [part.counts for part in pair.split(0.9)] == [{"x": 1, "y": 1}] * 2


def test_fewer_texts_still_have_every_class():
    some = stories("ending", 100)
    for seed in range(5):
        part = some.first(5, seed)
        assert sorted(part.labels) == [0, 1, 2, 3, 4] and {*part.texts} <= {*some.texts}
    assert some.first(20, 3) == some.first(20, 3)
    assert len({some.first(20, seed).texts for seed in range(5)}) == 5  # other ones each time
    for count in (4, 101):
        with pytest.raises(ValueError, match="from 5, one of each label, to 100"):
            some.first(count)


def test_typed_lines():
    typed = "good: I like it, <b>much</b>\n\nbad: no: never\nbad: awful\n good : fine\n"
    some = from_lines(typed)
    assert some.names == ("bad", "good")
    assert some.texts[0] == "I like it, <b>much</b>" and some.texts[1] == "no: never"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("good: a\ngood: b", "2 to 10 different labels; got 1: 'good'"),
        ("good: a\ngood: b\nbad: c", "'bad' has 1"),
        ("", "2 to 10 different labels; got 0"),
        (f"good: a\n{'x' * 40}", f"line 2 must be `label: text`; got '{'x' * 40}'"),
        (f"good: a\n{'x' * 41}", f"line 2 must be `label: text`; got '{'x' * 40}…'"),
        ("good: a\nno label here", "line 2 must be `label: text`; got 'no label here'"),
        ("one\ngood: a\ntwo\n\nthree", "lines 1, 3 and 5 must be `label: text`; got 'one'"),
        ("good:\nbad: x", "line 1 must be"),
        (": a", "line 1 must be"),
        ("\n".join(f"l{i}: a\nl{i}: b" for i in range(11)), "2 to 10 different labels; got 11"),
        ("x" * 41 + ": a", "at most 40 characters; line 1 has 41"),
        ("good: \ud800", "lone surrogate"),
    ],
)
def test_wrong_lines_are_refused(typed, message):
    with pytest.raises(ValueError, match=message):
        from_lines(typed)


def test_a_table_with_commas_quotes_line_ends_and_markup():
    table = (
        'id,Label,text\r\n1,"sad, very",a\r\n2,"sad, very","b, ""c""\nd"\r\n3,<b>x</b>,e\r\n'
        "4,<b>x</b>,<script>f</script>\r\n,,\r\n"
    )
    some = from_csv(b"\xef\xbb\xbf" + table.encode())
    assert some.names == ("<b>x</b>", "sad, very")
    assert some.texts == ("a", 'b, "c"\nd', "e", "<script>f</script>")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_are_separated_by_commas_semicolons_or_tabs(separator):
    rows = [("text", "id", "Label"), ("a, b; c", "1", "good"), ("d\te", "2", "bad")]
    rows += [(f"{text} once more", number, label) for text, number, label in rows[1:]]
    table = io.StringIO()
    csv.writer(table, delimiter=separator).writerows(rows)
    some = from_csv(table.getvalue().encode())
    assert some.texts[:2] == ("a, b; c", "d\te") and some.counts == {"bad": 2, "good": 2}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"", "must name one column 'text' and one 'label', and it names nothing"),
        (b"text,kind\na,b\n", "must name one column 'label', and it names text, kind"),
        (b"text,text,label\na,b,c\n", "one column 'text'"),
        (b"text,label\na,b,c\n", "line 2 must have 2 cells; got 3"),
        (b"text,label\na\n", "line 2 must have 2 cells; got 1"),
        (b"text,label\na,\n", "^line 2 has no label"),
        (b"text,label\na,\nb,x\nc,\nd, \n", "^lines 2, 4 and 5 have no label"),
        (b"text,label\n" + b"a,\n" * 14, "lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 4 more have no"),
        (b"word,kind\na,b\n", "one column 'text' and one 'label', and it names word, kind"),
        (b"text,label\na,x\nb,y\nc,z\nd,z\n", "one to test; 'x' has 1, 'y' has 1"),
        (b"text;kind\na;b\n", "one column 'text' and one 'label', and it names text;kind"),
        (b"text,label\n,x\n,x\nb,y\nc,y\n", "a text must not be empty; numbers 1 and 2 are"),
        (b"text,label\na,x\n,x\nb,y\nc,y\n", "a text must not be empty; number 2 is"),
        (b'text,label\n"a,b\n', "is not CSV"),
        ("text,label\ncafé,x\n".encode("latin-1"), "not UTF-8"),
        ("text,label\na,x\n".encode("utf-16"), "UTF-16"),
        (b"text,label\n" + b"a,b\n" * 1_300_000, r"5\.0 MB; the limit is 2\.0 MB"),
        (b"text,label\n" + b"a,x\nb,y\n" * 10_001, "at most 20,000 texts; got 20,002"),
        (b"text,label\n" + b"a" * 200_000 + b",x\n", "is not CSV: field larger"),
    ],
)
def test_wrong_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        from_csv(table)


def test_an_unknown_task_and_texts_without_a_label_are_refused():
    with pytest.raises(ValueError, match="task must be one of ending, mood, about, who; got 'x'"):
        stories("x", 10)
    with pytest.raises(ValueError, match="one label; got 2 and 1"):
        Labelled(("a", "b"), (0,), ("x", "y"))
