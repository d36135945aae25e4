"""Chapter "A conversation is one text": roles and turns as tokens, and a small chat model."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from llmviz.course.components import TokenRow
from llmviz.course.lessons.reasoning.conversation import MOST_TURNS, ROLES, words
from llmviz.course.lessons.reasoning.conversation.chat_model import (
    ALL,
    COMMAND,
    REPLIES,
    WAYS,
    bundled,
)
from llmviz.course.lessons.reasoning.conversation.chat_prompts import (
    OWN,
    SWAPPED,
    WRONG,
)
from llmviz.course.lessons.reasoning.conversation.chat_record import (
    HELD,
    NEVER,
    ChatToken,
    Measured,
    notes_of,
    recorded,
    reply,
    together,
    tokens_of,
    unknown_characters,
)
from llmviz.course.lessons.reasoning.think_first import Share
from llmviz.course.ui import kit
from llmviz.files.text import check_text
from llmviz.finetuning.conversations import (
    ASKS,
    ASSISTANT,
    DECLINES,
    USER,
    Message,
)
from llmviz.tokenizers import in_line

KEY = "reasoning.conversation"
GUESS = f"{KEY}.swapped"
SHOWN = 8  # unknown characters that are named
Talk = tuple[Message, ...]
read, reply_to = kit.cached(64)(tokens_of), kit.cached(256)(reply)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a chat as the one line that a model reads, then what other lines do to its replies."""
    kit.prose(words.hook)
    if not kit.is_here(words.missing, COMMAND, recorded, bundled):
        return
    guess, messages = kit.Guess(GUESS, question()), spoken(state)
    opened = guess.open
    with kit.stage("conversation"):
        said = _line(state, messages, opened=opened) if messages else ""
        cases = [kit.Case(words.written[name], right(name).value) for name in (OWN, *WRONG)]
        veiled = [(OWN, *WRONG).index(SWAPPED)]
        axis = kit.Axis(0, 1, words.right_axis)
        guess.cases(cases, axis, veiled=veiled, picture=f"{KEY}.rows")
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("yesterday", words.real)
    _turns(state, said)
    _mask()
    if opened and messages:
        tokens = read(messages, OWN)
        special = sum(token.special for token in tokens)
        shares = {"own": right(OWN), "swapped": right(SWAPPED)}
        shown: dict[str, Any] = {name: kit.percent(share.value) for name, share in shares.items()}
        kit.seen(words.end, tokens=len(tokens), special=special, **shown)


def right(setting: str, way: str = REPLIES) -> Share:
    """Return the right replies in a setting, over the models of a way."""
    return together(way, setting, lambda result: result.right)


def question() -> kit.Question:
    """Return the question how often the models are right where user and assistant are exchanged.

    The wrong answers are those of somebody to whom the model then answers as the other person, and
    to whom it is half confused.
    """
    share, own = right(SWAPPED).value, right(OWN).value
    reasons = {0.0: words.ask_other, own / 2: words.ask_half, share: words.ask_right}
    return kit.Question.among(words.ask, reasons, share, kit.whole_percent)


def spoken(state: kit.PageState) -> Talk:
    """Return the turns that hold something, or none where one of them cannot be written."""
    turns = [
        Message(state[f"chatrole{n}"], state[f"chattext{n}"])
        for n in range(1, state["chatturns"] + 1)
    ]
    try:
        for turn in turns:
            check_text(turn.content)
    except ValueError as error:
        kit.refuse(error)
        return ()
    if not any(turn.content.strip() for turn in turns):
        kit.inform(words.empty_all, ":material/edit:")
    return tuple(turn for turn in turns if turn.content.strip())


def _line(state: kit.PageState, messages: Talk, *, opened: bool) -> str:
    shape, most = state["chatshape"], bundled().context_length
    tokens = read(messages, shape)
    note = words.strip_note.format(tokens=kit.count(len(tokens), "token"))
    row = row_of(tokens[:most], words.shapes[shape], note)
    kit.value_strip([row], f"{KEY}.strip", words.value, low=-1.0)
    kit.choose(state, "chatshape", words.template, words.shapes)
    if shape == SWAPPED and not opened:
        kit.prose(words.waits)
        return ""
    written = kit.or_refused(reply_to, messages, shape)
    if written is None:
        return ""
    ends = "" if written.ended else words.cut.format(tokens=len(written.tokens))
    kit.prose(words.caption.format(reply=kit.quote(written.text, 160)) + ends)
    return written.text


def row_of(tokens: Sequence[ChatToken], name: str, note: str = "") -> TokenRow:
    """Return tokens as a row of chips: 1 where the loss counts one, −1 where one is special."""
    chips = in_line((token.text for token in tokens), (token.id for token in tokens))
    values = [1.0 if token.counts else -1.0 if token.special else 0.0 for token in tokens]
    return TokenRow(name, chips, note, values)


