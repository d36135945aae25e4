"""What each model of the race invents, asked now."""

from __future__ import annotations

import streamlit as st

from llmviz.textfile import ENDOFTEXT
from llmviz.training.experiments import copied
from llmviz.ui import codec, engine
from llmviz.ui.lesson import section, show_code
from llmviz.ui.lessons.training import readers
from llmviz.ui.lessons.training.words import race as words
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

ASKED = 8  # names
LONGEST = 20  # letters
PARAMS = [codec.integer("inventing", 1, 0, 9_999)]


def draw(state: PageState, there: list[str]) -> None:
    """Let every model write some names from one seed."""
    if not there:
        return
    section(words.INVENT_TITLE, words.INVENT_TEXT.format(count=ASKED))
    st.number_input(words.INVENT_SEED, width=150, **state.ranged("inventing"))
    if not readers.engine_ready():
        return
    lines = []
    for name in there:
        made = invented(name, engine.version(name), state["inventing"])
        known, _ = copied("\n".join(made), _trained_on())
        listed = ", ".join(quote(one) for one in made)
        lines.append(
            words.INVENTED.format(name=words.MODELS[name][0], listed=listed, known=len(known))
        )
    prose("\n\n".join(lines))
    _code(there[-1], state["inventing"])


@st.cache_data(max_entries=128, show_spinner=False)
def invented(name: str, version: str, seed: int) -> list[str]:
    """Return the names that a model writes from a seed, at temperature 1."""
    import torch

    from llmviz.sampling import generate
    from llmviz.training.samples import text_of

    bundled = engine.load(name)
    end = bundled.tokenizer.special_tokens[ENDOFTEXT]
    generator = torch.Generator().manual_seed(seed)
    written = []
    for _ in range(ASKED):
        tokens = generate(bundled.model, [end], LONGEST, 1.0, generator=generator, stop_id=end)
        written.append(text_of(bundled.tokenizer, [token.id for token in tokens]))
    return written


@st.cache_data(max_entries=1, show_spinner=False)
def _trained_on() -> list[str]:
    from llmviz.corpus import load_corpus

    return list(load_corpus("names").split(0.1, 0)[0])


def _code(name: str, seed: int) -> None:
    from llmviz.sampling import generate

    show_code(
        [generate],
        "import torch\n"
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.sampling import generate\n\n"
        f"model, tokenizer, card = load_bundled({name!r})\n"
        "end = tokenizer.special_tokens['<|endoftext|>']\n"
        f"generator = torch.Generator().manual_seed({seed})\n"
        f"for _ in range({ASKED}):\n"
        f"    tokens = generate(model, [end], {LONGEST}, 1.0, generator=generator, stop_id=end)\n"
        "    print(tokenizer.decode([token.id for token in tokens if token.id != end]))",
        "\n".join(invented(name, engine.version(name), seed)),
        label=words.INVENT_CODE,
    )
