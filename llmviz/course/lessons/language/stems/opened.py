"""What one step of Porter's algorithm looked at, in sentences."""

from collections.abc import Sequence

from llmviz.course.lessons.language.stems import words
from llmviz.course.lessons.language.stems.rows import row_of, rule_text, short
from llmviz.course.ui import kit
from llmviz.language.porter import STEPS, StemStep, forms


def opened_text(word: str, steps: Sequence[StemStep], row: int) -> tuple[StemStep | None, str]:
    """Return the step of a row, and what is said of it; no step for the word itself."""
    name = row_of(row)
    if name is None:
        return None, words.opened_start.format(word=kit.quote(steps[0].before))
    title = kit.bold(words.opened.format(word=kit.quote(word), name=name) + ".") + " "
    step = next((step for step in steps if step.name == name), None)
    if step is None:
        before = next(step.after for step in steps if step.name == "1b")
        return None, title + words.opened_skipped.format(before=quoted(before))
    if step.rule is None:
        rules = kit.count(len(STEPS[name]), "rule")
        return step, title + words.opened_none.format(rules=rules, before=quoted(step.before))
    return step, title + _tried(step) + _earlier(step) + _result(step)


def quoted(word: str) -> str:
    """Return a word for a sentence, the end of a long one."""
    return kit.quote(short(word))


def _earlier(step: StemStep) -> str:
    """The rules that were tried before, with the same suffix and another condition."""
    rules = STEPS[step.name]
    tried = [rule for rule in rules[: rules.index(step.rule)] if rule.suffix == step.rule.suffix]
    return "".join(
        words.opened_earlier.format(rule=kit.quote(rule_text(rule), 80)) for rule in tried
    )


def _tried(step: StemStep) -> str:
    slots = {"before": quoted(step.before), "rule": kit.quote(rule_text(step.rule), 80)}
    if not step.rule.suffix:
        letters = kit.quote(short(forms(step.stem)))
        return words.opened_whole.format(forms=letters, measure=step.measure, **slots)
    if not step.stem:
        return words.opened_empty_stem.format(**slots)
    letters = short(forms(step.stem))
    slots |= {"stem": quoted(step.stem), "forms": kit.quote(letters), "measure": step.measure}
    return words.opened_tried.format(**slots)


def _result(step: StemStep) -> str:
    slots = {"before": quoted(step.before), "after": quoted(step.after)}
    if not step.rule.condition:
        same = step.before == step.after
        return (words.opened_free_same if same else words.opened_free).format(**slots)
    line = words.opened_fired if step.fired else words.opened_held
    return line.format(condition=kit.quote(step.rule.condition), **slots)
