"""What is sent at each turn of a conversation, and how likely a name is when it is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from typing import NamedTuple

from llmviz.course.lessons.real.chat import ASSISTANT, BEGIN, SYSTEM, USER, USUAL, Turn, reply, sent
from llmviz.course.lessons.real.reader import Choice, Reads, best, chances, first_token, text_of

MOST = 25  # tokens of an answer
LONGEST = 40  # characters of a name
HELLO = "Hi! My name is {name}."
TALK = "What do cats eat?"
ASKS = "What is my name?"
BEGUN = "Your name is"  # the answer as it is begun for the model; its next token is looked at
NOTE = "{usual}. The user's name is {name}."
CLOCK, DAY = "What day is it today?", "Friday, the 13th of March"
RESULT = "{usual}. A program looked at the calendar: today is {day}."


class Piece(NamedTuple):
    """A token that is sent, and in which turn: 0 is the system's."""

    text: str
    turn: int
    role: str
    form: bool


class Strip(NamedTuple):
    """All that is sent, how likely the name is behind `BEGUN`, and what is likeliest there."""

    pieces: tuple[Piece, ...]
    share: float
    first: Choice


class Yesterday(NamedTuple):
    """One name asked for in several ways.

    kept: with the conversation in front; anew: alone; fallen: without the turns that named it;
    note: alone, but a program put a note in front. before, after: checksums of the weights.
    """

    name: str
    kept: Strip
    anew: Strip
    fallen: Strip
    note: Strip
    clock: str
    told: str
    before: str
    after: str


WAYS = ("kept", "anew", "fallen", "note")


def measure(reader: Reads, name: str) -> Generator[float, None, Yesterday]:
    """Hold a conversation with a name in it, and ask for it; yields how much is done.

    Raises ValueError: there is no name.
    """
    name = name.strip()[:LONGEST]
    first_token(reader, name)
    before = checksum(reader)
    yield 0.2
    turns: list[Turn] = []
    for text in (HELLO.format(name=name), TALK):
        turns.append(Turn(USER, text))
        turns.append(Turn(ASSISTANT, reply(reader, turns, MOST)))
        yield 0.2 + 0.1 * len(turns)
    ask, clock = Turn(USER, ASKS), Turn(USER, CLOCK)
    note = Turn(SYSTEM, NOTE.format(usual=USUAL, name=name))
    result = Turn(SYSTEM, RESULT.format(usual=USUAL, day=DAY))
    ways = ([*turns, ask], [ask], [*turns[2:], ask], [note, ask])
    whole, alone, cut, noted = (strip(reader, way, name) for way in ways)
    yield 0.7
    without, given = (reply(reader, way, MOST) for way in ([clock], [result, clock]))
    yield 0.9
    strips = (whole, alone, cut, noted)
    return Yesterday(name, *strips, without, given, before, checksum(reader))


def strip(reader: Reads, turns: Sequence[Turn], name: str) -> Strip:
    """Return what is sent for some turns, and what is likely where the answer names the name."""
    tokens, pieces, number = sent(reader, turns), [], -1
    for token in tokens:
        text = text_of(reader, token.id)
        number += text == BEGIN
        pieces.append(Piece(text, number, token.role, token.form))
    begun = reader.tokenizer.encode(BEGUN)
    (p,) = chances(reader, [[*(token.id for token in tokens), *begun]])
    share = float(p[first_token(reader, name)])
    return Strip(tuple(pieces), share, best(reader, p, 1)[0])


def checksum(reader: Reads) -> str:
    """Return the SHA-256 of all of a model's numbers, in the order of their names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(reader.model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.contiguous().float().numpy().tobytes())
    return digest.hexdigest()
