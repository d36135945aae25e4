"""One prompt through the model before any training, after pretraining, and after fine-tuning."""

import streamlit as st

from llmviz.course.figures.stream import three_bars
from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.stages import words
from llmviz.course.ui import engine, kit
from llmviz.finetuning.continuations import Continuation, continuation
from llmviz.finetuning.plan import BASE
from llmviz.textfile import check_text

TUNED = "instructions"
TOKENS = 40
BARS = 6  # tokens whose probabilities are drawn

MODELS = {
    "random": tuned_model.random_one,
    "base": tuned_model.base,
    "tuned": lambda: tuned_model.tuned(TUNED),
}


def draw(state: kit.PageState) -> None:
    """Show what each model writes after the learner's prompt, and its first choice."""
    kit.section(words.before)

    def take(name: str) -> None:
        state["prompt"] = words.prompts[name]

    key = "_finetuning.stages.examples"
    kit.suggest(words.examples, list(words.prompts), take, key=key, label_visibility="collapsed")
    kit.text_area(state, "prompt", words.prompt, height=150)
    if not kit.models_here(BASE):
        return
    try:
        prompt = check_text(state["prompt"])
        models = [model() for model in MODELS.values()]
        written = {name: after(bundle, prompt) for name, bundle in zip(MODELS, models, strict=True)}
    except ValueError as error:
        kit.refuse(error)
        return
    if written["base"].left_out:
        kept_tokens = max(1, models[0].model.context_length - TOKENS)
        kit.inform(words.cut.format(kept=kept_tokens), ":material/content_cut:")
    for column, (name, reply) in zip(st.columns(len(written)), written.items(), strict=True):
        with column:
            st.markdown(f"**{words.models[name]}**")
            st.code(reply.text or words.nothing, language=None, wrap_lines=True)
            st.caption(words.ends if reply.ended else words.stopped.format(count=TOKENS))
    kit.prose(words.first)
    kit.chart(first_bars(prompt, kit.theme(), *models), "finetuning.stages.first")
    kit.prose(words.before_reading)


@kit.kept(96)
def after(bundled: engine.Bundled, prompt: str) -> Continuation:
    """Return what one of the models writes after a prompt."""
    return continuation(bundled.model, bundled.tokenizer, prompt, TOKENS)


@kit.kept(32)
def first_bars(prompt: str, mode: kit.Mode, *models: engine.Bundled) -> kit.Figure:
    """Return the likeliest first tokens of the trained models, under all three."""
    chances = [after(bundle, prompt).first for bundle in models]
    best = [int(i) for i in sum(chances[1:]).argsort()[::-1][:BARS]]
    labels = [kit.escape_plotly(token) for token in kit.names_of(best, models[0].tokenizer)]
    series = [[float(row[i]) for i in best] for row in chances]
    return three_bars(labels, series, [words.models[name] for name in MODELS], mode)
