"""Chapter "Memory": a list of all orders, and one matrix into which each of them is written."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
import torch

from llmviz.corpus.orders import DISHES, GUESTS, Orders, notepad, orders
from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.draw_on.view import draw_on
from llmviz.course.lessons.next.memory import model, words
from llmviz.course.lessons.next.memory.model import (
    CHANGED,
    COUNTS,
    ONCE,
    SIZES,
    bundled,
    recorded,
)
from llmviz.course.ui import kit
from llmviz.models.waiter import LIST, Waiter, multiplications, numbers_kept
from llmviz.training.measures import against

KEY = "next.memory"
OWN_SEED = 3  # of a waiter that learns on the page: another one than those of the record
job_of = kit.job_of("llmviz.course.lessons.next.memory.model:practise", "kind", "size", "seed")
KNOWN = 4  # guests up to which the line is told
FEW, MANY = {ONCE: 4, CHANGED: 8}, 20  # guests of whom the caption tells
MORE = {"worse": "more", "better": "less", "same": "same"}  # of shares, for what is said of losses
ROLES = {LIST: "key", "adds": "query", "replaces": "value", "fades": "weights"}
SIZE, NUMBERS = SIZES[0], SIZES[0] ** 2
HEARD = 6  # guests of the text whose memory is opened
WIDE, TEXT = 128, 100_000  # numbers of a key, and words, of what is said about a large model
ORDERS = 1000  # of what is said about the cost of a question


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what a list and a memory answer, the guess, the looks and what goes deeper."""
    waiters = [partial(bundled, kind) for kind in words.kinds]
    if not kit.is_here(words.missing, model.COMMAND, recorded, *waiters):
        return
    kit.prose(words.hook, numbers=NUMBERS)
    moved = any(state[k] != v for k, v in (("memkind", "adds"), ("memwho", ONCE), ("memsize", "8")))
    guess = kit.Guess(f"{KEY}.line", question(), moved)
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("memory", stays=True):
            _picture(state, guess)
            if guess.open:
                with st.container(horizontal=True, vertical_alignment="bottom"):
                    kit.choose(state, "memkind", words.kind_label, words.kinds)
                    sizes = {str(size): text for size, text in words.sizes.items()}
                    kit.choose(state, "memsize", words.size_label, sizes)
                    kit.choose(state, "memwho", words.who_label, words.who)
                kit.prose(caption(state["memkind"], int(state["memsize"]), state["memwho"]))
        guess.ask()
        if not guess.open:
            return
        kit.looks(state, words.looks, f"{KEY}.looks")
    code = words.snippet.format(guests=MANY, kind="adds")
    kit.show_code([Waiter.written, Waiter.answers], code, lambda: printed("adds", MANY))
    _state(state)
    _own(state)
    _cost()
    _narrow()
    kit.section(words.known, latent=512 + 64, heads=2 * 128 * 128)
    far, listed = (kit.near_percent(mean(kind, SIZE, ONCE, MANY)) for kind in ("adds", LIST))
    kit.seen(words.end, many=MANY, numbers=NUMBERS, far=far, listed=listed)


def mean(*case: Any) -> float:
    """Return the share of right dishes over the seeds: see `seeds_of`."""
    return float(seeds_of(*case).mean())


def seeds_of(kind: str, size: int, who: str, guests: int) -> np.ndarray:
    """Return the share of right dishes of each seed, with so many guests."""
    return recorded().shares(kind, size, who)[:, model.counts(who).index(guests)]


def line_of(kind: str, size: int, who: str) -> kit.Drawn:
    """Return the line of a kind and size."""
    label = words.list_line if kind == LIST else words.lines[kind].format(numbers=f"{size**2:,}")
    shares = recorded().shares(kind, size, who).mean(0)
    return kit.Drawn(label, model.counts(who), shares.tolist(), ROLES[kind])


def question() -> kit.Question:
    """Ask for the rest of the line of the smallest memory that is only added to.

    The wrong lines: a list's, and a notepad's that has room for KNOWN orders and guesses the rest.
    """
    known = COUNTS.index(KNOWN) + 1
    right, listed = (line_of(kind, SIZE, ONCE).y[known:] for kind in ("adds", LIST))
    noted = [notepad(count, KNOWN) for count in COUNTS[known:]]
    lines = {"right": right, "notepad": noted, "list": listed}
    slots = {"known": KNOWN, "numbers": NUMBERS, "scale": True}
    return kit.Question.named(words.ask, words.reasons, lines, words.answers, **slots)


def _picture(state: kit.PageState, guess: kit.Guess) -> None:
    kind, size, who = state["memkind"], int(state["memsize"]), state["memwho"]
    if not guess.open:
        kind, size, who = "adds", SIZE, ONCE
    more, base = [line_of(LIST, size, who)], line_of("adds", SIZE, ONCE)
    begins = (kind, size, who) == ("adds", SIZE, ONCE)
    if not begins:
        more.append(line_of(kind, size, who))
        base = replace(base, role="residual")
    if who == CHANGED:
        base = replace(base, label=words.base_line.format(numbers=NUMBERS))
    guess.line(
        more,
        base,
        kit.Scale(0, COUNTS[-1], words.guests_axis),
        kit.Scale(0, 1, words.right_again if who == CHANGED else words.right_axis),
        known=COUNTS.index(KNOWN) + 1,
        picture=f"{KEY}.line",
        ghosts=None if begins else (),
        form="percent",
    )


