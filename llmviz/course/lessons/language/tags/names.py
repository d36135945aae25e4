"""Names below the parts of speech: BIO tags, changed by hand, and two ways to score them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.roles import ENTITY_TAGS
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language.sentence import card, read
from llmviz.course.lessons.language.tags import STORIES, words
from llmviz.course.lessons.language.word_roles import ReadWord, beginning, story_names
from llmviz.course.ui import kit
from llmviz.files.text import whole_number
from llmviz.language.names import OUTSIDE, Score, span_score, spans, token_score
from llmviz.language.role_scores import TEST_SEED

KEY = "language.names"
GUESS = f"{KEY}.shortened"
WORDS = 40  # of a story, up to the end of a sentence
DRAWN = 48  # words that have a column
LONG = 24  # letters of a word that the control's name holds

names_of_text = kit.cached(64)(story_names)


def draw(state: kit.PageState, typed: str | None) -> None:
    """Show the names that a tagger finds in a story or a typed text, and what one miss costs."""
    kit.section(words.entities)
    of_story = state["read"] == "story"
    text, truth = beginnings()[state["story"] - 1] if of_story else (typed, None)
    if text is not None and not of_story:
        truth = names_of_text(text)
    read_words = None if text is None else read(text)
    _source(state)
    if read_words is None:
        return
    drawn = whole_names(truth or (), DRAWN)
    if len(read_words) > drawn:
        line = words.name_cut.format(drawn=drawn, all=len(read_words))
        kit.inform(line, ":material/content_cut:")
    read_words, truth = read_words[:drawn], None if truth is None else truth[:drawn]
    given = [word.entity for word in read_words]
    yours = applied(state["changed"], given)
    asked = None if truth is None else question([word.text for word in read_words], truth)
    guess = kit.Guess(GUESS, asked)
    _grid(state, read_words, given, yours, truth)
    _control(state, read_words, yours)
    if asked is not None and truth is not None:
        _shortened(guess, truth)
    guess.ask()
    if guess.open:
        kit.looks(state, words.name_looks, f"{KEY}.looks")
    kit.prose(names_line(read_words, yours))
    if truth is None:
        kit.prose(words.no_truth)
    elif guess.open:
        _scores(truth, yours)
    if asked is None:
        _of_a_story(state["story"], scored=truth is None)
    _bundled()


def _of_a_story(number: int, *, scored: bool) -> None:
    """Once it is told, show what a miss costs in a story, where the text has no answer to it.

    scored: the scores, too.
    """
    listed = beginnings()
    number = next(n for n in (number, *range(1, STORIES + 1)) if damaged(listed[n - 1][1]))
    text, truth = listed[number - 1]
    read_words = read(text)
    if read_words is None:
        return
    read_words, truth = read_words[:DRAWN], truth[: whole_names(truth, DRAWN)]
    if not kit.Guess(GUESS, question([word.text for word in read_words], truth)).open:
        return
    kit.prose(words.of_story, story=number)
    _shortened(kit.Guess(GUESS, None), truth)
    if scored:
        _scores(truth, [word.entity for word in read_words[: len(truth)]])


def _source(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        forget = state.setter(changed="", nword=-1)
        kit.choose(state, "read", words.source, words.sources, then=forget)
        if state["read"] == "story":
            number = state.ranged("story", then=forget)
            st.number_input(words.story, step=1, width=130, **number)


@kit.cached(1)
def beginnings() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the first sentences of held-out stories, with the true BIO tags of their words."""
    from llmviz.language.tagger import tagged_stories, text_of

    first_words = [beginning(story, WORDS) for story in tagged_stories(STORIES, TEST_SEED)]
    return tuple((text_of(start), tuple(word.entity for word in start)) for start in first_words)


def whole_names(truth: Sequence[str], most: int) -> int:
    """Return up to which word a text is drawn, so that no name is cut in two.

    >>> whole_names(["O", "B-DAY", "B-PERSON", "I-PERSON", "O"], 3)
    2
    """
    while 1 < most < len(truth) and truth[most].startswith("I-"):
        most -= 1
    return most


