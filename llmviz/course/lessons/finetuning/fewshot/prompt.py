"""The prompt of the chapter: a rule that is drawn, or the learner's own examples."""

from collections import Counter

import numpy as np
import streamlit as st

from llmviz.corpus.rules import ANSWERS, Question, draw_question, group_words, questions
from llmviz.course.components.paired_bars.view import paired_bars
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.finetuning.fewshot import words
from llmviz.course.lessons.finetuning.fewshot.model import group_of, read_prompt
from llmviz.course.lessons.finetuning.tuned_model import base, tuned
from llmviz.course.ui import engine, kit
from llmviz.finetuning.fewshot import Answers, answers

KEY = "finetuning.fewshot"
TUNED = "few-shot"
BEST = 6  # colours that are drawn


def draw(state: kit.PageState) -> Question:
    """Show the controls and the prompt; return it. ValueError for examples that cannot be read."""
    own = state["ownrule"].strip()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if not own:
            st.slider(words.shots, width=240, **state.ranged("shots"))
            st.slider(words.groups, width=150, **state.ranged("groups"))
            if state["shots"]:
                st.slider(words.wrong, width=200, **state.ranged("wrong", most=state["shots"]))
            st.button(words.draw, icon=":material/casino:", on_click=_another, args=(state,))
    kit.text_input(state, "ownrule", words.own_label, help=as_markdown(words.own_help))
    question = read_prompt(own) if own else drawn(*settings(state))
    st.caption(words.prompt)
    st.code(question.prompt, language=None, wrap_lines=True)
    return question


def settings(state: kit.PageState) -> tuple[int, int, int, int]:
    """Return what a drawn prompt depends on."""
    wrong = min(state["wrong"], state["shots"])
    return state["drawing"], state["shots"], state["groups"], wrong


@kit.kept(64)
def drawn(seed: int, examples: int, groups: int, wrong: int) -> Question:
    """Return a prompt about a held-out rule."""
    return questions(1, examples, groups, wrong, seed)[0]


def _another(state: kit.PageState) -> None:
    state["drawing"] = state["drawing"] % 9_999 + 1


def report(question: Question, *, own: bool) -> str:
    """Return the rule in words."""
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
    return " ".join([line, *more, words.held_out])


def tied(question: Question) -> list[str]:
    """Return the colours that the examples show equally often for the word's group; [] for one."""
    group = group_of()[question.word]
    times = Counter(answer for word, answer in question.examples if group_of()[word] == group)
    most = [answer for answer, n in times.items() if n == max(times.values())]
    return most if len(most) > 1 else []


def share(probability: float) -> str:
    """Return a probability in words that do not call a small one 0."""
    return kit.percent(probability) if probability >= 1e-4 else words.tiny


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


@kit.kept(128, key=lambda bundled, question: (bundled.kept_as, repr(question)))
def reply(bundled: engine.Bundled, question: Question) -> Answers:
    """Return what a model says."""
    return answers(bundled.model, bundled.tokenizer, [question])


def bars(question: Question, *, own: bool) -> dict[str, str]:
    """Draw what both models say, and tell it; return it in short.

    own: the examples are the learner's.
    """
    both = _replies(question)
    chances = [answer.probabilities[0].numpy() for answer in both]
    right = ANSWERS.index(question.answer)
    order = sorted(range(len(ANSWERS)), key=lambda i: -max(float(p[i]) for p in chances))
    listed = order[:BEST]
    if right not in listed:
        listed[-1] = right
    drawn_chances = [np.minimum(p[listed], 1.0) for p in chances]
    paired_bars(
        [ANSWERS[i] for i in listed],
        *drawn_chances,
        title=words.bars_title.format(word=question.word),
        names=tuple(words.models.values()),
        axis=words.bars_axis,
        limit=max(float(p.max()) for p in drawn_chances),
        key=f"{KEY}.bars",
    )
    best = [int(answer.chosen[0]) for answer in both]
    slots = {
        "tuned": ANSWERS[best[0]],
        "tuned_share": share(float(chances[0][best[0]])),
        "base": ANSWERS[best[1]],
        "base_share": share(float(chances[1][best[1]])),
    }
    kit.prose(
        words.read,
        tuned_right=share(float(chances[0][right])),
        base_right=share(float(chances[1][right])),
        answer=question.answer,
        called=words.called["tied" if own and tied(question) else "right"],
        **slots,
    )
    st.caption(words.unsure)
    shots = kit.count(len(question.examples), "example")
    return {"shots": shots, "word": kit.quote(question.word), **slots}


def _replies(question: Question) -> tuple[Answers, Answers]:
    """What the model that was taught says, and the story model."""
    return reply(tuned(TUNED), question), reply(base(), question)


def ask(quiz: Question) -> bool:
    """Ask which examples matter; return whether what the prompt leads to may be shown."""
    question = same_question(quiz)
    return question is None or kit.predict(question, f"{KEY}.same", covers=True)


def same_question(question: Question) -> kit.Question | None:
    """Return the question how many examples are of the last word's group; None without examples."""
    groups, shots = group_of(), len(question.examples)
    if not shots:
        return None
    same = [word for word, _ in question.examples if groups[word] == groups[question.word]]
    right = words.ask_same_right if same else words.ask_same_none
    reasons = {
        0: words.ask_same_zero,
        shots: words.ask_same_all,
        shots - len(same): words.ask_same_others,
        len(same): right.format(
            right=kit.count(len(same), "example"),
            words=", ".join(map(kit.quote, dict.fromkeys(same))),
        ),
    }
    text = words.ask_same.format(word=kit.quote(question.word), shots=kit.count(shots, "example"))
    return kit.Question.among(text, reasons, len(same))


def code(question: Question) -> None:
    """Show the code behind the bars."""
    both = _replies(question)
    kit.show_code(
        [answers, draw_question],
        words.snippet_prompt.format(name=base().name, question=question, tuned=TUNED),
        "\n".join(
            f"{ANSWERS[int(out.chosen[0])]} {float(out.probabilities.max()):.3f}" for out in both
        ),
    )
