"""One place of the learner's story: three targets, what they leave open, and how they pull."""

import numpy as np
import streamlit as st

from llmviz.corpus.next_tokens import TrueTokens, true_tokens
from llmviz.course import components as lv
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.lessons.reasoning.distillation import words
from llmviz.course.lessons.reasoning.distillation.distil_record import BUNDLED, COMMAND, bundled
from llmviz.course.lessons.reasoning.distillation.distilling import TEACHER
from llmviz.course.lessons.reasoning.distillation.params import HEATS
from llmviz.course.lessons.reasoning.distillation.soft_place import Place, place_of
from llmviz.course.ui import engine, kit
from llmviz.evaluation.exact_loss import story_logits
from llmviz.nn import distillation
from llmviz.tokenizers import Token

KEY = "reasoning.distillation.place"
OPEN = 2.0  # bits of the place that is open at first: few enough tokens to have a column each
Given = tuple[engine.Bundled, str, int, str, str]
"""The teacher, the story, the place, the temperature as the link writes it, the student's way."""


def draw(state: kit.PageState) -> None:
    """Show the story, the targets at one place, and their pulls."""
    kit.section(words.place)
    teacher = kit.load(TEACHER)
    if teacher is None:
        return
    kit.text_area(state, "disttext", words.text, height=120)
    truth = truth_of(teacher, state["disttext"])
    tokens = min(truth.possible, teacher.model.context_length)
    if truth.possible < len(truth.ids):
        (token,) = kit.names_of(truth.ids[truth.possible : truth.possible + 1], teacher.tokenizer)
        kit.inform(words.stops["some" if tokens else "none"].format(token=token), ":material/help:")
    if not tokens:
        if not truth.ids:
            kit.inform(words.empty, ":material/edit:")
        return
    at = _strip(state, teacher, truth, tokens)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.select_slider(
            words.heat, width=320, **state.named("distheat", {heat: heat for heat in HEATS})
        )
        kit.choose(
            state, "diststudent", words.student, {name: words.students[name] for name in BUNDLED}
        )
    given = teacher, state["disttext"], at, state["distheat"], state["diststudent"]
    place = kit.or_refused(placed, given)
    if place is None or not kit.predict(bits_question(given), f"{KEY}.bits", covers=True):
        return
    kit.rows_table(target_rows(place, state["distheat"]), words.target_columns)
    kit.prose(place_read(place, state["distheat"]))
    _pulls(state, given, place)


@kit.kept(32)
def truth_of(teacher: engine.Bundled, text: str) -> TrueTokens:
    """Return what the grammar says of each token of a story."""
    return true_tokens(text, teacher.tokenizer)


@kit.kept(32)
def logits_of(teacher: engine.Bundled, text: str, way: str = "") -> np.ndarray:
    """Return the logits (T, V) of the teacher, or of a bundled student, before each token."""
    model = bundled(way) if way else teacher.model
    return story_logits(model, teacher.tokenizer, truth_of(teacher, text))


@kit.kept(128)
def placed(given: Given) -> Place:
    """Return what is told at a place."""
    teacher, text, at, heat, way = given
    truth = truth_of(teacher, text)
    logits = (logits_of(teacher, text)[at], logits_of(teacher, text, way)[at])
    if len(logits[0]) != len(logits[1]):
        raise ValueError(words.other_teacher.format(command=COMMAND))
    return place_of(*logits, truth.following[at], truth.ids[at], float(heat))


def open_place(truth: TrueTokens, tokens: int, place: int) -> int:
    """Return the place asked for, else the one where the grammar is nearest to OPEN bits."""
    apart = [abs(chances.entropy / np.log(2) - OPEN) for chances in truth.following[:tokens]]
    return place if 0 <= place < tokens else int(np.argmin(apart))


def _strip(state: kit.PageState, teacher: engine.Bundled, truth: TrueTokens, tokens: int) -> int:
    at, key = open_place(truth, tokens, state["distat"]), f"{KEY}.strip"
    token_strip(
        [strip_row(teacher, state["disttext"], tokens)],
        key=key,
        show_ids=False,
        value_label=words.strip_value,
        selected=TokenSelection(0, at, int(truth.ids[at])),
        on_change=kit.bound(state, key, selected=("distat", kit.second_of)),
    )
    return at


@kit.kept(32)
def strip_row(teacher: engine.Bundled, text: str, tokens: int) -> TokenRow:
    """Return the tokens of the story, coloured by how open the grammar is before each."""
    truth, shown, at = truth_of(teacher, text), [], 0
    for token in truth.ids[:tokens]:
        data = teacher.tokenizer.token_bytes(token)
        shown.append(Token(token, data, at, at + len(data), at, at + len(data)))
        at += len(data)
    values = [chances.entropy / np.log(2) for chances in truth.following[:tokens]]
    return TokenRow(words.strip, shown, values=values)


