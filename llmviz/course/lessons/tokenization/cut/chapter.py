"""Chapter "Cut": the learner's text as tokens, both ways, and the list behind it."""

import itertools
import re
from collections import Counter
from collections.abc import Container
from urllib.parse import quote_plus

import pandas as pd
import streamlit as st

from llmviz.course.components import TokenRow, TokenSelection, token_strip
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization import words as lesson_words
from llmviz.course.lessons.tokenization.cut import words
from llmviz.course.ui import kit
from llmviz.files.text import table_cell
from llmviz.tokenizers import UNKNOWN, Token, Tokenizer
from llmviz.tokenizers.wordpiece import UNK

IDS_SHOWN, IDS_SAID, ROWS_SHOWN = 120, 8, 200
GUESS = "cut.upper"
LONGEST_WORD = 24  # characters of a word that looks write
WORDS_IN = 400  # characters of the text, of which one word is named
APART = 0.06  # of the axis, between the answers of the question


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the text as tokens, the guess and the looks, then what goes deeper."""
    text = kit.learner_text(state)
    if text is None:
        kit.source(state, opened=True)
        return
    # Of the tokenizer that the list below will show: the hook counts with it.
    name, tokenizer, missing = sources.chosen_tokenizer(state)
    tokens = tokens_of(tokenizer, text, state["special"])
    counts = {
        "characters": kit.count(len(text), "character"),
        "tokens": kit.count(len(tokens), "number"),
    }
    kit.prose(words.hook, **counts)
    guess = kit.Guess(GUESS, capitals_question(tokenizer, text, special=state["special"]))
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("cut", stays=True):
            _chips(state, tokens)
            kit.prose(caption(text, tokens))
            sources.list_tokenizers(state)
            if missing:
                kit.warn(missing, ":material/info:")
            _cost(guess, tokenizer, text, special=state["special"])
        if 0 <= state["token"] < len(tokens):
            kit.prose(chosen_token(tokens, state["token"]))
        guess.ask()
        kit.source(state, opened=True)
        if guess.open:
            kit.looks(state, words.looks, "cut.looks", **written_anew(text))
            kit.real_look(state, words.real, "cut.real")
    _both_ways(state, name, tokenizer, text)
    _vocabulary(state, name, tokenizer, tokens)
    _special(state, tokenizer)
    _code(state, name, tokenizer, text)
    if tokens:
        kit.seen(words.end, **end(text, tokens))


def titled(state: kit.PageState) -> str:
    """Return the chapter's question about a text without a kitten; an empty one about another."""
    return "" if "kitten" in state[kit.LEARNER_TEXT.key] else words.no_kitten


def written_anew(text: str) -> dict[str, str]:
    """Return how looks write a text: in capitals, and the longest of its words three times."""
    found = re.findall(r"\w+", text[:WORDS_IN])
    word = max(found, key=len, default="kitten").lower()[:LONGEST_WORD]
    thrice = f"{word} {word} {word.capitalize()}"
    shouted = text[:WORDS_IN].upper()
    return {"thrice": thrice, "thrice_link": quote_plus(thrice), "shouted": quote_plus(shouted)}


@kit.cached(16)
def tokens_of(tokenizer: Tokenizer, text: str, special: bool) -> list[Token]:
    """Return the tokens of a text; special: whether special tokens in it count as such."""
    return tokenizer.tokens(text, "all" if special else ())


def end(text: str, tokens: list[Token]) -> dict[str, object]:
    return {
        "characters": kit.count(len(text), "character"),
        "tokens": kit.count(len(tokens), "number"),
    }


def caption(text: str, tokens: list[Token]) -> str:
    """Return what became of the word that was cut into the most pieces, the first of them."""
    cut = {
        word[0]: [t.id for t in tokens if t.char_start < word.end() and t.char_end > word.start()]
        for word in re.finditer(r"\w+", text[:WORDS_IN])
    }
    if not tokens:
        return words.caption["nothing"]
    word = max(cut, key=lambda word: (len(cut[word]), len(word)), default="")
    ids = cut.get(word, [])
    said = " ".join(map(str, ids[:IDS_SAID])) + (" …" if len(ids) > IDS_SAID else "")
    case = "cut" if len(ids) > 1 else "whole" if ids else "signs"
    return words.caption[case].format(word=kit.quote(word), count=len(ids), ids=said)


