"""Part "How it finds who has what" of chapter "A trained model": one story, two questions."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import streamlit as st
import torch

from llmviz.corpus import Lookup, lookups
from llmviz.nn.attention import heads_given
from llmviz.nn.attention.study import moved
from llmviz.sampling.steps import softmax
from llmviz.tokenizers import ENDOFTEXT
from llmviz.trace import record
from llmviz.ui import engine
from llmviz.ui.lesson import section, show_code
from llmviz.ui.lessons.attention import real, words
from llmviz.ui.lessons.attention.real import stamp
from llmviz.ui.lessons.common import percent
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import LEARNER_TEXT, PageState
from llmviz.ui.text import escape_markdown

STORIES = 16
SHOWN = 4  # heads in the table, and swapped


@st.cache_data(max_entries=8, show_spinner=False)
def stories(name: str, stamp: str) -> list[Lookup]:
    """Return stories that fit a model's context and whose answers are single tokens of it."""
    bundled = engine.load(name)
    encode, context = bundled.tokenizer.encode, bundled.model.context_length
    return [
        one
        for one in lookups(STORIES)
        if all(len(encode(answer)) == 1 for answer in one.answers)
        and all(len(encode(prompt)) < context for prompt in one.prompts)
    ]


def draw(state: PageState, bundled: engine.Bundled) -> None:
    """Show the part, for models that have read tiny-world."""
    if not str(bundled.card.get("corpus", "")).startswith("tiny-world"):
        return
    found = stories(bundled.name, stamp(bundled))
    if not found:
        return
    section(words.lookup.TITLE, words.lookup.TEXT)
    number = state["story"] % len(found)
    story = found[number]

    def another() -> None:
        state["story"] = (number + 1) % len(found)

    def follow() -> None:
        state[LEARNER_TEXT.key], state["new"] = story.prompts[0], 0
        state["layer"], state["head"] = _best(bundled, story)

    st.markdown(coloured(story), width=620)
    with st.container(horizontal=True):
        st.button(words.lookup.NEXT, icon=":material/auto_stories:", on_click=another)
        if st.button(words.lookup.OPEN, icon=":material/arrow_upward:", on_click=follow):
            st.rerun()  # the whole page: the text's box stands outside this part of it
    _answers(bundled, story)
    _heads(bundled, story)


def coloured(story: Lookup) -> str:
    """Return the first story as markdown, each thing in one colour with who has it."""
    colours = dict.fromkeys((story.things[0], story.answers[0].strip()), "violet")
    colours |= dict.fromkeys((story.things[1], story.answers[1].strip()), "orange")
    return "".join(
        f":{colours[part]}-background[{part}]" if part in colours else escape_markdown(part)
        for part in re.split(r"(\w+)", story.prompts[0])
    )


def read(bundled: engine.Bundled, prompt: str) -> tuple[int, ...]:
    """Return a prompt as the model reads it, from its start token."""
    tokenizer = bundled.tokenizer
    return (tokenizer.special_tokens[ENDOFTEXT], *tokenizer.encode(prompt))


