"""All that the chapter "Windows" says. Names in braces are filled in with live numbers."""

WINDOWS_TITLE = "What a model is trained on"
WINDOWS_TEXT = (
    "For training, the tokens are cut into windows of the [[context length]]. The targets of a "
    "window are the same tokens, moved on by one place. So a window holds one exercise for each of "
    "its tokens: predict the next token from the tokens up to this place. Click a window to see "
    "the list of its exercises."
)
WINDOWS_CONTEXT = "Context length"
WINDOWS_STRIDE = "Stride"
WINDOWS_BATCH = "Batch size"
WINDOWS_CUT = "The windows are drawn over the first {limit} of {all:,} tokens."
WINDOWS_COUNTS = "{tokens} give {windows} in {batches}, with {predictions} to make. {overlap}"
WINDOWS_OVERLAP = (
    "The stride is {less} less than the context, so neighbouring windows share {shared}."
)
WINDOWS_EDGE = (
    "The stride equals the context, so no token is an input twice. The last target is not an "
    "input, because too few tokens follow it for another window."
)
WINDOWS_GAP = "The stride is larger than the context, so there are gaps: {missed} in no window."
WINDOWS_NO_GAP = (
    "The stride is larger than the context, and still each token is an input or a target."
)
WINDOWS_REST = "At the end {missed} in no window, because there are too few for another one."
WINDOWS_TENSORS = (
    "Batch {batch} as the model receives it: inputs on the left, targets on the right, both of "
    "shape {rows} × {columns}."
)
WINDOWS_INPUTS = "inputs"
WINDOWS_TARGETS = "targets"
ASK_STRIDE = (
    "With a stride of {stride} there are {windows}. How many will there be with a stride of "
    "{double}?"
)
ASK_STRIDE_RIGHT = (
    "A window begins every {double} tokens, as long as its last target exists: {windows}."
)
ASK_STRIDE_SAME = (
    "A window begins at each multiple of the stride. With the larger stride, there are fewer "
    "windows here."
)
ASK_STRIDE_MORE = (
    "With a larger stride, the windows begin farther apart. So there are fewer windows, not more."
)
ASK_STRIDE_NEAR = (
    "Nearly. Count the places where a window can begin and still have its last target."
)
ASK_TARGET = "In window 1 the model reads {context}. What is its target at the last position?"
ASK_TARGET_RIGHT = "The target is the token that comes next in the text."
ASK_TARGET_COPY = "That is the last input itself. With such targets a model would learn to copy."
ASK_TARGET_OTHER = "This token is at another place. The target is the token right after the window."
