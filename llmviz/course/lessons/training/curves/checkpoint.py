"""Opening the model of a step in another lesson, and forking a run at a step."""

from pathlib import Path
from typing import Any

import streamlit as st

from llmviz.course.lessons.training.charted_runs import ChartedRun
from llmviz.course.lessons.training.clicks import clicked
from llmviz.course.lessons.training.curves import words
from llmviz.course.lessons.training.runs import plan_controls
from llmviz.course.ui import kit, runs
from llmviz.models.catalogue import able
from llmviz.runs import store
from llmviz.training.config import OWNERS
from llmviz.training.forks import CHANGEABLE, DROPOUT, EXERCISES, PRACTICE, forkable
from llmviz.training.reading import BEFORE, MODEL

# Where a model can be looked at: the page, and what its link says besides the model.
PLACES: dict[str, dict[str, str]] = {
    "sampling": {},
    "attention": {"source": "model", "part": "heads"},
    "embeddings": {"part": "lookup"},
}
# What a model must be able to do there; see `llmviz.models.catalogue`.
NEEDS = {
    "sampling": ("next_token", "cache"),
    "attention": ("next_token", "attention"),
    "embeddings": ("token_table",),
}


def nearest(saved: list[int], step: int) -> int:
    """The checkpoint closest to a step, the earlier of two.

    >>> nearest([100, 200], 150), nearest([100, 200], 151)
    (100, 200)
    """
    return min(saved, key=lambda at: (abs(at - step), at))


def draw(state: kit.PageState, main: ChartedRun, at: int | None) -> None:
    """Show the ways to other lessons with the model of a step, and the fork."""
    last = int(main.curve.steps[-1])
    step = last if at is None else min(at, last)
    saved = main.saved()
    if main.is_bundled:
        name, note = main.name, words.bundled_weights
    elif saved:
        checkpoint = nearest(saved, step)
        plain = store.split_name(main.name)[0]
        name = f"{store.PREFIX}{plain}@{checkpoint}"
        note = words.checkpoint.format(checkpoint=f"{checkpoint:,}", step=f"{step:,}")
    else:
        st.caption(words.no_checkpoint)
        return
    st.caption(note)
    with st.container(horizontal=True):
        for page in _places(main):
            if st.button(words.places[page], key=f"curves.{page}", icon=":material/open_in_new:"):
                st.switch_page(f"pages/{page}.py", query_params={**PLACES[page], "model": name})
        try:
            steps = (saved or _last(main.folder)) if main.plan is not None else []
        except ValueError as error:  # its weights are damaged
            kit.refuse(error)
            return
        plain = store.split_name(main.name)[0]
        watched = store.is_private(plain) and not runs.manager().controls(plain, runs.visitor())
        if steps and not watched:  # of another visitor, who has not kept it
            _fork(state, main, nearest(steps, step), fresh=not saved)


def _last(folder: Path) -> list[int]:
    """The step of a run's last weights, which are read once as long as they stay the same."""
    try:
        return _forkable(str(folder), (folder / MODEL).stat().st_mtime_ns)
    except OSError:
        return []


@kit.cached(64)
def _forkable(folder: str, stamp: int) -> list[int]:
    return forkable(Path(folder))


def _places(main: ChartedRun) -> list[str]:
    model = main.description["model"]["name"]
    return [page for page in PLACES if able(model, *NEEDS[page])]


def _fork(state: kit.PageState, main: ChartedRun, step: int, fresh: bool) -> None:
    # Another key once a fork was started: the popover is a new one, and closed.
    label = words.fork_end if fresh else words.fork
    with st.popover(label, icon=":material/fork_right:", key=f"fork.{len(runs.mine())}"):
        st.markdown(f"**{words.fork_title.format(step=f'{step:,}')}**")
        st.caption(words.fork_end_text if fresh else words.fork_text)
        assert main.plan is not None
        plan = main.plan.to_dict()
        changes: dict[str, Any] = {}
        for name in words.fork_fields:
            if name == DROPOUT:
                if DROPOUT in plan["model_options"]:
                    _changed(changes, name, plan["model_options"][DROPOUT])
            elif name in CHANGEABLE:
                before = plan["train"][name]
                # A fork at the end goes as far again.
                longer = name == "steps" and before <= step
                _changed(changes, name, before, 2 * before if longer else before)
        # The step is not in the key: a click would be lost where a newer checkpoint came just then.
        if clicked(words.fork_start, f"fork.start.{main.name}", type="primary"):
            owner = runs.visitor()
            try:
                run = runs.manager().fork(owner, main.folder, step, changes, main.label)
            except ValueError as error:
                kit.refuse(error)
                return
            own = store.PREFIX + run.name
            state["runs"] = [
                main.name,
                own,
                *(n for n in state["runs"] if n not in (main.name, own)),
            ]
            state["run"] = own
            runs.manager().wait(run.name, 0.9)
            st.rerun()


def _changed(changes: dict[str, Any], name: str, before: Any, start: Any = None) -> None:
    """Show a control, at the parent's value unless told, and note it where it is another."""
    from llmviz.course.lessons.training.runs import words as runs_words

    about = plan_controls.about(name) if name != DROPOUT else None
    label, key = runs_words.labels[name], f"fork.{name}"
    start = before if start is None else start
    if isinstance(before, str):
        choices = list(about.choices) if about else [before]
        value: Any = st.selectbox(label, choices, choices.index(start), key=key)
    elif isinstance(before, int) and about is not None:
        most = max(start, int(about.high or start))
        value = st.number_input(label, int(about.low or 0), most, start, key=key)
    else:
        value = st.number_input(
            label, 0.0, None, float(before), format="%g", step=float(before) / 10 or 0.1, key=key
        )
    if value != before:
        changes[name] = value


def changes_told(changes: dict[str, Any]) -> str:
    from llmviz.course.lessons.training.runs import words as runs_words

    changed = [
        f"{runs_words.labels[name]} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in changes.items()
        if name in runs_words.labels
    ]
    return ", ".join(changed) or words.no_change


def _practice(fork: dict[str, Any] | None) -> str:
    """What the exercises of a fork ask: what it, or the nearest one before it, has chosen."""
    while fork:
        if fork["changes"].get(PRACTICE) in words.practised_what:
            return fork["changes"][PRACTICE]
        fork = fork.get(BEFORE)
    return OWNERS


def fork_told(main: ChartedRun) -> None:
    fork, line = main.fork, words.forked
    while fork:
        changes = fork["changes"]
        sentence = line.format(
            of=kit.quote(str(fork["of"])), step=f"{fork['step']:,}", changes=changes_told(changes)
        )
        if fork.get("fresh"):
            sentence += " " + words.forked_fresh
        if isinstance(share := changes.get(EXERCISES), int | float):
            what = words.practised_what[_practice(fork)]
            sentence += " " + words.practised.format(share=kit.percent(share), what=what)
        kit.prose(sentence)
        fork, line = fork.get(BEFORE), words.forked_before