def caption(kind: str, size: int, who: str) -> str:
    """Return what a memory gets right, beside one to which orders are only added."""
    few, at = FEW[who], FEW[who] if who == CHANGED else MANY
    case = who
    if kind != "adds":
        added = against(*(seeds_of(name, size, who, at) for name in (kind, "adds")))
        case = f"{who}_{MORE[added]}"
    return words.caption[case].format(
        few=few,
        many=MANY,
        numbers=f"{size**2:,}",
        near=kit.near_percent(mean(kind, size, who, few)),
        far=kit.near_percent(mean(kind, size, who, MANY)),
        added=kit.near_percent(mean("adds", size, who, at)),
    )


def printed(kind: str, guests: int) -> str:
    """Return what the chapter's snippet prints: the share right of one text's guests."""
    told = orders(1000, guests, 0, torch.Generator().manual_seed(0))
    right = bundled(kind)(*told[:3]).argmax(-1) == told.right
    return f"{float(right.float().mean()):.3f}"


# ---- the memory, opened


def text_of(draw: int, who: str) -> Orders:
    """Return the orders of one text; where minds are changed, half of the guests do."""
    changed = HEARD // 2 if who == CHANGED else 0
    return orders(1, HEARD, changed, torch.Generator().manual_seed(draw))


def names_of(guests: list[int]) -> list[str]:
    """Return what each order is called: a guest who orders again is named so."""
    return [
        words.again_name.format(guest=GUESTS[guest]) if guest in guests[:at] else GUESTS[guest]
        for at, guest in enumerate(guests)
    ]


def _state(state: kit.PageState) -> None:
    kind, told = state["memkind"], text_of(state["memdraw"], state["memwho"])
    names = {at: GUESTS[guest] for at, guest in enumerate(told.queries[0].tolist(), 1)}
    name = names[state["memasked"]]
    kit.section(words.state, name=name, size=SIZE)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        count = told.guests.shape[1]
        st.slider(words.heard_label, width=260, **state.ranged("memheard", most=count))
        st.selectbox(words.asked_label, width=150, **state.named("memasked", names))
        kit.another(state, "memdraw", words.draw_label)
    count = state["memheard"]
    guests, dishes = told.guests[0, :count], told.dishes[0, :count]
    asked = told.queries[0, state["memasked"] - 1]
    if kind in words.written:
        kit.prose(words.written[kind])
    _matrices(bundled(kind), guests, dishes, asked)
    if asked not in guests:
        kit.prose(words.not_yet, name=name)
    with kit.stage("dishes"):
        kit.prose(words.dishes_read, size=SIZE)
        _dishes(bundled(kind), guests, dishes)
    again = text_of(state["memdraw"], CHANGED)
    who = int(again.guests[0, HEARD])
    slots = {"name": GUESTS[who], "place": again.queries[0].tolist().index(who) + 1}
    kit.looks(state, words.again_looks, f"{KEY}.again", heard=HEARD + 1, **slots)
    kit.prose(words.blur)


def _matrices(waiter: Waiter, guests: torch.Tensor, dishes: torch.Tensor, asked: Any) -> None:
    """Draw keys times values, the memory that they make, and what it answers to a question."""
    keys, values = waiter.written(guests, dishes)
    query = waiter.query(waiter.guest(asked))[None]
    heard, guest = names_of(guests.tolist()), GUESTS[int(asked)]
    told = [DISHES[at] for at in dishes]
    memory = keys.mT @ values
    matrices = [
        lv.Matrix("K", keys.mT.numpy(), words.keys, role="key", col_labels=heard),
        lv.Matrix("V", values.numpy(), words.values, role="value", row_labels=told),
        lv.Matrix(
            "S",
            memory.numpy(),
            words.state_name,
            words.state_formula,
            op=lv.matmul("K", "V"),
        ),
        lv.Matrix("q", query.numpy(), words.query.format(guest=guest), role="query"),
        lv.Matrix(
            "a",
            (query @ memory).numpy(),
            words.answer,
            words.answer_formula,
            role="value",
            op=lv.matmul("q", "S"),
        ),
    ]
    layout: list[list[str | None]] = [["K", "×", "V"], ["q", "×", "S"], [None, "=", "a"]]
    lv.matrix_view(matrices, layout=layout, key=f"{KEY}.state", narrow=SIZE)


