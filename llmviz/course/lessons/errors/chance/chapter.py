"""Chapter "Right, wrong, and cannot know": the true next token beside the model's.

T tokens, V vocabulary.
"""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.next_tokens import true_tokens
from llmviz.course.components.paired_bars.view import paired_bars
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.figures.stream import stacked
from llmviz.course.lessons.errors.chance import words
from llmviz.course.lessons.errors.measured import known_errors, measure_live
from llmviz.course.lessons.errors.model_errors import STORIES, ModelErrors
from llmviz.course.lessons.errors.story import (
    ReadStory,
    divided_of,
    logits_of,
    read_story,
    story_box,
    story_reader,
    tokens_of,
    truth_of,
)
from llmviz.course.ui import engine, kit
from llmviz.course.ui.question import APART
from llmviz.evaluation import exact_loss

KEY = "errors.chance"
GUESS = f"{KEY}.misses"
SHOWN = 8  # tokens that have bars
PARTS = ("entropy", "divergence", "dice")
LEAST = 0.05  # of tokens that could be saved on average: below, no model could do better


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what the model missed, whose fault that was, and what the loss is made of."""
    kit.prose(words.hook)
    picture, asking, source = kit.stage("chance"), st.container(), st.container()
    with source:
        story_box(state)
        name = story_reader(state)
    bundled = None if name is None else kit.load(name)
    with picture:
        story = None if bundled is None else read_story(state, bundled)
        if story is None:
            return
        divided = divided_of(story.bundled, story.text)
        guess = kit.Guess(GUESS, question(divided))
        opened = guess.open
        _picture(state, story, divided, guess, opened=opened)
    with asking:
        guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        _parts(state, story, divided)
        _throws(state, story, divided)
        _code(story, divided)
        kit.seen(words.end, said=missed_line(divided))


def misses(divided: exact_loss.DividedLoss) -> dict[str, Any]:
    """Return how many first guesses missed, and for how many of them no guess was better."""
    missed, of_dice = int(divided.missed.sum()), int((divided.missed & divided.best_guess).sum())
    tokens = kit.count(len(divided), "token")
    return {
        "missed": missed,
        "tokens": tokens,
        "by_dice": of_dice,
        "by_divergence": missed - of_dice,
    }


def missed_line(divided: exact_loss.DividedLoss) -> str:
    """Return how many guesses missed, and how often nobody had a better one."""
    found = misses(divided)
    missed, of_dice = found["missed"], found["by_dice"]
    how = "some" if 0 < of_dice < missed else "none" if not missed else "all" if of_dice else "own"
    return words.said[how].format(**found)


def question(divided: exact_loss.DividedLoss) -> kit.Question | None:
    """Return the question for how many misses no guess was better; None where nothing is missed.

    The wrong answers are those of somebody to whom a better model misses nothing, to whom it is
    half luck, and to whom nobody can know the future.
    """
    found = misses(divided)
    missed, right = found["missed"], found["by_dice"]
    wrong = {0: words.ask_none, missed // 2: words.ask_half, missed: words.ask_all}
    reasons = {value: why for value, why in wrong.items() if abs(value - right) > APART * missed}
    if not reasons:
        return None
    return kit.Question.among(
        words.ask, reasons | {right: words.ask_right}, right, "{:,.0f}".format, **found
    )


def opened_token(place: int, divided: exact_loss.DividedLoss) -> int:
    """Return the token that is open: the one asked for, else that with the highest loss."""
    return place if 0 <= place < len(divided) else int(divided.loss.argmax())


def part(divided: exact_loss.DividedLoss, name: str) -> np.ndarray:
    """Return what colours the tokens (T,); of misses, 1 is the model's own and −1 the world's."""
    if name == "missed":
        return np.where(divided.missed, np.where(divided.best_guess, -1.0, 1.0), 0.0)
    return getattr(divided, name)


@kit.cached(32)
def strip_row(bundled: engine.Bundled, text: str, part_of: str, tokenizer) -> TokenRow:
    """Return a story's tokens with the part that colours them; of "", only what was missed."""
    divided = divided_of(bundled, text)
    guesses = kit.names_of(divided.guess.tolist(), tokenizer)
    details = [
        {words.card_guess: guess, words.card_given: kit.percent(float(given))}
        | ({words.card_true: kit.percent(float(true))} if part_of else {})
        for guess, given, true in zip(guesses, divided.given, divided.true, strict=True)
    ]
    values = part(divided, part_of) if part_of else divided.missed.astype(float)
    tokens = tokens_of(divided.ids.tolist(), tokenizer)
    return TokenRow(words.strip, tokens, values=values, details=details)


