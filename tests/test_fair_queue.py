"""The queue: visitors who had fewer turns come first, also when runs change hands or names."""

from llmviz.fair_queue import FairQueue


def queue(*runs):
    """Runs named by their owner and a number: the run a2 is a's."""
    waiting = FairQueue()
    for run in runs:
        waiting.add(run, run[0])
    return waiting


def taken(waiting):
    return [waiting.take() for _ in range(len(waiting))]


def test_owners_take_turns_and_the_first_come_is_first():
    waiting = queue("a1", "a2", "a3", "b1", "c1", "b2")
    expected = ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert list(waiting.order()) == expected == taken(waiting)
    waiting.add("b3", "b")
    waiting.add("c2", "c")
    waiting.add("a4", "a")
    assert taken(waiting) == ["c2", "b3", "a4"]  # a had three turns, b two, c one


def test_who_stands_for_two_had_the_turns_of_both():
    waiting = queue("a1", "a2", "b1", "b2", "c1")
    assert taken(waiting) == ["a1", "b1", "c1", "a2", "b2"]
    waiting.hand_over("a", "b")
    for run in ("b3", "a3", "c2", "c3", "c4", "c5"):
        waiting.add(run, run[0])
    # b had four turns, c one and a none
    assert taken(waiting) == ["a3", "c2", "c3", "c4", "b3", "c5"]


def test_what_waits_goes_along_and_a_stranger_brings_no_turns():
    waiting = queue("a1", "a2", "b1", "b2")
    assert waiting.take() == "a1"
    waiting.hand_over("a", "d")
    waiting.hand_over("nobody", "b")
    assert taken(waiting) == ["b1", "a2", "b2"]


def test_a_run_keeps_its_place_under_another_name_and_leaves_only_itself():
    waiting = queue("a1", "b1", "a2")
    waiting.rename("b1", "kept")
    waiting.remove("a1")
    waiting.remove("never there")
    assert "kept" in waiting and "b1" not in waiting and len(waiting) == 2
    assert list(waiting.order()) == ["kept", "a2"]
    waiting.clear()
    assert not len(waiting) and list(waiting.order()) == []


def test_runs_that_were_put_first_go_before_all_others_and_take_turns_among_themselves():
    waiting = queue("a1", "b1", "b2")
    for run in ("t1", "t2", "u1"):
        waiting.add(run, run[0], first=True)
    waiting.rename("t2", "kept")
    assert list(waiting.order()) == ["t1", "u1", "kept", "a1", "b1", "b2"]
    waiting.remove("u1")
    assert taken(waiting) == ["t1", "kept", "a1", "b1", "b2"]
    waiting.add("u1", "u")  # of another visitor now
    waiting.add("a2", "a")
    assert taken(waiting) == ["u1", "a2"]
    waiting.add("t3", "t", first=True)
    waiting.clear()
    waiting.add("a3", "a")
    waiting.add("t3", "t")
    assert taken(waiting) == ["a3", "t3"]
