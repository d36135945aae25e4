"""What one step of Porter's algorithm looked at, in sentences."""

from collections.abc import Sequence

from llmviz.course.lessons.language.stems import words
from llmviz.course.ui import kit
from llmviz.language.porter import STEPS, Rule, StemStep, forms


def rule_text(rule: Rule) -> str:
    """Return a rule as it is written, also one that has no suffix.

    >>> rule_text(Rule("ed", "", "*v*")), rule_text(Rule("", "e", "m = 1 and *o"))
    ('(*v*) ED → ∅', '(m = 1 and *o) nothing → E')
    """
    if rule.suffix:
        return str(rule)
    line = words.rule_double if "*d" in rule.condition else words.rule_added
    return line.format(condition=rule.condition, replacement=rule.replacement.upper())


def opened_text(word: str, steps: Sequence[StemStep], name: str) -> str:
    title = kit.bold(words.opened.format(word=kit.quote(word), name=name) + ".") + " "
    step = next((step for step in steps if step.name == name), None)
    if step is None:
        before = next(step.after for step in steps if step.name == "1b")
        return title + words.opened_skipped.format(before=kit.quote(before))
    before, rule = kit.quote(step.before), step.rule
    if rule is None:
        rules = kit.count(len(STEPS[name]), "rule")
        return title + words.opened_none.format(rules=rules, before=before)
    kind = "whole" if not rule.suffix else "tried" if step.stem else "empty"
    # Rules with the same suffix and another condition were tried before.
    tried = STEPS[name][: STEPS[name].index(rule)]
    earlier = (
        words.opened_earlier.format(rule=kit.quote(rule_text(other), 80))
        for other in tried
        if other.suffix == rule.suffix
    )
    ends = "fired" if step.fired else "held"
    if not rule.condition:
        ends = "same" if step.before == step.after else "free"
    slots = {
        "before": before,
        "after": kit.quote(step.after),
        "rule": kit.quote(rule_text(rule), 80),
        "stem": kit.quote(step.stem),
        "forms": kit.quote(forms(step.stem)),
        "measure": step.measure,
        "condition": kit.quote(rule.condition),
    }
    looked, result = words.opened_tried[kind], words.opened_result[ends]
    return title + looked.format(**slots) + "".join(earlier) + result.format(**slots)
