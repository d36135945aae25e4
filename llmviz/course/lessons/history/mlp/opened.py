"""One window of the MLP opened: its numbers through the layers, as linked matrices."""

from llmviz.course import components as lv
from llmviz.course.lessons.history.hidden_layer import add_layer, add_strip
from llmviz.course.lessons.history.mlp import words
from llmviz.course.lessons.history.mlp.model import WindowsRead
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import Picture


def window_picture(
    bundled: engine.Bundled, read: WindowsRead, names: list[str], at: int
) -> Picture:
    """Return one window through the layers, as matrices of one row each; names: of its places."""
    picture, model = Picture(), bundled.model
    tokens, table = read.seen[at], model.token.weight
    pad = model.config.vocab_size  # the last row of the table stands before the text
    picture.add("table", table, words.table)  # not drawn: where the vectors come from
    slots: list[str] = [f"slot {i}" for i in range(len(tokens))]
    for slot, token, label, values in zip(slots, tokens, names, read.slots[at], strict=True):
        op = lv.lookup("table", [pad if token is None else token])
        picture.add(slot, values[None], label, op=op, role="query")
    half = len(slots) // 2
    picture.layout += [[*slots[:half]], [*slots[half:]]] if half else [[*slots]]
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
    widest = max(map(len, picture.layout))  # long strips go across all columns
    picture.layout = [
        line * widest if len(line) == 1 else [*line, *[None] * (widest - len(line))]
        for line in picture.layout
    ]
    return picture
