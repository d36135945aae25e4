"""What the presenter of a class sees of the two tests: counts, and the sorting of own words."""

from functools import partial

import numpy as np
import streamlit as st

from llmviz.course.components.paired_bars.view import paired_bars
from llmviz.course.lessons.before_after import AFTER, BEFORE, counts, words
from llmviz.course.lessons.before_after.questions import all_asks
from llmviz.course.ui import kit
from llmviz.course.ui.class_question import THOUGHT, warn_if_full
from llmviz.course.ui.class_session import put
from llmviz.course.ui.classes import OpenClass

POLL = 2.0  # seconds between two looks at the counts


def draw(group: OpenClass, when: str) -> None:
    """Show the presenter what the class answered, once asked to, and let the words be sorted."""
    THOUGHT.ask_all(group, (ask for asks in all_asks().values() for ask in asks))
    kit.section(words.counts)
    _earlier(group)
    st.fragment(_counts, run_every=POLL)(group, when)
    kit.section(words.sorting)
    st.fragment(_sorting)(group, when)


def _of_earlier(group: OpenClass) -> str:
    return f"_test_earlier.{group.key}"


def _earlier(group: OpenClass) -> None:
    """Take the saved counts of an earlier class, such as that before the course."""
    given = st.file_uploader(words.earlier, "csv", key="_test_earlier_file")
    st.session_state.pop(_of_earlier(group), None)
    if given is not None:
        try:
            st.session_state[_of_earlier(group)] = counts.read_table(given.getvalue())
        except ValueError as rule:
            kit.refuse(rule)


def _counts(group: OpenClass, when: str) -> None:
    warn_if_full(group)
    known = THOUGHT.of(group)
    found = counts.counted(all_asks(), known)
    found = counts.together(found, st.session_state.get(_of_earlier(group), {}))
    shown = f"_test_counts.{group.key}"
    visible = st.session_state.get(shown, False)
    with st.container(horizontal=True, vertical_alignment="center"):
        here = found[when]
        line = words.answered[here.people == 1]
        st.caption(line.format(count=here.people, whole=here.whole.total()))
        st.button(
            words.hide if visible else words.show,
            key="_test_counts_show",
            type="tertiary",
            on_click=partial(put, shown, not visible),
        )
        st.download_button(
            words.save,
            lambda: counts.table(all_asks(), THOUGHT.of(group)),
            "before-after.csv",
            "text/csv",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
            key="_test_csv",
        )
    if not visible:
        return
    if not any(sum(there.answered) + there.words.total() for there in found.values()):
        st.caption(words.nobody)
        return
    _bars(found)
    both = (found[BEFORE], found[AFTER])
    times = [words.when[BEFORE], words.when[AFTER]]
    ten = range(len(here.right))
    kit.rows_table(
        [
            (at + 1, *(words.of.format(right=c.right[at], count=c.answered[at]) for c in both))
            for at in ten
        ],
        [words.columns["question"], *times],
    )
    kit.rows_table(
        [(right, *(c.whole[right] for c in both)) for right in range(len(here.right) + 1)],
        [words.columns["right"], *times],
    )
    kit.rows_table(
        [(words.kinds[kind], *(c.kinds[kind] for c in both)) for kind in counts.KINDS]
        + [(words.unsorted, *(c.words.total() - c.kinds.total() for c in both))],
        [words.columns["kind"], *times],
    )


def _bars(found: dict[str, counts.Counts]) -> None:
    """Draw the share of right answers to each question, for each time that somebody answered."""
    there = [when for when in (BEFORE, AFTER) if any(found[when].answered)]
    if not there:
        return
    shares = [
        np.array(found[when].right, dtype=float) / np.maximum(1, found[when].answered)
        for when in there
    ]
    names = [words.when[when] for when in there]
    paired_bars(
        [words.question_label.format(number=number) for number in range(1, len(shares[0]) + 1)],
        shares[0],
        shares[1] if len(shares) > 1 else None,
        title=words.bars,
        names=(names[0], names[-1]),
        axis=words.axis,
        limit=1.0,
        key="test_bars",
    )


def _sorting(group: OpenClass, when: str) -> None:
    known = THOUGHT.of(group)
    found = counts.counted(all_asks(), known)[when]
    st.button(words.look_again, key="_test_look_again", icon=":material/refresh:")
    if not found.words:
        st.caption(words.no_words)
    for number, ((name, text), count) in enumerate(sorted(found.words.items())):
        key = f"_test_kind.{group.key}.{name}.{text}"
        st.session_state[key] = known[name].kinds.get(text)
        with st.container(border=True):
            st.text(text if count == 1 else f"{text} (× {count})")  # a text is never markup
            st.segmented_control(
                f"{words.kind_label} {kit.escape_markdown(text[:40])} ({number + 1})",
                counts.KINDS,
                format_func=words.kind_names.__getitem__,
                key=key,
                label_visibility="collapsed",
                on_change=partial(_sort, group, name, text, key),
            )


def _sort(group: OpenClass, name: str, text: str, key: str) -> None:
    THOUGHT.sort(group, name, text, st.session_state[key] or "")
