"""Countries with their capitals, and one that does not exist.

The capital is the seat that the country's constitution or law names; where a country has several,
the one that its own constitution calls the capital, and with `also` what else is right.
"""

from __future__ import annotations

from typing import NamedTuple


class Country(NamedTuple):
    """A country, its capital, and what else may be said for it."""

    name: str
    capital: str
    also: tuple[str, ...] = ()


EXAMPLE = Country("France", "Paris")
_LISTED = """
Australia Canberra | Austria Vienna | Bangladesh Dhaka | Belgium Brussels | Bulgaria Sofia
Cambodia Phnom Penh | Canada Ottawa | Chile Santiago | China Beijing | Colombia Bogotá
Cuba Havana | Denmark Copenhagen | Ecuador Quito | Egypt Cairo | Estonia Tallinn
Ethiopia Addis Ababa | Finland Helsinki | Germany Berlin | Ghana Accra | Greece Athens
Hungary Budapest | Iceland Reykjavik | India New Delhi | Indonesia Jakarta | Iran Tehran
Iraq Baghdad | Ireland Dublin | Italy Rome | Jamaica Kingston | Japan Tokyo | Kenya Nairobi
Latvia Riga | Lebanon Beirut | Lithuania Vilnius | Malaysia Kuala Lumpur | Mexico Mexico City
Mongolia Ulaanbaatar | Morocco Rabat | Nepal Kathmandu | Netherlands Amsterdam
New~Zealand Wellington | Nigeria Abuja | Norway Oslo | Pakistan Islamabad | Peru Lima
Philippines Manila | Poland Warsaw | Portugal Lisbon | Romania Bucharest | Russia Moscow
Senegal Dakar | South~Korea Seoul | Spain Madrid | Sweden Stockholm | Switzerland Bern
Syria Damascus | Thailand Bangkok | Turkey Ankara | Ukraine Kyiv | Vietnam Hanoi
"""
_ALSO = {
    "Colombia": ("Bogota",),
    "India": ("Delhi",),
    "Mexico": ("Mexico",),
    "Mongolia": ("Ulan Bator",),
    "Switzerland": ("Berne",),
    "Ukraine": ("Kiev",),
}
_PAIRS = [entry.split(None, 1) for line in _LISTED.split("|") for entry in line.split("\n")]
COUNTRIES = tuple(
    Country(name, capital.strip(), _ALSO.get(name, ()))
    for name, capital in ((p[0].replace("~", " "), p[1]) for p in _PAIRS if len(p) == 2)
)
SIXTEEN = [
    "France",
    "Italy",
    "Germany",
    "Spain",
    "Japan",
    "China",
    "Russia",
    "Egypt",
    "Greece",
    "Poland",
    "Portugal",
    "Austria",
    "Ireland",
    "Norway",
    "Hungary",
    "Peru",
]
INVENTED = ("Zubrovia", "Wakanda", "Atlantis", "Ruritania", "Freedonia")


def is_right(country: Country, said: str) -> bool:
    """Return whether what was said names the capital.

    >>> is_right(COUNTRIES[0], "Canberra"), is_right(COUNTRIES[0], "Sydney")
    (True, False)
    """
    return said.casefold() in {name.casefold() for name in (country.capital, *country.also)}


def known(name: str) -> Country | None:
    """Return the country of a name; None where it is not listed here."""
    wanted = name.strip().casefold()
    found = (country for country in (EXAMPLE, *COUNTRIES) if country.name.casefold() == wanted)
    return next(found, None)
