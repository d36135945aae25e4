"""Colours: text reads on the page, and roles differ for those who see fewer colours.

Reference: Machado, Oliveira and Fernandes 2009, tables of severity 1.0; CIE 1976 for distances.
WCAG 2.2 for contrast: 4.5 for text.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from llmviz.course.figures.theme import INK, PRIMARY, PRIMARY_TEXT, ROLE_TEXT, ROLES, TINTS

# What of linear red, green and blue reaches somebody without one kind of cone.
EYES = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.180437],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.95],
    ]
)
APART = 10.0  # of ΔE 1976: two colours side by side differ at a glance; about 2.3 is just seen


def linear(color: str) -> np.ndarray:
    """Red, green and blue as light, from 0 to 1."""
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    """CIELAB of a light."""
    xyz = XYZ @ light / (XYZ @ np.ones(3))
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21."""
    dark, bright = sorted(float(XYZ[1] @ linear(color)) for color in (one, other))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_roles_differ_for_every_kind_of_eyes(mode, eyes):
    matrix = np.asarray(EYES[eyes])
    assert np.allclose(matrix.sum(axis=1), 1, atol=1e-5)  # white and grey stay white and grey
    seen = {role: lab(np.clip(matrix @ linear(c), 0, 1)) for role, c in ROLES[mode].items()}
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > APART, (one, other)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_reads_on_the_page_in_the_colour_of_a_role_and_on_tints(mode):
    for color in (*ROLE_TEXT[mode].values(), INK[mode]["ink"], INK[mode]["muted"]):
        assert contrast(color, INK[mode]["surface"]) >= 4.5
    for tint in TINTS[mode]:
        assert contrast(INK[mode]["ink"], tint) >= 4.5, tint
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21, abs=0.01)


def test_what_is_chosen_reads_on_its_tint():
    for mode, text in (("light", PRIMARY["light"]), ("dark", PRIMARY_TEXT)):
        assert contrast(PRIMARY[mode], "#FFFFFF") >= 4.5  # a main button has white text
        primary, page = linear(PRIMARY[mode]), linear(INK[mode]["surface"])
        tint = 0.2 * primary + 0.8 * page  # twice as strong as Streamlit's
        levels = sorted((float(XYZ[1] @ linear(text)), float(XYZ[1] @ tint)))
        assert (levels[1] + 0.05) / (levels[0] + 0.05) >= 4.5, mode
