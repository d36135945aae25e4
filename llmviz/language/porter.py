"""Porter's stemmer, with every rule that was looked at as data.

A word is [C](VC)^m[V]: runs of consonants C and of vowels V in turn; m is its measure. A rule
`(condition) suffix → replacement` looks at what stands before the suffix. Of the rules of one step
the one with the longest suffix that fits is tried, and no other.

Reference: Porter 1980, "An algorithm for suffix stripping", Program 14(3). No departure from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llmviz.files.text import check_text

VOWELS = "aeiou"


def is_consonant(word: str, at: int) -> bool:
    """Whether a letter is one: not a, e, i, o, u, and not a y that follows a consonant.

    >>> [is_consonant("toy", 2), is_consonant("syzygy", 1)]
    [True, False]
    """
    return forms(word[: at + 1]).endswith("c")


def forms(word: str) -> str:
    """Return c or v for each letter.

    >>> forms("trouble")
    'ccvvccv'
    """
    kinds = ""
    for letter in word:
        vowel = kinds.endswith("c") if letter == "y" else letter in VOWELS
        kinds += "v" if vowel else "c"
    return kinds


def measure(stem: str) -> int:
    """Return m: how often a run of vowels is followed by a run of consonants.

    >>> measure("tree"), measure("trouble"), measure("oaten")
    (0, 1, 2)
    """
    return forms(stem).count("vc")


def has_vowel(stem: str) -> bool:
    """Return *v*: whether the stem holds a vowel."""
    return "v" in forms(stem)


def ends_double(stem: str) -> bool:
    """Return *d: whether the stem ends with a consonant twice, as in hopp."""
    return len(stem) > 1 and stem[-1] == stem[-2] and is_consonant(stem, len(stem) - 1)


def ends_cvc(stem: str) -> bool:
    """Return *o: whether it ends consonant, vowel, consonant, the last not w, x or y (hop)."""
    return forms(stem)[-3:] == "cvc" and stem[-1] not in "wxy"


CONDITIONS: dict[str, Callable[[str], bool]] = {
    "": lambda stem: True,
    "m > 0": lambda stem: measure(stem) > 0,
    "m > 1": lambda stem: measure(stem) > 1,
    "*v*": has_vowel,
    "*d and not *L, *S or *Z": lambda stem: ends_double(stem) and stem[-1] not in "lsz",
    "m = 1 and *o": lambda stem: measure(stem) == 1 and ends_cvc(stem),
    "m > 1 and (*S or *T)": lambda stem: measure(stem) > 1 and stem.endswith(("s", "t")),
    "m = 1 and not *o": lambda stem: measure(stem) == 1 and not ends_cvc(stem),
    "m > 1 and *d and *L": lambda stem: (
        measure(stem) > 1 and ends_double(stem) and stem.endswith("l")
    ),
}
"""What a rule can ask of the stem before the suffix, in the paper's signs."""


@dataclass(frozen=True)
class Rule:
    """One rule of a step. `cut` letters of the word go and `replacement` comes in their place."""

    suffix: str
    replacement: str
    condition: str = ""

    def __str__(self) -> str:
        condition = f"({self.condition}) " if self.condition else ""
        return f"{condition}{self.suffix.upper()} → {self.replacement.upper() or '∅'}"


@dataclass(frozen=True)
class StemStep:
    """What one step of the algorithm did to a word.

    rule: the one whose suffix fits, None where none does. stem: what stands before the suffix,
    measure: its m. fired: whether the condition held; only then the word changes.
    """

    name: str  # of the step, as in the paper: 1a, 1b …
    before: str
    after: str
    rule: Rule | None = None
    stem: str = ""
    measure: int = 0
    fired: bool = False


def _rules(text: str, condition: str = "") -> tuple[Rule, ...]:
    parts = (pair.partition(":") for pair in text.split())
    return tuple(Rule(suffix, replacement, condition) for suffix, _, replacement in parts)


STEPS: dict[str, tuple[Rule, ...]] = {
    "1a": _rules("sses:ss ies:i ss:ss s:"),
    "1b": (Rule("eed", "ee", "m > 0"), Rule("ed", "", "*v*"), Rule("ing", "", "*v*")),
    "1b, after a cut": (
        *_rules("at:ate bl:ble iz:ize"),
        Rule("", "", "*d and not *L, *S or *Z"),
        Rule("", "e", "m = 1 and *o"),
    ),
    "1c": (Rule("y", "i", "*v*"),),
    "2": _rules(
        "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e "
        "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
        "aliti:al iviti:ive biliti:ble",
        "m > 0",
    ),
    "3": _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:", "m > 0"),
    "4": (
        *_rules("al ance ence er ic able ible ant ement ment ent", "m > 1"),
        Rule("ion", "", "m > 1 and (*S or *T)"),
        *_rules("ou ism ate iti ous ive ize", "m > 1"),
    ),
    "5a": (Rule("e", "", "m > 1"), Rule("e", "", "m = 1 and not *o")),
    "5b": (Rule("", "", "m > 1 and *d and *L"),),
}
"""The rules of each step, in the paper's order. An empty suffix takes one of two double letters."""


def stem_steps(word: str) -> list[StemStep]:
    """Return what each step does to a word; the last one's `after` is the stem.

    Capital letters become small ones. Other signs than a to z count as consonants, so that a word
    without letters comes back as it is. Raises ValueError for text that is no real text.
    """
    word = check_text(word).lower()
    steps: list[StemStep] = []
    for name, rules in STEPS.items():
        if name == "1b, after a cut":
            last = steps[-1]
            if not last.fired or last.rule is None or last.rule.suffix == "eed":
                continue
        step = _try(name, rules, word)
        steps.append(step)
        word = step.after
    return steps


def stem(word: str) -> str:
    """Return the stem.

    >>> [stem(word) for word in ("relational", "hopping", "flies")]
    ['relat', 'hop', 'fli']
    """
    return stem_steps(word)[-1].after


def _try(name: str, rules: tuple[Rule, ...], word: str) -> StemStep:
    """Try the rules with the longest suffix that fits: several only where conditions differ."""
    fitting = [rule for rule in rules if word.endswith(rule.suffix)]
    if not fitting:
        return StemStep(name, word, word)
    longest = max(len(rule.suffix) for rule in fitting)
    step = StemStep(name, word, word)
    for rule in fitting:
        if len(rule.suffix) < longest:
            continue
        before = word[: len(word) - len(rule.suffix)]
        if CONDITIONS[rule.condition](before):
            kept = before[:-1] if "*d" in rule.condition else before
            return StemStep(
                name, word, kept + rule.replacement, rule, before, measure(before), True
            )
        step = StemStep(name, word, word, rule, before, measure(before))
    return step
