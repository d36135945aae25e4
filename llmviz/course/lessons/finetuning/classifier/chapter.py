"""Chapter "A classifier": how many texts each way needs, one trained live, and its reasons.

The reasons are asked of a sentence of the learner's, by any classifier that is ready.
"""

import contextlib
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components import token_strip
from llmviz.course.figures.finetuning import bands
from llmviz.course.lessons.finetuning.chips import row_of
from llmviz.course.lessons.finetuning.classifier import source, training, words
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan, Reading, read
from llmviz.course.lessons.finetuning.classifier.class_training import training as train_classifier
from llmviz.course.lessons.finetuning.classifier.examples_curve import (
    COMMAND,
    TASK,
    Measured,
    measured,
)
from llmviz.course.lessons.finetuning.classifier.training import Outcome
from llmviz.course.ui import engine, kit
from llmviz.course.ui.question import APART
from llmviz.files.text import check_text
from llmviz.finetuning.classifier import Classifier, classifier, last_token
from llmviz.finetuning.tuned_classes import Classes, load_classes
from llmviz.models.gpt import GPT


class Ready(NamedTuple):
    """What the sentence is read with.

    known: tells it from all others. names: of its classes. tokenizer_of: the model whose tokenizer
    it has.
    """

    known: Hashable
    names: tuple[str, ...]
    tokenizer_of: str
    model: Callable[[], Classifier]


def of_folder(name: str) -> Ready:
    """Return a classifier that `finetune` wrote, by its name `run:NAME`.

    Raises ValueError: it is gone or damaged.
    """
    known = name, engine.version(name)
    return Ready(known, _loaded(*known).names, name, lambda: _loaded(*known).model)


def of_training(now: Outcome) -> Ready:
    assert now.trained is not None
    known = now.whose, now.trained.step
    return Ready(known, now.trained.names, now.plan.base, lambda: training.model_of(now))


@kit.cached(4)
def _loaded(name: str, version: str) -> Classes:
    classes = load_classes(engine.folder_of(name))
    classes.model.requires_grad_(False)
    return classes


def choose(state: kit.PageState) -> str:
    """Offer the learner's own classifiers, where there are some; return the one chosen, or ""."""
    wanted = state["classfolder"]
    names = kit.offered(kit.tells_classes, wanted)
    if wanted and wanted not in names:
        kit.warn(words.folder_other.format(name=kit.quote(wanted)), kit.LINK_ICON)
        state["classfolder"] = ""
    if names:
        st.selectbox(
            words.folder,
            ["", *names],
            format_func=lambda name: kit.label(name) if name else words.folder_none,
            width=260,
            **state.bind("classfolder"),
        )
    return str(state["classfolder"])


LONGEST = 64  # tokens that are read, the last ones


def draw_sentence(state: kit.PageState, now: Ready) -> None:
    """Show the answer and two explanations of it."""
    names = now.names
    kit.section(words.sentence_section)
    kit.text_area(state, "sentence", words.sentence_label, height=80)
    if state["explained"] >= len(names):
        state["explained"] = -1
    st.selectbox(
        words.explain,
        range(-1, len(names)),
        format_func=lambda number: words.chosen if number < 0 else names[number],
        width=260,
        **state.bind("explained"),
    )
    text = kit.or_refused(check_text, state["sentence"])
    if text is None:
        return
    if not text:
        kit.inform(words.empty, ":material/edit:")
    answer = reading(now.known, text, state["explained"], now)
    if answer.left_out:
        line = words.read_last.format(count=len(answer.ids), left_out=answer.left_out)
        kit.inform(line, ":material/content_cut:")
    chances = ", ".join(
        f"{kit.quote(names[k])} {kit.percent(float(answer.probabilities[k]))}"
        for k in np.argsort(-answer.probabilities, kind="stable")
    )
    chosen = kit.quote(names[int(answer.probabilities.argmax())])
    says, target = (
        words.says.format(chosen=chosen, chances=chances),
        kit.quote(names[answer.target]),
    )
    kit.prose(f"{says}\n\n{words.occlusion.format(target=target)}")
    _strip(now, answer, answer.without, words.fell, "without")
    kit.prose(words.gradient, target=target)
    _strip(now, answer, answer.gradient, words.slope, "gradient")
    lines = [agreement(answer, now.tokenizer_of)]
    if len(answer.ids) > 1:
        last = float(answer.without[-1])
        line = words.last_token["falls" if last >= 0 else "rises"]
        lines.insert(0, line.format(value=f"{abs(last):.2f}", target=target))
    if any(lines):
        kit.prose("\n\n".join(filter(None, lines)))
    kit.measured(words.how_blamed)


