"""Chapter "Zero, one, few examples": a rule that the prompt shows, and who looks it up."""

from collections import Counter
from itertools import combinations

import numpy as np
import streamlit as st

from llmviz.corpus.rules import ANSWERS, Question, draw_question, group_words, questions
from llmviz.course.components.heads_grid.view import heads_grid
from llmviz.course.components.token_strip.view import token_strip
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.finetuning.chips import row_of
from llmviz.course.lessons.finetuning.fewshot import words
from llmviz.course.lessons.finetuning.fewshot.model import Look, group_of, look, read_prompt
from llmviz.course.lessons.finetuning.tuned_model import base, tuned
from llmviz.course.ui import engine, kit
from llmviz.finetuning.fewshot import Answers, answers, best_possible
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.recipes import TUNINGS
from llmviz.finetuning.tuned_models import tuned_card

KEY = "finetuning.fewshot"
GUESS = f"{KEY}.curve"
TUNED = "few-shot"
TWO = 2  # groups of the rules that the card's numbers are of
APART = 0.15  # between two lines of the question, at their points together

looks = kit.cached(64, key=lambda bundled, question: (bundled.kept_as, repr(question)))(
    kit.on_model_and_tokenizer(look)
)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a prompt with examples and how often so many are enough, then the heads that look."""
    kit.prose(words.hook)
    if not kit.models_here(BASE) or kit.or_refused(tuned, TUNED) is None:
        return
    known = {
        int(count): float(share)
        for count, share in tuned_card(TUNED).get("accuracy_by_examples", {}).items()
    }
    guess = kit.Guess(GUESS, question(tuple(sorted(known.items()))))
    opened = guess.open
    own = state["ownrule"].strip()
    prompt = kit.or_refused(_prompt_of, state, own)
    both = None if prompt is None else kit.or_refused(_replies, prompt)
    with kit.stage("fewshot"):
        if known:
            _curve(known, guess, opened=opened)
        if prompt is not None:
            kit.prose(words.prompt.format(prompt=kit.quote(prompt.prompt, 700)))
        if both and prompt is not None and opened:
            axis = kit.Axis(0, 1, words.says_axis)
            kit.case_rows(rows(prompt, both), axis, key=f"{KEY}.says", form="chance")
            kit.prose(report(prompt, own=bool(own)))
        _controls(state, own)
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("examples", words.real)
    kit.section(words.intro, steps=tuned_card(TUNED)["steps"])
    if both and prompt is not None:
        kit.show_code(
            [answers, draw_question],
            words.snippet_prompt.format(name=base().name, question=prompt, tuned=TUNED),
            "\n".join(
                f"{ANSWERS[int(out.chosen[0])]} {float(out.probabilities.max()):.3f}"
                for out in both
            ),
        )
        if opened:
            _heads(state, prompt)
            best = [ANSWERS[int(out.chosen[0])] for out in both]
            word, count = kit.quote(prompt.word), len(prompt.examples)
            shots = kit.count(count, "example") if count else words.no_example
            kit.seen(words.end, word=word, shots=shots, tuned=best[0], base=best[1])


def _prompt_of(state: kit.PageState, own: str) -> Question:
    if own:
        return read_prompt(own)
    wrong = min(state["wrong"], state["shots"])
    return drawn(state["drawing"], state["shots"], state["groups"], wrong)


@kit.cached(64)
def drawn(seed: int, examples: int, groups: int, wrong: int) -> Question:
    """Return a prompt about a held-out rule."""
    return questions(1, examples, groups, wrong, seed)[0]


def _controls(state: kit.PageState, own: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if not own:
            st.slider(words.shots, width=200, **state.ranged("shots"))
            st.slider(words.groups, width=130, **state.ranged("groups"))
            if state["shots"]:
                st.slider(words.wrong, width=160, **state.ranged("wrong", most=state["shots"]))
            kit.another(state, "drawing", words.draw)
        kit.text_input(
            state, "ownrule", words.own_label, help=as_markdown(words.own_help), width=340
        )


def question(known: tuple[tuple[int, float], ...]) -> kit.Question | None:
    """Return the question how often the taught model is right, by the number of examples.

    The wrong answers are of somebody to whom one example is enough, and of one to whom each
    example helps as much as the last. None where they are near.
    """
    if len(known) < 3 or known[0][0] != 0:
        return None
    (_, first), *later = known
    most, last = later[-1]
    right = tuple(share for _, share in later)
    even = tuple(((most - count) * first + count * last) / most for count, _ in later)
    lines = {(1.0,) * len(later): words.ask_once, even: words.ask_even, right: words.ask_right}
    far = [np.abs(np.subtract(a, b)).sum() for a, b in combinations(lines, 2)]
    if len(lines) < 3 or min(far) < APART:
        return None
    return kit.Question(
        words.ask.format(none=kit.percent(first)),
        words.ask_answers,
        2,
        list(lines.values()),
        values=list(lines),
    )


def _curve(known: dict[int, float], guess: kit.Guess, *, opened: bool) -> None:
    counts = sorted(known)
    best = [best_possible(count, TWO) for count in counts]
    guess.line(
        [kit.Drawn(words.best, counts, best, "accent", dashed=True)] if opened else [],
        kit.Drawn(words.taught, counts, [known[count] for count in counts], "weights"),
        kit.Scale(0, counts[-1], words.shots_axis),
        kit.Scale(0, 1, words.right_axis.format(prompts=TUNINGS[TUNED].plan.test_examples)),
        known=1,
        picture=f"{KEY}.by_examples",
        form="percent",
    )


@kit.cached(128, key=lambda bundled, question: (bundled.kept_as, repr(question)))
def reply(bundled: engine.Bundled, question: Question) -> Answers:
    return answers(bundled.model, bundled.tokenizer, [question])


def _replies(question: Question) -> tuple[Answers, Answers]:
    return reply(tuned(TUNED), question), reply(base(), question)


def rows(question: Question, both: tuple[Answers, Answers]) -> list[kit.Case]:
    """Return the colour that each model finds likeliest, and how likely it finds the right one."""
    right = ANSWERS.index(question.answer)
    cases = []
    for name, answer in zip(words.models.values(), both, strict=True):
        chances = answer.probabilities[0].numpy()
        for at, kind in ((int(answer.chosen[0]), "says"), (right, "gives")):
            if kind == "says" or at != int(answer.chosen[0]):
                label = [(words.row[kind].format(model=name), False), (ANSWERS[at], True)]
                role = "value" if at == right else "key"
                cases.append(kit.Case(label, min(1.0, float(chances[at])), role=role))
    return cases


def report(question: Question, *, own: bool) -> str:
    parts = [
        words.rule_part.format(group=group, answer=answer)
        for group, answer in question.rule.answers.items()
    ]
    slots = {"parts": ", ".join(parts), "word": kit.quote(question.word), "answer": question.answer}
    if own and (colours := tied(question)):
        group = group_of()[question.word]
        return words.rule_tied.format(group=group, colours=" and ".join(colours), **slots)
    if own:
        return words.rule_own.format(**slots)
    line = words.rule.format(**slots)
    wrong = sum(answer != question.rule.answer(word) for word, answer in question.examples)
    more = []
    if wrong:
        more.append(words.wrong_told.format(wrong=wrong, examples=len(question.examples)))
    more += [text for text in (not_told(question),) if text]
    return " ".join([line, *more])


def tied(question: Question) -> list[str]:
    """Return the colours that the examples show equally often for the word's group; [] for one."""
    group = group_of()[question.word]
    times = Counter(answer for word, answer in question.examples if group_of()[word] == group)
    most = [answer for answer, n in times.items() if n == max(times.values())]
    return most if len(most) > 1 else []


