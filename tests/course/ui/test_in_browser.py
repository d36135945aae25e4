"""A browser is never told the name of a large message that it has forgotten."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from streamlit import config
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession

from llmviz.course import streamlit_parts
from llmviz.course.streamlit_parts import InBrowser

EARLY, WHOLE = ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_SUCCESSFULLY
PART = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
PICTURES = {"a": "", "b": "", "c": "f", "d": "f", "e": "g"}  # the fragment that draws each


def picture(name: str) -> ForwardMsg:
    message = ForwardMsg(hash=name)
    message.metadata.cacheable = True
    message.delta.new_element.text.body = name
    message.delta.fragment_id = PICTURES[name]
    return message


def ended(status: int, fragments: tuple[str, ...] = ()) -> ForwardMsg:
    message = ForwardMsg(script_finished=status)
    message.metadata.run.fragment_ids[:] = fragments
    return message


class Browser:
    """What Streamlit's own script does with a message, written after it."""

    def __init__(self) -> None:
        self.runs = 0
        self.cache: dict[str, tuple[int, str]] = {}  # the run that used it, the fragment it is of

    def hears(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            assert message.ref_hash in self.cache, "Cached ForwardMsg MISS"
            self.cache[message.ref_hash] = self.runs, self.cache[message.ref_hash][1]
        elif kind == "delta":
            fragment = self.cache.get(message.hash, (0, message.delta.fragment_id))[1]
            self.cache[message.hash] = self.runs, fragment
        elif message.script_finished != EARLY:
            self.runs += 1
            of = message.metadata.run.fragment_ids
            self.cache = {
                name: (run, fragment)
                for name, (run, fragment) in self.cache.items()
                if self.runs - run <= config.get_option("global.maxCachedMessageAge")
                or (of and fragment not in of)
            }


@pytest.mark.parametrize("seed", range(40))
def test_no_order_of_runs_requests_and_answers_makes_a_browser_miss_one(seed):
    chance = random.Random(seed)
    kept, browser = InBrowser(), Browser()
    on_the_way: list[ForwardMsg] = []
    asked: list[frozenset[str]] = []  # requests that the server has not read
    named = 0
    for _ in range(300):
        fragments = chance.choice([(), (), ("f",), ("g",), ("f", "g")])
        drawn = [name for name, of in PICTURES.items() if not fragments or of in fragments]
        run = [picture(name) for name in chance.sample(drawn, chance.randint(0, len(drawn)))]
        run.append(ended(chance.choice([PART if fragments else WHOLE, EARLY]), fragments))
        sent = [kept.sent(message) for message in run]
        named += sum(message.WhichOneof("type") == "ref_hash" for message in sent)
        on_the_way += sent
        for _ in range(chance.randint(0, len(on_the_way))):
            browser.hears(on_the_way.pop(0))
        asked.append(frozenset(browser.cache))
        for _ in range(chance.randint(0, len(asked))):
            kept.listed = asked.pop(0)
    assert named > 50


def test_a_page_that_was_loaded_anew_gets_all_once_more():
    kept = InBrowser()
    kept.sent(picture("a"))
    assert kept.sent(picture("a")).WhichOneof("type") == "delta"  # no request has named it yet
    kept.listed = frozenset({"a", "b"})
    assert kept.sent(picture("a")).ref_hash == "a"
    assert kept.sent(picture("b")).WhichOneof("type") == "delta"  # of another server
    kept.listed = frozenset()
    assert kept.sent(picture("a")).WhichOneof("type") == "delta"


def test_a_session_takes_the_list_from_each_request(monkeypatch):
    queue, requests = [], []
    for name in ("request_rerun", "flush_browser_queue"):
        monkeypatch.setattr(AppSession, name, getattr(AppSession, name))
    own = {"request_rerun": lambda _, state: requests.append(state), "flush": lambda _: [*queue]}
    monkeypatch.setattr(streamlit_parts, "_own", own)
    streamlit_parts.name_what_browsers_have()
    session = SimpleNamespace()
    queue[:] = [picture("a")]
    assert AppSession.flush_browser_queue(session)[0].WhichOneof("type") == "delta"
    AppSession.request_rerun(session, ClientState(cached_message_hashes=["a"], query_string="x"))
    AppSession.request_rerun(session, None)  # Streamlit's own
    assert requests == [ClientState(query_string="x"), None]
    assert AppSession.flush_browser_queue(session)[0].ref_hash == "a"
