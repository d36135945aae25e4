"""What a class answers: counted once for each who answers, gone with the class, saved as CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from llmviz.course.ui import class_answers
from llmviz.course.ui.class_answers import HEAD, MOST, ClassAnswers, name_of, who_of
from llmviz.course.ui.classes import MINUTE, Classes, Refused
from llmviz.course.ui.origin import Origin
from llmviz.training import locks
from tests.course.ui.test_classes import ANN, BOB, HERE

TEXT, ANSWERS = "=SUM(A1) <b>which</b>?", ["-1", 'two,\n"three"', "한"]
NAME = name_of(TEXT, ANSWERS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(votes=some.lists(some.tuples(some.integers(0, 5), some.integers(-1, 3)), max_size=12))
def test_the_last_answer_of_each_counts(classes, votes):
    """Also those that came before the question was asked; answers that there are not are none."""
    one = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    for who, answer in votes:
        thought.give(one, str(who), NAME, answer, [answer / 3] if answer else [])
    asked = thought.ask(one, TEXT, ANSWERS, 1)
    last = Counter(dict(votes).values())
    assert asked.counts() == [last[index] for index in range(3)]
    set_there = {str(who): answer / 3 for who, answer in dict(votes).items() if answer}
    assert {who: mark for who, (mark,) in asked.marks.items()} == pytest.approx(set_there, rel=1e-3)
    assert ClassAnswers(Classes()).of(one)[NAME] == asked
    classes.end(one.code, "w")


def test_a_table_has_the_texts_as_they_are_and_no_formula(classes):
    one = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    thought.ask(one, "nobody answered this", ["a", "b"], 0)
    thought.ask(one, TEXT, ANSWERS, 1)
    thought.give(one, "x", NAME, 1)
    rows = list(csv.reader(io.StringIO(thought.table(one), newline="")))
    assert rows == [
        list(HEAD),
        ["'" + TEXT, "'-1", "0", "0"],
        ["'" + TEXT, ANSWERS[1], "1", "1"],
        ["'" + TEXT, "한", "0", "0"],
    ]


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script> **b** {x} [a](http://b)", "한국어 👩‍🚀 עברית", "=1+1", '"a",b'],
)
def test_own_words_come_back_as_they_were_and_are_no_formula(classes, text):
    one = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    thought.say(one, "x", NAME, "first thought")
    thought.say(one, "x", NAME, f" {text}\n")  # of one's words the last ones count
    thought.say(one, "y", NAME, "taken back")
    thought.say(one, "y", NAME, " \n")
    asked = thought.ask(one, TEXT, ANSWERS, 1)
    assert asked.own_words == {"x": text, "y": ""} and asked.counts() == [0, 0, 0]
    last = list(csv.reader(io.StringIO(thought.table(one), newline="")))[-1]
    assert last == ["'" + TEXT, ("'" if text[0] == "=" else "") + text, "", "1"]


def test_own_words_are_short_whole_and_gone_with_the_class(classes):
    one = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    thought.ask(one, TEXT, ANSWERS, 1)
    thought.say(one, "x", NAME, "한" * 10_000)
    thought.say(one, "y", NAME, "half \ud83d of a character\nnext line")
    said = ClassAnswers(Classes()).of(one)[NAME].own_words
    assert said["x"] == "한" * MOST and said["y"] == "half \ufffd of a character next line"
    classes.end(one.code, "w")
    thought.say(one, "x", NAME, "too late")
    assert thought.of(one) == {} and not list(classes.path(one.code).parent.iterdir())


def test_who_answers_is_another_one_in_each_class():
    assert who_of(ANN, "k") == who_of(ANN, "k")
    assert len({who_of(ANN, "k"), who_of(BOB, "k"), who_of(ANN, "l")}) == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(
    said=some.lists(
        some.tuples(some.integers(0, 1), some.integers(0, 5), some.text(max_size=90)), max_size=60
    )
)
def test_in_a_full_file_stays_what_counts_whichever_process_writes(classes, monkeypatch, said):
    monkeypatch.setenv("LLMVIZ_CLASS_KB", "2")
    group = classes.open(ANN, "w", HERE)
    processes = [ClassAnswers(classes), ClassAnswers(Classes(classes._now))]
    processes[0].ask(group, TEXT, ANSWERS, 1)
    noted: dict[str, str] = {}
    for process, who, text in said:
        with suppress(Refused):
            processes[process].say(group, str(who), NAME, text)
            noted[str(who)] = " ".join(
                text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split()
            )
        for reader in (*processes, ClassAnswers(Classes(classes._now))):
            assert reader.of(group)[NAME].own_words == noted
        assert classes.path(group.code).with_suffix(".jsonl").stat().st_size <= 2000
    classes.end(group.code, "w")


def test_who_writes_much_takes_nobody_elses_room(classes, monkeypatch):
    """Own words that change have the room of the last ones, and a follower has a limit of it."""
    monkeypatch.setenv("LLMVIZ_CLASS_KB", "20")
    monkeypatch.setenv("LLMVIZ_FOLLOWER_KB", "5")
    group = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    thought.ask(group, TEXT, ANSWERS, 1)
    for number in range(99):
        thought.say(group, "x", NAME, f"{number}" + "👩" * MOST)
    with pytest.raises(Refused, match="answers_mine") as refused:
        for number in range(99):
            thought.say(group, "x", name_of(TEXT, [str(number)]), "👩" * MOST)
    assert refused.value.count == 5 and not thought.is_full(group)
    thought.say(group, "x", NAME, "less")
    thought.give(group, "y", NAME, 1)
    asked = thought.of(group)[NAME]
    assert asked.own_words == {"x": "less"} and asked.given == {"y": 1}


def test_of_an_address_so_many_followers_count_whichever_process_they_come_to(classes, monkeypatch):
    """With a cookie of its own each; who has answered goes on, also at another address."""
    monkeypatch.setenv("LLMVIZ_ADDRESS_FOLLOWERS", "3")
    group = classes.open(ANN, "w", HERE)
    processes = [ClassAnswers(classes), ClassAnswers(Classes(classes._now))]
    processes[0].ask(group, TEXT, ANSWERS, 1)

    def answer(number: int, address: str, choice: int = 0) -> None:
        who = who_of(str(number), group.key, address)
        processes[number % 2].give(group, who, NAME, choice)
        processes[number % 2].say(group, who, NAME, "because")

    def said() -> tuple[list[int], int]:
        asked = processes[0].of(group)[NAME]
        return asked.counts(), len(asked.own_words)

    for number in range(50):
        assert processes[1].is_crowded(group) == (number >= 3)
        with suppress(Refused) if number < 3 else pytest.raises(Refused, match="answers_address"):
            answer(number, "10.0.0.1")
    assert said() == ([3, 0, 0], 3)
    answer(1, "10.0.0.1", 2)
    answer(2, "192.168.1.9", 2)  # who goes home is no second one, and leaves a place
    assert said() == ([1, 0, 2], 3)
    answer(4, "10.0.0.1")
    for number in range(50, 53):
        answer(number, "10.0.0.2")
    for number in range(60, 70):  # at the server's own machine, or where no address is known
        answer(number, "")
    assert said() == ([15, 0, 2], 17)
    text = classes.path(group.code).with_suffix(".jsonl").read_text("utf-8")
    assert "10.0.0" not in text


def test_what_was_written_in_part_spoils_nothing_that_comes_after(classes):
    group = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    thought.ask(group, TEXT, ANSWERS, 1)
    with classes.path(group.code).with_suffix(".jsonl").open("ab") as file:
        file.write(b'["n", "w')  # its process was ended, or the disk was full
    thought.give(group, "x", NAME, 2)
    assert ClassAnswers(Classes()).of(group)[NAME].given == {"x": 2}


def test_a_process_that_is_held_while_it_writes_holds_nobody_for_long(classes, monkeypatch):
    monkeypatch.setattr(class_answers, "_PATIENCE", 0.01)
    group = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    with classes.path(group.code).with_suffix(".lock").open("ab") as file:
        assert locks.lock(file)
        with pytest.raises(Refused, match="answers_later"):
            thought.give(group, "x", NAME, 0)
    thought.give(group, "x", NAME, 0)


def test_nothing_is_noted_after_the_end_nor_beyond_the_limit(classes, clock, monkeypatch):
    monkeypatch.setenv("LLMVIZ_CLASS_KB", "2")
    one = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    thought.ask(one, TEXT, ANSWERS, 1)
    with pytest.raises(Refused, match="answers_all"):
        for number in range(500):
            thought.give(one, str(number), NAME, 0)
    path = classes.path(one.code).with_suffix(".jsonl")
    assert 1900 < path.stat().st_size <= 2000
    assert thought.is_full(one)
    assert thought.ask(one, "too late", ["x" * 10_000], 0).counts() == [0]
    thought.give(one, "0", NAME, 2)  # whoever has answered may think better of it
    assert thought.of(one)[NAME].given["0"] == 2
    clock.time += 121 * MINUTE
    assert classes.find(one.code) is None and not path.exists()
    thought.give(one, "x", NAME, 0)
    assert not path.exists() and thought.of(one) == {}
    path.write_text("left behind by an answer that came while the class ended", "utf-8")
    classes.open(BOB, "w", Origin("10.0.0.2"))
    assert not path.exists()


@pytest.mark.parametrize(
    "junk", [b"\xff\xfe\n", b"{\n", b'["a"]\n', b"[1, 2, 3]\n", b'["n", "w", "0"]\n']
)
def test_a_line_that_says_nothing_is_passed_over(classes, junk):
    one = classes.open(ANN, "w", HERE)
    thought = ClassAnswers(classes)
    thought.ask(one, TEXT, ANSWERS, 1)
    with classes.path(one.code).with_suffix(".jsonl").open("ab") as file:
        file.write(junk)
    thought.give(one, "x", NAME, 2)
    assert thought.of(one)[NAME].counts() == [0, 0, 1]
