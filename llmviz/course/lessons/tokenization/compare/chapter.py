"""Chapter "Compare": one text under any number of tokenizers, and what each of them loses."""

import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.compare import spelled, words
from llmviz.course.ui import kit
from llmviz.files.text import check_text
from llmviz.tokenizers import (
    TOKENIZERS,
    UNKNOWN,
    Tokenizer,
    TokenizerUnavailable,
    WordTokenizer,
    get_tokenizer,
)
from llmviz.tokenizers.wordpiece import UNK

GUESS = "compare.cost"
DRAWN = 1_200  # characters; a row of the aligned view is a line of the page for every 60 of them
LISTED = 6  # unknown words that a sentence names


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show one text under some tokenizers, the guess and the looks, then a list of one's own."""
    kit.prose(words.hook, lines=get_tokenizer("word").vocab_size)
    own = state[kit.LEARNER_TEXT.key] != kit.LEARNER_TEXT.default
    if not own and state.is_set(kit.LEARNER_TEXT.key):  # chosen again; links leave a default out
        state["words"] = kit.LEARNER_TEXT.default
    text = kit.learner_text(state, DRAWN) if own else state["words"]
    with kit.stage("compare"):
        picture = st.container()
        names = sources.choices()
        names += [name for name in state["rows"] if name not in names]
        st.multiselect(words.choose, names, label_visibility="collapsed", **state.bind("rows"))
        chosen = available(state)
        drawn = rows(chosen, text or "")
        with picture:
            if drawn and text:
                token_strip(drawn, key="compare.rows", text=text, mode="aligned")
            kit.prose(caption(chosen, text or ""))
        guess = kit.Guess(GUESS, cost_question(text or ""))
        _cost(guess)
    guess.ask()
    kit.source(state, opened=own)
    if guess.open:
        kit.looks(state, words.looks, "compare.looks")
        kit.real_look(state, words.real, "compare.real")
    if text:
        _own_list(state, text)
    spelled.draw(state)
    if text:
        _code(chosen, text)
    if text and drawn and guess.open:
        kit.seen(words.end, **end(drawn, text))


def end(drawn: list[TokenRow], text: str) -> dict[str, str]:
    """Return what the chapter ends with: how many tokens the text is to each tokenizer."""
    counted = [
        words.end_of.format(tokens=kit.count(len(row.tokens), "token"), name=kit.quote(row.name))
        for row in drawn
    ]
    return {"characters": kit.count(len(text), "character"), "tokens": kit.listed(counted)}


def available(state: kit.PageState) -> dict[str, Tokenizer]:
    """Return the tokenizers that can be had, saying why the others cannot: a line a reason."""
    had: dict[str, Tokenizer] = {}
    away: list[TokenizerUnavailable] = []
    for name in state["rows"]:
        try:
            had[name] = sources.tokenizer_called(state, name)
        except TokenizerUnavailable as problem:
            away.append(problem)
        except ValueError as reason:
            kit.inform(str(reason), kit.AWAY_ICON)
    for why in TokenizerUnavailable.by_reason(away):
        kit.inform(str(why), kit.AWAY_ICON)
    return had


def rows(chosen: dict[str, Tokenizer], text: str) -> list[TokenRow]:
    """Return a row for each tokenizer, with its price and the length of its list beside it."""
    listed = []
    for name, tokenizer in chosen.items():
        tokens = tokenizer.tokens(text)
        price = kit.count(len(tokens), "token")
        note = words.note.format(tokens=price, vocabulary=tokenizer.vocab_size)
        listed.append(TokenRow(name, tokens, note))
    return listed


def holes(tokenizer: Tokenizer, text: str) -> dict[str, int]:
    """Return the parts of a text that a tokenizer has no token for, and what it reads."""
    special = tokenizer.special_tokens
    unknown = special.get(UNKNOWN, special.get(UNK))
    return {t.data.decode(): t.id for t in tokenizer.tokens(text) if t.id == unknown}


def caption(chosen: dict[str, Tokenizer], text: str) -> str:
    """Return what the first tokenizer that has a hole for something in the text loses."""
    for name, tokenizer in chosen.items():
        if lost := holes(tokenizer, text):
            return words.caption["hole" if len(lost) == 1 else "holes"].format(
                name=kit.quote(name), unknown=_some(lost), id=f"{max(lost.values()):,}"
            )
    return words.caption["whole" if chosen else "none"]


def _some(lost: dict[str, int]) -> str:
    return kit.listed([kit.quote(part) for part in list(lost)[:LISTED]])


def cost_question(text: str) -> kit.Question | None:
    """Return what a greeting in another script costs, as a question; None where the text shows it.

    The wrong answers are those of somebody to whom it is a greeting as any other, of one who counts
    its signs, and of one to whom each of them costs as much as a smiley.
    """
    if words.asked in text:
        return None
    known, right = (
        len(get_tokenizer("bpe").encode(part)) for part in (words.greetings[0], words.asked)
    )
    smileys = len(words.asked) * len(get_tokenizer("bpe").encode("🙂"))
    reasons = {known: words.ask_cost_same, len(words.asked): words.ask_cost_signs}
    reasons[smileys] = words.ask_cost_smileys
    return kit.Question.among(
        words.ask_cost,
        reasons | {right: words.ask_cost_right},
        right,
        lambda count: kit.count(round(count), "token"),
        known=kit.quote(words.greetings[0]),
        asked=kit.quote(words.asked),
        tokens=kit.count(known, "token"),
        signs=kit.count(len(words.asked), "sign"),
    )


def _cost(guess: kit.Guess) -> None:
    listed = [*words.greetings, words.asked]
    costs = [len(get_tokenizer("bpe").encode(part)) for part in listed]
    guess.cases(
        [kit.Case(part, cost, role="residual") for part, cost in zip(listed, costs, strict=True)],
        kit.Axis(0, 1.75 * max(costs), words.cost_axis),
        veiled=[len(listed) - 1],
        picture="compare.cost.rows",
        form="count",
    )


def _own_list(state: kit.PageState, text: str) -> None:
    tokenizer = WordTokenizer.train(text)
    lines = kit.count(tokenizer.vocab_size, "line")
    special = kit.count(len(tokenizer.special_tokens), "special token")
    kit.section(words.own, lines=lines, special=special)
    kit.text_input(state, "sentence", words.sentence, width=460)
    sentence = state["sentence"]
    if kit.or_refused(check_text, sentence) is None or not sentence.strip():
        return
    token_strip([TokenRow("", tokenizer.tokens(sentence))], key="compare.own")
    lost = holes(tokenizer, sentence)
    kit.prose(
        words.own_line["hole" if len(lost) == 1 else "holes" if lost else "whole"],
        unknown=_some(lost),
        back=kit.quote(tokenizer.decode(tokenizer.encode(sentence)), limit=120),
    )


def _code(chosen: dict[str, Tokenizer], text: str) -> None:
    names = [name for name in chosen if name in TOKENIZERS]
    if names:
        quoted = text[: kit.IN_SNIPPET]
        lines = [f"{n} {len(chosen[n].encode(quoted))} {chosen[n].vocab_size}" for n in names]
        snippet = words.snippet.format(quoted=quoted, names=names)
        kit.show_code([WordTokenizer.split, Tokenizer.tokens], snippet, "\n".join(lines))
