"""In-page components: what moves under the hand, drawn in the browser from a whole trace.

Every wrapper sends its data once, as raw bytes, and draws nothing itself; hovering, stepping,
scrubbing and playing never come back to the server. What the learner settled on (a selected
token, a pinned cell, a step) comes back as the return value and on the next rerun. The text
of a learner travels as data and reaches the page as text only.

All of them need a ``key``; they keep their step, scroll and selection when only data change.
A page that keeps the value itself (in the address, say) passes it back as ``step``,
``selected``, ``pinned`` or ``chosen`` and should take it up in ``on_change`` from
``st.session_state[key]``; passing another value moves the component.

Tokens (``Token``: anything with ``id, data, byte_start, byte_end, char_start, char_end``)
    ``TokenRow(name, tokens, note="", values=None, details=None)``
        one tokenizer's tokens; ``note`` stands beside the name ("12 tokens · 3.1 characters
        per token"); ``values`` one float per token colours by value; ``details`` one mapping
        of label to text per token for the hover card
    ``token_strip(rows, *, key, text=None, mode="chips", show_ids=True, value_label="",
    value_range=None, selected=None, limit=3000, on_change=None) -> TokenSelection | None``
        ``mode="chips"`` flowing chips; ``mode="aligned"`` (needs ``text``) every row's token
        boxes under the characters they cover. ``TokenSelection(row, index, id)``.
    ``windows_view(tokens, starts, *, context_length, key, batch_size=1, limit=64,
    selected=None, on_change=None) -> int | None``
        ``tokens`` texts or Tokens of the whole stream, ``starts`` first position of each window;
        returns the number of the window clicked

Tokenizer training
    ``FilmStep(pair, token, count, ties=1, top=(), corpus_length=0)``
        one merge: ``pair`` two bytes objects, ``top`` (left, right, count) before the merge,
        ``ties`` how many pairs shared the highest count, ``corpus_length`` tokens after it
    ``FilmNode(byte_start, byte_end, born, died=None, id=-1)``
        one token of the sample text; it exists after ``k`` merges when
        ``born <= k < died``: a byte has ``born=0``, the product of the n-th merge ``born=n``
    ``bpe_film(steps, nodes, *, sample, key, corpus_length, base_vocab=256,
    tie_rule="", step=None, on_change=None) -> int``
        the film of training; step 0 is before any merge; returns the step let go at
    ``TreeMerge(left, right, rank)``
        children are positions in leaves + merges so far (leaf i is i, merge j is
        ``len(leaves) + j``)
    ``merge_tree(leaves, merges, *, key, token_ids=None, greedy=None, candidates=None,
    greedy_note="", step=None, on_change=None) -> int``
        a word's merges in order, beside the greedy left-to-right tokens; returns the step

Matrices
    ``Matrix(name, values, label="", formula="", row_labels=(), col_labels=(), row_axis="",
    col_axis="", role="neutral", op=None, scale="auto", limit=None, digits=4, row_sums=False,
    notes=(), hidden=(), windows=("", ""))``
        roles: query key value weights residual accent neutral; ``notes`` one sentence a row;
        ``hidden`` cells (row, column) show "?" until they are no longer hidden;
        ``scale``: auto diverging sequential; ``limit``: the value at the scale's end;
        ``windows``: through which of the view's windows its rows and columns are seen
    ``Window(size, show, at=0)`` an axis too long to draw; matrices that share it move together
    operations, given by names of other matrices: ``matmul(a, b, transpose_b=False, bias=None)``,
    ``scaled(a, by, text="")``, ``masked(a, reason="")``, ``softmax_rows(a)``, ``add(*names)``,
    ``subtracted(a, b)``, ``divided(a, b)``, ``lengths(a)``, ``row_summed(a)``, ``multiply(a, b)``,
    ``lookup(table, rows)``, ``concat(*names)``, ``columns(a, start)``, ``transposed(a)``,
    ``dropout(a, keep, p)``, ``rows_normalised(a)``, ``function(a, text)``,
    ``normalised(a, mean, deviation, gain=None, bias=None)``,
    ``rms_normalised(a, rms, gain=None)``, ``row_mean(a)``, ``row_mean_square(a, mean=None)``,
    ``root(a, plus)``, ``picked(a, columns)``, ``summed(a)``, ``turned(a, angles)``
    ``matrix_view(matrices, *, key, layout=None, steps=None, step=None, pinned=None, numbers="auto",
    stacked=False, narrow=0, windows=None, weights=(), on_change=None) -> MatrixState``
        ``layout`` a grid of names, None (gap) and glyphs (``"×"``, ``"="``); ``steps`` a list of
        ``(names, caption)``; without it there is no player. ``MatrixState(pinned, step)`` where
        ``pinned`` is ``Cell(name, row, column)`` or None
    ``stage_view(stage_picture(matrices, stages, windows, weights), *, key, step=0, …)``
        a ``Stage`` of a computation at a time, under a diagram of all of them; ``Weights.of``
        matrices travel once
    ``heads_grid(weights, *, key, row_names=None, column_names=None, tokens=(), key_tokens=None,
    notes=None, chosen=None, lines=False, covered=None, on_change=None) -> tuple[int, int] | None``
        ``weights`` (layers, heads, queries, keys) in 0..1; returns the (layer, head) clicked;
        ``lines`` shows the chosen head below as lines between its tokens; ``covered`` hides one
    ``vector_table(table_picture(matrix, labels), *, key, words, chosen=None, marks=(), …)``
        a whole table of vectors, a pixel a number, with a close-up; returns the row clicked or None
    ``dots(x, y, labels, marks, *, axes, key, words, on_change=None) -> int | None``
        a dot for every token over two axes, ``Dot(index, role)`` named; returns the dot clicked
    ``head_view(weights, tokens, *, key, names, key_tokens=None, notes=(), marks=(), chosen=0,
    on_change=None) -> int``
        ``weights`` (heads, queries, keys): lines from each query to its keys, one head at a
        time; ``marks`` known partners; returns the number of the head clicked
    ``look_back.view.look_back(weights, tokens, *, key, names, words, asking=-1, …) -> int``
        the text in one line for each head of ``weights`` (heads, tokens, tokens): arcs from the
        token that asks, shares below; a token that is clicked asks; returns its place
    ``run_film.view.run_film(film, *, key, words, head=0, on_change=None) -> int``
        what a model wrote, where a head looked and how its tokens lay at the step that the
        ``curves`` of the page stand at; returns the number of the head
    ``fused_tree.view.fused_tree(levels, *, key, words, limit=1.0, …) -> (level, node)``
        a tree of vectors, each node made from the two below it; returns the node clicked
    ``two_halves.view.two_halves(translation, *, key, words, step=0, chosen=0, on_change=None)``
        a translation, one word a step: what both halves look at, and what is said next

Sampling (what the hand does comes back in ``st.session_state[key]["act"]``, for ``on_act``)
    ``sampler(columns, controls, ids, names, *, key, u, vocab_size, …)``
        the pipeline: bars of the same tokens after every step; each ``Control`` carries what all
        stops of its slider lead to (``Sweeps``), so the bars follow the hand
    ``dice(names, probabilities, counts, *, key, draws, rest, strip, recent)``
        random numbers on the strip from 0 to 1, frequencies beside probabilities
    ``writer(tokens, *, key, prompt, words, length, limit, …)``
        a text that grows, coloured by probability, with other ways to go at each ``WrittenToken``
    ``softmax_view(names, logits, stops, columns, entropy, *, key, words, lines, at, …)``
        softmax with its numbers at every temperature, and the curve of entropy
    ``beam_tree(branches, finals, *, key, hidden, words, captions)``
        the tree of a beam search, one depth a step

Training (see each module for what it is given)
    ``descent.descent_view(walkers, rates, *, key, words, floor, state, stage, …)``
        optimizers on a map, a curve or a plane of points, with a player of steps, a slider of
        learning rates that were all computed before, and each update's numbers with arithmetic
    ``graph.graph_view(nodes, edges, steps, *, key, step, …) -> int``
        a computation whose values flow forward and whose gradients come back
    ``nudge.nudge_view(weights, losses, slope, *, key, at, words, lines) -> int``
        one weight on a slider: the true loss beside what its slope predicts

Points and positions (imported from their own modules)
    ``film.scatter_film(Film(points, labels, words, kinds, kind_names, near, …), *, key, step, …)``
        a map (frames, points, 2) as a film: zoom, search, kinds of points, ``Near`` neighbours at
        every frame, ``links`` from point to point or from the origin;
        ``st.session_state[key]["step"]`` and ``["act"]`` say what the hand did
    ``pairs.pairs_view(texts, kept, centers, pairs, negatives, *, key, words, …) -> int``
        the pairs of skip-gram on the text; returns the center let go at
    ``positions.positions_view(positions_picture(…), *, key, words, …) -> (row, column)``
        a table of positions, any column and any row of it as a curve
    ``bar_film.view.bar_film(heights, labels, layers, *, key, axes, steps, captions, …) -> int``
        shares (frames, layers, bars) as stacked bars, and a sentence for each frame
    ``fill_film.view.fill_film(texts, *, key, hidden, step=-1, on_change=None) -> int``
        texts that fill up place by place, each ``Filling`` beside the others

Numbers
    ``bit_rows.view.bit_rows(formats, number, *, key, labels, notes, words, …) -> str``
        a number in several formats, each bit a button; returns the pattern that was flipped

What is large and the same for everybody is a ``stored.Stored`` part: browsers fetch it once.
A page's tests read what was sent with ``unpack(payload)``.
"""

