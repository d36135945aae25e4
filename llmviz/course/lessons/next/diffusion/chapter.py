"""Chapter "Diffusion": a text is filled in, in any order, and words of one step do not agree."""

from functools import partial

import numpy as np
import streamlit as st

from llmviz.corpus.openings import followed, is_right, joined
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.fill_film.view import Filling, fill_film
from llmviz.course.lessons.next.diffusion import model, words
from llmviz.course.lessons.next.diffusion.model import (
    FOLLOWS,
    PAIRS,
    STEPS,
    TOKENS,
    bundled,
    recorded,
)
from llmviz.course.ui import kit
from llmviz.models.masked_diffusion import true_conditionals
from llmviz.sampling.unmasking import UnmaskStep, unmask

KEY = "next.diffusion"
OWN_SEED = 3  # of the tiny model that learns on the page
job_of = kit.job_of("llmviz.course.lessons.next.diffusion.model:learn_pairs", "seed")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a text as it is filled in, how many break the grammar, then what goes deeper."""
    if not kit.is_here(words.missing, model.COMMAND, recorded, bundled, partial(bundled, FOLLOWS)):
        return
    steps, order = int(state["diffsteps"]), state["difforder"]
    kit.prose(words.hook, places=TOKENS, steps=kit.count(steps, "step"))
    guess = kit.Guess(f"{KEY}.broken", question(), steps == 1)
    with kit.stage("diffusion"):
        fill_film(
            [filling(steps, order, state["diffdraw"]), twin_filling(steps, state["diffdraw"])],
            key=f"{KEY}.text",
            hidden=words.hidden,
        )
        controls = st.container() if guess.open else None  # the guess is near its picture
        _broken(guess, order if guess.open else "random")
        with controls or st.container():
            _controls(state)
    guess.ask()
    if not guess.open:
        return
    four = {order: mean_share(order, 4) for order in ("random", "confident")}
    kit.looks(state, words.looks, f"{KEY}.looks", **four)
    _code(steps, order, state["diffdraw"])
    _pair(state)
    _loss()
    kit.section(words.won)
    kit.prose(words.won_read, eight=mean_share("random", 8), sixteen=mean_share("random", TOKENS))
    kit.section(words.known)
    many, at_once = mean_share("random", TOKENS), mean_share("random", 1)
    kit.seen(words.end, many=many, one=at_once, twin=twin_share())


def judged(tokens: list[str]) -> str:
    """Say whether the grammar can write a sentence, and if not, how far it can follow it.

    One with fewer tokens than there are places is still being written.
    """
    text, kept = joined(tokens), followed(tokens)
    how = "breaks" if kept else "begins"
    if is_right(tokens):
        how = "right"
    elif kept == text:
        how = "stops" if len(tokens) == TOKENS else "holds"
    return words.caption[how].format(kept=kept)


@kit.cached(64)
def written(steps: int, order: str, seed: int) -> list[UnmaskStep]:
    """Return the steps of a text by the bundled model."""
    return model.write(bundled(), len(recorded().vocabulary), steps, order, seed)


@kit.cached(64)
def twin_written(seed: int) -> tuple[list[int], list[float]]:
    """Return the ids of a text that the twin writes, and how probable each was (T,)."""
    rows = model.write_on(bundled(FOLLOWS), len(recorded().vocabulary), 1, seed)
    return rows[0][0].tolist(), rows[1][0].tolist()


def mean_share(order: str, steps: int) -> str:
    """Return how many texts broke the grammar over the seeds, as a sentence says it."""
    return kit.near_percent(float(np.mean(recorded().broken(order, steps))))


def twin_share() -> str:
    """Return the same of texts that were written from left to right."""
    return kit.near_percent(float(np.mean([seed.twin_broken for seed in recorded().seeds])))


def question() -> kit.Question:
    """Return the question of texts that are written in one step.

    The wrong answers are those of somebody to whom the steps do not count, and of one who thinks of
    a single pair.
    """
    at_once, many = (float(np.mean(recorded().broken("random", n))) for n in (1, TOKENS))
    shares, slots = {"right": at_once, "same": many, "coin": 0.5}, {"many": kit.near_percent(many)}
    return kit.Question.named(
        words.ask, words.ask_reasons, shares, kit.near_percent, places=TOKENS, **slots
    )


def _controls(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {str(steps): str(steps) for steps in STEPS}
        st.select_slider(words.steps, width=170, **state.named("diffsteps", names))
        st.selectbox(words.order, width=190, **state.named("difforder", dict(words.orders)))
        kit.another(state, "diffdraw", words.draw)


def filling(steps: int, order: str, seed: int) -> Filling:
    """Return the text of the model that fills in, and when each place was filled."""
    text = written(steps, order, seed)
    when, sure = [0] * TOKENS, [0.0] * TOKENS
    for at, step in enumerate(text, 1):
        for place, p in zip(step.positions, step.probabilities, strict=True):
            when[place], sure[place] = at, p
    return _filling(words.fills_name, list(text[-1].ids), when, sure, steps)


def twin_filling(steps: int, seed: int) -> Filling:
    """Return what its twin has written in as many steps, a token in each."""
    ids, sure = twin_written(seed)
    when = list(range(1, steps + 1))
    return _filling(words.follows_name, ids[:steps], when, sure[:steps], steps, opened=False)


def _filling(
    name: str,
    ids: list[int],
    when: list[int],
    sure: list[float],
    steps: int,
    *,
    opened: bool = True,
) -> Filling:
    filled = [sum(at <= moment for at in when) for moment in range(steps)]
    said = [words.filled.format(count=count, places=TOKENS) for count in filled]
    notes = [
        words.note.format(step=at, sure=kit.percent(p)) for at, p in zip(when, sure, strict=True)
    ]
    last = judged([recorded().vocabulary[at] for at in ids])
    return Filling(name, [*map(shown_token, ids)], when, notes, [*said, last], opened)


def _code(steps: int, order: str, seed: int) -> None:
    shown = {"steps": steps, "order": order, "seed": seed}
    snippet = words.snippet.format(hidden=words.hidden, empty=words.empty, **shown)
    kit.show_code([unmask], snippet, lambda: printed(written(steps, order, seed)))


def printed(text: list[UnmaskStep]) -> str:
    """Return what the snippet prints: a line of tokens for each step."""
    return "\n".join(" ".join(map(shown_token, step.ids)) for step in text)


def shown_token(at: int) -> str:
    """Return how the picture shows a token, an empty place, or one that is hidden."""
    vocabulary = recorded().vocabulary
    return words.hidden if at == len(vocabulary) else vocabulary[at] or words.empty


def _broken(guess: kit.Guess, order: str) -> None:
    """Draw how many texts break the grammar, by steps; the first line is guessed."""
    shown = STEPS if guess.open else (1, TOKENS)
    cases = []
    for steps in shown:
        dots = recorded().broken(order, steps)
        label, note = kit.count(steps, "step"), mean_share(order, steps)
        cases.append(kit.Case.mean(label, dots, note=note))
    dots = [seed.twin_broken for seed in recorded().seeds]
    label = words.twin_row.format(steps=kit.count(TOKENS, "step"))
    cases.append(kit.Case.mean(label, dots, role="key"))
    guess.cases(cases, kit.Axis(0, 1, words.broken_axis), veiled=[0], picture=f"{KEY}.rows")


def pairs(steps: int) -> np.ndarray:
    """Return how often who knows all pairs writes each, exactly, of first and second words."""
    size = len(PAIRS)
    joint = np.zeros((2 * size, 2 * size))
    joint[range(size), range(size, 2 * size)] = 1 / size
    import torch

    return model.pairs_written(true_conditionals(torch.from_numpy(joint)), steps)


def _pair(state: kit.PageState) -> None:
    """Draw the pairs of first two words, filled in at once and one after the other."""
    kit.section(words.pair)
    first, second = list(PAIRS), list(PAIRS.values())
    for column, steps in zip(st.columns(2, gap="large"), (1, 2), strict=True):
        shares = pairs(steps)
        said = [[kit.whole_percent(share) if share else "" for share in row] for row in shares]
        with column:
            kit.prose(words.one_step if steps == 1 else words.two_steps)
            cell_grid(
                shares,
                key=f"{KEY}.pairs{steps}",
                row_names=first,
                column_names=second,
                texts=said,
                notes=[
                    [
                        words.cell.format(first=a, second=b, share=kit.whole_percent(share))
                        for b, share in zip(second, row, strict=True)
                    ]
                    for a, row in zip(first, shares, strict=True)
                ],
                strong=np.eye(len(first), dtype=bool),
                limit=1 / len(first),
                label=words.pair_label,
            )
    kit.prose(words.pair_read, wrong=1 - float(np.trace(pairs(1))))
    kit.prose(words.pairs_own)
    kit.live(
        state,
        "pairsown",
        job_of,
        (OWN_SEED,),
        lambda job: _learned(job.results) if job.results else None,
        start=words.pairs_start,
        share=lambda job: len(job.results) * model.PAIR_EVERY / model.PAIR_UPDATES,
    )


def _learned(found: list[model.PairsLearned]) -> None:
    """Draw how many pairs of a tiny model are none, by its updates."""
    lines = [
        kit.Drawn(label, [now.update for now in found], [now.wrong[at] for now in found], role)
        for at, (label, role) in enumerate(zip(words.pair_lines, ("query", "value"), strict=True))
    ]
    x = kit.Scale(0, model.PAIR_UPDATES, words.updates_axis)
    key, title = f"{KEY}.pairs_own", words.wrong_axis
    kit.draw_on(lines, x, kit.Scale(0, 1, title), key=key, words={"picture": title}, form="percent")
    last = found[-1]
    at_once, in_turn = map(kit.near_percent, last.wrong)
    kit.prose(words.pairs_read, update=last.update, one=at_once, two=in_turn)


def _loss() -> None:
    """Draw the losses of both kinds beside the entropy."""
    found = recorded()
    kit.section(words.loss, entropy=found.entropy)
    bounds, twins = ([getattr(s, name) for s in found.seeds] for name in ("bound", "twin"))
    cases = [
        kit.Case.mean(words.fills, bounds),
        kit.Case.mean(words.follows, twins, role="key"),
    ]
    axis = kit.Axis(np.floor(found.entropy) - 1, np.ceil(max(*bounds, *twins)) + 1, words.loss_axis)
    levels = [(found.entropy, words.floor)]
    kit.case_rows(cases, axis, key=f"{KEY}.losses", form="figure", mark="dot", levels=levels)
    above = {"twin": np.mean(twins) - found.entropy, "model": np.mean(bounds) - found.entropy}
    kit.prose(words.loss_read["apart" if min(bounds) > max(twins) else "close"], **above)
    kit.prose(words.bound)
    kit.measured(
        words.how,
        parameters=found.parameters,
        updates=found.updates,
        texts=found.texts,
        error=max(seed.error for seed in found.seeds),
    )
