"""Chapter "Why": one hidden state against looking back at every token."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st
import torch

from llmviz.components import head_view
from llmviz.figures.attention import bars
from llmviz.lessons.attention import params
from llmviz.lessons.attention import words as lesson_words
from llmviz.lessons.attention.inputs import model_on_text as real
from llmviz.lessons.attention.inputs.model_on_text import stamp
from llmviz.lessons.attention.why import words
from llmviz.models.catalogue import able
from llmviz.nn.attention.study import decision
from llmviz.tokenizers import ENDOFTEXT
from llmviz.trace import record
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.common import refuse, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, answered, predict
from llmviz.ui.state import PageState

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ASK = "attention.why.ask"
KEPT = {"rnn": "layers.0.hidden", "gpt": "blocks.0.residual"}
APART = 0.02  # a wrong answer nearer to the right one is not offered
COMPARED = ("names-rnn", "names-gru", "names-lstm", "names-gpt")


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    there = engine.names()
    if {"names-rnn", "names-gpt"} <= set(there):
        _influence(state)
    else:
        missing = ", ".join(name for name in ("names-rnn", "names-gpt") if name not in there)
        st.info(words.GAP.format(names=missing), icon=":material/download:")
    _losses([name for name in COMPARED if name in there])
    _looking_back(state)


def _influence(state: PageState) -> None:
    """Draw how much each letter of a name moves the prediction of two models."""
    st.text_input(words.NAME, width=300, **state.bind("letters"))
    name = state["letters"].strip().lower()
    try:
        check_name(name)
    except ValueError as error:
        refuse(error)
        return
    models = ("names-gpt", "names-rnn")
    gpt, rnn = (influence_of(model, stamp(engine.load(model)), name) for model in models)
    asked = question(rnn)
    covered = asked is not None and not answered(asked, ASK)
    shown = np.where(np.arange(len(name)) < len(name) - 1, np.nan, rnn) if covered else rnn
    figure = bars(
        list(name),
        (gpt, shown),
        (words.GPT, words.RNN),
        words.AXIS,
        title=words.FIGURE_TITLE,
        over=words.LETTER_AXIS,
        mode=theme(),
    )
    st.plotly_chart(figure, key="attention.why", theme=None)
    st.caption(" ".join([words.INFLUENCE, words.COVERED if covered else ""]))
    if asked is not None:
        predict(asked, ASK)
    if not covered:
        prose(
            words.READ.format(
                count=len(name),
                rnn_first=float(rnn[0]),
                rnn_last=float(rnn[-1]),
                gpt_least=float(gpt.min()),
            )
        )
    _code(name, float(rnn[0]))


def question(rnn: np.ndarray) -> Question | None:
    """Return the question what is left of the first letter; None where answers would be alike.

    rnn: (letters,), as `influence_of` returns it.
    """
    first, last, count = float(rnn[0]), float(rnn[-1]), len(rnn)
    offered = (
        (last / count, words.ASK_EVEN),
        (last / 2, words.ASK_HALF),
        (last, words.ASK_ALIKE),
    )
    reasons = {f"{share:.0%}": reason for share, reason in offered if abs(share - first) >= APART}
    reasons[f"{first:.0%}"] = words.ASK_RIGHT if first < last else words.ASK_MORE
    if len(reasons) < 3:
        return None
    answers = sorted(reasons, key=lambda share: float(share.rstrip("%")))
    return Question(
        words.ASK.format(last=f"{last:.0%}", count=count),
        answers,
        answers.index(f"{first:.0%}"),
        [reasons[answer].format(share=answer, more=count - 1, count=count) for answer in answers],
    )


def _code(name: str, first: float) -> None:
    show_code(
        [influence_of],
        "import torch\nfrom llmviz.pretrained import load_bundled\n"
        "from llmviz.trace import record\n\n"
        'model, tokenizer, card = load_bundled("names-rnn")\n'
        f'others = [letter for letter in "{LETTERS}" if letter != {name[0]!r}]\n'
        f"names = [{name!r}, *(letter + {name[1:]!r} for letter in others)]\n"
        'end = tokenizer.special_tokens["<|endoftext|>"]\n'
        "ids = torch.tensor([[end, *tokenizer.encode(one)] for one in names])\n"
        'with torch.inference_mode(), record("layers.0.hidden") as trace:\n'
        "    model(ids)\n"
        'kept = trace["layers.0.hidden"][:, -1]\n'
        "change = (kept[1:] - kept[0]).norm(dim=-1) / kept[0].norm()\n"
        'print(f"{change.mean():.0%}")',
        f"{first:.0%}",
    )


def check_name(name: str) -> None:
    """Raise ValueError unless a name is of letters a to z that the models can read."""
    for letter in name:
        if not "a" <= letter <= "z":
            raise ValueError(words.LETTERS.format(found=letter))
    if not 2 <= len(name) <= 15:
        raise ValueError(words.LENGTH.format(count=len(name)))


@kept(32)
def influence_of(model_name: str, stamp: str, name: str) -> np.ndarray:
    """Return what is left of each letter in the vectors that a model keeps, (letters,).

    Each letter is swapped for each of the 25 others; of the vectors kept after the last letter
    (the last hidden state, or all letters' vectors after the first layer) the one that changes
    most counts, relative to its length; the mean over the 25.
    """
    bundled = engine.load(model_name)
    end = bundled.tokenizer.special_tokens[ENDOFTEXT]
    swapped = [name]
    for at, letter in enumerate(name):
        swapped += [name[:at] + other + name[at + 1 :] for other in LETTERS if other != letter]
    ids = torch.tensor([[end, *bundled.tokenizer.encode(one)] for one in swapped])
    tap = KEPT[bundled.card["model"]]
    with torch.inference_mode(), record(tap) as trace:
        bundled.model(ids)
    kept = trace[tap]  # (N, K, C)
    if not able(bundled.card["model"], "attention"):  # only its last state stays
        kept = kept[:, -1:]
    change = (kept[1:] - kept[:1]).norm(dim=-1) / kept[:1].norm(dim=-1)
    return change.amax(-1).reshape(len(name), -1).mean(1).numpy()


def _losses(names: list[str]) -> None:
    if len(names) < 2:
        return
    prose(words.TABLE)
    rows = []
    for name in names:
        card = engine.card(name)
        rows.append([name, card["parameters"], card.get("validation_loss")])
    table = pd.DataFrame(rows, columns=list(words.COLUMNS.values()))
    number = st.column_config.NumberColumn(format="%.3f")
    config = {words.COLUMNS["loss"]: number}
    st.dataframe(table, hide_index=True, width=520, column_config=config)


def _looking_back(state: PageState) -> None:
    """Show the head of the chosen model that looks back with the most decision."""
    prose(words.LOOKS)
    found = real.load_and_read(state, real.choose_model(state), 4 * params.DRAWN)
    if found is None:
        return
    bundled, said = found
    seen = real.all_maps(bundled.name, stamp(bundled), said.ids)
    layer, head = map(int, np.unravel_index(int(seen.decided.argmax()), seen.decided.shape))
    title, share = (
        lesson_words.HEAD_NAME.format(layer=layer, head=head),
        f"{seen.decided.max():.0%}",
    )
    prose(words.DECIDED.format(head=title, share=share))
    maps, name = seen.maps[layer, head][None], title.capitalize()
    head_view(maps, said.tokens, key="attention.why.head", names=[name])
    st.caption(lesson_words.VIEW_ROUNDED)
    show_code(
        [decision],
        "import torch\nfrom llmviz.nn.attention.study import decision\n"
        "from llmviz.pretrained import load_bundled\nfrom llmviz.trace import record\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"ids = torch.tensor([{list(said.ids)}])\n"
        'with torch.inference_mode(), record("blocks.*.attn.weights", torch.float16) as trace:\n'
        "    model(ids)\n"
        "decided = decision(torch.cat(list(trace.values())).float())  # layers, heads\n"
        "layer, head = divmod(int(decided.argmax()), decided.shape[1])\n"
        'print(f"layer {layer}, head {head}: {decided.max():.0%}")',
        f"{title}: {share}",
        label=words.CODE_DECIDED,
    )
