"""A calculator for whole numbers, exact at any size: what a model's call is given to.

sum = product (("+" or "-") product)*
product = number (("*" or "/") number)*
number = digits, or "-" number, or "(" sum ")"
"""

from __future__ import annotations

MOST = 60  # characters of an expression, and of what is fed back
EMPTY = "no expression"
LONG = "too long"
ZERO = "division by zero"
BROKEN = "no whole number"
FORM = "not an expression"
REFUSALS = (EMPTY, LONG, ZERO, BROKEN, FORM)


def calculate(text: str) -> int:
    """Return the value of an expression. Raises ValueError, with a text of REFUSALS, without one.

    A quotient that is no whole number is refused: nothing is rounded.

    >>> calculate("2+3*-4"), calculate("(7-1)/3")
    (-10, 2)
    """
    text = text.strip(" ")
    if not text:
        raise ValueError(EMPTY)
    if len(text) > MOST:
        raise ValueError(LONG)
    value, at = _sum(text, 0)
    if at < len(text):
        raise ValueError(FORM)
    return value


def fed_back(text: str) -> str:
    """Return what the calculator writes behind a call: the value, or `error` and its refusal.

    >>> fed_back("37+85"), fed_back("1/0")
    ('122', 'error division by zero')
    """
    try:
        return str(calculate(text))
    except ValueError as error:
        return f"error {error}"


def _sum(text: str, at: int) -> tuple[int, int]:
    value, at = _product(text, at)
    while text[at : at + 1] in ("+", "-"):
        sign = text[at]
        more, at = _product(text, at + 1)
        value += more if sign == "+" else -more
    return value, at


def _product(text: str, at: int) -> tuple[int, int]:
    value, at = _number(text, at)
    while text[at : at + 1] in ("*", "/"):
        sign = text[at]
        more, at = _number(text, at + 1)
        if sign == "*":
            value *= more
        elif not more:
            raise ValueError(ZERO)
        elif value % more:
            raise ValueError(BROKEN)
        else:
            value //= more
    return value, at


def _number(text: str, at: int) -> tuple[int, int]:
    first = text[at : at + 1]
    if first == "-":
        value, at = _number(text, at + 1)
        return -value, at
    if first == "(":
        value, at = _sum(text, at + 1)
        if text[at : at + 1] != ")":
            raise ValueError(FORM)
        return value, at + 1
    end = at
    while text[end : end + 1].isdigit() and text[end].isascii():
        end += 1
    if end == at:
        raise ValueError(FORM)
    return int(text[at:end]), end