from llmviz.course.components._shared.cell_operations import (
    Op,
    add,
    columns,
    concat,
    divided,
    dropout,
    function,
    lengths,
    lookup,
    masked,
    matmul,
    multiply,
    normalised,
    picked,
    rms_normalised,
    root,
    row_mean,
    row_mean_square,
    row_summed,
    rows_normalised,
    scaled,
    softmax_rows,
    subtracted,
    summed,
    transposed,
    turned,
)
from llmviz.course.components._shared.transport import pack, unpack
from llmviz.course.components.beam_tree.view import Branch, beam_tree
from llmviz.course.components.bpe_film.view import FilmNode, FilmStep, bpe_film
from llmviz.course.components.dice.view import dice
from llmviz.course.components.dots.view import Dot, dots
from llmviz.course.components.head_view.view import head_view
from llmviz.course.components.heads_grid.view import heads_grid
from llmviz.course.components.matrix_view.stages import (
    Stage,
    StagePicture,
    stage_picture,
    stage_view,
)
from llmviz.course.components.matrix_view.view import (
    Cell,
    Matrix,
    MatrixState,
    Weights,
    Window,
    cell_of,
    matrix_view,
)
from llmviz.course.components.merge_tree.view import TreeMerge, merge_tree
from llmviz.course.components.sampler.view import Column, Control, Sweeps, sampler
from llmviz.course.components.softmax_view.view import softmax_view
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.components.vector_table.view import TablePicture, table_picture, vector_table
from llmviz.course.components.windows_view.view import windows_view
from llmviz.course.components.writer.view import Way, WrittenToken, writer

__all__ = [
    "Branch",
    "Cell",
    "Column",
    "Control",
    "Dot",
    "FilmNode",
    "FilmStep",
    "Matrix",
    "MatrixState",
    "Op",
    "Stage",
    "StagePicture",
    "Sweeps",
    "TablePicture",
    "TokenRow",
    "TokenSelection",
    "TreeMerge",
    "Way",
    "Weights",
    "Window",
    "WrittenToken",
    "add",
    "beam_tree",
    "bpe_film",
    "cell_of",
    "columns",
    "concat",
    "dice",
    "divided",
    "dots",
    "dropout",
    "function",
    "head_view",
    "heads_grid",
    "lengths",
    "lookup",
    "masked",
    "matmul",
    "matrix_view",
    "merge_tree",
    "multiply",
    "normalised",
    "pack",
    "picked",
    "rms_normalised",
    "root",
    "row_mean",
    "row_mean_square",
    "row_summed",
    "rows_normalised",
    "sampler",
    "scaled",
    "softmax_rows",
    "softmax_view",
    "stage_picture",
    "stage_view",
    "subtracted",
    "summed",
    "table_picture",
    "token_strip",
    "transposed",
    "turned",
    "unpack",
    "vector_table",
    "windows_view",
    "writer",
]
