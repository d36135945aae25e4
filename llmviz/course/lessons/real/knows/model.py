"""Which city the model calls the capital of a country, and how sure it is of it."""

from __future__ import annotations

from typing import NamedTuple

from llmviz.course.lessons.real.capitals import COUNTRIES, EXAMPLE, INVENTED, is_right
from llmviz.course.lessons.real.reader import Choice, Reads, best, chances, ids_of, words_after

ALONE = "The capital of {country} is"
SHOWN = f"The capital of {EXAMPLE.name} is {EXAMPLE.capital}. {ALONE}"
CHOICES = 5


class CountryAnswers(NamedTuple):
    """A country, the word that the model puts after each sentence, and whether it is right."""

    country: str
    alone: Choice
    shown: Choice
    right_alone: bool
    right_shown: bool


class Knows(NamedTuple):
    """What was said of all countries and of invented ones."""

    countries: tuple[CountryAnswers, ...]
    invented: tuple[CountryAnswers, ...]


class Own(NamedTuple):
    """What may come after one's own country, alone and with an example."""

    alone: tuple[Choice, ...]
    shown: tuple[Choice, ...]
    word: Choice


def measure(reader: Reads) -> Knows:
    """Ask for the capitals of all countries."""
    names = [country.name for country in COUNTRIES]
    said = _said(reader, [*names, *INVENTED])
    right = [
        CountryAnswers(
            name,
            alone,
            shown,
            is_right(country, alone.text),
            is_right(country, shown.text),
        )
        for country, (name, alone, shown) in zip(COUNTRIES, said, strict=False)
    ]
    return Knows(
        tuple(right),
        tuple(CountryAnswers(*said_of, False, False) for said_of in said[len(names) :]),
    )


def _said(reader: Reads, names: list[str]) -> list[tuple[str, Choice, Choice]]:
    ways = [
        words_after(reader, [form.format(country=name) for name in names])
        for form in (ALONE, SHOWN)
    ]
    return list(zip(names, *ways, strict=True))


def own(reader: Reads, country: str) -> Own:
    """Ask for the capital of one's own country. Raises ValueError for none, and one too long."""
    rows = [ids_of(reader, form.format(country=country.strip())) for form in (ALONE, SHOWN)]
    alone, shown = (tuple(best(reader, p, CHOICES)) for p in chances(reader, rows))
    (word,) = words_after(reader, [SHOWN.format(country=country.strip())])
    return Own(alone, shown, word)
