"""Chapter "A trained model": where its heads look, and what happens without one of them."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components import heads_grid
from llmviz.course.components.look_back.view import look_back
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.heads import words as sentences
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import opening
from llmviz.course.lessons.attention.params import TEXT
from llmviz.course.lessons.attention.trained import words
from llmviz.course.lessons.attention.trained.lookup import part as lookup
from llmviz.course.lessons.attention.trained.model import Head
from llmviz.course.ui import engine, kit, model_on_text
from llmviz.course.ui.question import whole_percent
from llmviz.interpretability.heads_on_text import HeadMaps, chances_without_each
from llmviz.interpretability.heads_on_text import chances_without as without_some
from llmviz.nn.attention.study import HeadSummary, summarise_heads
from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.steps import softmax

KEY = "attention.heads"
GUESS = f"{KEY}.flip"
BARS = 3  # next tokens whose chances are drawn
MATTERS = 0.1  # of a chance: a change by less says that nothing depends on the head

TRIED = 4  # heads that look hardest at one word, which are switched off
APART = 0.12  # between the answers of a question for a share

without_each = kit.cached(16)(kit.on_model(chances_without_each))
without_heads = kit.cached(16)(kit.on_model(without_some))


class Seen(NamedTuple):
    """A text as a model's heads read it.

    without: the chances of the next token (L, H, V) when one head is off; None for a model of many
    heads. best: the likeliest next token with all heads. watcher: the head that looks at it most.
    tried: where no head turns the answer over, or there are many, those that look hardest at one
    word, and what the next token keeps without each; the one without which it keeps least is first.
    """

    read: kit.Read
    maps: HeadMaps
    chances: np.ndarray
    without: np.ndarray | None
    best: int
    watcher: Head
    tried: tuple[tuple[Head, float], ...] = ()

    def name(self, token: int) -> str:
        """Return a token as it is said in a sentence."""
        return model_on_text.spoken(token, self.read.bundled.tokenizer)


@st.fragment
def draw(state: kit.PageState) -> None:
    bundled = kit.load(real.LOOKED_INTO.name(state), tell=False)
    read = None if bundled is None else _read(state, bundled)
    found = None if read is None else seen(read)
    right = None if found is None or found.tried else culprit(found)
    leads = "" if right is None else "layer={}&head={}".format(*right)
    asked = None if found is None else question(found)
    guess = kit.Guess(GUESS, asked, by_hand=True, leads=leads)
    _hook(found)
    if found is not None:
        with kit.stage("trained"):
            _stage(state, found, guess)
    revealed = guess.ask()
    kit.source(state)
    kit.load(real.LOOKED_INTO.choose(state))  # says what there is to say of it
    if found is None or not revealed:
        kit.rest()
        return
    kit.looks(state, *passages(found))
    kit.real_look(state, words.real, f"{KEY}.real")
    _deeper(state, found)


def passages(found: Seen) -> tuple[Sequence[str], str]:
    """Return the passages that suit the heads of a model, and the key of their links."""
    if found.tried:
        (other, kept), *_ = sorted(found.tried[1:], key=lambda each: -each[1])
        layer, head = other
        about = _about_head(found, other) | {"after": whole_percent(kept)}
        lines = [line.format(layer=layer, head_of=head, **about) for line in words.looks_many]
        return lines, f"{KEY}.passages.many"
    here = min(found.maps.maps.shape[:2]) > 3  # else some heads of the passages are not there
    return words.looks if here else words.looks[-1:], f"{KEY}.passages"


def _read(state: kit.PageState, bundled: engine.Bundled) -> kit.Read | None:
    if _which(state) == "own":
        return model_on_text.read_text(state, bundled)
    ids = bundled.tokenizer.encode_from_start(sentences.texts[_which(state)])
    return kit.read_ids(ids[-bundled.model.context_length :], bundled)


def _which(state: kit.PageState) -> str:
    """Return which text is read: the learner's own, once it is another than the lesson's."""
    if state["asked"] != "auto":
        return str(state["asked"])
    return "book" if state[kit.LEARNER_TEXT.key] == TEXT else "own"


def seen(read: kit.Read) -> Seen:
    """Return what the heads of a model do on a text, and the next token's chances without each."""
    maps = real.all_maps(read.bundled, read.ids)
    chances = softmax(maps.logits.astype(np.float64))
    few = math.prod(maps.maps.shape[:2]) <= opening.MOST_HEADS
    without = None
    if few and not kit.tells_classes(read.bundled.card):
        _, without = without_each(read.bundled, read.ids)
    best = int(chances.argmax())
    there = np.flatnonzero(np.array(read.ids) == best)
    on_best = maps.maps[:, :, -1, there].sum(-1, dtype=int) if len(there) else maps.decided
    found = Seen(read, maps, chances, without, best, _place(on_best))
    if kit.tells_classes(read.bundled.card) or len(read.ids) < 3 or question(found) is not None:
        return found
    tried = _tried(found)
    return found._replace(tried=tried, watcher=tried[0][0])