def damaged(truth: Sequence[str]) -> list[str] | None:
    """Return the tags with the last word of the longest name missed; None without a long name."""
    longest = max(spans(truth), key=lambda span: span.end - span.start, default=None)
    if longest is None or longest.end - longest.start < 2:
        return None
    given = list(truth)
    given[longest.end - 1] = OUTSIDE
    return given


def question(texts: Sequence[str], truth: Sequence[str]) -> kit.Question | None:
    """Return the question how many names count if the last word of the longest one is missed.

    The wrong answers are of somebody to whom half a name is half a point, to whom it was found
    after all, and to whom a mistake spoils the whole text. None where no name has two words.
    """
    given = damaged(truth)
    if given is None:
        return None
    whole = span_score([truth], [given])
    longest = max(spans(truth), key=lambda span: span.end - span.start)
    reasons = {
        0.0: words.ask_name_none,
        float(whole.there): words.ask_name_found,
        whole.there - 0.5: words.ask_name_half,
        float(whole.right): words.ask_name_right,
    }
    name = kit.quote(" ".join(texts[longest.start : longest.end]), 60)
    slots: dict[str, Any] = {"name": name, "names": kit.count(whole.there, "name")}
    return kit.Question.among(words.ask_name, reasons, float(whole.right), "{:.3g}".format, **slots)


def _shortened(guess: kit.Guess, truth: Sequence[str]) -> None:
    """Draw how much counts where that word is missed; of the names the hand says it."""
    given = damaged(truth) or truth
    whole, by_word = span_score([truth], [given]), token_score([truth], [given])
    cases = [kit.Case(words.still, whole.right, note=f"{whole.right} / {whole.there}")]
    if guess.open:
        note = f"{by_word.right} / {by_word.there}"
        share = whole.there * by_word.right / max(1, by_word.there)
        cases.append(kit.Case(words.still_words, share, note=note, role="value"))
    axis = kit.Axis(0, whole.there, words.still_axis.format(names=kit.count(whole.there, "name")))
    guess.cases(cases, axis, veiled=[0], picture=f"{KEY}.still", form="figure")


def _grid(
    state: kit.PageState,
    read_words: Sequence[ReadWord],
    given: Sequence[str],
    yours: Sequence[str],
    truth: Sequence[str] | None,
) -> None:
    """Draw the words with their tags, a row for each source of them."""
    rows = {"tagger": given}
    if truth is not None:
        rows = {"truth": truth} | rows
    if list(yours) != list(given):
        rows["yours"] = yours
    names, tags = list(rows), list(rows.values())
    wrong = [
        [truth is not None and a != b for a, b in zip(row, truth or row, strict=True)]
        for row in tags
    ]
    at, colours = state["nword"], {"O": 0.0, "B": 1.0, "I": 0.55}
    cell_grid(
        np.array([[colours[tag[0]] for tag in row] for row in tags], dtype=np.float32),
        key=f"{KEY}.grid",
        row_names=[words.name_rows[name] for name in names],
        column_names=[
            word.text if word.known else words.unseen_mark.format(word=word.text)
            for word in read_words
        ],
        texts=tags,
        notes=[
            [
                note(row, i) + (words.wrong.format(truth=truth[i]) if truth and wrong[r][i] else "")
                for i, tag in enumerate(row)
            ]
            for r, row in enumerate(tags)
        ],
        strong=np.array(wrong),
        role="value",
        limit=1.6,
        label=words.name_grid,
        chosen=(names.index("tagger"), at) if 0 <= at < len(read_words) else None,
        on_change=kit.bound(state, f"{KEY}.grid", chosen=("nword", kit.second_of)),
    )


def note(tags: Sequence[str], at: int) -> str:
    """Return what a tag means among those beside it: an I- may begin a name."""
    tag = tags[at]
    letter, _, kind = tag.partition("-")
    if letter == "I" and any(span.start == at for span in spans(tags)):
        letter = "begins"
    meaning = words.meanings[letter].format(kind=words.entity_kinds.get(kind, ""))
    return words.note.format(tag=tag, meaning=meaning)


