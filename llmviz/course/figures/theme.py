"""Colours by role, for the light and the dark theme, and the defaults of every Plotly figure.

One colour means one thing on every page: a query is blue wherever it appears. Everything that
is not a role (axes, frames, buttons) is neutral ink. The two sets are the same hues at a
lightness that reads on white and on near-black; Okabe and Ito's palette is the ground of the
role colours because a colour-blind reader can tell them apart.
"""

from collections.abc import Sequence
from typing import Any, Literal

Mode = Literal["light", "dark"]

ROLES: dict[Mode, dict[str, str]] = {
    "light": {
        "query": "#0072B2",
        "key": "#D55E00",
        "value": "#009E73",
        "weights": "#7C4DFF",
        "residual": "#8A8F98",
        "accent": "#F5B301",
        "loss": "#A8327A",
    },
    "dark": {
        "query": "#4AA8E0",
        "key": "#F5853F",
        "value": "#2FC79B",
        "weights": "#A68BFF",
        "residual": "#9BA1AB",
        "accent": "#FFC53D",
        "loss": "#FF99CC",
    },
}

# Neutral colours: text, thin lines, the empty cell and the veil over what is not looked at. The
# surface is the page's background, which `.streamlit/config.toml` has too; a test holds them equal.
INK: dict[Mode, dict[str, str]] = {
    "light": {
        "ink": "#1F2430",
        "muted": "#5C6470",
        "line": "#D5D9DF",
        "hair": "#E9EBEF",
        "surface": "#FFFFFF",
        "raised": "#F6F7F9",
    },
    "dark": {
        "ink": "#E8EAEE",
        "muted": "#A0A7B4",
        "line": "#3A404B",
        "hair": "#2A2F38",
        "surface": "#111419",
        "raised": "#181C25",
    },
}

# What lies on a colour or over the page: text on the accent and on a role, bright text on dark
# colours, black on those between, the shadow of a card, a darker ground behind a word.
LAYERS: dict[Mode, dict[str, str]] = {
    "light": {
        "on-accent": INK["light"]["ink"],
        "on-role": "#FFFFFF",
        "bright": "#FFFFFF",
        "black": "#000000",
        "shadow": "rgb(15 20 30 / 14%)",
        "dip": "rgb(0 0 0 / 9%)",
    },
    "dark": {
        "on-accent": INK["light"]["ink"],
        "on-role": "#10141B",
        "bright": "#FFFFFF",
        "black": "#000000",
        "shadow": "rgb(0 0 0 / 50%)",
        "dip": "rgb(0 0 0 / 9%)",
    },
}

# The page's own colour for what can be pressed, and a term's explanation: its ground, text, shadow.
PRIMARY: dict[Mode, str] = {"light": "#2B4C7E", "dark": "#4073C2"}
PRIMARY_TEXT = "#8DB4F0"  # of the dark theme, as a text on its own tint
TIP = {"ground": "#1B1F27", "text": "#F4F6FA", "shadow": "rgba(0,0,0,.25)"}
CODE_GROUND = "rgba(128,136,150,.16)"  # behind code in a sentence, in both themes
BAR_EDGE = "#E5ECF6"  # around each bar of a small bar chart

# Poles of the signed scale: (negative, positive). Zero is the page's own background. The
# positive pole is the role's hue; the negative one is an earth tone that no role uses.
POLES: dict[Mode, dict[str, tuple[str, str]]] = {
    "light": {
        "neutral": ("#A8762E", "#3E5C86"),
        "query": ("#8B7355", "#0072B2"),
        "key": ("#5F6B7A", "#D55E00"),
        "value": ("#8B7355", "#009E73"),
        "weights": ("#8B7355", "#7C4DFF"),
        "residual": ("#A8762E", "#5A6472"),
        "accent": ("#5F6B7A", "#E0A100"),
        "loss": ("#5F6B7A", ROLES["light"]["loss"]),
    },
    "dark": {
        "neutral": ("#D3A057", "#7FA3D6"),
        "query": ("#C4A77D", "#4AA8E0"),
        "key": ("#93A1B4", "#F5853F"),
        "value": ("#C4A77D", "#2FC79B"),
        "weights": ("#C4A77D", "#A68BFF"),
        "residual": ("#D3A057", "#A9B3C2"),
        "accent": ("#93A1B4", "#FFC53D"),
        "loss": ("#93A1B4", ROLES["dark"]["loss"]),
    },
}

# The roles as text on the page: dark (or light) enough to read at the size of a number.
ROLE_TEXT: dict[Mode, dict[str, str]] = {
    "light": {
        "neutral": "#1F2430",
        "query": "#0068A3",
        "key": "#B04C00",
        "value": "#00795A",
        "weights": "#6534E8",
        "residual": "#5C6470",
        "accent": "#8A6200",
        "loss": ROLES["light"]["loss"],
    },
    "dark": {"neutral": "#E8EAEE", **ROLES["dark"]},
}

# Soft tints for neighbouring tokens; they alternate in hue and lightness, and repeat.
TINTS: dict[Mode, tuple[str, ...]] = {
    "light": ("#D9E9F7", "#FCE2CF", "#D8F0E3", "#E8DFFB", "#FBEFC4", "#F7DCE6"),
    "dark": ("#1D3D59", "#5A3520", "#1B4838", "#3D3166", "#51451A", "#572C40"),
}