def _hardest(found: Seen) -> tuple[Head, ...]:
    """Return the heads that look hardest at one word, which is neither the first nor the last.

    What the others look at is read by many: first tokens serve heads that have nothing to find.
    """
    rows = found.maps.maps[:, :, -1].astype(int)  # (L, H, T)
    word = 1 + int(rows[:, :, 1:-1].max((0, 1)).argmax())
    order = np.argsort(-rows[:, :, word], axis=None, kind="stable")[:TRIED]
    return tuple(divmod(int(at), rows.shape[1]) for at in order)


def _tried(found: Seen) -> tuple[tuple[Head, float], ...]:
    """Switch off the heads that look hardest at one word."""
    heads = _hardest(found)
    less = found.without
    if less is None:
        _, some = without_heads(found.read.bundled, found.read.ids, heads)
    else:
        some = np.stack([less[head] for head in heads])
    kept = some[:, found.best].tolist()
    return tuple(sorted(zip(heads, kept, strict=True), key=lambda each: each[1]))


def question(found: Seen) -> kit.Question | None:
    """Return the question which head the answer needs; None where no answer is clearly right.

    Wrong are the head that looks at the answer, the last layer, and a head that looks where the
    right one does. The values are heads, as `number` counts them.
    """
    if found.tried:
        return kept_question(found)
    right = culprit(found)
    if found.without is None or right is None or found.best not in found.read.ids:
        return None
    likeliest = found.without.argmax(-1)  # (L, H)
    flips = likeliest != found.best
    if flips[found.watcher]:
        return None
    rows = found.maps.maps[:, :, -1].astype(int)
    stays = ~flips
    stays[found.watcher] = False
    asks_alike = np.where(stays, rows[:, :, rows[right].argmax()], -1)
    last = np.where(stays, rows.max(-1), -1)
    last[:-1] = -1
    heads = {right: words.ask_right, found.watcher: words.ask_watcher}
    for values, reason in ((asks_alike, words.ask_alike), (last, words.ask_last)):
        if values.max() >= 0 and (place := _place(values)) not in heads:
            heads[place] = reason
    reasons = []
    for place, reason in heads.items():
        token = int(likeliest[place])
        reasons.append(
            reason.format(
                head=name_of(place),
                word=kit.quote(_looks_at(found, place)),
                token=found.name(token),
                share=whole_percent(float(found.without[place][token])),
                best=found.name(found.best),
            )
        )
    return kit.Question(
        words.ask.format(best=found.name(found.best)),
        [name_of(place).capitalize() for place in heads],
        0,
        reasons,
        values=[(n,) for n in range(len(heads))],
    )


def kept_question(found: Seen) -> kit.Question | None:
    """Return the question what the next token keeps without the head that matters most to it.

    The wrong answers are of somebody to whom one head of so many is none, and of one to whom the
    head that looks at the word does it all. None where both are what is right.
    """
    (head, right), *_ = found.tried
    before = float(found.chances[found.best])
    about = _about_head(found, head) | {"after": whole_percent(right)}
    about["heads"] = kit.local(f"{found.maps.maps[..., 0, 0].size:,}")
    reasons = {right: words.ask_kept_right[change_of(right / before)]}
    for share, why in ((before, words.ask_kept_all), (0.0, words.ask_kept_none)):
        if all(abs(share - other) >= APART for other in reasons):
            reasons[share] = why
    if len(reasons) == 1:
        return None
    filled = {share: reason.format(**about) for share, reason in reasons.items()}
    return kit.Question.among(words.ask_kept, filled, right, whole_percent, **about)


def _about_head(found: Seen, place: Head) -> dict[str, Any]:
    """Return what sentences say of a head: its name, where it looks, and the next token."""
    return {
        "head": name_of(place),
        "Head": name_of(place).capitalize(),
        "word": kit.quote(_looks_at(found, place)),
        "share": whole_percent(float(found.maps.maps[place][-1].max()) / 255),
        "best": found.name(found.best),
        "before": whole_percent(float(found.chances[found.best])),
    }


