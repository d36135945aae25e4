"""The grid that the learner chose: its controls, its sentence, and the question about it."""

import streamlit as st

from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.ui import engine, kit
from llmviz.quantization.scheme import GROUP, Scheme

MODEL = "tiny-world-gpt"
KEY = "efficiency.quantization.setting"


def model() -> engine.Bundled:
    """Return the model of the chapter; ValueError where it is not here."""
    return engine.load(MODEL)


def scheme_of(state: kit.PageState) -> Scheme:
    """Return the scheme that the controls say."""
    symmetric = state["qform"] == "symmetric"
    return Scheme(state["qbits"], symmetric, state["qper"], int(state["qgroup"]))


def draw(state: kit.PageState) -> Scheme:
    """Show the controls and what they mean; return the scheme."""
    anew = state.setter(qmeasured=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.bits, width=220, **state.ranged("qbits", then=anew))
        kit.choose(state, "qform", words.form, words.forms, then=anew)
        kit.choose(state, "qper", words.per, words.pers, then=anew)
        if state["qper"] == GROUP:
            kit.choose(state, "qgroup", words.group, words.groups, then=anew)
    scheme = scheme_of(state)
    ends = {"bits": scheme.bits, "lowest": _minus(scheme.lowest), "highest": scheme.highest}
    kit.prose(words.scheme[state["qform"]], **ends)
    kit.predict(question(scheme), f"{KEY}.ask", covers=state["qview"] == "row")
    return scheme


def values_told(scheme: Scheme) -> bool:
    """Whether the page may say how many values the grid has, which is asked above."""
    return kit.answered(question(scheme), f"{KEY}.ask")


def _minus(number: int) -> str:
    return str(number).replace("-", "−")


def question(scheme: Scheme) -> kit.Question:
    """Ask how many values a grid has."""
    form = "symmetric" if scheme.symmetric else "asymmetric"
    every = 2**scheme.bits
    known = {"bits": scheme.bits, "all": every, "right": scheme.codes, "form": form}
    beside_a_sign = 2 * every  # who thinks that the sign comes on top of the bits
    wrong = (every, every - 1, beside_a_sign, beside_a_sign - 1)
    reasons = dict.fromkeys(wrong, words.ask_wrong)
    reasons[scheme.codes] = words.ask_right[form]
    return kit.Question.among(words.ask, reasons, scheme.codes, **known)