def rows(bundled: engine.Bundled, story: Lookup) -> tuple[np.ndarray, np.ndarray, int]:
    """Return what the last token asks in both stories, (L, H, T) each, and their shared tokens."""
    ids = [read(bundled, prompt) for prompt in story.prompts]
    first, second = (
        real.all_maps(bundled.name, stamp(bundled), one).maps[:, :, -1] / 255 for one in ids
    )
    shared = next(i for i, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
    return first, second, shared


def _best(bundled: engine.Bundled, story: Lookup) -> tuple[int, int]:
    first, second, shared = rows(bundled, story)
    found = moved(first, second, shared)
    layer, head = np.unravel_index(int(found.argmax()), found.shape)
    return int(layer), int(head)


def chances(bundled: engine.Bundled, story: Lookup) -> np.ndarray:
    """Return the probability of each answer (columns) after each question (rows), (2, 2)."""
    names = [bundled.tokenizer.encode(answer)[0] for answer in story.answers]
    mark = stamp(bundled)
    logits = [
        real.all_maps(bundled.name, mark, read(bundled, prompt)).logits for prompt in story.prompts
    ]
    return np.stack([softmax(one.astype(np.float64))[names] for one in logits])


def _answers(bundled: engine.Bundled, story: Lookup) -> None:
    p = chances(bundled, story)
    one, other = (quote(answer.strip()) for answer in story.answers)
    told = words.lookup.BOTH.format(
        first=story.things[0],
        second=story.things[1],
        one=one,
        other=other,
        p_one=percent(p[0, 0]),
        wrong_one=percent(p[0, 1]),
        p_other=percent(p[1, 1]),
        wrong_other=percent(p[1, 0]),
    )
    same = (p[0].argmax() == p[1].argmax()).item()
    prose(told + (" " + words.lookup.NOT_LEARNT if same else ""))


def _heads(bundled: engine.Bundled, story: Lookup) -> None:
    first, second, shared = rows(bundled, story)
    found = moved(first, second, shared)
    order = np.argsort(-found, axis=None, kind="stable")[:SHOWN]
    heads = [divmod(int(at), found.shape[1]) for at in order]
    ids = [read(bundled, prompt) for prompt in story.prompts]
    width = len(bundled.tokenizer.encode(" " + story.things[0]))
    reading = first[:, :, shared : shared + width].sum(-1)
    reader = divmod(int(reading.argmax()), found.shape[1])
    name = words.HEAD_NAME.format
    prose(
        words.lookup.READS.format(
            head=name(layer=reader[0], head=reader[1]),
            share=f"{reading[reader]:.0%}",
            thing=quote(story.things[0]),
        )
        + " "
        + words.lookup.FINDS.format(
            head=name(layer=heads[0][0], head=heads[0][1]), moved=f"{found[heads[0]]:.0%}"
        )
    )
    table = {words.lookup.HEAD: [name(layer=layer, head=head) for layer, head in heads]}
    table[words.lookup.MOVES] = [f"{found[at]:.0%}" for at in heads]
    for thing, row, one in zip(story.things, (first, second), ids, strict=True):
        said = [most(row[at], real.names_of(one, bundled.tokenizer)) for at in heads]
        table[words.lookup.MOST.format(thing=thing)] = said
    st.dataframe(pd.DataFrame(table), hide_index=True)
    st.caption(words.lookup.LINE.format(count=SHOWN))
    swapped = after_swap(bundled, story, tuple(heads))
    one, other = (quote(answer.strip()) for answer in story.answers)
    prose(
        words.lookup.TEST.format(
            count=SHOWN,
            second=story.things[1],
            one=one,
            other=other,
            p_one=percent(swapped[0]),
            p_other=percent(swapped[1]),
        )
    )
    _code(bundled, story, ids, heads, swapped)


def after_swap(
    bundled: engine.Bundled, story: Lookup, heads: tuple[tuple[int, int], ...]
) -> np.ndarray:
    """Return the probabilities of both answers to the first question, (2,).

    The heads give its last token what they give that of the second question.
    """
    first, second = (read(bundled, prompt) for prompt in story.prompts)
    logits = swapped_logits(bundled.name, stamp(bundled), first, second, heads)
    names = [bundled.tokenizer.encode(answer)[0] for answer in story.answers]
    return softmax(logits.astype(np.float64))[names]


@st.cache_data(max_entries=32, show_spinner=False)
def swapped_logits(
    name: str,
    stamp: str,
    ids: tuple[int, ...],
    other: tuple[int, ...],
    heads: tuple[tuple[int, int], ...],
) -> np.ndarray:
    """Return the last logits (V,) on `ids` where heads give what they gave on `other`."""
    model = engine.load(name).model
    with torch.inference_mode(), record("blocks.*.attn.output") as trace:
        model(torch.tensor([other]), last_only=True)
    given = {(i, j): trace[f"blocks.{i}.attn.output"][0, j, -1] for i, j in heads}
    with torch.inference_mode(), heads_given(given):
        return model(torch.tensor([ids]), last_only=True)[0][0, -1].numpy()


def most(row: np.ndarray, tokens: list[str]) -> str:
    """Return the token that gets most of a row of weights (T,), all its places together."""
    total: dict[str, float] = {}
    for token, weight in zip(tokens, row, strict=True):
        total[token] = total.get(token, 0.0) + float(weight)
    best = max(total, key=total.__getitem__)
    return words.lookup.WHERE.format(token=best, share=f"{total[best]:.0%}")


def _code(
    bundled: engine.Bundled,
    story: Lookup,
    ids: list[tuple[int, ...]],
    heads: list[tuple[int, int]],
    swapped: np.ndarray,
) -> None:
    (other,) = bundled.tokenizer.encode(story.answers[1])
    show_code(
        [moved, heads_given],
        "import torch\nfrom llmviz.nn.attention import heads_given\n"
        "from llmviz.pretrained import load_bundled\nfrom llmviz.trace import record\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"ids = torch.tensor([{list(ids[0])}])\n"
        f"other = torch.tensor([{list(ids[1])}])\n"
        'with torch.inference_mode(), record("blocks.*.attn.output") as trace:\n'
        "    model(other)\n"
        f"given = {{(i, j): trace[f'blocks.{{i}}.attn.output'][0, j, -1] for i, j in {heads}}}\n"
        "with torch.inference_mode(), heads_given(given):\n"
        "    p = model(ids)[0][0, -1].softmax(-1)\n"
        f'print(f"{{p[{other}]:.2f}}")',
        f"{swapped[1]:.2f}",
    )
