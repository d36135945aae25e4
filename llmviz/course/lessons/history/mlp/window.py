"""Part of the chapter "MLP": the window sliding over the name, and one of its places opened.

T tokens of the name, W window.
"""

from typing import Any

from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.history.hidden_layer import add_layer, add_strip
from llmviz.course.lessons.history.kept_cell import show
from llmviz.course.lessons.history.mlp import words
from llmviz.course.lessons.history.mlp.sliding_window import WindowsRead, read_windows
from llmviz.course.lessons.history.named_model import spoken_next
from llmviz.course.lessons.history.other_lessons import link_onward
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import Picture
from llmviz.models.ngram import V

KEY = "history.mlp.window"
MODEL = "names-mlp"


def draw(state: kit.PageState, bundled: engine.Bundled, name: str) -> None:
    """Show the windows of a name and the opened one."""
    config, read = bundled.model.config, windows(bundled, name)
    kit.section(words.window, window=config.window)
    ids = bundled.tokenizer.encode_from_start(name)
    at = state["slideat"] if 0 <= state["slideat"] < len(ids) else len(ids) - 1
    quiz = question(read.added[-1].tolist(), slot_names(read, len(ids) - 1), kit.quote(name[-1]))
    targets = [*ids[1:], bundled.tokenizer.end]
    if quiz is None or kit.predict(quiz, f"{KEY}.ask", covers=True):
        _grid(state, read, targets, at)
        kit.prose(report(read, targets[at], at))
    text = words.opened_text.format(
        window=config.window,
        width=config.n_embd,
        row=config.window * config.n_embd,
        tokens=config.vocab_size,
    )
    kit.section(words.opened.title, text)
    picture = window_picture(bundled, name, at)
    show(state, picture, key=f"{KEY}.opened", control="sliding", stacked=True)
    link_onward(name)
    _code(bundled, name, at, read)


def end(bundled: engine.Bundled, name: str) -> dict[str, Any]:
    """Return what the chapter's end says of a name: sizes, and the mean loss of its letters."""
    config, read = bundled.model.config, windows(bundled, name)
    targets = [*bundled.tokenizer.encode(name), bundled.tokenizer.end]
    chances = read.logits.double().log_softmax(-1)[range(len(targets)), targets]
    return {
        "window": config.window,
        "width": config.n_embd,
        "parameters": engine.card(MODEL)["parameters"],
        "rows": V**config.window,
        "name": kit.quote(name),
        "loss": -float(chances.mean()),
    }


@kit.kept(64)
def windows(bundled: engine.Bundled, name: str) -> WindowsRead:
    """Return what the bundled MLP computes on a name, the start token in front."""
    return read_windows(bundled.model, bundled.tokenizer.encode_from_start(name))


def letter_name(token: int | None) -> str:
    """Return how a place of the window is shown; a dot where no letter is."""
    tokenizer = engine.tokenizer(MODEL)
    if token is None or token in tokenizer.special_tokens.values():
        return words.pad
    return kit.names_of([token], tokenizer)[0]


def slot_names(read: WindowsRead, at: int) -> list[str]:
    """Return the names of a window's places: each letter and how far back it stands."""
    last = len(read.seen[at]) - 1
    return [
        (words.place_now if i == last else words.place_back).format(
            letter=letter_name(token), n=last - i
        )
        for i, token in enumerate(read.seen[at])
    ]


def _grid(state: kit.PageState, read: WindowsRead, targets: list[int], at: int) -> None:
    key, (rows, slots) = f"{KEY}.grid", read.added.shape
    p, tokenizer = read.logits.double().softmax(-1), engine.tokenizer(MODEL)
    names = []
    for row, target in enumerate(targets):
        place = words.start if row == 0 else letter_name(read.seen[row][-1])
        token = unmarked(spoken_next(target, tokenizer))
        names.append(
            words.row.format(place=place, token=token, p=kit.percent(float(p[row, target])))
        )
    back = [words.slot.format(n=slots - 1 - i) for i in range(slots - 1)]
    cell_grid(
        read.added.numpy(),
        key=key,
        row_names=names,
        column_names=[*back, words.slot_now],
        texts=[[letter_name(symbol) for symbol in seen] for seen in read.seen],
        notes=[
            [words.slot_note.format(length=f"{value:.2f}") for value in row]
            for row in read.added.tolist()
        ],
        role="weights",
        scale=(words.grid_scale[0], words.grid_scale[1].format(limit=float(read.added.max()))),
        label=words.grid,
        chosen=(at, slots - 1),
        on_change=kit.bound(
            state, key, chosen=("slideat", lambda at: at and (-1 if at[0] == rows - 1 else at[0]))
        ),
    )


