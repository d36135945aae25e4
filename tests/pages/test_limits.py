"""A link with every text at its limit and every number at its highest costs the server little.

Seconds belong to a machine (`python -m benchmarks.limits`); here it is counted what is sent, and
how often work is done for a text of twice the length.
"""

from __future__ import annotations

import sys

import pytest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from benchmarks.limits import SLICED, Sent, links, mixed, texts
from llmviz.corpus.roles import split_words
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.language.counts.counted import count_text
from llmviz.course.lessons.tokenization.sources import corpus_from_text, film
from llmviz.course.ui.contents import controls_of
from llmviz.course.ui.text import escape_markdown
from llmviz.finetuning.instructions import ask
from llmviz.finetuning.labels import from_lines
from llmviz.language.lemmas import lemma
from llmviz.language.porter import stem_steps
from llmviz.processes.background import JobPool
from llmviz.tokenizers import get_tokenizer
from tests.pages.harness import fine, open_part, parts

MOST_BYTES = 1_300_000  # the scripts of its pictures among them
MOST_ELEMENTS = 250


@pytest.fixture
def sent(monkeypatch):
    """What was sent during the last run."""
    monkeypatch.setattr(LocalScriptRunner, "forward_msgs", LocalScriptRunner.forward_msgs)
    return Sent()


@pytest.fixture
def stopped(monkeypatch):
    """Stops what a page began behind itself: it would go on for a minute beside other tests."""
    started, start = [], JobPool.start

    def noted(pool, target, **arguments):
        started.append(start(pool, target, **arguments))
        return started[-1]

    monkeypatch.setattr(JobPool, "start", noted)
    yield
    for job in started:
        job.stop()


@pytest.mark.slow  # every chapter with all it may be given
@pytest.mark.usefixtures("ready", "stopped")
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)
def test_a_full_link_is_answered_briefly(lesson, sent, monkeypatch):
    drawn = [one for one in lesson.params() if one.key not in ("part", "show")]
    for part in parts(lesson.key):
        listed = links(controls_of(lesson, part))
        full = {name: link for name, link in listed if name.startswith("all of emoji")}
        for name, link in [*full.items(), *mixed(drawn, 1, part)]:
            with monkeypatch.context() as served:
                for chapter in () if name in full else SLICED:  # of those: as on a server
                    served.setattr(chapter, "SLICE", 0.05)
                fine(open_part(lesson.key, part, **link))
            assert sent.size < MOST_BYTES, f"{part}, {name}: {sent.size:,} bytes"
            assert sent.elements < MOST_ELEMENTS, f"{part}, {name}: {sent.elements} elements"


def steps(work, text):
    """How many functions are called for a text, those of C as well, and how many lines are run."""
    made = 0

    def count(frame, event, argument):
        nonlocal made
        made += event in ("call", "c_call", "line")
        return count

    before = sys.getprofile(), sys.gettrace()
    sys.setprofile(count)
    sys.settrace(count)
    try:
        work(text)
    except ValueError:  # a text that is refused
        pass
    finally:
        sys.setprofile(before[0])
        sys.settrace(before[1])
    return made


LENGTH = 2_000
READERS = {
    "escape": escape_markdown,
    "roles": split_words,
    "labels": from_lines,
    "questions": ask,
    "stems": lambda text: stem_steps(text + "izations"),  # one way through the rules
    "lemmas": lemma,
    "counts": lambda text: count_text(text, fold=True),
    "merges": lambda text: film(corpus_from_text(text).documents, "", 4096),
    **{f"encode {name}": get_tokenizer(name).encode for name in ("word", "char", "bpe")},
    **{f"tokens {name}": get_tokenizer(name).tokens for name in ("word", "char", "bpe")},
}


def kinds(length):
    """Texts that are hard on what reads them, and one that is so on Porter's rules."""
    return {**texts(length), "ys": "y" * length}


@pytest.mark.parametrize("kind", kinds(LENGTH))
@pytest.mark.parametrize("name", READERS)
def test_twice_the_text_is_about_twice_the_work(name, kind):
    """Of a merge loop that looks at all neighbours again, it would be four times."""
    once, twice = (steps(READERS[name], kinds(n)[kind]) for n in (LENGTH, 2 * LENGTH))
    assert twice < 2.8 * once + 200, f"{once:,} steps, then {twice:,}"
