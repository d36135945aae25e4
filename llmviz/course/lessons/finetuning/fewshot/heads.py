"""Where the word at the end of the prompt looks, head by head."""

import numpy as np
import streamlit as st

from llmviz.corpus.rules import Question
from llmviz.course.components.heads_grid.view import heads_grid
from llmviz.course.components.token_strip.view import token_strip
from llmviz.course.lessons.finetuning.chips import row_of
from llmviz.course.lessons.finetuning.fewshot import words
from llmviz.course.lessons.finetuning.fewshot.model import Look, look
from llmviz.course.lessons.finetuning.fewshot.prompt import KEY, TUNED
from llmviz.course.lessons.finetuning.tuned_model import base, tuned
from llmviz.course.ui import kit
from llmviz.textfile import whole_number

looks = kit.kept(64, key=lambda bundled, question: (bundled.kept_as, repr(question)))(
    kit.on_model_and_tokenizer(look)
)


def draw(state: kit.PageState, question: Question) -> None:
    """Show all heads, and what the last word gives to each token in one of them."""
    kit.section(words.look)
    if not question.examples:
        st.info(words.look_none, icon=":material/visibility_off:")
        return
    look, before = looks(tuned(TUNED), question), looks(base(), question)
    layer, head = chosen(state["rulehead"], look)
    key = f"{KEY}.heads"
    heads_grid(
        np.minimum(look.weights, 1.0),
        key=key,
        tokens=kit.names_of(look.tokens, base().tokenizer),
        notes=[
            [
                words.look_note.format(same=kit.percent(same), other=kit.percent(other))
                for same, other in zip(*rows, strict=True)
            ]
            for rows in zip(look.same.tolist(), look.other.tolist(), strict=True)
        ],
        chosen=(layer, head),
        on_change=kit.bound(state, key, chosen=("rulehead", kit.link_of)),
    )
    given = look.weights[layer, head, -1].tolist()
    shares = [{words.share: kit.percent(share)} for share in given]
    names = kit.names_of(look.tokens, base().tokenizer)
    token_strip(
        [row_of(look.tokens, names, given, shares)],
        key=f"{KEY}.given",
        show_ids=False,
        value_label=words.share,
        value_range=(0.0, max(given)),
    )
    lines = (
        report(question, look, before, layer, head),
        induction_told(look, before, layer, head),
        words.look_limit,
    )
    kit.prose("\n\n".join(filter(None, lines)))
    kit.head_link(words.look_link, question.prompt, base().name, layer, head)


def chosen(written: str, look: Look) -> tuple[int, int]:
    """Return the head of the link ("1.3"); else the one that looks at its own group's answers most.

    What it puts on other groups' answers is taken off.
    """
    layers, heads = look.same.shape
    place = [whole_number(part) for part in written.split(".")]
    if len(place) == 2 and None not in place and place[0] < layers and place[1] < heads:
        return place[0], place[1]
    best = np.unravel_index(int((look.same - look.other).argmax()), look.same.shape)
    return int(best[0]), int(best[1])


def report(question: Question, look: Look, before: Look, layer: int, head: int) -> str:
    """Return what one head does, in a sentence."""
    return words.look_read.format(
        head=head,
        layer=layer,
        word=kit.quote(question.word),
        same=kit.percent(float(look.same[layer, head])),
        other=kit.percent(float(look.other[layer, head])),
        tokens=len(look.tokens),
        even=kit.percent(look.even),
        before=kit.percent(float(before.same[layer, head])),
    )


def induction_told(look: Look, before: Look, layer: int, head: int) -> str:
    """Say which head looks most at what followed the same token; "" where no token is repeated."""
    if np.isnan(look.induction).all():
        return ""
    best_layer, best_head = np.unravel_index(look.induction.argmax(), look.induction.shape)
    best, own = (
        kit.percent(float(look.induction[at])) for at in ((best_layer, best_head), (layer, head))
    )
    line = words.look_induction_best if own == best else words.look_induction
    return line.format(
        best_head=best_head,
        best_layer=best_layer,
        best=best,
        own=own,
        before=kit.percent(float(before.induction[layer, head])),
    )
