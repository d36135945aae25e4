"""Chapter "Windows": the input–target pairs that a model is trained on."""

import numpy as np
import streamlit as st

from llmviz.corpus import WindowPlan
from llmviz.course.components import windows_view
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization import words as lesson_words
from llmviz.course.lessons.tokenization.windows import words
from llmviz.course.ui import kit
from llmviz.tokenizers import Tokenizer

DRAWN = 120  # tokens


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.windows)
    name, tokenizer = sources.choose_tokenizer(state)
    context, stride, batch = st.columns(3, gap="medium")
    context.slider(words.windows_context, **state.ranged("context"))
    stride.slider(words.windows_stride, **state.ranged("stride"))
    batch.slider(words.windows_batch, **state.ranged("batch"))
    text = kit.learner_text(state)
    if text is None:
        return
    ids = tokenizer.encode(text)
    if len(ids) > DRAWN:
        st.info(words.windows_cut.format(limit=DRAWN, all=len(ids)))
        ids = ids[:DRAWN]
    plan = kit.or_refused(WindowPlan, len(ids), state["context"], state["stride"], state["batch"])
    if plan is None:
        return
    chosen = min(state["window"], len(plan.starts) - 1)
    _counts(plan)
    texts = visible_texts(tokenizer, ids)
    target = target_question(texts, plan.context)
    known = target is None or kit.predict(target, "windows.target", covers=True)
    if known:
        _windows(state, texts, plan, chosen)
        _tensors(tokenizer, ids, plan, chosen)
    stride = stride_question(plan)
    if stride is not None:
        kit.predict(stride, "windows.stride")
    _code(state, name, tokenizer, text, plan)
    if known:
        kit.seen(words.end, **end(texts, plan))


def end(texts: list[str], plan: WindowPlan) -> dict[str, object]:
    """Return what the chapter ends with: the first exercise, and how many there are."""
    return {
        "first": kit.quote(texts[0]),
        "target": kit.quote(texts[1]),
        "context": kit.count(plan.context, "token"),
        "exercises": kit.count(plan.context, "exercise"),
        "tokens": kit.count(plan.tokens, "token"),
        "predictions": plan.predictions,
    }


def _windows(state: kit.PageState, texts: list[str], plan: WindowPlan, chosen: int) -> None:
    windows_view(
        texts,
        list(plan.starts),
        context_length=plan.context,
        key="windows.view",
        batch_size=plan.batch,
        selected=chosen,
        on_change=kit.bound(state, "windows.view", selected=("window", kit.or_first)),
    )


def visible_texts(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    """Return the texts of the ids, made visible."""
    return [visible_text(tokenizer.token_bytes(i))[0] for i in ids]


def _counts(plan: WindowPlan) -> None:
    kit.prose(
        words.windows_counts,
        tokens=kit.count(plan.tokens, "token"),
        windows=kit.count(len(plan.starts), "window"),
        batches=kit.count(len(plan.batches), "batch", "batches"),
        predictions=kit.count(plan.predictions, "prediction"),
        overlap=coverage(plan),
    )


def coverage(plan: WindowPlan) -> str:
    """Return how neighbouring windows lie to each other, and which tokens are in none of them."""
    last = plan.starts[-1] + plan.context  # of the last target
    between, after = (
        kit.count(number, "token is", "tokens are")
        for number in (sum(i < last for i in plan.never_seen), plan.tokens - 1 - last)
    )
    if len(plan.starts) == 1:
        line = words.windows_one
    elif plan.overlap:
        line = words.windows_overlap.format(
            less=plan.context - plan.stride, shared=kit.count(plan.overlap, "input")
        )
    elif plan.stride == plan.context:
        line = words.windows_edge
    elif plan.never_seen and plan.never_seen[0] < last:
        line = words.windows_gap.format(missed=between)
    else:
        line = words.windows_no_gap
    rest = words.windows_rest.format(missed=after) if last < plan.tokens - 1 else ""
    return f"{line} {rest}".strip()


def _tensors(tokenizer: Tokenizer, ids: list[int], plan: WindowPlan, chosen: int) -> None:
    """Show the batch that holds the chosen window, inputs and targets side by side."""
    number = chosen // plan.batch
    starts = plan.batches[number]
    kit.prose(words.windows_tensors, batch=number + 1, rows=len(starts), columns=plan.context)
    for place, caption, shift in zip(
        st.columns(2, gap="medium"),
        (words.windows_inputs, words.windows_targets),
        (0, 1),
        strict=True,
    ):
        with place:
            st.caption(caption)
            rows = [ids[start + shift : start + shift + plan.context] for start in starts]
            # As text: two data grids take longer to repaint than all the rest of the chapter.
            st.code(np.array2string(np.array(rows), max_line_width=200), language=None)


def stride_question(plan: WindowPlan) -> kit.Question | None:
    """Return how many windows a doubled stride leaves, as a question; None if just as many."""
    now = len(plan.starts)
    then = len(WindowPlan(plan.tokens, plan.context, 2 * plan.stride).starts)
    reasons = {
        2 * now: words.ask_stride_more,
        now: words.ask_stride_same,
        then + 1: words.ask_stride_near,
        then: words.ask_stride_right.format(
            double=2 * plan.stride, windows=kit.count(then, "window")
        ),
    }
    if now == then:
        return None
    text = words.ask_stride.format(
        stride=plan.stride, double=2 * plan.stride, windows=kit.count(now, "window")
    )
    return kit.Question.among(text, reasons, then, lambda size: kit.count(size, "window"))


def target_question(texts: list[str], context: int) -> kit.Question | None:
    """Return the last target of the first window, as a question; None for too few answers.

    texts: those of the tokens, the window's and at least one more.
    """
    target, copied = texts[context], texts[context - 1]
    others = [t for t in dict.fromkeys(texts) if t not in (target, copied)]
    if target == copied or not others:
        return None
    reasons = {
        copied: words.ask_target_copy,
        target: words.ask_target_right,
        others[len(others) // 2]: words.ask_target_other,
    }
    window = " ".join(kit.quote(text) for text in texts[:context])
    return kit.Question.among(words.ask_target, reasons, target, context=window)


def _code(
    state: kit.PageState, name: str, tokenizer: Tokenizer, text: str, plan: WindowPlan
) -> None:
    builds = sources.code_for(state, name)
    quoted = text[:400]
    ids = tokenizer.encode(quoted)
    if builds is None:
        st.caption(lesson_words.no_snippet)
        return
    if len(ids) <= plan.context:  # what a snippet may quote is shorter than a window
        return
    small = WindowPlan(len(ids), plan.context, plan.stride)
    lines = [
        f"{ids[p : p + plan.context]} -> {ids[p + 1 : p + plan.context + 1]}" for p in small.starts
    ]
    kit.show_code(
        [WindowPlan],
        words.snippet.format(
            builds=builds, quoted=quoted, context=plan.context, stride=plan.stride
        ),
        "\n".join(lines),
    )
