"""A text in other letters: the same words, each letter exchanged for one of another script.

The exchange is one to one, so nothing about the text changes but how it is written: whatever was
likely before is as likely now. Only its bytes differ, and with them its tokens.
"""

from string import ascii_lowercase, ascii_uppercase

# The code points of the letters that stand for "a" and for "A"; the others follow them.
FIRST = {"devanagari": (0x0904, 0x091E), "cyrillic": (0x0430, 0x0410)}


def respelled(text: str, script: str = "devanagari") -> str:
    """Return a text with each letter from a to z or A to Z in letters of another script.

    script: "devanagari", a letter of which is three bytes in UTF-8, or "cyrillic", of two. All else
    stays as it is, a third script too. Raises ValueError for a script that is neither.

    >>> respelled("A bad cab.", "cyrillic")
    'А баг ваб.'
    """
    return text.translate(_table(script))


def spelled_back(text: str, script: str = "devanagari") -> str:
    """Return the text that `respelled` was given, which had no letters of this script.

    >>> spelled_back("А баг ваб.", "cyrillic")
    'A bad cab.'
    """
    return text.translate({after: before for before, after in _table(script).items()})


def _table(script: str) -> dict[int, int]:
    """Return the code point that each Latin letter becomes."""
    if script not in FIRST:
        raise ValueError(f"script must be one of {', '.join(FIRST)}; got {script!r}")
    cases = zip(FIRST[script], (ascii_lowercase, ascii_uppercase), strict=True)
    return {ord(c): first + at for first, letters in cases for at, c in enumerate(letters)}