def culprit(found: Seen) -> Head | None:
    """Return the head without which another token is the likeliest, by the most; None: no such."""
    if found.without is None or not (flips := found.without.argmax(-1) != found.best).any():
        return None
    return _place(np.where(flips, found.without.max(-1), -1))


def _place(values: np.ndarray) -> Head:
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return int(layer), int(head)


def answer_of(found: Seen, answers: Sequence[str], place: Head) -> float:
    """Return which answer a head stands for: the right one if the next token changes without it."""
    assert found.without is not None
    if found.without[place].argmax() != found.best:
        return 0.0
    name = name_of(place).capitalize()
    return float(answers.index(name) if name in answers else len(answers) - 1)


def name_of(place: Head) -> str:
    return lesson_words.head_name.format(layer=place[0], head=place[1])


def _looks_at(found: Seen, place: Head) -> str:
    return found.read.tokens[int(found.maps.maps[place][-1].argmax())]


def titled(state: kit.PageState) -> str:
    """Return the chapter's question about the text in force, where that is not the lesson's own."""
    if _which(state) != "own":
        return ""
    real = words.titles.get(state[kit.LEARNER_TEXT.key])
    return real if real and state["model"] == kit.REAL else words.title_own


def _hook(found: Seen | None) -> None:
    if found is not None and found.tried:
        heads = kit.count(found.maps.maps[..., 0, 0].size, "head")
        kit.prose(words.hook["many"], heads=heads, best=found.name(found.best))
        return
    if found is None or found.without is None or (place := culprit(found)) is None:
        kit.prose(words.hook["other"])
        return
    other = found.name(int(found.without[place].argmax()))
    heads = kit.count(math.prod(found.without.shape[:2]), "head")
    kit.prose(words.hook["flips"], heads=heads, other=other)


# ---- the stage


def _stage(state: kit.PageState, found: Seen, guess: kit.Guess) -> None:
    """Draw where one head looks, all heads to choose from, and the next token without that one."""
    maps, tokens = found.maps.maps, found.read.tokens
    place = _head_of(state, found)
    revealed = guess.open
    look_back(
        maps[place][None],
        tokens,
        key=f"{KEY}.look",
        names=[name_of(place).capitalize()],
        words=words.look,
    )

    def take() -> None:
        clicked = st.session_state[KEY].get("chosen")
        if clicked:
            state["layer"], state["head"] = clicked
        if guess.asks and guess.question and not found.tried:
            guess.settle([answer_of(found, guess.question.answers, tuple(clicked or place))])

    # Of many heads the grid is long: what is asked for stands first, on a phone above it.
    bars, grid = st.columns([3, 2], gap="medium") if found.tried else _two_columns()
    with grid:
        notes = [
            [note(found.maps.summary, i, j) for j in range(maps.shape[1])] for i in range(len(maps))
        ]
        heads_grid(maps, key=KEY, tokens=tokens, notes=notes, chosen=place, on_change=take)
    with bars:
        if kit.tells_classes(found.read.bundled.card):
            kit.inform(words.classes, ":material/category:")
        elif found.tried and place == found.tried[0][0]:
            _kept(found, guess)
        else:
            _chances(found, place, revealed=revealed)
        slot = kit.tied(f"_{KEY}.asked", _which(state), state.taker("asked"))
        st.segmented_control(
            words.asked_label, list(words.asked), format_func=words.asked.get, required=True, **slot
        )


def _two_columns() -> tuple[Any, Any]:
    grid, bars = st.columns([3, 2], gap="medium")
    return bars, grid


def _head_of(state: kit.PageState, found: Seen) -> Head:
    """Return the head in force: the link's, else the one that looks at the answer most."""
    for key, size in zip(("layer", "head"), found.maps.maps.shape, strict=False):
        if state[key] >= 0:
            kit.keep(state, key, range(size))
    if state["layer"] >= 0 and state["head"] >= 0:
        return state["layer"], state["head"]
    return found.watcher


def _kept(found: Seen, guess: kit.Guess) -> None:
    """Draw what the next token keeps without each of the heads that look hardest at one word."""
    (asked_head, _), *others = found.tried
    best = found.name(found.best)
    cases = [kit.Case(words.all_heads, float(found.chances[found.best]), role="residual")]
    for head, kept in (*others, (asked_head, found.tried[0][1])):
        share = whole_percent(float(found.maps.maps[head][-1].max()) / 255)
        label = words.one_off[head == asked_head].format(share=share)
        cases.append(kit.Case(label, kept, role="query" if head == asked_head else "residual"))
    axis = kit.Axis(0, 1, words.kept_axis.format(best=unmarked(best)))
    guess.cases(cases, axis, veiled=[len(cases) - 1], picture=f"{KEY}.kept")
    if guess.open:
        kit.prose(caption(found, asked_head, revealed=True))


