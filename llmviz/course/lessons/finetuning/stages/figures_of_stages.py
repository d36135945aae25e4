"""What each stage of this project read and took, from the cards of what is bundled."""

from typing import Any

import streamlit as st

from llmviz.course.figures.losses import compared
from llmviz.course.lessons.finetuning import LESSON, tuned_model
from llmviz.course.lessons.finetuning.stages import words
from llmviz.course.ui import engine, kit
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.models.arithmetic import flops_per_token
from llmviz.models.settings import GPTConfig
from llmviz.paths import TUNED
from llmviz.training.files import read_json
from llmviz.training.reading import CONFIG, METRICS, read_metrics

Lines = dict[str, tuple[str, ...]]
TUNINGS = ("instructions", "few-shot")


def draw() -> None:
    """Show the five stages with their figures, and how much each training was scored on."""
    kit.section(words.intro)
    lines = lines_of(tuned_model.base()) if BASE in engine.names() else {}
    columns = st.columns(len(words.stages))
    for column, (key, (number, title, text)) in zip(columns, words.stages.items(), strict=True):
        with column.container(border=True, height="stretch", gap="xsmall"):
            st.markdown(f"**{number} · {title}**")
            st.caption(text)
            st.markdown("\n".join(f"- {line}" for line in lines.get(key) or (words.not_there,)))
    counts = scored(tuned_model.base()) if lines else {}
    if {"pretraining", "instructions"} <= counts.keys():
        kit.chart(bars(tuple(counts.items()), kit.theme()), "stages.bars")
        share = f"{counts['pretraining'] / counts['instructions']:,.0f}"
        kit.prose(words.bars_text, share=share)


@kit.kept(4)
def lines_of(bundled: engine.Bundled) -> Lines:
    """Return what is known of each stage, a sentence each; stages without figures have none."""
    card, about = bundled.card, read_json(engine.folder_of(bundled.name) / CONFIG)
    live = any(chapter.key == "preferences" for chapter in LESSON.chapters)
    lines: Lines = {"preferences": words.preferences + (words.preferences_here,) * live}
    data, score = about.get("data", {}), card.get("score", {})
    references = data.get("references", {})
    if {"tokens", "bytes"} <= references.keys():
        numbers = {"documents": data["documents"], "tokens": references["tokens"]}
        size = f"{references['bytes'] / 1e6:.1f}"
        lines["data"] = _filled(words.data, bytes=size, **numbers)
    if score and "floor" in card:
        lines["pretraining"] = _filled(
            words.pretraining,
            tokens=card["tokens"],
            steps=card["steps"],
            time=in_words(card["seconds"]),
            loss=f"{score['nats_per_token']:.3f}",
            floor=f"{card['floor']['nats_per_token']:.3f}",
        )
    tuned = _card("instructions")
    if tuned is not None:
        lines["tuning"] = _filled(
            words.tuning,
            tokens=_scored_tokens("instructions"),
            steps=tuned["steps"],
            time=in_words(tuned["seconds"]),
            right=kit.percent(tuned["right"]),
            trained=tuned["trained_parameters"],
            parameters=tuned["parameters"] - tuned["trained_parameters"],
        )
    config = GPTConfig.from_dict(about["model"]["config"])
    flops = f"{flops_per_token(config, config.context_length) / 1e6:.1f}"
    lines["use"] = _filled(words.use, flops=flops, parameters=card["parameters"])
    return lines


@kit.kept(4)
def scored(bundled: engine.Bundled) -> dict[str, int]:
    """Return on how many tokens each training was scored; those that are not known are left out."""
    counts = {"pretraining": bundled.card.get("tokens", 0)}
    counts |= {name: _scored_tokens(name) for name in TUNINGS if _card(name) is not None}
    return {name: count for name, count in counts.items() if count}


def scored_line() -> str:
    """Return on how many tokens the first two trainings were scored; "" where that is not known."""
    counts = scored(tuned_model.base())
    if not {"pretraining", "instructions"} <= counts.keys():
        return ""
    before, after = (f"{counts[name]:,}" for name in ("pretraining", "instructions"))
    return words.end_scored.format(before=before, after=after)


@kit.kept(4)
def bars(counts: tuple[tuple[str, int], ...], mode: kit.Mode) -> kit.Figure:
    """Return the counts as bars on an axis of powers of ten."""
    names = [words.bars_names[name] for name, _ in counts]
    values = [count for _, count in counts]
    return compared(names, values, 0, words.bars, mode, logarithmic=True, digits=0)


def in_words(seconds: float) -> str:
    """Return a time in hours and minutes, or in minutes, or in seconds.

    >>> in_words(11209.7), in_words(475), in_words(4)
    ('3 h 7 min', '8 min', '4 s')
    """
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def _filled(lines: tuple[str, ...], **numbers: object) -> tuple[str, ...]:
    written = {k: f"{v:,}" if isinstance(v, int) else v for k, v in numbers.items()}
    return tuple(line.format(**written) for line in lines)


def _card(name: str) -> dict[str, Any] | None:
    try:
        return tuned_card(name)
    except ValueError:
        return None


def _scored_tokens(name: str) -> int:
    return read_metrics(TUNED / name)[-1].tokens if (TUNED / name / METRICS).is_file() else 0
