"""Chapter "Cut": the learner's text as tokens, both ways, and the list behind it."""

import streamlit as st

from llmviz.course.components import TokenRow, TokenSelection, token_strip
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization import words as lesson_words
from llmviz.course.lessons.tokenization.cut import table, words
from llmviz.course.ui import kit
from llmviz.tokenizers import UNKNOWN, Token, Tokenizer
from llmviz.tokenizers.wordpiece import UNK

IDS_SHOWN = 120


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.cut)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name, tokenizer = sources.choose_tokenizer(state)
        _load_file(state)
        st.toggle(words.special_switch, help=words.special_help, **state.bind("special"))
    if refused := st.session_state.get("_tokenizer_refused"):
        kit.refuse(refused)
    text = kit.learner_text(state)
    if text is None:
        return
    tokens = tokens_of(tokenizer, text, state["special"])
    _chips(state, tokens)
    kit.prose(
        words.cut_counts,
        characters=kit.count(len(text), "character"),
        tokens=kit.count(len(tokens), "token"),
        ratio=len(text) / max(1, len(tokens)),
        last=tokenizer.vocab_size - 1,
    )
    _chosen(state, tokens)
    _ask(name, tokenizer, text, state["special"])
    _both_ways(state, name, tokenizer, text)
    table.draw(state, name, tokenizer, tokens)
    _special(tokenizer)
    _code(state, name, tokenizer, text)
    if tokens:
        kit.seen(words.end, **end(name, tokenizer, text, tokens))


@kit.kept(16)
def tokens_of(tokenizer: Tokenizer, text: str, special: bool) -> list[Token]:
    """Return the tokens of a text; special: whether special tokens in it count as such."""
    return tokenizer.tokens(text, "all" if special else ())


def end(name: str, tokenizer: Tokenizer, text: str, tokens: list[Token]) -> dict[str, object]:
    """Return what the chapter ends with, for a text of at least one token."""
    return {
        "name": kit.quote(name),
        "characters": kit.count(len(text), "character"),
        "tokens": kit.count(len(tokens), "token"),
        "ratio": len(text) / len(tokens),
        "first": tokens[0].id,
        "last": tokenizer.vocab_size - 1,
    }


def _load_file(state: kit.PageState) -> None:
    """Show the upload; a file that is good becomes the chosen tokenizer."""

    def take() -> None:
        file = st.session_state["_tokenizer_file"]
        st.session_state["_tokenizer_refused"] = None
        if file is not None:
            try:
                sources.take_file(file.getvalue())
            except ValueError as error:
                st.session_state["_tokenizer_refused"] = error
            else:
                state["tokenizer"] = sources.LOADED

    with st.popover(words.load_file, icon=":material/upload_file:"):
        st.file_uploader(
            words.load_file_label,
            type="json",
            key="_tokenizer_file",
            max_upload_size=sources.TOKENIZER_FILE_LIMIT // sources.MEGABYTE,
            on_change=take,
        )


def _chips(state: kit.PageState, tokens: list[Token]) -> None:
    at = state["token"]
    start = TokenSelection(0, at, tokens[at].id) if 0 <= at < len(tokens) else None

    token_strip(
        [TokenRow("", tokens)],
        key="cut.chips",
        selected=start,
        on_change=kit.bound(state, "cut.chips", selected=("token", kit.second_of)),
    )


def _chosen(state: kit.PageState, tokens: list[Token]) -> None:
    at = state["token"]
    if not 0 <= at < len(tokens):
        return
    kit.prose(chosen_token(tokens, at))


def chosen_token(tokens: list[Token], at: int) -> str:
    """Return what one of the tokens of a text is and covers, and how often its id stands there."""
    token = tokens[at]
    text, whole = visible_text(token.data)
    characters = kit.count(token.char_end - token.char_start, "character")
    return words.cut_chosen.format(
        position=at + 1,
        total=len(tokens),
        text=kit.quote(text),
        id=token.id,
        characters=characters if whole else words.cut_part.format(characters=characters),
        bytes=token.data.hex(" ").upper(),
        times=kit.count(sum(other.id == token.id for other in tokens), "time"),
    )


def _both_ways(state: kit.PageState, name: str, tokenizer: Tokenizer, text: str) -> None:
    last = tokenizer.vocab_size - 1
    kit.section(words.both, name=kit.quote(name), last=last)
    ids = [token.id for token in tokens_of(tokenizer, text, state["special"])]
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(words.ids_of_text)
        st.code(" ".join(map(str, ids[:IDS_SHOWN])), language=None, wrap_lines=True)
        if len(ids) > IDS_SHOWN:
            st.caption(words.ids_cut.format(listed=IDS_SHOWN, all=len(ids)))
        kit.prose(way_back(tokenizer, text, ids))
    with right:
        some = " ".join(map(str, ids[:8]))
        kit.text_input(state, "ids", words.type_ids, placeholder=some)
        try:
            decoded = tokenizer.decode(read_ids(state["ids"] or some))
        except ValueError as error:
            kit.refuse(error)
        else:
            st.caption(words.decoded)
            st.code(decoded, language=None, wrap_lines=True)


