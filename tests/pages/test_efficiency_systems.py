"""The chapter that says which system has which idea: each statement has a source and a chapter."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise
from urllib.parse import urlsplit

import pytest

from llmviz.course.lessons.efficiency import LESSON
from llmviz.course.lessons.efficiency.systems import table, words
from llmviz.course.lessons.efficiency.systems.chapter import GUESSED, count, question, spread
from llmviz.course.lessons.efficiency.systems.table import (
    CELLS,
    IDEAS,
    NO,
    OPEN,
    PARTLY,
    READ,
    SOURCES,
    STATES,
    SYSTEMS,
    YES,
    cell,
)
from tests.pages.harness import fine_part, sent


def parsed(written: str) -> date:
    """A date as it is written: a year, a month or a day."""
    year, month, day = (*map(int, written.split("-")), 1, 1)[:3]
    return date(year, month, day)


def test_every_statement_has_a_source_and_every_source_is_named():
    named = set()
    for system, cells in CELLS.items():
        for idea, one in cells.items():
            assert one.state in STATES and one.state != OPEN, (system, idea)
            assert one.source in SOURCES, (system, idea)
            named.add(one.source)
    assert named == set(SOURCES)


def test_the_table_speaks_of_the_listed_systems_and_ideas():
    assert set(CELLS) == {one.key for one in SYSTEMS}
    ideas = {one.key for one in IDEAS}
    assert all(set(cells) <= ideas for cells in CELLS.values())
    assert len(ideas) == len(IDEAS)
    assert {cell(one.key, "of no list").state for one in SYSTEMS} == {OPEN}
    with pytest.raises(KeyError):
        cell("nobody", "paged")


def test_every_idea_leads_to_a_chapter_of_this_lesson_and_somebody_has_it():
    chapters = {chapter.key for chapter in LESSON.chapters}
    for idea in IDEAS:
        assert idea.chapter in chapters - {"systems"}
        assert any(cell(one.key, idea.key).state == YES for one in SYSTEMS)


def test_sources_have_an_address_and_a_date_that_is_not_later_than_they_were_read():
    for source in SOURCES.values():
        address = urlsplit(source.address)
        assert address.scheme == "https" and address.netloc and len(address.path) > 1
        assert bool(source.date) != bool(source.version), source.title
        if source.date:
            assert parsed(source.date) <= parsed(READ)
        else:
            assert re.search(r"\d+\.\d+", source.version), source.title  # no "newest", no "main"
            tags = re.findall(r"v(\d+(?:\.\d\w*)+)", source.address)
            assert all(tag == source.version for tag in tags), source.title
    assert len({one.address for one in SOURCES.values()}) == len(SOURCES)


def test_what_a_system_has_not_or_has_in_part_is_told_with_a_reason():
    for system, cells in CELLS.items():
        for idea, one in cells.items():
            assert one.note or one.state not in (NO, PARTLY), (system, idea)


# Each "no" with the words of its source, as they were read there.
SAID_NO = {
    "vllm-training": "Closing because training is out of scope for vLLM",
    "fastgen-parallel": "we don't support EP with DeepSpeed-FastGen/MII, only TP is supported",
    "llamacpp-paged": "if paged attention was that good, we should have already implemented it",
}


def test_a_system_is_said_to_lack_an_idea_only_where_a_source_says_no():
    lacking = {one.source for cells in CELLS.values() for one in cells.values() if one.state == NO}
    assert lacking == set(SAID_NO)
    assert cell("fastgen", "pipeline").state == OPEN  # its answer is about experts
    assert cell("llamacpp", "chunked").state == YES  # by the chapter's own definition
    training = ("sharded", "mixed", "checkpointing")
    assert {cell("llamacpp", idea).state for idea in training} == {OPEN}


def test_what_a_system_is_for_reads_as_a_sentence_behind_its_name():
    for one in SYSTEMS:
        assert one.about.split()[0] in ("serves", "runs", "trains"), one.about


def written(app) -> str:
    return " ".join(block.value for block in app.markdown)


def test_what_is_open_claims_nothing():
    for system in SYSTEMS:
        for idea in IDEAS:
            one = cell(system.key, idea.key)
            assert (one.state == table.OPEN) == (one.source == "")


@pytest.mark.parametrize("system", [one.key for one in SYSTEMS])
def test_a_chosen_cell_is_told_with_its_source_and_leads_to_its_chapter(system):
    for idea in ("quantized", "sharded"):
        app = fine_part("efficiency", "systems", whosystem=system, whoidea=idea)
        fact, text = cell(system, idea), written(app)
        assert words.told[fact.state] in text and fact.note in text
        caption = text.split(words.read.split("{")[0])[0].split("\n- ")[0]
        assert not fact.source or SOURCES[fact.source].address in caption
    links = [link.proto for link in app.get("page_link")]
    assert any("part=parallel" in link.query_string for link in links)


def test_the_question_counts_a_column_that_does_not_travel(covers):
    asked = question()
    values = [value for (value,) in asked.values]
    states = [cell(GUESSED, idea.key).state for idea in IDEAS]
    assert values[asked.right] == sum(state in (YES, PARTLY) for state in states) == count(GUESSED)
    far = sorted(values)
    assert len(far) == 3 and min(b - a for a, b in pairwise(far)) >= 2
    app = fine_part("efficiency", "systems", whosystem=GUESSED)
    grid = sent(app, "cell_grid")
    column = grid["columnNames"].index(next(one.name for one in SYSTEMS if one.key == GUESSED))
    assert {row[column] for row in grid["texts"]} == {words.signs["asked"]}
    assert not grid["values"][:, column].any()
    assert words.told["yes"] not in written(app)


def test_no_idea_is_in_one_system_alone_as_the_end_says():
    assert min(map(spread, IDEAS)) >= 2