@kit.cached(64, key=lambda known, text, target, now: (known, text, target))
def reading(known: Hashable, text: str, target: int, now: Ready) -> Reading:
    return read(now.model(), engine.tokenizer(now.tokenizer_of), text, LONGEST, target)


def _strip(now: Ready, answer: Reading, values: np.ndarray, label: str, key: str) -> None:
    names = kit.names_of(answer.ids, engine.tokenizer(now.tokenizer_of))
    # The class is read at the last token, which may outweigh all others: the scale is theirs.
    limit = float(np.abs(values[:-1] if len(values) > 1 else values).max()) or 1.0
    token_strip(
        [row_of(answer.ids, names, values.tolist())],
        key=f"finetuning.classifier.{key}",
        show_ids=False,
        value_label=label,
        value_range=(-limit, limit),
    )


def agreement(answer: Reading, name: str) -> str:
    """Return how far the two explanations agree.

    Nothing where one of them is the same for all, or two tokens would agree or disagree by force.
    """
    both = answer.without.astype(float), answer.gradient.astype(float)
    if len(answer.ids) < 3 or any(scores.std() == 0 for scores in both):
        return ""
    tokenizer = engine.tokenizer(name)
    tops = [kit.spoken(answer.ids[int(scores.argmax())], tokenizer) for scores in both]
    correlation = kit.signed(float(np.corrcoef(*both)[0, 1]))
    line = words.agree["same" if tops[0] == tops[1] else "other"]
    return line.format(correlation=correlation, without=tops[0], gradient=tops[1])


KEY = "finetuning.classifier"
GUESS = f"{KEY}.all"
WAYS = ("nothing", "head", "last", "all")  # as the rows stand; the last is the guess
curves = kit.cached(1)(measured)


