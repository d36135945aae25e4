"""Four programs on one task: the next letter of the learner's name."""

import math
from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus import load_corpus
from llmviz.corpus.counts import LETTERS
from llmviz.course.lessons.history.all import words as all_words
from llmviz.course.lessons.history.where import words
from llmviz.course.lessons.history.where.next_letters import (
    RULES,
    chances_after,
    continue_by_dice,
    continue_by_rules,
    next_by_rules,
    right_by_counts,
    right_by_model,
    right_by_rules,
)
from llmviz.course.ui import engine, kit
from llmviz.models.ngram import ADD_ONE, NGrams, positions

MLP, GPT = "names-mlp", "names-gpt"
WRITER = "names-lstm"  # what goes on by the dice
LONGEST = 15
TOP = 4  # letters that are listed


def missing(names: list[str]) -> str:
    """Say which models are not here, and what makes one."""
    command = f"python -m llmviz checkpoints make {names[0]}"
    return all_words.missing.format(names=", ".join(names), command=command)


@kit.kept(1)
def split() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that models learn from and those held out."""
    learned, held_out = load_corpus("names").split(0.1, 0)
    return tuple(learned), tuple(held_out)


@kit.kept(1)
def _pairs() -> NGrams:
    return NGrams(split()[0], 1)


def about(ring: str) -> str:
    """Say what a field is, with the sizes of what runs in it."""
    return words.about[ring].format(
        names=len(split()[0]),
        mlp=engine.card(MLP)["parameters"],
        gpt=engine.card(GPT)["parameters"],
        window=engine.load(MLP).model.config.window,
        writer=all_words.models[writer()],
    )


@kit.kept(1)
def shares() -> dict[str, float]:
    """Return how often each program is right on the held-out names."""
    held_out = split()[1]
    fitting = [name for name in held_out if len(name) <= LONGEST]
    right = {"rules": right_by_rules(fitting), "pairs": right_by_counts(_pairs(), fitting, 1)}
    for key, name in (("mlp", MLP), ("gpt", GPT)):
        bundled = engine.load(name)
        right[key] = right_by_model(bundled.model, bundled.tokenizer, fitting)
    return right


@kit.kept(1)
def _letters() -> int:
    return sum(len(name) + 1 for name in split()[1] if len(name) <= LONGEST)


def question() -> kit.Question | None:
    """Ask which of the four programs is right most often; None where all four are alike."""
    return question_of(shares(), _letters())


def question_of(right: dict[str, float], letters: int) -> kit.Question | None:
    """Ask which program is right most often; those that are too close to tell are one answer.

    right: shares of the same letters. Too close is a difference of up to two standard errors, as
    if each program had letters of its own.
    """
    best = max(right.values())
    error = {
        key: math.sqrt((p * (1 - p) + best * (1 - best)) / letters) for key, p in right.items()
    }
    first = [key for key, p in right.items() if best - p <= 2 * error[key]]
    why = {
        key: words.ask_reason.format(program=title, share=kit.percent(right[key]))
        for key, title in words.programs.items()
    }
    groups = [[key] for key in words.programs if key not in first] + [first]
    if len(groups) == 1:
        return None
    answers, reasons = [], []
    for group in groups:
        titles = [words.programs[key] for key in group]
        if len(group) == 1:
            answers.append(titles[0])
            reasons.append(why[group[0]])
        else:
            answers.append(words.together.format(programs=kit.listed(_in_line(titles))))
            said = " ".join(why[key] for key in group).rstrip(".")
            reasons.append(words.together_reason.format(shares=said, letters=letters))
    return kit.Question(
        words.ask.format(names=len(split()[1])), answers, groups.index(first), reasons
    )


def _in_line(titles: list[str]) -> list[str]:
    return [titles[0], *(title[0].lower() + title[1:] for title in titles[1:])]


def end(name: str) -> dict[str, Any]:
    """Return what the end says: how often each program is right, and what the GPT says of a name.

    name: its letters, may be none.
    """
    right = {key: kit.percent(share) for key, share in shares().items()}
    own = ""
    if name:
        row = _after(GPT, name)
        best = int(row.argmax())
        token = _spoken(LETTERS[best])
        own = words.end_own.format(name=kit.quote(name), token=token, p=kit.percent(row[best]))
    return right | {"letters": _letters(), "own": own}


def draw(state: kit.PageState, ring: str, name: str) -> None:
    """Show what a field's program says about the letter after a name."""
    if ring == "ai":
        _rules(name)
    elif ring == "ml":
        kit.prose(
            _chances_line(name, _pairs().rows(positions([name], 1)[0][-1:], 1, ADD_ONE)[0], "pairs")
        )
    elif ring == "generative":
        st.number_input(words.dice, width=180, **state.ranged("dice"))
        kit.prose(by_dice(name, _continued(name, state["dice"])))
    else:
        key = MLP if ring == "dl" else GPT
        kit.prose(_chances_line(name, _after(key, name), "mlp" if ring == "dl" else "gpt"))
        _code(key, name)


def _rules(name: str) -> None:
    letter, rule = next_by_rules(name)
    whole = continue_by_rules(name, LONGEST)
    more = words.rules_go_on.format(whole=kit.quote(whole)) if whole != name else ""
    lines = [
        words.by_rules.format(name=kit.quote(name), letter=_spoken(letter), rule=rule, more=more),
        words.rule_list.format(rules="; ".join(rule for rule, _ in RULES)),
        words.share_rules.format(share=kit.percent(shares()["rules"]), letters=_letters()),
    ]
    kit.prose("\n\n".join(lines))
    kit.show_code(
        [next_by_rules],
        words.snippet_rules.format(name=name),
        f"{letter}: {rule}",
    )


def by_dice(name: str, whole: str) -> str:
    """Say how a name goes on by the dice, ends, or has no room to go on."""
    if len(name) >= LONGEST:
        return words.by_dice_full.format(name=kit.quote(name), limit=LONGEST)
    if whole == name:
        return words.by_dice_ends.format(name=kit.quote(name))
    return words.by_dice.format(name=kit.quote(name), whole=kit.quote(whole))


def writer() -> str:
    """Return the model that goes on with a name by the dice."""
    return WRITER if WRITER in engine.names() else GPT


def _spoken(letter: str) -> str:
    return words.name_ends if letter == LETTERS[0] else kit.quote(letter)


def _chances_line(name: str, row: np.ndarray, program: str) -> str:
    order = np.argsort(-row, kind="stable")[:TOP]
    top = ", ".join(f"{_spoken(LETTERS[i])} {kit.percent(row[i])}" for i in order)
    chances = words.by_chances.format(name=kit.quote(name), top=top)
    share = words.share.format(share=kit.percent(shares()[program]), letters=_letters())
    return f"{chances}\n\n{share}"


@kit.kept(256)
def _after(key: str, name: str) -> np.ndarray:
    bundled = engine.load(key)
    return chances_after(bundled.model, bundled.tokenizer, name)


@kit.kept(256)
def _continued(name: str, seed: int) -> str:
    bundled = engine.load(writer())
    return continue_by_dice(bundled.model, bundled.tokenizer, name, seed, LONGEST)


def _code(key: str, name: str) -> None:
    row = _after(key, name)
    best = int(row.argmax())
    kit.show_code(
        [chances_after],
        words.snippet_programs.format(key=key, name=name),
        f"{LETTERS[best]} {row[best]:.4f}",
    )