# Kinds of words on a map. Neighbours in this list differ in hue and lightness, and every kind has
# a shape besides: from the ninth on, a colour comes back with another shape.
CATEGORIES: dict[Mode, tuple[str, ...]] = {
    "light": (
        "#0072B2",
        "#D55E00",
        "#009E73",
        "#C2478F",
        "#6D4BC4",
        "#8F7400",
        "#2E9CC4",
        "#7A3B1E",
    ),
    "dark": (
        "#4AA8E0",
        "#F5853F",
        "#2FC79B",
        "#F08BBE",
        "#A68BFF",
        "#E0C04A",
        "#86D8F0",
        "#CF9A78",
    ),
}
SHAPES = ("circle", "square", "diamond", "triangle")
PLOTLY_SHAPES = {"triangle": "triangle-up"}  # where Plotly calls a shape by another name


def category_style(index: int, mode: Mode = "light") -> tuple[str, str]:
    """Return the colour and the shape of the kind number `index`."""
    colors = CATEGORIES[mode]
    return colors[index % len(colors)], SHAPES[(index + index // len(colors)) % len(SHAPES)]


# A legend in rows over the drawing, from its left edge.
LEGEND_ABOVE = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}

_PLOTLY_FONT = "Source Sans, Source Sans Pro, Helvetica, Arial, sans-serif"


def role_color(role: str, mode: Mode = "light") -> str:
    """Return the hex colour of a role.

    Raises ValueError for an unknown role.
    """
    try:
        return ROLES[mode][role]
    except KeyError:
        known = ", ".join(ROLES["light"])
        raise ValueError(f"role must be one of {known}; got {role!r}") from None


def plotly_layout(mode: Mode = "light", **overrides: Any) -> dict[str, Any]:
    """Return layout defaults for ``figure.update_layout``: no chrome, thin lines, role colours.

    Keyword arguments replace single entries of the layout.
    """
    ink, roles = INK[mode], ROLES[mode]
    axis = {
        "gridcolor": ink["hair"],
        "linecolor": ink["line"],
        "zerolinecolor": ink["line"],
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": ink["line"],
        "title": {"standoff": 8},
    }
    layout: dict[str, Any] = {
        "font": {"family": _PLOTLY_FONT, "size": 13, "color": ink["ink"]},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 48, "r": 16, "t": 32, "b": 44},
        "colorway": [roles[r] for r in ("query", "key", "value", "weights", "residual", "accent")],
        "xaxis": dict(axis),
        "yaxis": dict(axis),
        "hoverlabel": {
            "bgcolor": ink["raised"],
            "bordercolor": ink["line"],
            "font": {"color": ink["ink"]},
        },
        "legend": {"orientation": "h", "y": 1.08, "x": 0},
    }
    return layout | overrides


def bare_layout(mode: Mode = "light", **overrides: Any) -> dict[str, Any]:
    """Return `plotly_layout` for a figure that does without the library's own template.

    That template is the larger part of a figure's bytes. What of it shows is written out here;
    ``None`` as a template would stand for it.
    """
    layout = plotly_layout(mode)
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"automargin": True, "zerolinewidth": 2}
    layout["hoverlabel"] |= {"align": "left"}
    return layout | overrides | {"template": "none"}


def chart_layout(axes: Sequence[str], mode: Mode = "light", **overrides: Any) -> dict[str, Any]:
    """Return `bare_layout` with the names of both axes and the legend above the chart.

    axes: what x and y are.
    """
    layout = bare_layout(mode, **{"legend": LEGEND_ABOVE} | overrides)
    for axis, name in zip(("xaxis", "yaxis"), axes, strict=True):
        layout[axis]["title"] = {"text": name, "standoff": 8}
    return layout


def diverging_scale(mode: Mode) -> list[list[float | str]]:
    """Return a Plotly colour scale for signed data; use it with ``zmid=0``."""
    negative, positive = POLES[mode]["neutral"]
    return [[0.0, negative], [0.5, INK[mode]["surface"]], [1.0, positive]]


def css_variables() -> str:
    """Return the colours as CSS rules: ``.lv`` carries the light set, ``.lv.dark`` the dark."""
    rules = []
    selectors: dict[Mode, str] = {"light": ".lv", "dark": ".lv.dark"}
    for mode, selector in selectors.items():
        entries = {**ROLES[mode], **INK[mode], **LAYERS[mode]}
        entries |= {f"{role}-text": color for role, color in ROLE_TEXT[mode].items()}
        for role, (negative, positive) in POLES[mode].items():
            entries[f"{role}-neg"], entries[f"{role}-pos"] = negative, positive
        entries |= {f"tint-{i}": tint for i, tint in enumerate(TINTS[mode])}
        entries |= {f"kind-{i}": color for i, color in enumerate(CATEGORIES[mode])}
        body = "".join(f"--lv-{name}:{color};" for name, color in entries.items())
        rules.append(f"{selector}{{{body}}}")
    return "\n".join(rules)
