"""Part of the chapter "How alike": a worked cosine with a mistake in it."""

import streamlit as st

from llmviz.course.lessons.embeddings.similarity import words
from llmviz.course.lessons.embeddings.similarity.params import TYPED, parse_vector
from llmviz.course.ui import kit
from llmviz.similarity import cosine_terms, rounded_cosine

REPORTED = 0.916  # what somebody's notes give for the cosine of v1 and v2
PLACES = 2  # decimals to which the lengths were rounded there


@st.fragment
def draw() -> None:
    """Show the lines, ask which is wrong, then say what is right and what rounding does."""
    v1, v2 = parse_vector(TYPED["v1"]), parse_vector(TYPED["v2"])
    terms = cosine_terms(v1, v2)
    norm_b = round(terms.norm_b, PLACES)
    # The length that gives the reported cosine.
    wrong = round(terms.dot / (REPORTED * norm_b), PLACES)
    sum_a, sum_b = sum(terms.squares_a), sum(terms.squares_b)
    about = {
        "v1": TYPED["v1"],
        "v2": TYPED["v2"],
        "reported": f"{REPORTED:g}",
        "products": " + ".join(f"{x:g} × {y:g}" for x, y in zip(v1, v2, strict=True)),
        "dot": f"{terms.dot:.2f}",
        "squares_a": " + ".join(f"{x:.2f}" for x in terms.squares_a),
        "squares_b": " + ".join(f"{x:.2f}" for x in terms.squares_b),
        "sum_a": f"{sum_a:.2f}",
        "sum_b": f"{sum_b:.2f}",
        "wrong": f"{wrong:g}",
        "norm_a": f"{terms.norm_a:.3f}",
        "norm_b": f"{norm_b:g}",
        "exact_b": f"{terms.norm_b:.4f}",
        "squared": f"{wrong**2:.3f}",
    }
    kit.section(words.mistake, **about)
    lines = [line.format(**about) for line in words.mistake_lines]
    st.code(
        "\n".join(f"{number}  {line}" for number, line in enumerate(lines, 1)),
        language=None,
        wrap_lines=True,
    )
    answered = kit.predict(
        kit.Question(
            words.mistake_ask,
            [words.mistake_line.format(number=number) for number in range(1, len(lines) + 1)],
            1,
            [reason.format(**about) for reason in words.mistake_reasons],
            scale=True,
        ),
        "embeddings.mistake",
        covers=True,
    )
    if not answered:
        return
    rounded = [rounded_cosine(v1, v2, places) for places in (1, 2, 3)]
    above = [value for value in rounded if value > 1]
    kit.prose(
        words.mistake_right,
        cosine=f"{terms.cosine:.4f}",
        places="1, 2 and 3",
        rounded=", ".join(f"{value:.4f}" for value in rounded),
        impossible=words.mistake_above.format(value=f"{max(above):.4f}") if above else "",
    )