def _dishes(waiter: Waiter, guests: torch.Tensor, dishes: torch.Tensor) -> None:
    """Draw how sure a waiter is of each dish, for each guest heard so far."""
    last = dict(zip(guests.tolist(), dishes.tolist(), strict=True))
    shares = waiter(guests, dishes, torch.tensor([*last])).softmax(-1).numpy()
    named = [GUESTS[guest] for guest in last]
    strong = np.zeros(shares.shape, dtype=bool)
    strong[range(len(last)), list(last.values())] = True
    cell_grid(
        shares.T,
        key=f"{KEY}.dishes",
        row_names=DISHES,
        column_names=named,
        texts=[
            [f"{100 * share:.0f}" if share >= 0.005 else "" for share in row] for row in shares.T
        ],
        notes=[[kit.percent(share) for share in row] for row in shares.T],
        strong=strong.T,
        limit=1.0,
        label=words.grid_label,
    )
    kit.prose(heard_read(int(strong[range(len(last)), shares.argmax(1)].sum()), len(last)))


def heard_read(right: int, guests: int) -> str:
    """Say how many guests would get the right dish."""
    case = "all" if right == guests else "some" if right else "none"
    if guests == 1:
        case = "only_right" if right else "only_wrong"
    return words.heard[case].format(right=right, guests=guests)


# ---- what it costs


def _own(state: kit.PageState) -> None:
    """Show a waiter that learns, with the memory that the controls name."""
    kind, size = state["memkind"], int(state["memsize"])
    kit.section(words.own, memory=line_of(kind, size, ONCE).label)
    kit.live(
        state,
        "memown",
        job_of,
        (kind, size, OWN_SEED),
        lambda job: _practised(kind, size, job.results[-1]) if job.results else None,
        start=words.own_start,
        share=lambda job: job.results[-1].update / model.UPDATES if job.results else 0.0,
    )


def _practised(kind: str, size: int, now: model.Practised) -> None:
    line = line_of(kind, size, ONCE)
    label = words.own_line.format(update=now.update)
    earlier = replace(line, label=words.own_base, role="residual")
    draw_on(
        [earlier, replace(line, label=label, y=now.shares)],
        kit.Scale(0, COUNTS[-1], words.guests_axis),
        kit.Scale(0, 1, words.right_axis),
        key=f"{KEY}.own",
        words={"picture": words.right_axis},
        form="percent",
    )
    far = kit.near_percent(now.shares[COUNTS.index(MANY)])
    kit.prose(words.own_read, update=now.update, many=MANY, far=far)


def _cost() -> None:
    kit.section(words.cost)
    counts = list(range(1, COUNTS[-1] + 1))
    lines = [
        kit.Drawn(label, counts, [numbers_kept(kind, SIZE, n) for n in counts], ROLES[kind])
        for kind, label in ((LIST, words.list_kept), ("adds", words.matrix_kept))
    ]
    x, y = (
        kit.Scale(0, COUNTS[-1], words.guests_axis),
        kit.Scale(0, max(lines[0].y), words.kept_axis),
    )
    draw_on(lines, x, y, key=f"{KEY}.kept", words={"picture": words.kept_axis})
    listed, matrix = (multiplications(kind, SIZE, ORDERS) for kind in (LIST, "adds"))
    sizes = [numbers_kept(kind, WIDE, TEXT) for kind in (LIST, "adds")]
    large = {"wide": WIDE, "words": TEXT, "times": sizes[0] // sizes[1] // 100 * 100}
    kit.prose(words.cost_read, many=ORDERS, listed=listed, matrix=matrix, **large)


def _narrow() -> None:
    """Draw the losses of models of stories, by what their cache keeps of a word."""
    found = recorded()
    kit.section(words.narrow)
    cases = [
        kit.Case.mean(
            words.caches[name].format(bytes=found.cache_bytes[name]),
            losses,
            role="key" if name.startswith("latent") else "query",
        )
        for name, losses in found.losses.items()
    ]
    low, high = min(map(min, found.losses.values())), max(map(max, found.losses.values()))
    axis = kit.Axis(low - (high - low) / 4, high + (high - low) / 4, words.loss_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.narrow", form="figure", mark="dot")
    kit.prose(narrow_said(found, "narrow_read", "latent 32", "heads 1"))
    kit.prose(narrow_said(found, "narrow_least", "latent 16", "heads 4"))
    parameters = [of.parameters for of in found.waiters]
    kit.measured(
        words.how,
        seeds=kit.listed([str(seed) for seed in model.SEEDS]),
        updates=found.updates,
        trained=model.TRAINED,
        longest=COUNTS[-1],
        texts=found.texts,
        guests=len(GUESTS),
        dishes=len(DISHES),
        least=min(parameters),
        most=max(parameters),
        width=64,
        steps=found.steps,
        small=min(found.small_parameters.values()),
        large=max(found.small_parameters.values()),
    )


def narrow_said(found: model.Recorded, variants: str, ours: str, other: str) -> str:
    """Return the sentence that compares a latent vector with shared or whole heads."""
    mine, theirs = (np.array(found.losses[name]) for name in (ours, other))
    return getattr(words, variants)[against(mine, theirs)].format(
        bytes=found.cache_bytes[ours],
        latent=float(mine.mean()),
        shared=float(theirs.mean()),
        apart=abs(float(mine.mean() - theirs.mean())),
    )
