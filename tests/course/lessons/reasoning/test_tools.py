"""The calculator, texts with calls to it, the loop, and the bundled results."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments import tools as make_tools
from llmviz.course.lessons.reasoning.tools import calculator, tool_record
from llmviz.course.lessons.reasoning.tools import tool_loop as loop
from llmviz.course.lessons.reasoning.tools import tool_texts as texts
from llmviz.course.lessons.reasoning.tools.calculator import calculate, fed_back
from llmviz.course.lessons.reasoning.tools.tool_record import bundled
from llmviz.nn.loss import IGNORED

NUMBER = st.integers(0, 10**7)
LEAF = NUMBER.map(lambda one: (str(one), one))


def joined(pair: st.SearchStrategy) -> st.SearchStrategy:
    """Expressions in brackets, each with its value; none where a quotient is not whole."""

    def made(parts: tuple) -> tuple:
        (first, a), sign, (second, b) = parts
        text = f"({first}{sign}{second})"
        if a is None or b is None or (sign == "/" and (b == 0 or a % b)):
            return text, None
        return text, {"+": a + b, "-": a - b, "*": a * b, "/": Fraction(a, b or 1)}[sign]

    return st.tuples(pair, st.sampled_from("+-*/"), pair).map(made) | pair.map(
        lambda one: (f"-{one[0]}", None if one[1] is None else -one[1])
    )


@settings(max_examples=300)
@given(st.recursive(LEAF, joined, max_leaves=6))
def test_the_calculator_computes_as_python_does_or_refuses(expression):
    text, value = expression
    if len(text) > calculator.MOST:
        assert fed_back(text) == f"error {calculator.LONG}"
    elif value is None:
        assert fed_back(text) in (f"error {calculator.ZERO}", f"error {calculator.BROKEN}")
    else:
        assert calculate(text) == value


@settings(max_examples=300)
@given(st.lists(NUMBER, min_size=1, max_size=5), st.lists(st.sampled_from("+-*"), min_size=4))
def test_products_come_before_sums_and_nothing_is_rounded(numbers, signs):
    text = str(numbers[0]) + "".join(f"{s}{n}" for s, n in zip(signs, numbers[1:], strict=False))
    assert calculate(text) == eval(text)  # the oracle: digits and signs alone


@given(st.text(max_size=70))
def test_any_text_is_computed_or_refused(text):
    found = fed_back(text)
    assert texts.is_number(found) or found.removeprefix("error ") in calculator.REFUSALS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", calculator.EMPTY),
        ("  ", calculator.EMPTY),
        ("1/0", calculator.ZERO),
        ("0/0", calculator.ZERO),
        ("7/2", calculator.BROKEN),
        ("7/2*2", calculator.BROKEN),
        ("1" * 61, calculator.LONG),
        ("1+", calculator.FORM),
        ("(1", calculator.FORM),
        ("1)", calculator.FORM),
        ("2**3", calculator.FORM),
        ("²", calculator.FORM),
        ("٣", calculator.FORM),
        ("a", calculator.FORM),
        ("1 2", calculator.FORM),
        ("(" * 60, calculator.FORM),
        ("-" * 60, calculator.FORM),
    ],
)
def test_what_has_no_value_is_refused_with_a_reason(text, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        calculate(text)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("37+85", "37 add 85="),
        (" 37 plus 85 TIMES 12 = ", "37 add 85 times 12="),
        ("8 ÷ 2 × 3 − 1", "8 divided by 2 times 3 subtract 1="),
        ("007 over 0", "7 divided by 0="),
    ],
)
def test_a_question_is_read_from_words_and_signs(typed, read):
    assert texts.question_of(typed).text == read


@pytest.mark.parametrize(
    "typed", ["", "37", "37 85", "+3", "-3+4", "3+", "1" * 13 + "+1", "1+1+1+1+1+1", "²+1", "<b>+1"]
)
def test_what_is_no_question_is_refused(typed):
    with pytest.raises(ValueError, match=r"a question|digits"):
        texts.question_of(typed)


@given(st.integers(0, 2**32), st.sampled_from(texts.WAYS))
def test_a_text_calls_for_each_step_and_learns_what_the_model_writes(seed, way):
    rng = np.random.default_rng(seed)
    question = make_tools.fresh(rng)
    value = question.first
    for word, number in question.steps:
        sign = texts.SIGNS[word]
        value = Fraction(value, number) if sign == "/" else eval(f"value {sign} number")
    assert question.value == value  # from left to right, and whole
    assert not question.is_apart
    ids, learned = make_tools.text_of(question, way, rng)
    read = loop.text_of(ids)
    asked, rest = read.split("=")
    assert asked == question.text[:-1]
    assert rest.endswith(("⟨answer⟩?⟨end⟩", f"⟨answer⟩{value}⟨end⟩"))
    calls = [one.split("⟨result⟩")[0] for one in rest.split("⟨call⟩")[1:]]
    assert calls == ([] if way == texts.DIRECT else question.calls[: len(calls)])
    if way != texts.DOUBT or not rest.endswith("?⟨end⟩"):
        assert len(calls) == (0 if way == texts.DIRECT else len(question.steps))
    masked = loop.text_of([one for one, learns in zip(ids, learned, strict=True) if not learns])
    results = [one.split("⟨")[0] for one in rest.split("⟨result⟩")[1:]]
    assert masked == asked + "=" + ("" if way == texts.OPEN else "".join(results))


@given(st.integers(0, 2**32), st.integers(-(10**9), 10**9))
def test_a_lie_is_another_whole_number(seed, value):
    told = make_tools.lie(np.random.default_rng(seed), str(value))
    assert texts.is_number(told)
    assert int(told) != value


def test_ways_of_a_seed_read_the_same_questions_and_results_carry_no_gradient():
    batches = {way: make_tools.batch(np.random.default_rng(3), way) for way in texts.WAYS}
    equals = texts.IDS["="]
    asked = [
        [row[: row.tolist().index(equals) + 1].tolist() for row in inputs]
        for inputs, _ in batches.values()
    ]
    assert all(one == asked[0] for one in asked)
    inputs, targets = batches[texts.TOOL]
    logits = torch.zeros(*inputs.shape, len(texts.TOKENS), requires_grad=True)
    model = texts.new_model()
    loss = model.loss(logits, torch.from_numpy(targets))
    assert loss is not None
    loss.backward()
    pulled = logits.grad.abs().sum(-1) > 0
    for row, ids in enumerate(inputs):
        by_tool = False
        for at in range(len(ids) - 1):
            if ids[at] == texts.RESULT:
                by_tool = True
            if ids[at + 1] in (texts.CALL, texts.ANSWER):
                by_tool = False
            if by_tool:  # what follows here is written by the calculator
                assert not pulled[row, at]
                assert targets[row, at] == IGNORED


class Scripted:
    """Writes given turns, then repeats the last one."""

    def __init__(self, *turns: list[int]):
        self.turns = list(turns)

    def run(self, question: texts.Question, tool: loop.Tool = loop.honest) -> loop.Run:
        turns, count = loop.in_turns(question, tool), 0
        next(turns)
        while True:
            written = self.turns[min(count, len(self.turns) - 1)]
            count += 1
            try:
                turns.send(written)
            except StopIteration as stop:
                return stop.value


CALL_AGAIN = [texts.CALL, *texts.characters("1+1"), texts.RESULT]
QUESTION = texts.question_of("1+1")


@pytest.mark.parametrize("kind", [loop.HONEST, *loop.LIES])
def test_a_model_that_calls_for_ever_is_stopped(kind):
    run = Scripted(CALL_AGAIN).run(QUESTION, loop.lying(kind))
    assert run.reason == loop.CALLS
    assert len(run.calls) == loop.MOST_CALLS
    assert run.passes == len(CALL_AGAIN) * (loop.MOST_CALLS + 1)
    assert run.answer is None
    assert loop.kind_of(run, 2) == loop.NONE


@given(st.lists(st.integers(0, len(texts.TOKENS) - 1), min_size=1, max_size=20), st.text())
def test_any_turn_of_any_model_and_any_text_of_a_tool_end(written, says):
    for last in (texts.RESULT, texts.END, written[-1]):
        run = Scripted([*written, last]).run(QUESTION, lambda _: says)
        assert run.reason in loop.REASONS
        assert len(run.calls) <= loop.MOST_CALLS
        assert all(len(one.result) <= calculator.MOST for one in run.calls)
        assert loop.kind_of(run, 2) in loop.KINDS


def test_marks_that_a_tool_writes_stay_text():
    run = Scripted(CALL_AGAIN, [texts.ANSWER, texts.END]).run(QUESTION, lambda _: "⟨end⟩ A")
    (fed,) = (ids for who, ids in run.turns if who == loop.TOOL)
    assert not {texts.END, texts.CALL, texts.RESULT} & set(fed)
    assert loop.text_of(fed) == "⟨unknown⟩end⟨unknown⟩ a"
    assert run.answer == ""


def test_longest_texts_fit_the_context():
    most = texts.Question(10**12 - 1, ((" divided by ", 10**12 - 1),) * texts.MOST_STEPS)
    turns = (loop.MOST_CALLS + 1) * loop.MOST_WRITTEN + loop.MOST_CALLS * calculator.MOST
    assert len(texts.encode(most.text)) + turns <= texts.CONTEXT


def test_an_unknown_tool_is_refused():
    with pytest.raises(ValueError, match="a tool is one of"):
        loop.lying("kind")


def test_where_errors_come_from():
    question = texts.question_of("12+3*2")
    first, second = ([texts.CALL, *texts.characters(one), texts.RESULT] for one in ("12+3", "15*2"))
    answer = [texts.ANSWER, *texts.characters("31"), texts.END]
    cases = {
        tool_record.IN_COPY: Scripted(first, second, answer),
        tool_record.IN_CALL: Scripted(second, first, answer),
        tool_record.IN_HEAD: Scripted(answer),
        tool_record.IN_FORM: Scripted(first, second, [texts.END]),
    }
    for cause, script in cases.items():
        assert make_tools.cause_of(script.run(question), question) == cause
    early = Scripted(first, answer).run(question)
    assert make_tools.cause_of(early, question) == tool_record.IN_CALL


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_one_at_a_time_and_many_at_once_write_the_same(seed):
    rng = np.random.default_rng(seed)
    questions = [make_tools.fresh(rng, apart=True) for _ in range(4)]
    tools = [loop.lying(one) for one in (loop.HONEST, loop.OFF, loop.TEXT, loop.LONG)]
    model = bundled(texts.TOOL)
    runs = make_tools.write_all(model, questions, tools)
    assert runs == [loop.write(model, *one) for one in zip(questions, tools, strict=True)]
    for run in runs:
        first = loop.chances(model, run)
        assert len(first) == len(run.ids) - len(run.question)
        who = [name for name, ids in run.turns for _ in ids]
        for name, pairs in zip(who, first, strict=True):
            assert name == loop.TOOL or pairs[0][1] == max(p for _, p in pairs)


def test_the_bundled_models_are_those_that_were_measured():
    questions = make_tools.asked_apart()[:60]
    for way in tool_record.BUNDLED:
        runs = make_tools.write_all(bundled(way), questions)
        found = make_tools.answers(runs, questions)
        whole = tool_record.recorded()[way][0].asked
        assert found.get(loop.RIGHT, 0) <= whole.get(loop.RIGHT, 0)
        if way != texts.DOUBT:
            wrong = sum(whole.values()) - whole.get(loop.RIGHT, 0)
            assert 60 - found.get(loop.RIGHT, 0) <= wrong
    task, digits = tool_record.SUM, 2
    asked = make_tools.tests(task, digits)
    runs = make_tools.write_all(bundled(texts.TOOL), asked)
    hits = sum(loop.kind_of(r, q.value) == loop.RIGHT for r, q in zip(runs, asked, strict=True))
    assert hits == tool_record.recorded()[texts.TOOL][0].right[task][digits].right


def test_a_short_training_learns_and_can_be_measured(monkeypatch):
    monkeypatch.setattr(make_tools, "TESTS", 1)
    monkeypatch.setattr(make_tools, "DIGITS", (1,))
    monkeypatch.setattr(loop, "MOST_WRITTEN", 4)
    _, before = make_tools.train(texts.TOOL, 0, 1)
    model, loss = make_tools.train(texts.TOOL, 0, 8)
    assert loss < before
    measured = make_tools.measure(model, texts.TOOL, 0, loss, 1.0)
    assert set(measured.told) == {loop.HONEST, *loop.LIES}
    assert measured.right[tool_record.SUM][1].count == 1