def bits_question(given: Given) -> kit.Question:
    """Return the question which target leaves the next token more open."""
    teacher, text, at, heat, _ = given
    bits = placed(given).bits
    gap = bits["soft"] - bits["true"]
    place = 2 if abs(gap) < 0.2 else 0 if gap > 0 else 1
    token = kit.spoken(truth_of(teacher, text).ids[at], teacher.tokenizer)
    numbers = {"soft": f"{bits['soft']:.2f}", "true": f"{bits['true']:.2f}"}
    return kit.Question.of(words.ask_bits, place, token=token, number=at + 1, heat=heat, **numbers)


def target_rows(place: Place, heat: str) -> list[tuple[str, ...]]:
    """Return a row for each target: how open it is, and what it gives to the token that came."""
    came = int(place.hard.argmax())
    values = {"hard": place.hard, "soft": place.soft, "true": place.true}
    return [
        (
            words.targets[name].format(heat=heat),
            f"{place.bits[name]:.2f}",
            kit.percent(float(target[came])),
            kit.percent(float(1 - target[came])),
        )
        for name, target in values.items()
    ]


def place_read(place: Place, heat: str) -> str:
    """Return what the numbers of a place say."""
    kind = "one" if place.bits["true"] == 0 else "many"
    return words.place_read[kind].format(
        heat=heat,
        plain=place.bits["plain"],
        true=place.bits["true"],
        outside=kit.percent(place.outside),
    )


def _pulls(state: kit.PageState, given: Given, place: Place) -> None:
    kit.section(words.pulls)
    heated = given[3] != "1"
    layout = [["true"], ["hard"], ["student"], ["hard_pull"], ["soft"]]
    layout += [["heated"], ["apart"]] * heated + [["soft_pull"]]
    kit.show(
        state,
        matrices(given),
        layout,
        key=f"{KEY}.pulls",
        control="distcell",
        first="soft_pull.0.0",
    )
    case = "one" if place.bits["true"] == 0 else "less" if place.off < place.noise else "more"
    kit.prose(words.noise_here[case].format(noise=place.noise, off=place.off))
    kit.show_code(
        [distillation.soft_targets, distillation.distillation_loss],
        "import torch\n"
        "from llmviz.nn.distillation import distillation_loss, soft_targets\n\n"
        "student = torch.tensor([[1.0, 0.0, -1.0]], requires_grad=True)\n"
        f"target = soft_targets(torch.tensor([[2.0, 1.0, 0.0]]), {given[3]})\n"
        f"distillation_loss(student, target, {given[3]}).backward()\n"
        "print([f'{abs(one):.4f}' for one in student.grad[0].tolist()])",
        _code_result(float(given[3])),
    )


def _code_result(heat: float) -> str:
    import torch

    student = torch.tensor([[1.0, 0.0, -1.0]], requires_grad=True)
    target = distillation.soft_targets(torch.tensor([[2.0, 1.0, 0.0]]), heat)
    distillation.distillation_loss(student, target, heat).backward()
    assert student.grad is not None
    return str([f"{abs(value):.4f}" for value in student.grad[0].tolist()])


@kit.kept(64)
def matrices(given: Given) -> tuple[lv.Matrix, ...]:
    """Return targets, predictions and pulls of a place as matrices that open."""
    place, heat = placed(given), float(given[3])
    ops = {"hard_pull": lv.subtracted("student", "hard")}
    if heat == 1:
        ops["soft_pull"] = lv.subtracted("student", "soft")
    else:
        ops["apart"] = lv.subtracted("heated", "soft")
        ops["soft_pull"] = lv.scaled("apart", heat, words.times_heat.format(heat=given[3]))
    values = {
        "true": place.true,
        "hard": place.hard,
        "student": place.student,
        "hard_pull": place.hard_pull,
        "soft": place.soft,
        "heated": place.heated,
        "apart": place.heated - place.soft,
        "soft_pull": place.soft_pull,
    }
    roles = {"student": "weights", "heated": "weights", "hard": "key", "soft": "query"}
    tokens = [*kit.names_of(place.ids.tolist(), given[0].tokenizer), words.others]
    return tuple(
        lv.Matrix(
            name,
            value[None],
            words.labels[name][0],
            words.labels[name][1].format(heat=given[3]),
            col_labels=tokens,
            role=roles.get(name, "accent" if "pull" in name else "neutral"),
            op=ops.get(name),
            scale="diverging" if "pull" in name or name == "apart" else "sequential",
            limit=None if "pull" in name or name == "apart" else 1.0,
        )
        for name, value in values.items()
    )
