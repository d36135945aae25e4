"""The learner's conversation: its turns, their roles, and what is strange about them."""

from functools import partial

import streamlit as st

from llmviz.course.lessons.reasoning.conversation import words
from llmviz.course.lessons.reasoning.conversation.chat_reading import notes_of, unknown_characters
from llmviz.course.lessons.reasoning.conversation.params import MOST_TURNS, ROLES
from llmviz.course.ui import kit
from llmviz.finetuning.conversations import USER, Message, conversations
from llmviz.textfile import check_text

OFFERED = 24  # conversations that “Another conversation” goes through
OFFER_SEED = 30_000
TOLD = "reasoning.conversation.told"  # in the session: the number of the last of them
SHOWN = 8  # unknown characters that are named


def edit(state: kit.PageState) -> tuple[Message, ...]:
    """Show the turns; return those that hold something, or none after one clear line."""
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
    with st.container(horizontal=True, gap="small"):
        buttons = ((words.add, "add", count + 1), (words.remove, "remove", count - 1))
        for label, icon, turns in buttons:
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"reasoning.conversation.{icon}",
                on_click=partial(_set_turns, state, turns),
                disabled=not 1 <= turns <= MOST_TURNS,
            )
        st.button(
            words.another,
            icon=":material/autorenew:",
            key="reasoning.conversation.another",
            on_click=partial(_take_another, state),
        )
    return checked(
        [
            Message(state[f"chatrole{number}"], state[f"chattext{number}"])
            for number in range(1, count + 1)
        ]
    )


def checked(turns: list[Message]) -> tuple[Message, ...]:
    """Return the turns that hold something, saying what is empty, strange or unknown."""
    empty = [str(at) for at, turn in enumerate(turns, 1) if not turn.content.strip()]
    messages = tuple(turn for turn in turns if turn.content.strip())
    if not messages:
        kit.inform(words.empty_all, ":material/edit:")
        return ()
    try:
        for message in messages:
            check_text(message.content)
    except ValueError as error:
        kit.refuse(error)
        return ()
    said = [words.strange[note] for note in notes_of(messages)]
    if empty:
        said.insert(
            0, words.empty["many" if len(empty) > 1 else "one"].format(turns=kit.listed(empty))
        )
    if said:
        kit.inform(" ".join(said), ":material/info:")
    if unknown := unknown_characters("".join(message.content for message in messages)):
        more = ["…"] * (len(unknown) > SHOWN)
        kit.inform(
            words.unknown.format(characters=" ".join(unknown[:SHOWN] + more)),
            ":material/translate:",
        )
    return messages


def add_turns(state: kit.PageState, *turns: Message) -> None:
    """Write turns behind those that there are, as far as there is room."""
    count = state["chatturns"]
    for at, turn in enumerate(turns[: MOST_TURNS - count], count + 1):
        state[f"chatrole{at}"], state[f"chattext{at}"] = turn.role, turn.content
    _set_turns(state, min(MOST_TURNS, count + len(turns)))


def _set_turns(state: kit.PageState, turns: int) -> None:
    state["chatturns"] = turns


def _take_another(state: kit.PageState) -> None:
    number = st.session_state.get(TOLD, -1) + 1
    st.session_state[TOLD] = number
    state["chatturns"] = 1
    offer = offered()[number % OFFERED]
    state["chatrole1"], state["chattext1"] = offer[0].role, offer[0].content
    add_turns(state, *offer[1:])


@kit.kept(1)
def offered() -> list[tuple[Message, ...]]:
    """Return conversations that nothing was trained on, each up to a question of the user."""
    talks = conversations(OFFERED, OFFER_SEED, turns=3)
    return [
        talk[: max(at for at, turn in enumerate(talk[:MOST_TURNS]) if turn.role == USER) + 1]
        for talk in talks
    ]
