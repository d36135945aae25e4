"""All that the chapter "The cache" says. Names in braces: live numbers."""

TITLE = "What the cache holds"
TEXT = (
    "When a model writes, every new token looks at the keys and values of all tokens before it. "
    "They do not change, so they are kept: that is the [[KV cache]]. The model below reads your "
    "text at once and then writes up to {written} tokens. Each token leaves one key and one value "
    "in every layer, for every head of keys and values. What that saves in time is measured in the "
    "lesson on the transformer."
)
LOOP_LINK = "Inside the transformer: the loop with the cache and without"
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
GRID_READ = "A click on a row opens its keys and values below. The column of “{token}” is the last."
MATRICES = {"keys": "keys of layer {layer}, head {head}", "values": "values of the same head"}
TOKEN_AXIS = "token"
NUMBER_AXIS = "number"
READ = (
    "**In the cache now:** {tokens}, of which {written} by the model. Keys and values have the "
    "shape layers × heads × tokens × head size = {layers} × {heads} × {n} × {size} each. That is "
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
    "multi": "a head of keys and values for each head of queries",
    "own": "as the shape has it ({kv_heads})",
    "one": "one head of keys and values for all",
}
KINDS_AXIS = "GB of keys and values"
BYTES_READ = (
    "With {layers}, {kv_heads} of keys and values and {size} numbers a head, a token leaves "
    "2 · {n_layer} · {n_kv} · {size} = **{numbers:,} numbers, {each}** in {dtype}. {texts} of "
    "{tokens} take **{total}**. That is {ratio:.3g} times less than with as many heads of keys and "
    "values as of queries."
)
BYTES_READ_SAME = (
    "With {layers}, {kv_heads} of keys and values and {size} numbers a head, a token leaves "
    "2 · {n_layer} · {n_kv} · {size} = **{numbers:,} numbers, {each}** in {dtype}. {texts} of "
    "{tokens} take **{total}**. Here each head of queries has keys and values of its own."
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
ASK = (
    "A model has {layers} layers, {heads} heads of queries, {kv_heads} heads of keys and values, "
    "and {size} numbers a head. Its cache is stored in {dtype}, {width:g} bytes a number. How many "
    "bytes does one token leave in it?"
)
ASK_RIGHT = "2 · {layers} · {kv_heads} · {size} · {width:g} = {right}: a key and a value each time."
ASK_WRONG = {
    "queries": "That counts a key and a value for each head of queries. Here heads share them.",
    "keys": "That is the keys alone. The values are kept, too.",
    "layer": "That is one layer. Each layer has keys and values of its own.",
    "one": "That is the keys and values of a single head in each layer.",
    "numbers": "Those are the numbers; each takes {width:g} bytes.",
    "double": "That counts everything twice: a query is used once and not kept.",
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
PREFILL_NAME = "prefill of {new} tokens"
DECODE_NAME = "decoding, {texts}"
WORK_NOTE = (
    "Counted from the model's shape; a product and its addition count as two operations. Attention "
    "is counted as if each new token looked at all tokens of its text, also those that the mask "
    "hides. All texts have {seen} tokens in the cache when one more is decoded."
)
WORK_ASK = (
    "Now {texts} are decoded in one pass. With twice as many, what happens to the operations for "
    "each byte?"
)
WORK_ANSWERS = ("they double", "they grow, but do not double", "they stay the same", "they fall")
WORK_RIGHT = (
    "They go from {before:.2f} to {after:.2f}, {ratio:.2f} times as many. The operations double "
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
    "Decoding {texts} at once takes {milliseconds:.2f} ms for a pass, {each:.2f} ms a token, and "
    "reaches {speed:.2f} · 10⁹ operations a second: {share} of the roof for the weights. The "
    "prefill reaches {prefill:.1f} · 10⁹, {prefill_share} of its roof."
)
FASTER = "Per token, {many} at once are {ratio:.1f} times as fast as one text alone."
NOT_FASTER = "Per token, {many} at once take no less time than one text alone here."
OVERHEAD = (
    "A point below its roof spends time on something else: on starting each of many small "
    "operations, on what is left out of the count, or on products too thin for the processor."
)
ROOF_NOTE = (
    "Measured on this machine, on one thread, the shortest of {rounds}; time of the processor for "
    "this work alone. Prompt: {prompt} tokens."
)