def way_back(tokenizer: Tokenizer, text: str, ids: list[int]) -> str:
    """Return whether decoding the ids of a text gives it back, and what is lost if not."""
    if tokenizer.decode(ids) == text:
        return words.back_exact
    unknown = unknown_token(tokenizer, ids)
    return words.back_unknown.format(unknown=kit.quote(unknown)) if unknown else words.back_spacing


def unknown_token(tokenizer: Tokenizer, ids: list[int]) -> str | None:
    """Return the token for unknown parts of a text if it is among the ids, else None."""
    special = tokenizer.special_tokens
    return next((text for text in (UNKNOWN, UNK) if special.get(text) in ids), None)


def read_ids(written: str) -> list[int]:
    """Return the ids that a learner typed, with spaces or commas between them.

    Raises ValueError: one of them is not a whole number.
    """
    ids = []
    for part in written.replace(",", " ").split():
        try:
            ids.append(int(part))
        except ValueError:
            raise ValueError(words.not_an_id.format(written=part[:40])) from None
    return ids


def _special(tokenizer: Tokenizer) -> None:
    if not tokenizer.special_tokens:
        kit.section(words.special)
        return
    kit.section(words.special.title, special_text(tokenizer))
    sample = words.special_sample.format(special=next(iter(tokenizer.special_tokens)))
    rows = [
        TokenRow(row, read, note=kit.count(len(read), "token"))
        for row, read in zip(
            words.special_rows,
            (tokenizer.tokens(sample), tokenizer.tokens(sample, "all")),
            strict=True,
        )
    ]
    token_strip(rows, key="cut.special")


def special_text(tokenizer: Tokenizer) -> str:
    """Return which special tokens a tokenizer has, and what each marks as far as that is known."""
    listed = [
        words.special_item.format(
            text=kit.quote(text), id=i, meaning=words.special_meanings.get(text, "")
        )
        for text, i in tokenizer.special_tokens.items()
    ]
    return words.special_text.format(listed="; ".join(listed))


def _code(state: kit.PageState, name: str, tokenizer: Tokenizer, text: str) -> None:
    builds = sources.code_for(state, name)
    if builds is None:
        st.caption(lesson_words.no_snippet)
        return
    quoted = text[: kit.IN_SNIPPET]
    ids = tokenizer.encode(quoted)
    kit.show_code(
        [type(tokenizer)._encode_ordinary, Tokenizer.tokens],
        f"{builds}\nids = tokenizer.encode({quoted!r})\n"
        "print(ids)\nprint(repr(tokenizer.decode(ids)))",
        f"{ids}\n{tokenizer.decode(ids)!r}",
    )


def _ask(name: str, tokenizer: Tokenizer, text: str, special: bool) -> None:
    question = capitals_question(name, tokenizer, text, special=special)
    if question is not None:
        kit.predict(question, "cut.upper")


def capitals_question(
    name: str, tokenizer: Tokenizer, text: str, *, special: bool = False
) -> kit.Question | None:
    """Return how many tokens a text makes in capitals, as a question.

    special: whether special tokens in it count as such. None where both are the same text to the
    tokenizer.
    """
    capitals = text.upper()
    if capitals == text:
        return None
    as_typed, in_capitals = (
        tokenizer.encode(spelling, "all" if special else ()) for spelling in (text, capitals)
    )
    unknown = unknown_token(tokenizer, in_capitals)
    if as_typed == in_capitals and not unknown:
        return None
    before, after = len(as_typed), len(in_capitals)
    right = (after > before) - (after < before) + 1
    reason = words.ask_upper_unknown if unknown else words.ask_upper_reasons[right]
    length = words.ask_upper_length  # ß has two capitals: the length may change
    if len(capitals) != len(text):
        length = kit.count(len(capitals), "character")
    return kit.Question(
        words.ask_upper.format(
            characters=kit.count(len(text), "character"),
            tokens=kit.count(before, "token"),
            name=kit.quote(name),
            capitals=length,
        ),
        words.ask_upper_answers,
        right,
        [reason.format(before=before, after=after, unknown=kit.quote(unknown or ""))] * 3,
        scale=True,
    )
