"""Chapter "Compare": one text under any number of tokenizers."""

import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.compare import words
from llmviz.course.ui import kit
from llmviz.tokenizers import (
    TOKENIZERS,
    UNKNOWN,
    Tokenizer,
    TokenizerUnavailable,
    WordTokenizer,
    get_tokenizer,
)

DRAWN = 1_200  # characters; a row of the aligned view is a line of the page for every 60 of them


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.compare)
    listed = sources.choices()
    st.multiselect(
        words.compare_choose,
        listed + [name for name in state["rows"] if name not in listed],
        **state.bind("rows"),
    )
    text = kit.learner_text(state, DRAWN)
    if text is None:
        return
    chosen = available(state, state["rows"])
    if chosen:
        drawn = rows(chosen, text)
        token_strip(drawn, key="compare.rows", text=text, mode="aligned")
    else:
        st.info(words.compare_none)
    _ask(chosen)
    _units(state)
    _code(chosen, text)
    if chosen:
        kit.seen(words.end, **end(chosen, [len(row.tokens) for row in drawn]))


def end(chosen: dict[str, Tokenizer], sizes: list[int]) -> dict[str, str]:
    """Return what the chapter ends with: tokens and ids, from the fewest to the most."""
    ids = [tokenizer.vocab_size for tokenizer in chosen.values()]
    return {"tokens": _span(sizes), "ids": _span(ids)}


def _span(numbers: list[int]) -> str:
    """Return the smallest and the largest of some numbers; one number where they are the same."""
    low, high = min(numbers), max(numbers)
    return (words.end_span if low < high else words.end_one).format(low=low, high=high)


def available(state: kit.PageState, names: list[str]) -> dict[str, Tokenizer]:
    """Return the tokenizers that can be had, saying why the others cannot: a line a reason."""
    had: dict[str, Tokenizer] = {}
    away: list[TokenizerUnavailable] = []
    for name in names:
        try:
            had[name] = sources.tokenizer_called(state, name)
        except TokenizerUnavailable as problem:
            away.append(problem)
        except ValueError as reason:
            kit.inform(str(reason), kit.AWAY_ICON)
    for problem in TokenizerUnavailable.by_reason(away):
        kit.inform(str(problem), kit.AWAY_ICON)
    return had


def rows(chosen: dict[str, Tokenizer], text: str) -> list[TokenRow]:
    """Return a row for each tokenizer, with its counts beside its name."""
    listed = []
    for name, tokenizer in chosen.items():
        tokens = tokenizer.tokens(text)
        note = words.compare_note.format(
            tokens=kit.count(len(tokens), "token"),
            ratio=len(text) / max(1, len(tokens)),
            vocabulary=tokenizer.vocab_size,
        )
        listed.append(TokenRow(name, tokens, note))
    return listed


def _units(state: kit.PageState) -> None:
    kit.section(words.units)
    kit.text_input(state, "words", words.units_words, width=460)
    text = state["words"].strip()
    if not text:
        return
    kinds = {"word": sources.forms_by_word()}
    kinds |= {name: get_tokenizer(name) for name in ("char", "bpe")}
    token_strip(rows(kinds, text), key="compare.units", text=text, mode="aligned")
    by_word = kinds["word"]
    ids = {word: by_word.encode(word)[0] for word in dict.fromkeys(WordTokenizer.split(text))}
    unknown = [word for word, i in ids.items() if i == by_word.special_tokens[UNKNOWN]]
    known = [f"{kit.quote(word)} as {i}" for word, i in ids.items() if word not in unknown]
    lines = []
    if known:
        lines.append(words.units_known.format(known=", ".join(known[:8])))
    if unknown:
        lines.append(words.units_unknown.format(unknown=", ".join(map(kit.quote, unknown[:8]))))
    longest = max(ids, key=len, default="")
    if longest:
        sizes = {name: kit.count(len(kinds[name].encode(longest)), "token") for name in kinds}
        lines.append(words.units_length.format(longest=kit.quote(longest), **sizes))
    kit.prose(" ".join(lines))


def _ask(chosen: dict[str, Tokenizer]) -> None:
    question = script_question(chosen, words.ask_script_text)
    if question is not None:
        kit.predict(question, "compare.script")


def script_question(chosen: dict[str, Tokenizer], sample: str) -> kit.Question | None:
    """Return which tokenizer writes a text shortest, as a question; None where several do."""
    sizes = {name: len(tokenizer.encode(sample)) for name, tokenizer in chosen.items()}
    able = {
        name: size
        for name, size in sizes.items()
        if chosen[name].decode(chosen[name].encode(sample)) == sample
    }
    best = min(able, key=able.__getitem__, default=None)
    if best is None or len(sizes) < 2 or list(able.values()).count(able[best]) > 1:
        return None

    def reason(name: str) -> str:
        line = words.ask_script_right if name == best else words.ask_script_wrong
        line = line if name in able else words.ask_script_lost
        return line.format(name=kit.quote(name), tokens=kit.count(sizes[name], "token"))

    text = words.ask_script.format(text=kit.quote(sample))
    return kit.Question.among(text, {name: reason(name) for name in sizes}, best)


def _code(chosen: dict[str, Tokenizer], text: str) -> None:
    names = [name for name in chosen if name in TOKENIZERS]
    if not names:
        return
    quoted = text[: kit.IN_SNIPPET]
    kit.show_code(
        [WordTokenizer.split, Tokenizer.tokens],
        words.snippet.format(quoted=quoted, names=names),
        "\n".join(
            f"{name} {len(chosen[name].encode(quoted))} {chosen[name].vocab_size}" for name in names
        ),
    )
