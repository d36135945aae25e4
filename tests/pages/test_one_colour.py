"""A kind of network has one colour on every page that compares networks."""

from __future__ import annotations

import re
from collections import defaultdict

from llmviz.course.figures.history import network_number
from llmviz.course.figures.theme import category_style
from tests.pages.harness import charts, open_part, sent

KINDS = {"bigram": "bigram", "MLP": "mlp", "WaveNet": "wavenet"}
KINDS |= {"RNN": "rnn", "GRU": "gru", "LSTM": "lstm", "GPT": "gpt"}
KINDS |= {"a vector for each letter (transformer)": "gpt", "one hidden state (RNN)": "rnn"}


def kind_of(title: str) -> str | None:
    """The kind of network that a line of a chart shows."""
    return KINDS.get(re.sub(r",.*", "", title).strip())


def test_a_kind_of_network_has_one_colour_on_all_pages():
    colours = defaultdict(set)
    pages = (
        ("history", "all", {"all": "axes"}),
        ("attention", "why", {}),
    )
    for lesson, part, link in pages:
        before = sum(map(len, colours.values()))
        for chart in charts(open_part(lesson, part, **link)):
            for trace in chart["data"]:
                kind = kind_of(trace.get("name", ""))
                if kind:
                    drawn = trace.get("line", {}).get("color") or trace["marker"]["color"]
                    colours[kind].add((drawn, lesson, part))
        assert sum(map(len, colours.values())) > before, (lesson, part)
    every = open_part("history", "memory", models="mlp,wavenet,rnn,gru,lstm,gpt")
    for line in sent(every, "draw_on")["lines"]:
        if kind := kind_of(line["label"]):
            number = int(line["role"].removeprefix("kind-"))
            colours[kind].add((category_style(number)[0], "history", "memory"))
    assert colours.keys() >= set(KINDS.values())
    for kind, seen in colours.items():
        assert {colour for colour, *_ in seen} == {category_style(network_number(kind))[0]}, kind
