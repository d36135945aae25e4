"""All that the chapter "Flash attention" says. Names in braces: live numbers."""

from llmviz.lessons.efficiency import LESSON

TITLE = LESSON.title_of("flash")
TEXT = (
    "[[attention|Attention]] gives each token a row of scores, one for each token that it may see. "
    "For a long text that matrix is huge. Arithmetic happens in [[fast memory]], which is small; "
    "what does not fit there must be written to large, slow memory and read back. Often that takes "
    "longer than the arithmetic itself.\n\n[[flash attention|Flash attention]] cuts the matrix "
    "into tiles that fit into fast memory. The difficulty is [[softmax]]: it needs the largest "
    "score and the sum of a whole row, and a tile has only a part of the row. The answer is to "
    "keep a running maximum and a running sum, and to correct them when a tile brings a larger "
    "score. Nothing is left out and nothing is estimated: the result is that of whole attention, "
    "up to rounding."
)
LAYER = "Layer"
HEAD = "Head"
TILE = "Rows and columns of a tile"
WHY = (
    "The picture begins with layer {layer}, head {head}. With tiles of {side} × {side} on this "
    "text, rows get a larger maximum there at least as often as in any other head."
)
KEYS = (
    "Step through the tiles. Below the matrix stand the rows of the tile at work; choose one to "
    "see its arithmetic."
)
FILM = {
    "output": "output so far",
    "scale": (
        "the further from 0, the stronger the colour; output so far: divided by the sum so far, "
        "each column on a scale of its own"
    ),
    "now": "in fast memory now",
    "done": "was computed, and is gone",
    "later": "not yet",
    "skipped": "skipped: no row may look there",
    "masked": "the row may not look there",
    "row": "row",
    "maximum_before": "maximum before",
    "maximum": "maximum",
    "factor": "factor",
    "sum_before": "sum before",
    "sum": "sum",
    "blind": "This row may not look at any token of the tiles so far.",
    "traffic": "So far this head read {read} numbers from slow memory and wrote {written}.",
}
CAPTION = "Tile {number} of {all}: {rows} and {columns}. {change} {end}"
ROW, ROWS = "row {first}", "rows {first} to {last}"
COLUMN, COLUMNS = "column {first}", "columns {first} to {last}"
FIRST = "It is the first tile of its rows, so there is no sum to correct."
NO_RISE = "No row gets a larger maximum, so the sums so far stay as they are."
RISE = (
    "{rows} a larger maximum. In such a row both sums so far, that of the exponentials and that of "
    "the values, are multiplied by the factor e^(old maximum − new maximum)."
)
GETS, GET = "1 row gets", "{count} rows get"
ENDED = "After it, the output of its rows is complete and is written to slow memory."
EQUAL = (
    "The largest difference between the output of the tiles and that of the whole matrix is "
    "{difference} here, in numbers of up to {size:.3g}. It comes from rounding alone: float32 has "
    "about seven digits, and sums in another order round in another way."
)
EXACT = "The output of the tiles and that of the whole matrix are the same here, digit by digit."
WHOLE_LINK = "This head's whole matrix, in the lesson on attention"
ONE_TILE = "The whole matrix fits into this one tile. With smaller tiles there is more to see."

ASK = (
    "{where} the largest score so far is {old}, and the exponentials so far add up to {total}. The "
    "next tile brings a larger score: {new}. What happens to the sum so far?"
)
ASK_HERE = "In row {row}, after tile {tile},"
ASK_EXAMPLE = "Suppose that in some row"
ANSWER = "It becomes {value}."
ASK_RIGHT = (
    "Each exponential was e^(score − {old_}) and must be e^(score − {new_}). All of them differ by "
    "the same factor, e^({old} − {new_}) ≈ {factor}, so one product corrects the whole sum: "
    "{total} × {factor} ≈ {right}. The sum of the values is multiplied by the same factor."
)
ASK_WRONG = {
    "same": (
        "Then old and new exponentials would be measured from different maxima and could not be "
        "added."
    ),
    "grown": "The sign is wrong: measured from a larger maximum the old exponentials are smaller.",
    "lost": "The old scores are gone from fast memory, but their sum is not: it must still count.",
    "shifted": (
        "The maximum stands in the exponent. Changing it multiplies the sum; it subtracts nothing "
        "from it."
    ),
}