def _picture(
    state: kit.PageState,
    story: ReadStory,
    divided: exact_loss.DividedLoss,
    guess: kit.Guess,
    *,
    opened: bool,
) -> None:
    at = opened_token(state["token"], divided)
    part_of = state["part_of"] if opened else ""
    row = strip_row(story.bundled, story.text, part_of, story.bundled.tokenizer)
    most = max(float(np.abs(np.array(row.values)).max()), exact_loss.CERTAIN)
    key = f"{KEY}.strip"
    token_strip(
        [row],
        key=key,
        show_ids=False,
        value_label={"": words.missed_value, "missed": words.sides_value}.get(
            part_of, words.strip_value
        ),
        value_range=(-most if part_of in ("missed", "dice") else 0.0, most),
        selected=TokenSelection(0, at, int(divided.ids[at])),
        on_change=kit.bound(state, key, selected=("token", kit.second_of)),
    )
    if opened:
        kit.choose(state, "part_of", words.part, words.parts)
        kit.prose(words.part_notes[part_of].format(**misses(divided)))
    found = misses(divided)
    guess.cases(
        [
            kit.Case(words.row_missed, found["missed"], role="key"),
            kit.Case(words.row_dice, found["by_dice"]),
        ],
        kit.Axis(0, max(found["missed"], 1), words.row_axis),
        veiled=[1],
        picture=f"{KEY}.rows",
        form="count",
    )
    ids, true, given = bars_of(story.bundled, story.text, at)
    picture, beside = st.columns([3, 2], gap="large", vertical_alignment="center")
    with picture:
        paired_bars(
            kit.names_of(ids.tolist(), story.bundled.tokenizer),
            true if opened else given,
            given if opened else None,
            title=words.pairs_title,
            names=(words.pairs_true, words.pairs_model) if opened else (words.pairs_model, ""),
            axis=words.pairs_axis,
            limit=float(max(true.max(), given.max())),
            key=f"{KEY}.pairs",
        )
    with beside:
        kit.prose("\n\n".join(opened_lines(story, divided, at, revealed=opened)))


@kit.cached(128)
def bars_of(bundled: engine.Bundled, text: str, at: int) -> tuple[np.ndarray, ...]:
    """Return the tokens that are most probable by the grammar or the model, at most SHOWN.

    ids (N,), and their probabilities by both (N,), (N,), the model's first.
    """
    given = np.exp(exact_loss.log_softmax(logits_of(bundled, text)[at : at + 1]))[0]
    true = truth_of(bundled, text).following[at].dense(len(given))
    best = np.argsort(-np.maximum(true, given), kind="stable")[:SHOWN]
    best = best[np.argsort(-given[best], kind="stable")]
    return best, true[best], given[best]


def opened_lines(
    story: ReadStory, divided: exact_loss.DividedLoss, at: int, *, revealed: bool = True
) -> list[str]:
    """Return what is said of a token: what could come, the parts of its loss, whose error.

    revealed: what is true of it is said, too.
    """
    following = story.truth.following[at]
    best = int(following.ids[following.probabilities.argmax()])
    numbers = {
        "number": at + 1,
        "token": story.spoken(int(divided.ids[at])),
        "options": kit.count(len(following.ids), "token"),
        "best": story.spoken(best),
        "best_p": kit.percent(float(divided.best_true[at])),
        "true": kit.percent(float(divided.true[at])),
        "given": kit.percent(float(divided.given[at])),
        "guess": story.spoken(int(divided.guess[at])),
        "guess_p": kit.percent(float(divided.guess_true[at])),
        "loss": divided.loss[at],
        "entropy": divided.entropy[at],
        "divergence": divided.divergence[at],
        "dice": added(divided.dice[at]),
    }
    kind = "open" if len(following.ids) > 1 else "certain"
    case = "right"
    if divided.missed[at]:
        case = "dice" if divided.best_guess[at] else "lack"
    texts = (words.opened[kind], words.verdict[case], words.lack) if revealed else (words.untold,)
    return [text.format(**numbers) for text in texts]


def signed(value: float) -> str:
    """Return nats with three digits and a true minus sign.

    >>> signed(-0.0004), signed(-0.25)
    ('0.000', '−0.250')
    """
    text = f"{value:.3f}"
    return f"−{text[1:]}" if text.startswith("-") and float(text) else text.lstrip("-")


def added(value: float) -> str:
    """Return a part as it stands behind others in a sum.

    >>> added(0.5), added(-0.5)
    ('+ 0.500', '− 0.500')
    """
    text = signed(value)
    return f"− {text[1:]}" if text.startswith("−") else f"+ {text}"


def of_story(divided: exact_loss.DividedLoss) -> dict[str, Any]:
    """Return the mean parts of a story's loss as sentences name them."""
    means = {name: float(getattr(divided, name).mean()) for name in ("loss", *PARTS)}
    return means | {"dice": added(means["dice"])}


