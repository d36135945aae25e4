"""Rules that only the examples show: held-out ones are new, and the bundled model reads them."""

import random
from itertools import combinations

import pytest
import torch

from llmviz.corpus import rules
from llmviz.files.paths import TUNED
from llmviz.finetuning import fewshot
from llmviz.finetuning.adapters import load_adapter
from llmviz.finetuning.masked import masked_batch
from llmviz.nn.lora import use_adapter
from llmviz.pretrained import load_bundled
from llmviz.training.files import read_json

FEW_SHOT = TUNED / "few-shot"


def groups_of(pairs):
    found = {
        group for word, _ in pairs for group in rules.GROUPS if word in rules.group_words(group)
    }
    return sorted(found)


def test_a_word_is_in_one_group_and_no_answer():
    listed = [word for group in rules.GROUPS for word in rules.group_words(group)]
    assert len(listed) == len(set(listed)) == len(rules.GROUPS) * rules.WORDS_IN_A_GROUP
    assert not set(listed) & set(rules.ANSWERS)


def test_rules_for_training_have_no_held_out_pair_of_groups_and_the_others_have_one():
    for held_out in (False, True):
        for pairs in rules.shown_rules(200, seed=1, held_out=held_out):
            assert len(pairs) == rules.EXAMPLES
            answers = {}
            for word, answer in pairs:
                (group,) = groups_of([(word, answer)])
                assert answers.setdefault(group, answer) == answer
            assert len(set(answers.values())) == len(answers)
            if not held_out:
                assert not any(rules.is_held_out(*two) for two in combinations(answers, 2))
    for question in rules.questions(100, 8):
        assert rules.is_held_out(*question.rule.answers)


@pytest.mark.parametrize(("examples", "groups"), [(0, 2), (1, 2), (5, 3), (8, 4)])
def test_questions_show_each_group_in_turn_and_never_the_word_itself(examples, groups):
    for question in rules.questions(50, examples, groups, seed=2):
        words = [word for word, _ in question.examples]
        assert len(words) == examples and question.word not in words
        shown = [question.rule.answers[group] for group in groups_of(question.examples)]
        assert len(shown) == min(examples, groups)
        assert all(question.rule.answer(word) == answer for word, answer in question.examples)
        assert question.prompt.endswith(question.word) and question.answer in rules.ANSWERS


def test_wrong_examples_are_as_many_as_asked_for():
    for question in rules.questions(30, 8, 3, wrong=3):
        wrong = [answer != question.rule.answer(word) for word, answer in question.examples]
        assert sum(wrong) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda chance: rules.draw_rule(chance, 5), "a rule has 2 to 4 groups; got 5"),
        (lambda chance: rules.draw_question(chance, 2, wrong=3), "got 3 of 2"),
        (lambda chance: rules.draw_question(chance, -1), "from 0 to the number"),
        (lambda chance: rules.Rule({"cats": "red"}), "group must be one of"),
        (lambda chance: rules.Rule({"food": "red"}).answer("Anna"), "in none of the rule's groups"),
        (lambda chance: next(rules.shown_rules(-1)), "cannot be negative"),
    ],
)
def test_wrong_numbers_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make(random.Random(0))


def test_the_best_possible_is_what_a_perfect_reader_reaches():
    """A reader that knows the groups, and guesses among answers not shown where it must."""
    for examples, groups in ((0, 2), (1, 2), (1, 3), (2, 4), (8, 3)):
        expected = total = 0
        for question in rules.questions(400, examples, groups, seed=4):
            shown = {group for group in groups_of(question.examples)}
            (own,) = groups_of([(question.word, "")])
            left = len(rules.ANSWERS) - len(shown)
            expected += 1 if own in shown else 1 / left
            total += 1
        assert fewshot.best_possible(examples, groups) == pytest.approx(expected / total, abs=0.06)


def test_answers_alone_are_scored(tokenizer):
    pairs = next(rules.shown_rules(1))
    row = fewshot.rule_tokens(tokenizer, pairs)
    counted = [one.id for one in row if one.counts]
    assert tokenizer.decode(counted).split() == [answer for _, answer in pairs]
    inputs, targets = masked_batch([row], 0)
    assert int((targets >= 0).sum()) == rules.EXAMPLES and inputs.shape == targets.shape
    with pytest.raises(ValueError, match="16 examples need a context"):
        fewshot.prepare_rules(tokenizer, 20, 4)
    with pytest.raises(ValueError, match="at least one question"):
        fewshot.answers(torch.nn.Identity(), tokenizer, [])


def test_the_bundled_model_reads_rules_out_of_its_prompt_and_the_story_model_cannot():
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    load_adapter(model, FEW_SHOT, "tiny-world-gpt")
    card = read_json(FEW_SHOT / "card.json")
    assert card["accuracy_by_examples"]["8"] >= 0.9
    asked = rules.questions(100, 8, seed=9)
    found = fewshot.answers(model, tokenizer, asked)
    assert found.accuracy >= 0.9
    none = fewshot.answers(model, tokenizer, rules.questions(50, 0, seed=9))
    assert none.accuracy < 0.3  # without an example there is nothing to read
    use_adapter(model, None)
    assert fewshot.answers(model, tokenizer, asked).accuracy < 0.4
