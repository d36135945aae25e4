"""All that the chapter "The cache" says. Names in braces: live numbers."""

TITLE = "What the cache holds"
TEXT = (
    "When a model writes, every new token looks at the keys and values of tokens before it. "
    "They do not change, so they are kept: that is the [[KV cache]]. The model below reads your "
    "text at once and then writes up to {written} tokens. Each token leaves one key and one value "
    "in every layer, for every head of keys and values. What that saves in time is measured in the "
    "lesson on the transformer."
)
LOOP_LINK = "Inside the transformer: with the cache and without"
MODEL_TEXT = "Text"
EMPTY = "There is no text yet. Type something above."
NO_CACHE = "The tokens of this model see what comes after them, so nothing can be kept."
LENGTH = "Tokens read and written so far"
GRID = "The length of each key in the cache, by layer, head and token"
GRID_ROW = "layer {layer}, head {head}"
GRID_SCALE = ("0", "longest key")
GRID_NOTE = (
    "a key of length {key:.2f} and a value of length {value:.2f}, {numbers} numbers, {bytes} bytes"
)
NOT_YET = "not in the cache yet: the token has not been read"
GRID_READ = (
    "A click on a row opens its keys and values below. The last token in the cache is “{token}”."
)
MATRICES = {"keys": "keys of layer {layer}, head {head}", "values": "values of the same head"}
CELLS = (
    "Point at a cell to see the sum that it came from; click it to see all of its terms. x is what "
    "the attention of this layer reads of a token: its row of the residual stream{normed}, {width} "
    "numbers. A key is x times W_K{key_bias}, and a value is x times W_V{value_bias}. In this head "
    "each of the two matrices has {width} rows and {size} columns."
)
CELLS_NORMED = " after the norm"
CELLS_BIAS = " plus b_{letter}"
CELLS_TURNED = (
    "Keys are also turned by angles that grow with the position, and go into the cache like that: "
    "the arithmetic of a key shows this last step."
)
TOKEN_AXIS = "token"
NUMBER_AXIS = "number"
READ = (
    "**In the cache now:** {tokens}, of which {written} by the model. Keys and values have the "
    "shape layers × heads of keys and values × tokens × head size = "
    "{layers} × {heads} × {n} × {size} each. That is "
    "2 · {layers} · {heads} · {n} · {size} = {numbers:,} numbers, and {bytes:,} bytes in float32, "
    "counted from the cache's own tensors. A further token adds {each:,} bytes."
)
WRITTEN = "{count} was written"
WRITTEN_MANY = "{count} were written"

BYTES_TITLE = "Bytes for each token"
BYTES_TEXT = (
    "The cache grows with every token of every text that is being written, and it has to be read "
    "for each new token. Two changes make it smaller: in [[grouped-query attention]] several heads "
    "of queries share one head of keys and values; in multi-query attention all of them share one. "
    "Choose a shape or type your own, and move the sliders."
)
SHAPE = "Shape"
SIZES = {
    "cachelayers": "Layers",
    "cacheheads": "Heads of queries",
    "cachekvheads": "Heads of keys and values",
    "cacheheadsize": "Head size",
}
TOKENS = "Tokens of each text"
TEXTS = "Texts at once"
DTYPE = "Stored as"
KINDS = {
    "multi": "multi-head, {heads}",
    "own": "this shape, {heads}",
    "one": "multi-query, {heads}",
}
KINDS_AXIS = "{unit} of keys and values"
BYTES_READ = (
    "With {layers}, {kv_heads} of keys and values and {size} numbers a head, a token leaves "
    "2 · {n_layer} · {n_kv} · {size} = **{numbers:,} numbers, {each}** in {dtype}. For {texts} of "
    "{tokens} that is **{total}**. With as many heads of keys and values as of queries it would be "
    "{ratio:,} times as much."
)
BYTES_READ_SAME = (
    "With {layers}, {kv_heads} of keys and values and {size} numbers a head, a token leaves "
    "2 · {n_layer} · {n_kv} · {size} = **{numbers:,} numbers, {each}** in {dtype}. For {texts} of "
    "{tokens} that is **{total}**. Here each head of queries has keys and values of its own."
)
TABLE_TITLE = "Well-known models and those of this app"
TABLE_COLUMNS = (
    "model",
    "layers",
    "heads of queries",
    "of keys and values",
    "head size",
    "bytes a token",
    "for all texts",
    "source",
)
BUNDLED = "this app"
TABLE_NOTE = (
    "As if each model kept every token of texts of this length; many are made for shorter ones. "
    "Mistral 7B looks at the last 4,096 tokens, so it can do with the keys and values of these. "
    "For int8 and int4 the scales are left out. 1 kB is 10³ bytes, 1 MB 10⁶, 1 GB 10⁹."
)
ASK = (
    "A model has {n_layer}, {n_head} of queries and {n_kv} of keys and values in each layer, and "
    "{size} numbers a head. Its cache is stored in {dtype}: a number takes {each}. How many bytes "
    "does one token leave in it?"
)
ASK_RIGHT = "2 · {layers} · {kv_heads} · {size} · {width:g} = {right}: a key and a value each time."
ASK_WRONG = {
    "queries": "That counts a key and a value for each head of queries. Here heads share them.",
    "keys": "That is the keys alone. The values are kept, too.",
    "layer": "That is one layer. Each layer has keys and values of its own.",
    "one": "That is the keys and values of a single head in each layer.",
    "numbers": "That is how many numbers there are; each takes {each}.",
    "double": "That is twice as much. A head keeps one key and one value: the factor is 2, not 4.",
}