def _parts(state: kit.PageState, story: ReadStory, divided: exact_loss.DividedLoss) -> None:
    kit.section(words.divided)
    name, known = story.bundled.name, known_errors()
    own = tuple(float(getattr(divided, part).mean()) for part in PARTS)
    measured = known.get(name)
    kit.chart(bars(own, name, kit.theme()), f"{KEY}.bars", bar=False)
    tokens, stories = kit.count(len(divided), "token"), kit.count(STORIES, "story", "stories")
    kit.prose(words.divided_story.format(tokens=tokens, **of_story(divided)))
    if measured is None:
        kit.prose(words.divided_own.format(stories=stories))
        measure_live(state, "measured", story.bundled, _results, words)
    else:
        kit.prose(corpus_line(measured.corpus))
        kit.measured(words.how_divided, **corpus_means(measured.corpus))


@kit.cached(64)
def bars(own: tuple[float, ...], name: str, mode: kit.Mode) -> kit.Figure:
    """Return the parts of a story's loss as bars, beside held-out stories.

    Those are of all measured models that read the same tokens as this one.
    """
    known = known_errors()
    columns, values = [words.bar_story], [own]
    for other, errors in known.items():
        if name in known and errors.corpus.tokens == known[name].corpus.tokens:
            columns.append(kit.label(other))
            values.append(tuple(getattr(errors.corpus, part).value for part in PARTS))
    series = [[row[k] for row in values] for k in range(len(PARTS))]
    names = [words.parts[part] for part in PARTS]
    return stacked(columns, series, names, ("residual", "weights", "accent"), words.bar_axis, mode)


def corpus_line(corpus: exact_loss.CorpusLoss) -> str:
    """Return the parts of a model's loss on held-out stories."""
    means = {part: signed(getattr(corpus, part).value) for part in ("loss", *PARTS)}
    stories = kit.count(corpus.stories, "held-out story", "held-out stories")
    return words.divided_corpus.format(stories=stories, **means)


def corpus_means(corpus: exact_loss.CorpusLoss) -> dict[str, str]:
    """Return the same parts with their standard errors."""
    means = {part: getattr(corpus, part) for part in ("loss", *PARTS)}
    return {part: f"{signed(mean.value)} ± {mean.error:.3f}" for part, mean in means.items()}


def _results(job: kit.Job) -> None:
    last = job.results[-1] if job.results else None
    if isinstance(last, ModelErrors):
        kit.prose(corpus_line(last.corpus))


def _throws(state: kit.PageState, story: ReadStory, divided: exact_loss.DividedLoss) -> None:
    kit.section(words.again)
    drawn = drawn_of(story.bundled, story.text, len(divided), state["throw"])
    tokenizer = story.bundled.tokenizer
    rows = [
        TokenRow(
            name,
            tokens_of(ids.tolist(), tokenizer),
            values=(ids != divided.guess).astype(float),
            details=[{words.card_guess: text} for text in kit.names_of(divided.guess, tokenizer)],
        )
        for name, ids in ((words.row_came, divided.ids), (words.row_drawn, drawn))
    ]
    token_strip(rows, key=f"{KEY}.throws", show_ids=False, value_label=words.missed_value)
    st.number_input(words.throw, step=1, width=140, **state.ranged("throw"))
    again = divided.guess != drawn
    changed = kit.count(int((again != divided.missed).sum()), "guess", "guesses")
    thrown = words.thrown.format(throw=state["throw"], again=int(again.sum()), changed=changed)
    kit.prose(f"{thrown}\n\n{mean_line(divided)}")


def mean_line(divided: exact_loss.DividedLoss) -> str:
    """Return how many guesses miss on average, the model's and the best ones."""
    model, best = float((1 - divided.guess_true).sum()), float((1 - divided.best_true).sum())
    apart = model - best
    text = words.missed_mean["none" if apart < LEAST else "lack"]
    return text.format(model=model, best=best, tokens=kit.count(len(divided), "token"), apart=apart)


@kit.cached(64)
def drawn_of(bundled: engine.Bundled, text: str, tokens: int, seed: int) -> np.ndarray:
    """Return a token for each place of a story, drawn from the true distribution."""
    return exact_loss.draw_again(truth_of(bundled, text), tokens, seed)


def _code(story: ReadStory, divided: exact_loss.DividedLoss) -> None:
    names = ("loss", *PARTS)
    kit.show_code(
        [true_tokens, exact_loss.divide_logits],
        words.snippet.format(name=story.bundled.name, text=story.text, names=names),
        "\n".join(f"{name} {getattr(divided, name).mean():.3f}" for name in names),
    )