def _chances(found: Seen, place: Head, *, revealed: bool) -> None:
    """Draw the likeliest next tokens without a head, and say what changed."""
    less = chances_without(found, place)
    best = [int(i) for i in top_ids(np.maximum(found.chances, less), BARS)]
    names = model_on_text.names_of(best, found.read.bundled.tokenizer)
    kit.case_rows(
        [
            kit.Case(name, float(less[i]) if revealed else None, note="" if revealed else "?")
            for name, i in zip(names, best, strict=True)
        ],
        kit.Axis(0, 1, words.chance_axis.format(head=name_of(place))),
        key=f"{KEY}.chances",
    )
    kit.prose(caption(found, place, revealed=revealed))


def chances_without(found: Seen, place: Head) -> np.ndarray:
    """Return the chances (V,) of the next token when a head is off."""
    if found.without is not None:
        return found.without[place]
    heads = _hardest(found) if found.tried else ()
    if place in heads:  # they were switched off already
        _, some = without_heads(found.read.bundled, found.read.ids, heads)
        return some[heads.index(place)]
    logits = opening.last_logits(found.read.bundled, found.read.ids, (place,))
    return softmax(logits.astype(np.float64))


def caption(found: Seen, place: Head, *, revealed: bool) -> str:
    """Return what to see: where a head looks, and what the model says without it."""
    slots = _about_head(found, place)
    if not revealed:
        return words.caption["asked"].format(**slots)
    less = chances_without(found, place)
    now = int(less.argmax())
    slots |= {"now": found.name(now), "after": whole_percent(float(less[now]))}
    kept = float(less[found.best]) / float(found.chances[found.best])
    how = "flips" if now != found.best else change_of(kept)
    if how == "stays" and slots["after"] == slots["before"]:
        how = "same"
    return words.caption[how].format(**slots)


def change_of(kept: float) -> str:
    """Return how an answer that stays first is told of; kept: its chance, over that before.

    >>> change_of(0.2), change_of(0.99), change_of(1.5)
    ('weaker', 'stays', 'surer')
    """
    return "weaker" if kept < 1 - MATTERS else "surer" if kept > 1 + MATTERS else "stays"


def note(summary: HeadSummary, layer: int, head: int) -> str:
    values = {name: float(part[layer, head]) for name, part in summary._asdict().items()}
    if math.isnan(values["previous"]):
        return ""  # no token of the text has a choice
    return words.note_head.format(**{name: whole_percent(value) for name, value in values.items()})


# ---- deeper


def _deeper(state: kit.PageState, found: Seen) -> None:
    bundled, ids, summary = found.read.bundled, found.read.ids, found.maps.summary
    _summary(summary)
    layer, head = place = _head_of(state, found)
    kit.show_code(
        [summarise_heads],
        words.snippet.format(name=bundled.name, ids=list(ids), layer=layer, head=head),
        f"{summary.previous[place]:.2f} {summary.entropy[place]:.2f}",
    )
    if not kit.tells_classes(bundled.card):
        lookup.draw(state, bundled)
    flips = 0 if found.without is None else int((found.without.argmax(-1) != found.best).sum())
    kit.seen(
        words.end,
        heads=kit.count(summary.entropy.size, "head"),
        flips=words.end_flips[min(flips, 2)].format(count=flips)
        if found.without is not None
        else "",
    )


def _summary(summary: HeadSummary) -> None:
    """Draw what all heads do on the text, a dot for each."""
    kit.section(words.summary)
    cases = []
    for measure, title in words.summary_rows.items():
        values = getattr(summary, measure)
        if np.isnan(values).all():
            continue
        best = _place(np.nan_to_num(values, nan=-1))
        dots = values[~np.isnan(values)].tolist()
        note = words.summary_most.format(layer=best[0], head=best[1])
        cases.append(kit.Case(title, float(values[best]), dots=dots, note=note, role="weights"))
    kit.case_rows(cases, kit.Axis(0, 1, words.summary_axis), key=f"{KEY}.dots", mark="dot")
    if np.isnan(summary.induction).all():
        kit.prose(words.summary_no_repeat)
    kit.measured(words.summary_measured)