def ahead() -> None:
    """Train the classifier that every visitor finds."""
    with contextlib.suppress(ValueError):  # the page says what is wrong
        training.first(ClassPlan())


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how many texts each way of training needs, then train one and ask it."""
    kit.prose(words.hook)
    try:
        found = curves()
    except ValueError:
        found = None
        kit.inform(words.no_curve, ":material/download:")
        st.code(COMMAND, language=None)
    told = found is not None and _stage(state, found)
    _trained(state, found if told else None)


# ---- what was measured


def _stage(state: kit.PageState, found: Measured) -> bool:
    """Show what each way gets right with so many texts; return whether all of it is told."""
    at = found.counts.index(int(state["texts"]))
    by_way = {band.way: band for band in found.bands}
    guess = kit.Guess(GUESS, question(found, at))
    revealed = guess.open
    cases = []
    for way in WAYS:
        band, label = by_way[way], words.rows[way]
        case = kit.Case(label, band.mean[at], (band.lowest[at], band.highest[at]))
        if not revealed and way in WAYS[1:-1]:
            case = kit.Case(label, None, note="?")
        cases.append(case)
    with kit.stage("classifier"):
        axis = kit.Axis(0, 1, words.axis.format(tested=found.tested, seeds=found.seeds))
        look: dict[str, Any] = {
            "veiled": [len(WAYS) - 1],
            "picture": f"{KEY}.rows",
            "form": "percent",
        }
        levels = [(found.guess, words.curve_guess)]
        guess.cases(cases, axis, mark="dot", levels=levels, **look)
        shares = {way: kit.whole_percent(by_way[way].mean[at]) for way in WAYS}
        caption = words.caption if revealed else words.waits
        kit.prose(caption, texts=f"{found.counts[at]:,}", **shares)
        offered = {str(count): f"{count:,}" for count in found.counts}
        kit.choose(state, "texts", words.texts, offered)
    guess.ask()
    if revealed:
        few, many = found.counts.index(10), found.counts.index(1000)
        ends = {way: kit.whole_percent(by_way[way].mean[many]) for way in ("nothing", "head")}
        best = kit.whole_percent(max(band.mean[few] for band in found.bands))
        kit.looks(state, words.looks, f"{KEY}.looks", best=best, **ends)
        kit.section(words.curve, question=words.task_text[TASK])
        kit.chart(picture(kit.theme()), f"{KEY}.examples")
        tests = {"seeds": found.seeds, "tested": found.tested}
        kit.measured(words.curve_steps, command=COMMAND, **tests, **found.steps)
    return revealed


def question(found: Measured, at: int) -> kit.Question | None:
    """Return the question what training everything gets right with so many texts.

    The wrong answers are of somebody to whom reading before does not help, and to whom it helps
    as much as it helps a new head. None where two are near.
    """
    shares = {band.way: band.mean[at] for band in found.bands}
    low, middle, high = sorted(shares[way] for way in ("nothing", "head", "all"))
    if min(middle - low, high - middle) < APART:
        return None
    reasons = {
        shares["nothing"]: words.ask_nothing,
        shares["head"]: words.ask_head,
        shares["all"]: words.ask_right,
    }
    asked = words.ask.format(texts=f"{found.counts[at]:,}")
    return kit.Question.among(asked, reasons, shares["all"], kit.percent)


@kit.cached(2)
def picture(mode: kit.Mode) -> kit.Figure:
    found = curves()
    ways = [(words.ways[band.way], band.lowest, band.mean, band.highest) for band in found.bands]
    return bands(found.counts, ways, (words.curve_guess, found.guess), words.curve_axes, mode)


# ---- one that is trained here


def _trained(state: kit.PageState, found: Measured | None) -> None:
    """Show a classifier trained, tested and asked; found: what was measured, once it is told."""
    kit.section(words.intro)
    folder = choose(state)
    if folder:
        mine = kit.or_refused(of_folder, folder)
        if mine is not None:
            listed = ", ".join(map(kit.quote, mine.names))
            kit.prose(words.folder_text, name=kit.quote(kit.label(folder)), names=listed)
            draw_sentence(state, mine)
        return
    name = kit.Picker().choose(state)
    source.controls(state)
    bundled = kit.load(name)
    if name is None or bundled is None:
        return
    try:
        if not isinstance(bundled.model, GPT):
            raise ValueError(words.not_a_gpt)
        own = source.own_texts(state)
        some = own or source.some_stories(state["task"], state["reads"])
    except ValueError as error:
        kit.refuse(error)
        return
    source.show(some, typed=own is not None, tokenizer_of=name)
    config, classes = bundled.model.config, len(some.names)
    sizes = {"vocab": config.vocab_size, "width": config.n_embd, "classes": classes}
    new, old = classes * (config.n_embd + 1), config.vocab_size * config.n_embd
    head = words.head["tied" if config.tied_head else "own"]
    kit.prose(head, **sizes, old=f"{old:,}", new=f"{new:,}")
    training.controls(state)

    def ask(now: Outcome) -> None:
        draw_sentence(state, of_training(now))
        _code(state, now)
        if found is not None:
            at = found.counts.index(100)
            shares = {band.way: kit.whole_percent(band.mean[at]) for band in found.bands}
            kit.seen(words.end, **shares, **training.reached(now))

    stories = {key: state[key] for key in ("task", "reads")} if own is None else {"own": own}
    way, examples, steps = (state[key] for key in ("trains", "examples", "classupdates"))
    plan = ClassPlan(name, way=way, examples=examples, steps=steps, seed=state["classseed"])
    training.draw(state, replace(plan, **stories), ask)


def _code(state: kit.PageState, now: Outcome) -> None:
    """Show the code of a training that has come to its end, where a snippet can repeat it."""
    plan, trained = now.plan, now.trained
    assert trained is not None
    typed = state["typed"] if plan.own is not None else ""
    if trained.step < plan.steps or state["labels"] == "file" or len(typed) > kit.IN_SNIPPET:
        return
    usual = ClassPlan()
    given = [
        f"{field}={getattr(plan, field)!r}"
        for field in ("base", "task", "reads", "way", "examples", "steps")
        if getattr(plan, field) != getattr(usual, field)
    ]
    text = words.snippet if plan.own is None else words.snippet_own
    kit.show_code(
        [classifier, last_token, train_classifier],
        text.format(given=", ".join([*given, f"seed={plan.seed}"]), typed=typed),
        f"{trained.accuracy:.3f}\n{trained.table.tolist()}",
    )
