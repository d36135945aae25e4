"""What a fragment drew is sent also where it runs again before the queue was sent."""

from __future__ import annotations

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from llmviz.course import streamlit_parts

EARLY, WHOLE = ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_SUCCESSFULLY
PART = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)  # put back at the end
    streamlit_parts.send_whole()
    return ForwardMsgQueue()


def begun(run: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.name = run
    return message


def drawn(text: str, place: list[int], fragment: str = "") -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path[:] = place
    message.delta.new_element.text.body = text
    message.delta.fragment_id = fragment
    return message


def ended(status: int) -> ForwardMsg:
    message = ForwardMsg()
    message.script_finished = status
    return message


def told(messages: list[ForwardMsg]) -> list[str | int]:
    """What the browser hears of: the names of runs, the texts, how runs ended."""
    readers = {
        "new_session": lambda message: message.new_session.name,
        "delta": lambda message: message.delta.new_element.text.body,
        "script_finished": lambda message: message.script_finished,
    }
    return [readers[message.WhichOneof("type")](message) for message in messages]


def page(run: str, status: int) -> list[ForwardMsg]:
    """A rerun of a page with a head and two fragments, of which one stands in the other."""
    return [
        begun(run),
        drawn(f"head of {run}", [0, 0]),
        drawn(f"outer of {run}", [0, 1, 0], "outer"),
        drawn(f"inner of {run}", [0, 1, 1, 0], "inner"),
        ended(status),
    ]


@pytest.mark.parametrize("status", [WHOLE, PART, EARLY])
@pytest.mark.parametrize("fragments", [["inner"], ["outer"], ["outer", "inner"]])
def test_a_fragments_rerun_changes_nothing_of_what_was_not_sent_yet(queue, fragments, status):
    again = [begun("2"), drawn("inner of 2", [0, 1, 1, 0], "inner"), ended(PART)]
    for message in page("1", status):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragments)
    for message in again:
        queue.enqueue(message)
    # As where the queue was sent in between.
    assert told(queue.flush()) == told([*page("1", status), *again])
    assert queue.is_empty()


def test_a_rerun_of_the_whole_page_drops_what_it_draws_again(queue):
    for message in page("1", WHOLE):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True)
    for message in page("2", WHOLE):
        queue.enqueue(message)
    assert told(queue.flush()) == ["1", EARLY, *told(page("2", WHOLE))]


def test_all_is_dropped_where_nothing_is_to_be_kept(queue):
    for message in page("1", WHOLE):
        queue.enqueue(message)
    queue.clear()
    assert queue.is_empty()


def test_another_streamlit_is_left_as_it_is(monkeypatch):
    own = ForwardMsgQueue.clear
    monkeypatch.setattr(ForwardMsgQueue, "clear", own)  # put back at the end
    monkeypatch.setattr("streamlit.__version__", "1.68.0")
    streamlit_parts.send_whole()
    assert ForwardMsgQueue.clear is own