def read_changes(written: str, count: int) -> dict[int, str]:
    """Return the changes of a link for a text of `count` words; what makes no sense is left out.

    >>> read_changes("3.O,1.B-DAY,9.O,x.O,2.Z", 5)
    {3: 'O', 1: 'B-DAY'}
    """
    changes = {}
    for part in written.split(","):
        place, _, tag = part.partition(".")
        at = whole_number(place)
        if at is not None and at < count and tag in ENTITY_TAGS:
            changes[at] = tag
    return changes


def applied(written: str, given: Sequence[str]) -> list[str]:
    """Return tags with the changes of a link made."""
    tags = list(given)
    for at, tag in read_changes(written, len(tags)).items():
        tags[at] = tag
    return tags


def _control(state: kit.PageState, read_words: Sequence[ReadWord], tags: Sequence[str]) -> None:
    at = state["nword"]
    is_open = 0 <= at < len(read_words)

    def take(tag: str | None) -> None:
        changes = read_changes(state["changed"], len(read_words))
        changes.pop(at, None)
        if tag is not None and tag != read_words[at].entity:
            changes[at] = tag
        state["changed"] = ",".join(f"{place}.{label}" for place, label in sorted(changes.items()))

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if is_open:
            word = read_words[at].text
            word = word if len(word) <= LONG else f"{word[: LONG - 1]}…"
            st.pills(
                words.change.format(word=kit.escape_markdown(word)),
                ENTITY_TAGS,
                **kit.tied(f"_language.names.tag.{at}", tags[at], take),
            )
        if read_changes(state["changed"], len(read_words)):
            st.button(words.undo, icon=":material/undo:", on_click=state.setter(changed=""))


def names_line(read_words: Sequence[ReadWord], tags: Sequence[str]) -> str:
    """Return which names the tags mark, and which words the model does not know."""
    marked = [
        words.name.format(
            words=kit.quote(" ".join(word.text for word in read_words[span.start : span.end]), 60),
            kind=words.entity_kinds[span.kind],
        )
        for span in spans(tags)
    ]
    line = words.found.format(names=", ".join(marked)) if marked else words.none_found
    unknown = list(dict.fromkeys(word.text for word in read_words if not word.known))
    sentence = words.unknown.format(words=", ".join(map(kit.quote, unknown)))
    return f"{line} {sentence}" if unknown else line


def _scores(truth: Sequence[str], given: Sequence[str]) -> None:
    kit.prose(words.name_scores)
    axis = kit.Axis(0, 1, words.score_axis)
    kit.case_rows(score_rows(truth, given), axis, key=f"{KEY}.scores", form="figure")
    kit.prose(f1_line(truth, given))


def score_rows(truth: Sequence[str], given: Sequence[str]) -> list[kit.Case]:
    """Return precision, recall and F1 word by word and of whole names, each with its fraction."""
    cases = []
    for how, score in zip(
        words.score_hows,
        (token_score([truth], [given]), span_score([truth], [given])),
        strict=True,
    ):
        parts = {
            "precision": (score.right, score.given, score.precision),
            "recall": (score.right, score.there, score.recall),
            "f1": (2 * score.right, score.given + score.there, score.f1),
        }
        for name, (above, below, share) in parts.items():
            label = [(how, False), (words.score_names[name], True)]
            cases.append(kit.Case(label, share, note=f"{above} ÷ {below}"))
    return cases


def f1_line(truth: Sequence[str], given: Sequence[str]) -> str:
    """Return both scores in a sentence: whether they differ as they are written, and why."""
    scores = token_score([truth], [given]), span_score([truth], [given])
    token, span = (f"{score.f1:.2f}" for score in scores)
    line = words.same if token == span else words.differ
    return line.format(f1=token, token=token, span=span)


def _bundled() -> None:
    """Show what the tagger reached on many stories, by kind of name."""
    measured = kit.or_refused(card)
    if measured is None:
        return
    kit.prose(words.bundled, stories=measured["test_stories"])
    cases = [
        kit.Case(
            [(words.entity_kinds[kind], True), (row, False)],
            Score(*score[how]).f1,
            note=f"{Score(*score[how]).f1:.4f}",
        )
        for kind, score in measured["names"]["by_kind"].items()
        for how, row in zip(("token", "span"), words.bundled_rows, strict=True)
    ]
    axis = kit.Axis(0, 1, words.bundled_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.bundled", form="figure")
