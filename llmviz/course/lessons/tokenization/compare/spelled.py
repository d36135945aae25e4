"""Below the tokenizers: what is one sign on the screen, and how many bytes and tokens."""

import unicodedata

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.components.token_strip.view import visible_character
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.compare import words
from llmviz.course.ui import kit
from llmviz.tokenizers import Token, get_tokenizer

GUESS = "bytes.cost"
DRAWN = 60  # characters of the learner's text


def draw(state: kit.PageState) -> None:
    """Show signs, their bytes and their tokens, and the guess what a joined sign costs."""
    kit.section(words.spelled)
    own = state["sample"] == "own"
    text = (kit.learner_text(state, DRAWN) or "") if own else words.samples[state["sample"]][1]
    name, tokenizer, missing = sources.chosen_tokenizer(state)
    tokens, guess = tokenizer.tokens(text), kit.Guess(GUESS, cost_question(text))
    if text:
        signs = [
            {words.code_point: f"U+{ord(c):04X}", words.sign: unicodedata.name(c, "–").lower()}
            for c in text
        ]
        rows = [TokenRow(words.byte_rows[0], signs_of(text), details=signs)]
        rows += [TokenRow(words.byte_rows[1], bytes_of(text)), TokenRow(name, tokens)]
        token_strip(rows, key="bytes.rows", text=text, mode="aligned")
        kit.prose(words.byte_caption, **facts(text, name, tokens))
    names = {key: listed for key, (listed, _) in words.samples.items()}
    kit.choose(state, "sample", words.sample, names, label_visibility="collapsed")
    _cost(guess)
    guess.ask()
    sources.list_tokenizers(state)
    if missing:
        kit.warn(missing, ":material/info:")
    if guess.open:
        kit.looks(state, words.byte_looks, "bytes.looks")
        kit.real_look(state, words.byte_real, "bytes.real")
    if text:
        kit.prose(about_cuts(text, name, tokens))


def about_cuts(text: str, name: str, tokens: list[Token]) -> str:
    """Return why a sign may be cut apart, and how many signs of a text are."""
    line = words.half_cut["some" if cut_inside(text, tokens) else "none"]
    return f"{words.half} {line.format(**facts(text, name, tokens))}"


def facts(text: str, name: str, tokens: list[Token]) -> dict[str, str]:
    """Return what is said of a text of at least one character, and of its longest sign."""
    longest = max(text, key=lambda character: len(character.encode()))
    at, data = text.index(longest), longest.encode()
    read = sum(token.char_start <= at < token.char_end for token in tokens)
    return {
        "characters": kit.count(len(text), "sign"),
        "name": kit.quote(name),
        "cut": kit.count(cut_inside(text, tokens), "sign"),
        "longest": kit.quote(visible_character(longest)),
        "size": kit.count(len(data), "byte"),
        "read": kit.count(read, "token"),
    }


def signs_of(text: str) -> list[Token]:
    """Return one token for each character, its code point as the id."""
    tokens, start = [], 0
    for at, character in enumerate(text):
        data = character.encode()
        tokens.append(Token(ord(character), data, start, start + len(data), at, at + 1))
        start += len(data)
    return tokens


def bytes_of(text: str) -> list[Token]:
    """Return one token for each byte, its value as the id."""
    return [
        Token(byte, bytes([byte]), at, at + 1, sign.char_start, sign.char_end)
        for sign in signs_of(text)
        for at, byte in enumerate(sign.data, sign.byte_start)
    ]


def cut_inside(text: str, tokens: list[Token]) -> int:
    """Return how many characters of the text have a token border inside."""
    borders = {token.byte_start for token in tokens}
    return sum(
        any(at in borders for at in range(c.byte_start + 1, c.byte_end)) for c in signs_of(text)
    )


def cost(text: str) -> int:
    """Return how many tokens of the bundled BPE a text takes."""
    return len(get_tokenizer("bpe").encode(text))


def cost_question(text: str) -> kit.Question | None:
    """Return what the joined sign costs, as a question; None for a text that shows it.

    The wrong answers are those of somebody who sees one picture, and of one who sees all that are
    in it, but not what joins them.
    """
    sign, smiley = words.joined, cost(words.known[-1])
    if sign in text:
        return None
    seen = sum(cost(part) for part in sign if unicodedata.category(part) == "So")
    reasons = {smiley: words.ask_sign_one, seen: words.ask_sign_seen}
    return kit.Question.among(
        words.ask_sign,
        reasons | {cost(sign): words.ask_sign_right},
        cost(sign),
        lambda count: kit.count(round(count), "token"),
        sign=kit.quote(sign),
        smiley=kit.count(smiley, "token"),
    )


def _cost(guess: kit.Guess) -> None:
    signs = [*words.known, words.joined]
    guess.cases(
        [kit.Case(sign, cost(sign), role="residual") for sign in signs],
        kit.Axis(0, 1.5 * cost(words.joined), words.cost_axis),
        veiled=[len(signs) - 1],
        picture="bytes.cost.rows",
        form="count",
    )
