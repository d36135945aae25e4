"""Part "How the model finds who has what" of chapter "A trained model": a story, two questions."""

import re

import numpy as np
import streamlit as st

from llmviz.corpus import Lookup
from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.trained import words as words
from llmviz.course.lessons.attention.trained.lookup import cells as lookup_cells
from llmviz.course.lessons.attention.trained.lookup import trace as looking
from llmviz.course.lessons.attention.trained.model import MOVERS, LookPair
from llmviz.course.ui import engine, kit
from llmviz.nn.attention import heads_given
from llmviz.nn.attention.study import moved
from llmviz.sampling.pipeline import top_ids

KEY = "attention.lookup"
ASK = f"{KEY}.ask"
MOST_PROBABLE = 8  # tokens among which a third answer is looked for


def draw(state: kit.PageState, bundled: engine.Bundled) -> None:
    """Show the part, for models that have read tiny-world."""
    if not str(bundled.card.get("corpus", "")).startswith("tiny-world"):
        return
    stories = looking.stories(bundled)
    if not stories:
        return
    kit.section(words.lookup_intro)
    number = state["story"] % len(stories)
    pair = looking.pair(bundled, stories[number])
    numbers = list(map(str, range(len(pair.movers))))
    head = pair.movers[int(kit.keep(state, "mover", numbers))]

    def another() -> None:
        state["story"] = (number + 1) % len(stories)
        state["looked"] = state["cell"] = ""

    def follow() -> None:
        state[kit.LEARNER_TEXT.key], state["asked"] = pair.story.prompts[0], "own"
        state["layer"], state["head"] = head

    st.markdown(coloured(pair.story), width=620)
    with st.container(horizontal=True):
        st.button(words.lookup_next, icon=":material/auto_stories:", on_click=another)
        if st.button(words.lookup_open, icon=":material/arrow_upward:", on_click=follow):
            st.rerun()  # the whole page: the text's box stands outside this part of it
    _answers(bundled, pair)
    _heads(bundled, pair)
    names = [lesson_words.head_name.format(layer=layer, head=head) for layer, head in pair.movers]
    kit.choose(state, "mover", words.lookup_choose, dict(zip(numbers, names, strict=True)))
    lookup_cells.draw(state, bundled, pair, head)
    after = looking.after_swap(bundled, pair)
    guess = kit.Guess(ASK, question(bundled, pair, after))
    guess.ask()
    _code(bundled, pair, after)


def coloured(story: Lookup) -> str:
    """Return the first story as markdown, each thing in one colour with who has it."""
    colours = dict.fromkeys((story.things[0], story.answers[0].strip()), "violet")
    colours |= dict.fromkeys((story.things[1], story.answers[1].strip()), "orange")
    return "".join(
        f":{colours[part]}-background[{part}]" if part in colours else kit.escape_markdown(part)
        for part in re.split(r"(\w+)", story.prompts[0])
    )


def _answers(bundled: engine.Bundled, pair: LookPair) -> None:
    p, story = looking.chances(bundled, pair), pair.story
    reply, other = (kit.quote(answer.strip()) for answer in story.answers)
    line = words.lookup_both.format(
        first=story.things[0],
        second=story.things[1],
        one=reply,
        other=other,
        p_one=kit.percent(p[0, 0]),
        wrong_one=kit.percent(p[0, 1]),
        p_other=kit.percent(p[1, 1]),
        wrong_other=kit.percent(p[1, 0]),
    )
    same = (p[0].argmax() == p[1].argmax()).item()
    kit.prose(kit.run_on([line, words.lookup_not_learnt] if same else [line]))


def _heads(bundled: engine.Bundled, pair: LookPair) -> None:
    """Say which head reads the question, and draw how far the weights of those that move do."""
    first, story, name = pair.looks[0], pair.story, lesson_words.head_name.format
    width = len(bundled.tokenizer.encode(" " + story.things[0]))
    reading = first.weights[:, :, pair.shared : pair.shared + width].sum(-1)
    reader = divmod(int(reading.argmax()), reading.shape[1])
    best = pair.movers[0]
    reads = words.lookup_reads.format(
        head=name(layer=reader[0], head=reader[1]),
        share=kit.whole_percent(float(reading[reader])),
        thing=kit.quote(story.things[0]),
    )
    moved = kit.whole_percent(float(pair.moved[best]))
    finds = words.lookup_finds.format(head=name(layer=best[0], head=best[1]), moved=moved)
    kit.prose(kit.run_on([reads, finds]))
    kit.case_rows(
        [
            kit.Case(name(layer=layer, head=head), float(pair.moved[layer, head]), role="weights")
            for layer, head in pair.movers
        ],
        kit.Axis(0, 1, words.lookup_moves),
        key=f"{KEY}.moved",
    )


def question(bundled: engine.Bundled, pair: LookPair, after: np.ndarray) -> kit.Question:
    """Return the question what is most probable once the heads give what they gave the other.

    after: (V,), as `after_swap` returns it. The answers are the two names and the most probable of
    all other tokens that reads otherwise than both.
    """
    story = pair.story
    ids = looking.answer_ids(bundled, story)
    names = [answer.strip() for answer in story.answers]
    shares = list(after[ids])
    for i in map(int, top_ids(after, min(MOST_PROBABLE, len(after)))):
        name = bundled.tokenizer.decode([i]).strip()
        if i not in ids and name and name not in names:
            names, shares = [*names, name], [*shares, after[i]]
            break
    right = int(np.argmax(shares))
    before = looking.chances(bundled, pair)[0]
    unchanged = right < len(ids) and int(before.argmax()) == right
    reasons = [
        words.lookup_ask_gets.format(name=kit.quote(name), share=kit.percent(share))
        for name, share in zip(names, shares, strict=True)
    ]
    why = words.lookup_ask_same if unchanged else words.lookup_ask_why[right]
    reasons[right] = kit.run_on([reasons[right], why])
    return kit.Question(
        words.lookup_ask.format(
            first=story.things[0], second=story.things[1], count=len(pair.movers)
        ),
        [kit.escape_markdown(name) for name in names],
        right,
        reasons,
    )


def _code(bundled: engine.Bundled, pair: LookPair, after: np.ndarray) -> None:
    first, second = (list(look.ids) for look in pair.looks)
    (other,) = bundled.tokenizer.encode(pair.story.answers[1])
    kit.show_code(
        [moved, heads_given],
        words.snippet_lookup.format(
            name=bundled.name,
            first=first,
            second=second,
            shared=pair.shared,
            movers=MOVERS,
            heads=pair.moved.shape[1],
            other=other,
        ),
        f"{pair.moved.max():.0%} {after[other]:.2f}",
    )