def _cost(guess: kit.Guess, tokenizer: Tokenizer, text: str, *, special: bool) -> None:
    """Draw what the text costs as typed, and in capitals; one that shouts, in small letters."""
    typed, *spelled = words.spellings
    shouts = text.upper() == text
    other = text.lower() if shouts else text.upper()
    if other == text:
        return  # without a letter
    counts = [len(tokens_of(tokenizer, each, special)) for each in (text, other)]
    guess.cases(
        [kit.Case(typed, counts[0], role="residual"), kit.Case(spelled[shouts], counts[1])],
        kit.Axis(0, max(len(other), *counts), words.cost_axis),
        veiled=[1],
        picture="cut.cost",
        form="count",
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


def chosen_token(tokens: list[Token], at: int) -> str:
    """Return what one of the tokens of a text is and covers, and how often its id stands there."""
    token = tokens[at]
    text, whole = visible_text(token.data)
    characters = kit.count(token.char_end - token.char_start, "character")
    return words.chosen.format(
        position=at + 1,
        total=len(tokens),
        text=kit.quote(text),
        id=token.id,
        characters=characters if whole else words.part.format(characters=characters),
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


def _vocabulary(state: kit.PageState, name: str, tokenizer: Tokenizer, tokens: list[Token]) -> None:
    kit.section(words.table)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            words.table.title,
            required=True,
            label_visibility="collapsed",
            **state.named("table", words.table_views),
        )
        whole = state["table"] == "all"
        if whole:
            st.number_input(words.table_from, width=160, **state.ranged("from"))
    counts = Counter(token.id for token in tokens)
    first = min(state["from"], tokenizer.vocab_size - 1)
    ids = range(first, min(first + ROWS_SHOWN, tokenizer.vocab_size)) if whole else sorted(counts)
    st.dataframe(vocabulary(tokenizer, ids, counts), hide_index=True, height=280, width=640)
    with st.container(horizontal=True):
        st.download_button(
            words.save_table,
            # Made when it is asked for: the largest vocabulary has 200,000 lines.
            lambda: as_csv(tokenizer, range(tokenizer.vocab_size) if whole else ids, counts),
            f"{name}-tokens.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            words.save_tokenizer,
            lambda: sources.file_of(tokenizer),
            f"{name}-tokenizer.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
        )
        _load_file(state)
    if refused := st.session_state.get("_tokenizer_refused"):
        kit.refuse(refused)


def _load_file(state: kit.PageState) -> None:
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


def vocabulary(tokenizer: Tokenizer, ids: range | list[int], counts: Counter) -> pd.DataFrame:
    """Return the lines of the vocabulary that `ids` name, with how often each stands in the text.

    Ids that a tokenizer leaves unused are left out.
    """
    unused: Container[int] = getattr(tokenizer, "unused_ids", ()) if isinstance(ids, range) else ()
    listed = [(i, tokenizer.token_bytes(i)) for i in ids if i not in unused]
    columns = {
        "id": [i for i, _ in listed],
        "bytes": [data.hex(" ").upper() for _, data in listed],
        "text": [visible_text(data)[0] for _, data in listed],
        "count": [counts[i] for i, _ in listed],
    }
    return pd.DataFrame(columns).rename(columns=words.columns)


def as_csv(tokenizer: Tokenizer, ids: range | list[int], counts: Counter) -> bytes:
    """Return the table as a CSV file, in UTF-8."""
    table = vocabulary(tokenizer, ids, counts)
    text = words.columns["text"]
    return table.assign(**{text: table[text].map(table_cell)}).to_csv(index=False).encode("utf-8")


def _special(state: kit.PageState, tokenizer: Tokenizer) -> None:
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
    st.toggle(words.special_switch, help=words.special_help, **state.bind("special"))


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


def capitals_question(
    tokenizer: Tokenizer, text: str, *, special: bool = False
) -> kit.Question | None:
    """Return how many tokens a text makes in capitals, as a question.

    The wrong answers are those of somebody who counts words, and of one who counts letters.
    special: whether special tokens in it count as such. None where both are the same text to the
    tokenizer, or where the answers are nearly the same.
    """
    capitals, read = text.upper(), "all" if special else ()
    as_typed, in_capitals = (tokenizer.encode(spelling, read) for spelling in (text, capitals))
    unknown = unknown_token(tokenizer, in_capitals)
    if capitals == text or (as_typed == in_capitals and not unknown):
        return None
    before, after, letters = len(as_typed), len(in_capitals), len(capitals)
    case = "more" if after > before else "fewer" if after < before else "same"
    reason = words.ask_upper_reasons["unknown" if unknown else case]
    reasons = {letters: words.ask_upper_letters, before: words.ask_upper_words}
    reasons[after] = reason.format(unknown=kit.quote(unknown or ""))
    counts = sorted(reasons)
    gaps = [b - a for a, b in itertools.pairwise(counts)]
    if not gaps or min(gaps) < APART * max(counts):
        return None
    return kit.Question.among(
        words.ask_upper,
        reasons,
        after,
        lambda count: words.cost_write.format(tokens=count),
        tokens=kit.count(before, "token"),
    )
