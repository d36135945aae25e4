"""The chapter that says which system has which idea: each statement has a source and a chapter."""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import urlsplit

import pytest

from llmviz.course.lessons.efficiency import LESSON
from llmviz.course.lessons.efficiency.systems import table, words
from llmviz.course.lessons.efficiency.systems.chapter import (
    most_spread,
    question,
    table_note,
    whole_table,
)
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
from llmviz.course.ui.prose import bold
from tests.pages.harness import fine, open_part, prose_of


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


def test_the_whole_table_has_a_row_for_each_idea_and_a_column_for_each_system():
    columns = whole_table()
    assert list(columns)[1:] == [one.name for one in SYSTEMS]
    assert {len(column) for column in columns.values()} == {len(IDEAS)}


def test_the_note_below_the_table_says_what_each_sign_in_it_means_and_no_other():
    signs = {sign for column in list(whole_table().values())[1:] for sign in column}
    note = table_note()
    assert ("not found:" in note) == ("not found" in signs)
    assert signs <= set(words.signs.values())


def test_what_a_system_has_not_or_has_in_part_is_told_with_a_reason():
    for system, cells in CELLS.items():
        for idea, one in cells.items():
            assert one.note or one.state not in (NO, PARTLY), (system, idea)


@pytest.mark.parametrize("system", [one.key for one in SYSTEMS])
def test_the_question_asks_what_an_idea_is_that_the_system_has(system):
    found = question(system)
    (shown,) = (one for one in SYSTEMS if one.key == system)
    asked = [one for one in IDEAS if bold(one.name) in found.text]
    assert found.text.startswith(shown.name) and len(asked) == 1
    assert cell(system, asked[0].key).state == YES
    assert found.answers[found.right] == asked[0].about
    assert SOURCES[cell(system, asked[0].key).source].title in found.reasons[found.right]
    names = {one.about: one.name for one in IDEAS}
    for answer, reason in zip(found.answers, found.reasons, strict=True):
        assert answer == asked[0].about or names[answer] in reason


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


@pytest.mark.parametrize("system", [SYSTEMS[0].key, SYSTEMS[-1].key])
def test_a_system_lists_its_ideas_with_numbered_sources(system):
    app = open_part("efficiency", "systems", whosystem=system)
    fine(app)
    text = written(app)
    used = {one.source for one in CELLS[system].values()}
    for key in used:
        assert SOURCES[key].address in text
    numbers = {int(number) for number in re.findall(r"\\\[(\d+)\\\]\]\(https", text)}
    assert numbers == set(range(1, len(used) + 1))
    shown = next(one for one in SYSTEMS if one.key == system)
    assert shown.name in prose_of(app)


def test_an_idea_lists_all_systems_and_leads_to_its_chapter():
    app = open_part("efficiency", "systems", whoview="idea", whoidea="speculative")
    fine(app)
    text = written(app)
    assert all(f"**{one.name}**" in text for one in SYSTEMS)
    links = [link.proto for link in app.get("page_link")]
    assert any("part=speculative" in link.query_string for link in links)


def test_what_is_open_claims_nothing():
    for system in SYSTEMS:
        for idea in IDEAS:
            one = cell(system.key, idea.key)
            assert (one.state == table.OPEN) == (one.source == "")


def test_the_right_answers_of_the_eight_systems_do_not_all_stand_in_one_place():
    places = [one.order.index(one.right) for one in (question(one.key) for one in SYSTEMS)]
    assert len(set(places)) >= 3, places


def test_what_an_idea_is_stands_nowhere_before_the_question_about_it_is_answered(covers):
    for view in ("system", "idea"):
        link = {"whoview": view, "whoidea": "quantized", "whosystem": "vllm"}
        asked = question("vllm")
        about = asked.answers[asked.right]
        app = open_part("efficiency", "systems", **link)
        fine(app)
        assert about not in written(app) + prose_of(app)
    shown = open_part("efficiency", "systems", whosystem="vllm", show="1")
    assert about in written(shown)


def test_the_end_names_an_idea_that_no_other_one_surpasses():
    name, most = most_spread()
    counted = [
        sum(cell(one.key, idea.key).state in (YES, PARTLY) for one in SYSTEMS) for idea in IDEAS
    ]
    assert most == max(counted) and IDEAS[counted.index(most)].name == name