def not_told(question: Question) -> str:
    """Return why the examples do not tell the right answer; nothing where they do."""
    group = next(group for group in question.rule.answers if question.word in group_words(group))
    own = Counter(answer for word, answer in question.examples if word in group_words(group))
    if not own:
        return words.not_shown.format(group=group)
    right = own.pop(question.answer, 0)
    if right > max(own.values(), default=0):
        return ""
    return words.misled.format(group=group, answer=question.answer)


def _heads(state: kit.PageState, question: Question) -> None:
    """Show all heads, and what the last word gives to each token in one of them."""
    kit.section(words.look)
    if not question.examples:
        st.info(words.look_none, icon=":material/visibility_off:")
        return
    look, before = looks(tuned(TUNED), question), looks(base(), question)
    layer, head = chosen(state["rulehead"], look)
    key, names = f"{KEY}.heads", kit.names_of(look.tokens, base().tokenizer)
    notes = [
        [
            words.look_note.format(same=kit.percent(same), other=kit.percent(other))
            for same, other in zip(*pair, strict=True)
        ]
        for pair in zip(look.same.tolist(), look.other.tolist(), strict=True)
    ]
    heads_grid(
        np.minimum(look.weights, 1.0),
        key=key,
        tokens=names,
        notes=notes,
        chosen=(layer, head),
        on_change=kit.bound(state, key, chosen=("rulehead", kit.chosen_link)),
    )
    given = look.weights[layer, head, -1].tolist()
    shares = [{words.share: kit.percent(share)} for share in given]
    row = row_of(look.tokens, names, given, shares)
    shown = {"show_ids": False, "value_label": words.share, "value_range": (0.0, max(given))}
    token_strip([row], key=f"{KEY}.given", **shown)
    kit.prose(
        words.look_read.format(
            head=head,
            layer=layer,
            word=kit.quote(question.word),
            same=kit.percent(float(look.same[layer, head])),
            before=kit.percent(float(before.same[layer, head])),
        )
    )
    kit.head_link(words.look_link, question.prompt, base().name, layer, head)


def chosen(written: str, look: Look) -> tuple[int, int]:
    """Return the head of the link ("1.3"); else the one that looks at its own group's answers most.

    What it puts on other groups' answers is taken off.
    """
    place = kit.place_of(written, look.same.shape)
    best = np.unravel_index(int((look.same - look.other).argmax()), look.same.shape)
    layer, head = best if place is None else place
    return int(layer), int(head)