def _turns(state: kit.PageState, said: str) -> None:
    kit.section(words.talk)
    count = state["chatturns"]
    for number in range(1, count + 1):
        with st.container(horizontal=True, gap="small"):
            st.selectbox(
                words.role.format(number=number),
                label_visibility="collapsed",
                width=130,
                **state.named(f"chatrole{number}", {role: role for role in ROLES}),
            )
            with st.container():
                kit.text_area(
                    state,
                    f"chattext{number}",
                    words.content.format(number=number),
                    height="content",
                    label_visibility="collapsed",
                )
    turns = [
        Message(state[f"chatrole{number}"], state[f"chattext{number}"])
        for number in range(1, count + 1)
    ]
    taken = (Message(ASSISTANT, said), Message(USER, ""))
    with st.container(horizontal=True, gap="small"):
        for label, icon, act, offered_now in (
            (words.add, "add", partial(_set_turns, state, count + 1), count < MOST_TURNS),
            (words.remove, "remove", partial(_set_turns, state, count - 1), count > 1),
            (words.take, "reply", partial(add_turns, state, *taken), said and count < MOST_TURNS),
        ):
            key = f"{KEY}.{icon}"
            shown: dict[str, Any] = {"icon": f":material/{icon}:", "disabled": not offered_now}
            st.button(label, key=key, on_click=act, **shown)
    for note, icon in notices(turns):
        kit.inform(note, f":material/{icon}:")
    if said and sum(len(turn.content) for turn in turns) <= kit.IN_SNIPPET:
        given = ", ".join(f"Message({turn.role!r}, {turn.content!r})" for turn in turns)
        shape = state["chatshape"]
        kit.show_code([tokens_of, reply], words.snippet.format(given=given, shape=shape), said)


def notices(turns: Sequence[Message]) -> list[tuple[str, str]]:
    """Return what is empty, strange or unknown in turns, each with an icon."""
    empty = [str(at) for at, turn in enumerate(turns, 1) if not turn.content.strip()]
    messages = [turn for turn in turns if turn.content.strip()]
    if not messages:
        return []
    said = [words.strange[note] for note in notes_of(messages)]
    if empty:
        kind = "many" if len(empty) > 1 else "one"
        said.insert(0, words.empty[kind].format(turns=kit.listed(empty)))
    found = [(" ".join(said), "info")] if said else []
    if unknown := unknown_characters("".join(message.content for message in messages)):
        shown = " ".join(unknown[:SHOWN] + ["…"] * (len(unknown) > SHOWN))
        found.append((words.unknown.format(characters=shown), "translate"))
    return found


def add_turns(state: kit.PageState, *turns: Message) -> None:
    """Write turns behind those that there are, as far as there is room."""
    count = state["chatturns"]
    for at, turn in enumerate(turns[: MOST_TURNS - count], count + 1):
        state[f"chatrole{at}"], state[f"chattext{at}"] = turn.role, turn.content
    _set_turns(state, min(MOST_TURNS, count + len(turns)))


def _set_turns(state: kit.PageState, turns: int) -> None:
    state["chatturns"] = turns


def mask_rows() -> list[kit.Case]:
    """Return what models do that count the replies alone, each beside its twins that count all."""
    numbers: dict[str, Callable[[Measured], Share]] = {
        "right": lambda result: result.right,
        "asks": lambda result: result.did(ASKS, wanted=True),
        "declines": lambda result: result.did(DECLINES, wanted=True),
        "never": lambda result: result.did(DECLINES, wanted=True),
    }
    rows = []
    for name, number in numbers.items():
        setting = NEVER if name == NEVER else OWN
        for way in WAYS:
            dots = [number(model.settings[setting]).value for model in recorded()[way]]
            label = words.mask_row.format(does=words.mask_rows[name], way=words.ways[way])
            share, role = together(way, setting, number), "value" if way == REPLIES else "query"
            rows.append(kit.Case(label, share.value, dots=dots, role=role))
    return rows


def _mask() -> None:
    replies = right(OWN).of // len(recorded()[REPLIES])
    kit.section(words.mask)
    kit.case_rows(mask_rows(), kit.Axis(0, 1, words.share_axis), key=f"{KEY}.mask")
    both = {way: [model.settings[OWN].right.value for model in recorded()[way]] for way in WAYS}
    kit.prose(words.mask_read[mask_kind(both[REPLIES], both[ALL])])
    never = together(REPLIES, NEVER, lambda result: result.did(DECLINES, wanted=True))
    kit.prose(words.new_read, new=kit.percent(never.value))
    kit.measured(words.how_mask, replies=replies, talks=HELD)


def mask_kind(masked: list[float], twins: list[float]) -> str:
    """Return whether all of the models with the mask are better, all of their twins, or neither.

    >>> mask_kind([0.9, 0.8], [0.7]), mask_kind([0.7], [0.8]), mask_kind([0.7, 0.9], [0.8])
    ('apart', 'twins', 'tie')
    """
    if min(masked) > max(twins):
        return "apart"
    return "twins" if min(twins) > max(masked) else "tie"
