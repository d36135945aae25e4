"""Chapter "Windows": the input–target pairs that a model is trained on."""

import numpy as np
import streamlit as st

from llmviz.corpus import WindowPlan
from llmviz.course.components import TokenRow, token_strip, windows_view
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.training.windows import words
from llmviz.course.ui import kit
from llmviz.tokenizers import PADDING, TOKENIZERS, Tokenizer, get_tokenizer

GUESS = "windows.guesses"
DRAWN = 120  # tokens
QUOTED = 400  # characters of the text in the snippet


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a frame over the text, the guess how many exercises it is, then all frames."""
    kit.prose(words.hook)
    name, tokenizer, missing = cut_by(state["cutter"])
    text = kit.learner_text(state)
    tokens = tokenizer.tokens(text or "")[:DRAWN]
    ids, texts = [token.id for token in tokens], [visible_text(token.data)[0] for token in tokens]
    plan, known = None, False
    with kit.stage("windows", stays=False):
        picture = st.container()
        context, stride = st.columns(2, gap="medium")
        context.slider(words.context, **state.ranged("context"))
        stride.slider(words.stride, **state.ranged("stride"))
        if text is not None:
            size = len(ids), state["context"], state["stride"], state["batch"]
            plan = kit.or_refused(WindowPlan, *size)
        if plan is not None:
            guess = kit.Guess(GUESS, guesses_question(texts, plan))
            known = guess.ask()
            with picture:
                if known:
                    _frames(state, texts, plan)
                else:
                    lit = [float(at < plan.context) for at in range(len(ids))]
                    token_strip([TokenRow("", tokens, values=lit)], key="windows.frame")
                frames = kit.count(len(plan.starts), "frame")
                kit.prose(f"{words.caption.format(frames=frames)} {coverage(plan)}")
    kit.source(state, opened=True)
    st.selectbox(
        words.cutter, list(TOKENIZERS), format_func=label, width=460, **state.bind("cutter")
    )
    if missing:
        kit.warn(missing, ":material/info:")
    if plan is None:
        return
    if known:
        kit.looks(state, words.looks, "windows.looks")
        _tensors(state, ids, plan)
    _padding()
    _code(name, tokenizer, text or "", plan)
    if known:
        kit.seen(words.end, **end(texts, plan))


def cut_by(name: str) -> tuple[str, Tokenizer, str]:
    """Return a tokenizer and its name, or the bundled BPE and why it stands in."""
    try:
        return name, get_tokenizer(name), ""
    except ValueError as reason:
        return "bpe", get_tokenizer("bpe"), f"{reason} {words.bpe_instead}"


def end(texts: list[str], plan: WindowPlan) -> dict[str, object]:
    """Return what the chapter ends with: the first exercise, and how many there are."""
    return {
        "first": kit.quote(texts[0]),
        "target": kit.quote(texts[1]),
        "tokens": kit.count(plan.tokens, "token"),
        "exercises": kit.count(plan.predictions, "exercise"),
    }


def _frames(state: kit.PageState, texts: list[str], plan: WindowPlan) -> None:
    windows_view(
        texts,
        list(plan.starts),
        context_length=plan.context,
        key="windows.view",
        batch_size=plan.batch,
        selected=min(state["window"], len(plan.starts) - 1),
        on_change=kit.bound(state, "windows.view", selected=("window", kit.or_first)),
    )


def coverage(plan: WindowPlan) -> str:
    """Return how neighbouring windows lie to each other, and which tokens are in none of them."""
    last = plan.starts[-1] + plan.context  # of the last target
    between, after = (
        kit.count(number, "token is", "tokens are")
        for number in (sum(i < last for i in plan.never_seen), plan.tokens - 1 - last)
    )
    if len(plan.starts) == 1:
        line = words.only
    elif plan.overlap:
        line = words.overlap.format(shared=kit.count(plan.overlap, "input"))
    elif plan.stride == plan.context:
        line = words.edge
    elif plan.never_seen and plan.never_seen[0] < last:
        line = words.gap.format(missed=between)
    else:
        line = words.no_gap
    return f"{line} {words.rest.format(missed=after) if last < plan.tokens - 1 else ''}".strip()


def guesses_question(texts: list[str], plan: WindowPlan) -> kit.Question | None:
    """Return how many exercises the first window is, as a question; None for a window of one token.

    The wrong answers are those of somebody to whom a window asks once, at its end, and of one to
    whom it asks only between its tokens. texts: those of the tokens.
    """
    if plan.context < 2:
        return None
    reasons = {1: words.ask_once, plan.context - 1: words.ask_between}
    reasons[plan.context] = words.ask_right
    return kit.Question.among(
        words.ask,
        reasons,
        plan.context,
        frame=" ".join(map(kit.quote, texts[: plan.context])),
        last=kit.quote(texts[plan.context - 1]),
        target=kit.quote(texts[plan.context]),
    )


def _tensors(state: kit.PageState, ids: list[int], plan: WindowPlan) -> None:
    """Show the batch that holds the chosen window, inputs and targets side by side."""
    number = min(state["window"], len(plan.starts) - 1) // plan.batch
    starts = plan.batches[number]
    kit.section(words.tensors, batch=number + 1, rows=len(starts), columns=plan.context)
    st.slider(words.batch, width=300, **state.ranged("batch"))
    for shift, (place, caption) in enumerate(zip(st.columns(2), words.sides, strict=True)):
        place.caption(caption)
        rows = [ids[start + shift : start + shift + plan.context] for start in starts]
        # As text: two data grids take longer to repaint than all the rest of the chapter.
        place.code(np.array2string(np.array(rows), max_line_width=200), language=None)


def padded(texts: list[str], tokenizer: Tokenizer) -> list[list[int]]:
    """Return the ids of some texts behind the start token, filled up to one length."""
    rows = [tokenizer.encode_from_start(text) for text in texts]
    pad = tokenizer.special_tokens[PADDING]
    return [row + [pad] * (max(map(len, rows)) - len(row)) for row in rows]


def _padding() -> None:
    kit.section(words.padding)
    tokenizer = get_tokenizer("word")
    rows = padded(words.short_texts, tokenizer)
    named = [" ".join(visible_text(tokenizer.token_bytes(i))[0] for i in row) for row in rows]
    lines = [f"{line}\n{row}" for line, row in zip(named, rows, strict=True)]
    st.code("\n\n".join(lines), language=None, wrap_lines=True)


def label(name: str) -> str:
    return f"{name} · {TOKENIZERS[name].description}"


def _code(name: str, tokenizer: Tokenizer, text: str, plan: WindowPlan) -> None:
    quoted = text[:QUOTED]
    ids, c = tokenizer.encode(quoted), plan.context
    if len(ids) <= c:  # what a snippet may quote is shorter than a window
        return
    starts = WindowPlan(len(ids), c, plan.stride).starts
    lines = "\n".join(f"{ids[p : p + c]} -> {ids[p + 1 : p + c + 1]}" for p in starts)
    snippet = words.snippet.format(name=name, quoted=quoted, context=c, stride=plan.stride)
    kit.show_code([WindowPlan], snippet, lines)