def report(read: WindowsRead, target: int, at: int) -> str:
    """Say which place of a window adds most, and what comes next."""
    p, tokenizer = read.logits[at].double().softmax(-1), engine.tokenizer(MODEL)
    best, most = int(p.argmax()), int(read.added[at].argmax())
    return words.window_read.format(
        most=unmarked(kit.quote(slot_names(read, at)[most])),
        token=spoken_next(target, tokenizer),
        p=kit.percent(float(p[target])),
        best=spoken_next(best, tokenizer),
        best_p=kit.percent(float(p[best])),
    )


def question(added: list[float], names: list[str], place: str) -> kit.Question | None:
    """Ask which place of the window after `place` adds most; None where two look alike."""
    order = sorted(range(len(added)), key=lambda i: -added[i])
    if len(added) < 2 or f"{added[order[0]]:.2f}" == f"{added[order[1]]:.2f}":
        return None
    lines = dict.fromkeys((order[1], order[-1], len(added) - 1), words.ask_wrong)
    lines[order[0]] = words.ask_right
    written = [f"{length:.2f}" for length in added]
    most = written[order[0]]
    reasons = {i: line.format(length=written[i], most=most) for i, line in lines.items()}
    return kit.Question.among(words.ask, reasons, order[0], names.__getitem__, place=place)


@kit.kept(64)
def window_picture(bundled: engine.Bundled, name: str, at: int) -> Picture:
    """Return one window through the layers, as matrices of one row each."""
    read, picture = windows(bundled, name), Picture()
    model = bundled.model
    tokens, table = read.seen[at], model.token.weight
    pad = model.config.vocab_size  # the last row of the table stands before the text
    picture.add("table", table, words.table)  # not drawn: where the vectors come from
    slots = [f"slot {i}" for i in range(len(tokens))]
    for slot, token, label, values in zip(
        slots, tokens, slot_names(read, at), read.slots[at], strict=True
    ):
        op = lv.lookup("table", [pad if token is None else token])
        picture.add(slot, values[None], label, op=op, role="query")
    half = len(slots) // 2
    picture.layout += [slots[:half], slots[half:]] if half else [slots]
    row = read.slots[at].flatten()[None]
    add_strip(picture, "window", row, lv.concat(*slots), role="query")
    add_layer(picture, model.layers[0], "window", read.linear[[at]], read.normed[[at]], [""])
    picture.add("head", model.head.weight.T)
    picture.add("head bias", model.head.bias[None])
    columns = kit.names_of(list(range(model.config.vocab_size)), bundled.tokenizer)
    op = lv.matmul("tanh", "head", bias="head bias")
    add_strip(picture, "logits", read.logits[[at]], op, col_labels=columns)
    p = read.logits[[at]].softmax(-1)
    more = {"role": "weights", "scale": "sequential", "col_labels": columns}
    add_strip(picture, "p", p, lv.softmax_rows("logits"), **more)
    return _even(picture)


def _even(picture: Picture) -> Picture:
    """Let every row of the layout have as many columns as the widest: long strips go across."""
    widest = max(map(len, picture.layout))
    picture.layout = [
        row * widest if len(row) == 1 else [*row, *[None] * (widest - len(row))]
        for row in picture.layout
    ]
    return picture


def _code(bundled: engine.Bundled, name: str, at: int, read: WindowsRead) -> None:
    p = read.logits[at].softmax(-1)
    kit.show_code(
        [type(bundled.model).forward, read_windows],
        words.snippet_window.format(bundled_name=bundled.name, name=name, at=at),
        f"{int(p.argmax())} {float(p.max()):.4f}",
    )