WORK_TITLE = "Reading a prompt, writing a token"
WORK_TEXT = (
    "Reading the prompt is called [[prefill]]: all its tokens go through the model together, so "
    "each weight that is read serves all of them. Writing is called [[decoding]]: one token "
    "a text, and all weights are read again for it. How many operations are made for each byte "
    "that is read or written is the [[arithmetic intensity]]. A processor can make many operations "
    "in the time in which it reads one byte, so a low intensity leaves it waiting."
)
WORK_COLUMNS = (
    "pass",
    "tokens computed",
    "operations",
    "bytes of weights",
    "bytes of the cache",
    "operations a byte",
)
PREFILL_NAME = "prefill of {tokens}"
DECODE_NAME = "decoding, {texts}"
WORK_NOTE = (
    "Counted from the model's shape; a product and its addition count as two operations. Attention "
    "is counted as if each new token looked at all tokens of its text, also those that the mask "
    "hides. Each text has {seen} in the cache when one more token is decoded."
)
WORK_ASK = (
    "Now one pass decodes {texts}. If it decodes twice as many, what happens to the operations for "
    "each byte?"
)
WORK_ANSWERS = ("they double", "they grow, but do not double", "they stay the same", "they fall")
WORK_RIGHT = (
    "They go from {before:.2f} to {after:.2f}, {ratio} times as many. The operations double "
    "and the weights are read once all the same, but the bytes of the cache double, too."
)
WORK_WRONG = {
    "double": "That would be so if no bytes were added. Each text brings a cache of its own.",
    "same": "The operations double, but the weights are not read twice.",
    "fall": "The operations double; the bytes do not, since the weights are read once.",
}
BATCH = "Texts decoded at once"
INTENSITY_READ = (
    "With {texts} at once, decoding makes {intensity:.2f} operations a byte; the prefill makes "
    "{prefill:.1f}. More texts share the weights that are read, but each text has a cache of its "
    "own."
)
START = "Measure this machine"
GOES = "Measuring …"
STOPPED = "The measuring was stopped. Below is how far it came."
AGAIN = "Measure again"
ROOFLINE_TITLE = "The roofline of this machine"
ROOFLINE_TEXT = (
    "No pass can make more operations a second than the processor can compute (the flat roof), nor "
    "more than the bytes that it reads allow (the slope). Both are measured here: by a product of "
    "two matrices, and by reading a matrix of {large} from the memory. A second slope is measured "
    "on a matrix as large as this model's weights, which may fit into the processor's own, faster "
    "memory. Then the model reads a prompt and decodes for more and more texts at once. This "
    "picture is called a [[roofline]] (Williams et al. 2009). Nothing is measured before you press "
    "the button."
)
AXES = ("operations for each byte", "10⁹ operations a second")
ROOFS = ("roof for the weights", "roof for what lies in the memory")
MARKS = {"prefill": "prefill", "decode": "decoding"}
MARK_PREFILL = "prompt"
ROOF_READ = (
    "**Measured:** {peak:.1f} · 10⁹ operations a second at most; {near:.1f} GB a second from a "
    "matrix as large as the weights ({weights}), and {far:.1f} GB a second from the memory. The "
    "ridge, where reading and computing take the same time, lies at {ridge:.1f} operations a byte "
    "for the weights and at {far_ridge:.1f} for what lies in the memory."
)
POINT_READ = (
    "Decoding {texts} at once takes {milliseconds} ms for a pass, {each} ms a token, and "
    "reaches {speed:.2f} · 10⁹ operations a second: {share} of the roof for the weights. The "
    "prefill reaches {prefill:.1f} · 10⁹, {prefill_share} of its roof."
)
FASTER = "Per token, {many} at once are {ratio:.1f} times as fast as one text alone."
AS_FAST = "Per token, {many} at once take about the same time as one text alone, within 5 %."
SLOWER = "Per token, {many} at once take {ratio:.1f} times as long as one text alone."
OVERHEAD = (
    "A point below its roof has spent time on something else. What that was is not measured here: "
    "starting each of many small operations, what is left out of the count, and products too thin "
    "for the processor are possible."
)
ABOVE = (
    "A point above its roof was faster than the products that the roof was measured with; a roof "
    "is only as high as what was tried."
)
ROOF_NOTE = (
    "Measured on this machine, on one thread, the shortest of {rounds}; time of the processor for "
    "this work alone. The prompt has {prompt}."
)
