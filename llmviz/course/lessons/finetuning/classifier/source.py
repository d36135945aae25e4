"""Where the labelled texts come from: the grammar, lines that were typed, or a table."""

import streamlit as st

from llmviz.course.components import token_strip
from llmviz.course.lessons.finetuning.chips import row_of
from llmviz.course.lessons.finetuning.classifier import words
from llmviz.course.lessons.finetuning.classifier.class_texts import labelled_stories
from llmviz.course.ui import engine, kit
from llmviz.finetuning.labels import ENDINGS_OF_TABLES, LIMIT, Labelled, from_csv, from_lines
from llmviz.tokenizers import UNKNOWN

FILE = "finetuning.classifier.file"  # in the session: (name, Labelled)
REFUSED = "finetuning.classifier.refused"  # in the session: why the last file was not taken
UPLOADER = "_finetuning.classifier.upload"
MEGABYTE = 2**20
LOOKED_AT = 60  # stories from which the shown ones are taken
SHOWN = 2  # texts of each class
COUNTED = 300  # of the learner's texts whose tokens are looked at


def controls(state: kit.PageState) -> None:
    """Show where labels come from, and what is asked of stories or given by the learner."""
    kit.choose(state, "labels", words.labels, words.sources)
    match state["labels"]:
        case "stories":
            with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
                kit.choose(state, "task", words.task, words.tasks)
                kit.choose(state, "reads", words.reads_label, words.reads)
            kit.prose(words.grammar, question=words.task_text[state["task"]])
        case "typed":
            kit.text_area(state, "typed", words.typed_label, height=220)
        case _:
            _upload()


def _upload() -> None:
    """Take a table; one that cannot be used is refused in one line, and the last one stays."""

    def take() -> None:
        file = st.session_state[UPLOADER]
        st.session_state[REFUSED] = None
        if file is None:
            return
        try:
            st.session_state[FILE] = file.name, from_csv(file.getvalue())
        except ValueError as error:
            st.session_state[REFUSED] = str(error)

    st.file_uploader(
        words.file_label.format(limit=f"{LIMIT // MEGABYTE} MB"),
        type=[ending.removeprefix(".") for ending in ENDINGS_OF_TABLES],
        key=UPLOADER,
        help=words.file_help,
        max_upload_size=LIMIT // MEGABYTE,
        on_change=take,
    )
    if st.session_state.get(REFUSED):
        kit.refuse(st.session_state[REFUSED])
    if FILE in st.session_state:
        name, some = st.session_state[FILE]
        line = {"name": kit.escape_markdown(name), "texts": kit.count(len(some.texts), "text")}
        st.caption(words.file_taken.format(**line))


def own_texts(state: kit.PageState) -> Labelled | None:
    """Return the learner's labelled texts; None for those of the grammar.

    Raises ValueError for lines that cannot be used, and where no file was chosen yet.
    """
    if state["labels"] == "stories":
        return None
    if state["labels"] == "typed":
        return typed(state["typed"])
    if FILE not in st.session_state:
        raise ValueError(words.file_none)
    return st.session_state[FILE][1]


typed = kit.cached(32)(from_lines)


@kit.cached(32)
def some_stories(task: str, reads: str) -> Labelled:
    return labelled_stories(task, reads, LOOKED_AT)


def show(some: Labelled, *, typed: bool, tokenizer_of: str) -> None:
    """Show a few texts with their labels; of the learner's own, how many there are too."""
    if typed:
        counts = ", ".join(f"{kit.quote(name)} {n:,}" for name, n in some.counts.items())
        classes = kit.count(len(some.names), "class", "classes")
        texts = kit.count(len(some.texts), "text")
        kit.prose(words.counted, classes=classes, texts=texts, counts=counts)
        if line := unknown_line(some, tokenizer_of):
            kit.inform(line, ":material/help:")
    tokenizer, rows = engine.tokenizer(tokenizer_of), []
    for number, name in enumerate(some.names):
        own = [t for t, label in zip(some.texts, some.labels, strict=True) if label == number]
        for ids in map(tokenizer.encode, own[:SHOWN]):
            rows.append(row_of(ids, kit.names_of(ids, tokenizer), name=name))
    token_strip(rows, key="finetuning.classifier.some", show_ids=False)


def unknown_line(some: Labelled, tokenizer_of: str) -> str:
    """Return how many of the tokens a model does not know; nothing where it knows all."""
    lost = share_unknown(some.texts[:COUNTED], tokenizer_of)
    if not lost:
        return ""
    looked = words.looked[len(some.texts) > COUNTED].format(count=COUNTED)
    return words.unknown.format(share=kit.percent(lost), looked=looked)


@kit.cached(32)
def share_unknown(texts: tuple[str, ...], tokenizer_of: str) -> float:
    """Return which share of the tokens of some texts a model's tokenizer does not know."""
    tokenizer = engine.tokenizer(tokenizer_of)
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    if unknown is None:
        return 0.0
    ids = [token for text in texts for token in tokenizer.encode(text)]
    return ids.count(unknown) / max(1, len(ids))
