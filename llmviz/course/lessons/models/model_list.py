"""The models of this server: where each is from, how large it is, which may be deleted."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.models import words
from llmviz.course.lessons.models.published_import import delete_imported
from llmviz.course.ui import engine, kit, runs
from llmviz.course.ui.sizes import size
from llmviz.runs import store

BROUGHT = "transformer.brought"  # in the session: names of what this visit imported
TOLD = "transformer.deleted"  # in the session: whether the last delete worked, and what to say
CHOSEN = "transformer.delete"


@dataclass(frozen=True)
class Model:
    """A model that is here: its name in the pages, where it is from, bytes on the disk."""

    name: str
    origin: str  # a key of words.from_text
    kind: str
    parameters: int
    size: int


def listed() -> list[Model]:
    """Return the models that this visitor may choose: own and kept runs, and the bundled ones."""
    fetched = engine.obtained()
    names = tuple(name for name in engine.names() if name not in fetched)
    return [*_runs(), *map(_fetched, fetched), *bundled(str(engine.CHECKPOINTS), names)]


def draw(models: list[Model], *, own: bool) -> None:
    """List the models, and offer to delete what this visitor may delete.

    own: whether the visitor is at the server's own machine.
    """
    kit.section(words.shelf)
    rows = [
        (kit.label(m.name), words.from_text[m.origin], m.kind, m.parameters, size(m.size))
        for m in models
    ]
    number = st.column_config.NumberColumn(format="localized")
    st.dataframe(
        pd.DataFrame(rows, columns=words.shelf_columns),
        hide_index=True,
        column_config={words.shelf_columns[3]: number},
    )
    total = size(sum(model.size for model in models))
    kit.prose(words.shelf_note, count=kit.count(len(models), "model"), size=total)
    _offer_deleting(deletable(models, own=own))


@kit.cached(4)
def bundled(folder: str, names: tuple[str, ...]) -> list[Model]:
    """Return the bundled models and their families; the arguments tell one copy from another."""
    families = sorted(path.parent for path in Path(folder).glob(f"*/*/{engine.CARD}"))
    inner = [path.relative_to(folder).as_posix() for path in families]
    return [_model(name, "bundled", Path(folder) / name) for name in (*names, *inner)]


def _runs() -> list[Model]:
    """This visitor's runs and the kept ones; those without weights have nothing to offer yet."""
    rows = []
    for name in engine.own():
        try:
            rows.append(_run(name, engine.version(name)))
        except ValueError:  # deleted in between, or damaged: other chapters say so
            continue
    return rows


@kit.cached(600)
def _run(name: str, version: str) -> Model:
    from llmviz.pretrained import is_imported

    folder = store.find_run(name)
    origin = "imported" if is_imported(store.description_of(folder)) else "run"
    return _model(name, "mine" if store.is_private(name) else origin, folder)


def _fetched(name: str) -> Model:
    return _model(name, "fetched", engine.obtained()[name])


def _model(name: str, origin: str, folder: Path) -> Model:
    card = kit.card_of(name) or {}
    files = folder.rglob("*") if folder.is_dir() else [folder]
    size_on_disk = sum(path.lstat().st_size for path in files if path.is_file())
    return Model(name, origin, str(card.get("model", "")), card.get("parameters", 0), size_on_disk)


def deletable(models: list[Model], *, own: bool) -> list[Model]:
    """Return what this visitor may delete: own runs that rest, and imported models.

    Of these, all at the machine itself, elsewhere what this visit imported.
    """
    resting = {store.PREFIX + run.name for run in runs.mine() if not run.active}
    brought = st.session_state.get(BROUGHT, ())
    return [
        model
        for model in models
        if (model.origin == "imported" and (own or model.name in brought))
        or (model.origin == "mine" and model.name in resting)
    ]


def _offer_deleting(models: list[Model]) -> None:
    done, line = st.session_state.pop(TOLD, (True, ""))
    if line:
        kit.inform(line, ":material/delete:") if done else kit.refuse(line)
    by_name = {model.name: model for model in models}
    if not by_name:
        return
    if st.session_state.get(CHOSEN) not in by_name:
        st.session_state.pop(CHOSEN, None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            words.delete_label, list(by_name), format_func=kit.label, width=320, key=CHOSEN
        )
        with st.popover(words.delete, icon=":material/delete:"):
            m = by_name[chosen]
            named = kit.escape_markdown(kit.label(m.name))
            st.markdown(as_markdown(words.delete_asks.format(name=named, size=size(m.size))))
            st.button(words.delete_yes, key="transformer.delete.yes", on_click=_remove, args=(m,))


def _remove(model: Model) -> None:
    name = model.name.removeprefix(store.PREFIX)
    line = words.deleted.format(name=kit.label(model.name))
    try:
        if model.origin == "mine":
            runs.manager().discard(name, runs.visitor())
        else:
            delete_imported(name)
    except ValueError as error:
        st.session_state[TOLD] = False, str(error)
    else:
        st.session_state[TOLD] = True, line