MOVED_TITLE = "What is read and written"
MOVED_TEXT = (
    "Here we count, for one head, every number that goes from slow memory to fast memory or back. "
    "With **whole matrices** there are three operations. The scores are computed and written; they "
    "are read again for softmax, and the weights are written; these are read again for the product "
    "with the values. With **tiles**, each query is read once and each output is written once. The "
    "keys and values are read again for each strip of rows. A tile is as large as fast memory "
    "allows. Its queries, output, keys, values and scores must fit, and also a maximum and a sum "
    "for each row. Each number is counted with 2 bytes, as in float16."
)
LENGTH = "Tokens of the text"
MEMORY = "Fast memory, in KiB"
HEAD_SIZE = "Head size"
SKIP = "Skip tiles that the causal mask forbids"
SKIP_HELP = "Whole matrices are computed in full either way; the mask is applied in between."
AXIS_LENGTH, AXIS_MOVED = "tokens of the text", "MB read and written"
BY_MATRICES, BY_TILES = "whole matrices", "tiles"
AT = (
    "At {length} the whole matrices move {matrices}, and tiles of {side} × {side} move {tiles}: "
    "{ratio}. In fast memory there are {held:,} numbers at once; {room:,} fit."
)
LESS = "{ratio:.1f} times less"
MORE = "{ratio:.1f} times more"
ABOUT = "about as much"
GROWTH = (
    "Both curves grow with the square of the length where texts are long, since each query must "
    "meet each key that it may see. With tiles, the matrix itself never goes to slow memory and "
    "back. But the smaller the tiles are compared with the head size, the more often keys and "
    "values are read. If fast memory is small compared with the square of the head size, tiles "
    "save nothing in the end."
)
ASK_GROWTH = (
    "The text has {length}. Suppose that it were twice as long. How many times as much would the "
    "tiles read and write?"
)
TIMES = "{value} times as much"
GROWTH_RIGHT = (
    "Counted: {before} at {length}, {after} at twice as many. Queries and output grow in "
    "proportion to the length. Keys and values are read again for each strip of rows: {strips} "
    "here, {more} at twice as many."
)
GROWTH_WRONG = {
    "linear": "That would be so if keys and values were read once only, whatever the length.",
    "none": "Longer texts have more queries, keys and values, and all of them must be read.",
    "cube": "That would be so if each cell of the matrix cost more in a longer text.",
    "square": (
        "That would be so if all that is moved grew with the square of the length. What queries "
        "and output move does not."
    ),
}

TIMES_TITLE = "Measured here"
TIMES_TEXT = (
    "The same attention computed in three ways on this machine's processor: {heads} heads of size "
    "{size}, causal, in float32. `attention` computes every matrix whole. `attention_tiled` is the "
    "loop above, with tiles of {side} × {side}; each tile is a few calls of torch. The last way is "
    "torch's own fused kernel, `scaled_dot_product_attention`, which works in tiles, too."
)
TIMES_START = "Measure it"
TIMES_GOING = "Measuring …"
TIMES_STOPPED = "The measurement was stopped. Below is how far it came."
TIMES_AGAIN = "Measure again"
WAYS = {"matrices": "whole matrices", "tiles": "our tiles", "fused": "fused kernel"}
TIMES_AXES = ("tokens of the text", "milliseconds")
PEAK_AXES = ("tokens of the text", "MB")
TIMES_NAME = "Time of a pass"
PEAK_NAME = "Memory besides input and output"
TIMES_READ = (
    "At {length}: whole matrices take {matrices:.1f} ms and {matrices_memory}; our tiles take "
    "{tiles:.1f} ms and {tiles_memory}; the fused kernel takes {fused:.1f} ms and {fused_memory}."
)
TIMES_NOTE = (
    "The time is what all cores of the processor spent together, in the quickest of {tries} "
    "passes. The memory is the most that torch held at any one time."
)
