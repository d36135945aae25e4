"""All that the lesson on attention says, in one place: translating it means translating this file.

Names in braces are filled in with live numbers.
"""

TITLE = "Attention"
PROMISE = (
    "Every token looks back at the others and takes from them what it needs. At the end you will "
    "have seen every number of that step, changed some, broken it on purpose, and watched the "
    "[[head|heads]] of a trained model at work on your own sentence."
)
LOADING = "Loading torch and the models …"
ENGINE_FAILED = "torch could not be loaded: {problem}"

WHY, LADDER, MASKING, SCALE, HEADS, TRAINED = (
    "Why",
    "Step by step",
    "Masks",
    "Why ÷√d",
    "Heads",
    "A trained model",
)

# ---- tokens and models

CAT = "The cat sat"
JOURNEY = "Your journey starts with one step"
SENTENCE = "quietly the old fox counts two hens in the garden"
SOURCES = {"cat": "The cat sat", "journey": "Your journey …", "model": "Your text, real weights"}
SOURCE_LABEL = "Tokens from"
MATRIX_NAMES = {"x": "X", "wq": "W_Q", "wk": "W_K", "wv": "W_V"}
JOURNEY_LABEL = "Words, in any order"
JOURNEY_COUNT = "This example takes 1 to {most} words; there are {count}."
JOURNEY_UNKNOWN = (
    "The word {word!r} has no vector in this example: a word-level table knows its own words and "
    "no others. It has {known}."
)
SHAPE = "{name} must be {rows}×{columns} here; it is {found}."
MODEL, LAYER, HEAD = "Model", "Layer", "Head"
NO_MODEL = (
    "The model {name} is not in this copy of the app, so this part has nothing to compute with. "
    "The other parts go on without it. This command makes it:"
)
NO_MODEL_COMMAND = "python -m llmviz checkpoints make {name}"
START = "⟨start⟩"
CUT_CONTEXT = (
    "Your text is {all:,} tokens long, the start token included. The context of {name} ends after "
    "token {limit:,}, {last}; what follows is left out."
)
CUT_DRAWN = (
    "The first {limit} of {all:,} tokens are drawn here, up to {last}; each matrix would grow "
    "beyond the page. The part “A trained model” takes them all."
)
UNKNOWN = "{count:,} of the tokens are unknown to this model's tokenizer and read as <|unk|>."

# ---- the words of the matrices

WHO_ASKS, WHO_IS_ASKED = "who asks", "who is asked"
TAKES = "“{who}” takes {share} from “{whom}”."
TAKES_SELF = "“{who}” takes most, {share}, from itself."
MASK_REASON = "it lies ahead"
MASKED_FORMULA = "−∞ where forbidden"
WEIGHTS_FORMULA = "softmax of each row"
KEPT_FORMULA = "1 = kept"
DROPPED_FORMULA = "kept ÷ (1 − p)"
FIRST_SOFTMAX, THEN_MASK, MASK_LABEL = "softmax first", "then masked", "mask"
CONCAT_FORMULA = "side by side"
COLUMNS = "columns {first}–{last} of {of}"
OF_HEAD = "h{head}"
X_FORMULA, X_FORMULA_MODEL = "tokens as vectors", "normed input of the block"
STEPS = {
    "X": "{count} tokens, each a row of {width} numbers.",
    "wide": "Each token's {width} numbers went through W_Q, W_K and W_V: what it asks, how it can "
    "be found, what it hands over.",
    "Q": "X times W_Q gives the queries: what each token asks for.",
    "K": "X times W_K gives the keys: what each token can be found by.",
    "V": "X times W_V gives the values: what each token hands over.",
    "scores": "Every query meets every key. One dot product for each pair: how well they fit.",
    "scaled": "Scores {scale}, so that the size of a head does not sharpen its softmax.",
    "masked": "A token must not look at all others: forbidden cells become −∞.",
    "softmax": "Here the softmax comes first, and sees the whole row.",
    "weights": "Softmax turns each row into shares that add up to 1.",
    "dropped": "While training, some weights are dropped at random; the others grow to make up.",
    "context": "Each token gathers the values of the others by its shares. That is its answer.",
    "simple scores": "Every token meets every token by dot product. Nothing is learned yet.",
    "simple weights": "Softmax turns each row into shares that add up to 1.",
    "simple context": "Each token becomes a mix of all tokens, by these shares.",
    "all qkv": "One product for all heads together: X times W_Q, W_K, W_V.",
    "split": "The {width} columns are cut into {heads} heads of {size}.",
    "heads scores": "Every head compares its own queries with its own keys.",
    "heads weights": "Every head has weights of its own.",
    "heads context": "Every head gathers from its own values.",
    "joined": "The answers are put side by side again, and projected where there is a W_O.",
}

# ---- step by step

LADDER_TITLE = "From a dot product to heads"
LADDER_TEXT = (
    "Point at any cell: the row and the column that it comes from light up, and the arithmetic "
    "stands below with its numbers. Click to keep it. Press play, or use the arrow keys, to watch "
    "one matrix follow from another."
)
RUNG_LABEL = "Rung"
RUNGS = {
    "simple": "Dot products",
    "qkv": "Q, K, V",
    "causal": "Causal",
    "dropout": "Dropout",
    "heads": "Several heads",
}
RUNG_TEXT = {
    "simple": (
        "**Nothing is learned here.** Each token asks every token by [[dot product]], and becomes "
        "a mix of those that point its way. Two like vectors always find each other, and a token "
        "always finds itself: there is no way to ask for something *other* than oneself."
    ),
    "qkv": (
        "**Three learned matrices** part the roles: the [[query]] is what a token looks for, the "
        "[[key]] what it can be found by, the [[value]] what it hands over. Now a pronoun can ask "
        "for a noun."
    ),
    "causal": (
        "**A token may not look ahead.** Whoever learns to guess the next token must not see it, "
        "so the [[causal mask]] forbids everything to the right of the diagonal."
    ),
    "dropout": (
        "**While training, some weights are struck out at random**, so that no token relies on "
        "one other alone. The survivors are divided by 1 − p: on average a row still sums to 1."
    ),
    "heads": (
        "**Several questions at once.** Each [[head]] takes its own columns of Q, K and V and "
        "attends by itself; then the answers are put side by side."
    ),
}
JOURNEY_NOTE = (
    "This example has no learned matrices: W_Q, W_K and W_V are the identity until you edit them, "
    "so that only the scale parts this rung from the first."
)
REAL_NOTE = (
    "Real weights: {name}, layer {layer}, head {head}, {size} numbers wide. X is what the layer "
    "read, after its norm."
)
REAL_HEADS = "Real weights: {name}, layer {layer}, all {heads} heads of {size} numbers each."
WIDE_NOTE = (
    "{name} is {width} numbers wide: X and its three {width}×{size} matrices would not fit on a "
    "screen, so the picture starts with Q, K and V, which they made."
)
N_HEAD, P, SEED = "Heads", "p, the share struck out", "Seed"
EDIT = "Edit the matrices"
EDIT_TEXT = (
    "Change any cell: every matrix that follows from it follows. The link holds your numbers."
)
EDIT_RESET = "Back to the example's numbers"
EDIT_BAD = "{name}: {rule}. Nothing below is drawn until it is a number again."
LARGEST = "The largest share outside the first row: {sentence}"
ONE_TOKEN = "One token alone can only look at itself: its weight is 1, whatever Q and K are."
HIDDEN_TITLE = "A cell is missing"
ASK_CELL = "The weight of “{who}” on “{whom}” is hidden here. Which number is it?"
ASK_CELL_RIGHT = "e to the power of its score, divided by the sum over the cells of its row."
ASK_CELL_SCORE = "{value} is what the softmax *gets*. It still has to be made a share."
ASK_CELL_EVEN = (
    "{value} would be its share if all {count} cells that the row may look at were equal."
)
ASK_CELL_COLUMN = (
    "{value} comes from dividing by the sum of its *column*; a softmax runs along the row."
)
ASK_CELL_OTHER = "{value} is the weight of another cell of the row."
STEPPED = "Step {step} of {all}"
NO_CELL = "The link keeps a cell that does not exist here; none is kept."

# ---- masks

MASKS_TITLE = "Who may look at whom"
MASKS_TEXT = (
    "A mask forbids cells before the softmax, by −∞: e to the power of −∞ is 0, so the rest of the "
    "row shares everything. Below, your mask stands beside the right one, the causal; every "
    "difference is said in words."
)
MASK_CHOICE = "Mask"
MASKS = {
    "none": "None",
    "causal": "Causal",
    "off_by_one": "Off by one",
    "padding": "Padding",
    "sliding": "Sliding window",
    "own": "Your own",
}
MASK_TEXT = {
    "none": "Everyone sees everyone. Right for reading a finished text, as an encoder does.",
    "causal": "Each token sees itself and what came before. Right for guessing the next token.",
    "off_by_one": (
        "**A mistake:** the diagonal moved one column too far. Each token sees the very token "
        "that it should guess; the loss falls to nearly nothing and nothing is learned."
    ),
    "padding": (
        "Short texts in a [[batch]] are filled up at the end. Nobody may look at the filling, "
        "though it looks at the text itself; its own rows are thrown away."
    ),
    "sliding": (
        "Each token sees only the last few. Long texts become cheap, and what is further back "
        "can still arrive through several layers."
    ),
    "own": "Tick who may look at whom. A row without a tick is refused.",
}
MASK_WINDOW, MASK_REAL = "Window, tokens", "Real tokens"
MASK_OWN_ROW = "who asks"
WHEN_LABEL = "Softmax"
WHEN = {
    "before": "After the mask (right)",
    "softmax_again": "Before it, and again",
    "leave": "Before it, only",
    "renormalise": "Before it, then ÷ row sum",
}
WHEN_TEXT = {
    "before": "",
    "softmax_again": (
        "**Two softmaxes.** The first one has already divided by the future's scores, so the "
        "future leaks into every share; and a softmax of numbers between 0 and 1 is almost flat."
    ),
    "leave": (
        "**Masked after the softmax.** Rows no longer add up to 1: what the future would have "
        "got is lost, so a token that has seen little says little."
    ),
    "renormalise": (
        "**Masked after the softmax, then divided by the row's new sum.** The denominator with "
        "the future in it cancels: these are the right weights again. With dropout or another "
        "rounding in between, they would not be."
    ),
}
SCALE_LABEL = "Scores"
SCALES = {
    "head": "÷ √d of the head (right)",
    "model": "÷ √ of the model's width",
    "none": "As they are",
}
SCALE_TEXT = {
    "head": "",
    "model": "**Divided by √{width}, the width of {heads} heads together, not √{size}:** rows "
    "become too even.",
    "none": "**Not divided:** rows become too sharp, the more so the larger the head.",
}
MASK_SEES = "“{who}” now sees “{whom}”, and takes {share} from it."
MASK_BLIND = "“{who}” no longer sees “{whom}”, which it gave {share}."
MASK_SAME = "Nothing differs from the causal mask."
MASK_MORE = "… and {count} more cells."
MASK_CHANGED = (
    "The weights differ from the right ones by up to {change:.3f}; the largest of a row goes from "
    "{right:.0%} to {now:.0%} on average."
)
MASK_EQUAL = "These are the right weights, cell for cell."
MASK_SUMS = "Row sums now: {sums}."
MASK_LEAK = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they move by up to {leak:.4f}."
)
MASK_TIGHT = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they do not move at all."
)
RIGHT_ONE = "the right weights"
ASK_MASK = (
    "Which mask is this? It was laid over {count} tokens; violet is a share, hatched is none."
)
ASK_MASK_ANSWERS = {
    "causal": ("Causal", "Each row reaches up to its own column, never further."),
    "none": ("None", "Without a mask, no cell would be empty."),
    "sliding": ("Sliding window of 2", "Two cells a row: the token itself and the one before."),
    "padding": ("Padding after {real}", "The last columns are empty in *every* row: filling."),
    "off_by_one": ("Causal, off by one", "Row 1 reaches into column 2: it sees what comes next."),
}
TWINS_TITLE = "Trained with the mistake"
TWINS_TEXT = (
    "Two models on the same list of names, alike but for the mask. The one without a mask sees the "
    "letter that it should guess."
)
TWINS_COLUMNS = {
    "model": "model",
    "steps": "training steps",
    "loss": "its own validation loss",
    "honest": "loss letter by letter",
    "ahead": "weight on what lies ahead",
}
TWINS_READ = (
    "Its validation loss of {loss:.4f} nats looks wonderful. But a model that writes has no next "
    "letter to look at: asked letter by letter on {names} held-out names, its loss is "
    "**{honest:.2f}** nats, the right one's {right:.2f}; guessing among {vocabulary} letters "
    "blindly is {blind:.2f}. It gives {ahead:.0%} of its weight to what lies ahead."
)
CODE_MASK = "Show the code of masks"

# ---- why divide by the root

SCALE_TITLE = "Why scores are divided by √d"
SCALE_INTRO = (
    "A score is a sum of d products. If the entries of queries and keys are independent with "
    "variance 1, the score has variance d: in a head of 64, scores spread over ±8, and the "
    "[[softmax]] gives nearly everything to one cell. Dividing by √d brings the spread back to 1."
)
SCALE_SIZE = "Head size d"
SCALE_SEED = "Seed"
SCALE_READ = (
    "At d = {d}: undivided, the scores spread by {wide:.1f}, a row's largest weight is "
    "{sharp:.0%}, its [[entropy]] {low:.2f} nats and the slope of the softmax {flat:.4f}. "
    "Divided by √{d}: spread {one:.1f}, largest weight {soft:.0%}, entropy {high:.2f}, "
    "slope {steep:.4f}."
)
SCALE_GRADIENT = (
    "**The slope is what learning lives on.** Where a row is nearly certain, nudging a score "
    "changes nothing, and the gradient that should teach Q and K is gone."
)
SCALE_ENTROPY_AXIS, SCALE_GRADIENT_AXIS = "entropy of a row (nats)", "slope of the softmax"
SCALE_D_AXIS = "head size d"
SCALE_NAMES = ("divided by √d", "not divided")
SCALE_EVEN = "ln 16: all keys alike"
SCALE_CAPTION = (
    "{queries} random queries on {keys} random keys, normal with variance 1, for each head size; "
    "the slope is the Frobenius norm of ∂weights/∂scores, mean over rows."
)
SCALE_ONE_ROW = "One query on 16 keys at d = {d}"
ASK_SCALE = (
    "Take d from {d} to {four} without dividing. By how much does the spread of the scores grow?"
)
ASK_SCALE_ANSWERS = ("Not at all", "2 times", "4 times")
ASK_SCALE_REASONS = (
    "Four times as many products are added: the sum does spread further.",
    "Variances add: 4 times the variance is 2 times the spread. Here {before:.1f} → {after:.1f}.",
    "The *variance* grows 4 times; the spread is its root.",
)

# ---- heads

HEADS_TITLE = "One matrix seen as many heads"
HEADS_TEXT = (
    "A layer makes Q for all heads at once: (B, T, C), batch, tokens, width. Cut the width into H "
    "pieces of D = C/H and bring the heads to the front: (B, H, T, D). Not a number changes, and "
    "every cell keeps its colour. Point at a cell of a head to see which column it was."
)
HEADS_SHAPES = "({b}, {t}, {c}) → ({b}, {h}, {t}, {d})"
HEADS_EACH_TITLE = "Each head attends by itself"
HEADS_EACH = (
    "{heads} heads, one weight matrix each. Then the answers stand side by side again, (B, T, C), "
    "and W_O mixes them back into the [[residual stream]]."
)
HEADS_BROKEN = (
    "Each head must use **its own columns** and divide by the root of **its own size**, √{d}. "
    "Scores from all {c} columns would be the same in every head."
)
OFF_TITLE = "Switch heads off"
OFF_TEXT = (
    "A head that is off hands over zeros: its columns of the concatenation are empty, everything "
    "after it computes on. Choose heads, and see what becomes of the next token."
)
OFF_LABEL = "Heads that are off"
OFF_NAME = "layer {layer} · head {head}"
OFF_NONE = "All heads are on. After {last}, the model says {best} with {share}."
OFF_READ = (
    "After {last}: {best} goes from {before} to {after}. In all, {moved} of the probability "
    "has moved to other tokens."
)
OFF_ALL, OFF_CLEAR = "Switch all off", "All on"
OFF_ON_NAME, OFF_OFF_NAME = "all heads on", "with heads off"
OFF_AXIS = "probability of the next token"
OFF_WORTH = (
    "Switched off one at a time, the head that matters most here is {head}: without it, {moved} of "
    "the probability moves."
)
OFF_BAD = "The link switches off {heads}, which this model does not have."

# ---- a trained model

TRAINED_TITLE = "Every head at once"
TRAINED_TEXT = (
    "Rows are [[layer|layers]], columns are [[head|heads]]; each tile is one head's weights on "
    "your text, who asks from top to bottom, who is asked from left to right. Point at a tile to "
    "enlarge it, click to follow its lines below."
)
LOOK_LABEL = "Model"
LOOKS = {"gpt": "Your text", "cross": "A translation"}
WRITE_ONE, WRITE_TEN, WRITE_NONE = "Write a token", "Write ten", "Only my text"
WRITTEN = "The model has written {count}: {text}"
WRITE_FULL = "The context of {limit:,} tokens is full."
WRITE_ENDED = "The model has ended its text."
NOTE_HEAD = "previous {previous} · itself {itself} · first {first} · entropy {entropy:.2f}"
SUMMARY_TITLE = "What the heads do, measured"
SUMMARY_TEXT = (
    "Shares of weight on this text, averaged over the rows for which the question makes sense. "
    "[[induction|Induction]] is the weight on what followed the same token earlier; it needs a "
    "text that repeats itself."
)
SUMMARY_COLUMNS = {
    "layer": "layer",
    "head": "head",
    "previous": "token before",
    "itself": "itself",
    "first": "first token",
    "repeat": "same token earlier",
    "induction": "what followed it",
    "entropy": "entropy (nats)",
}
SUMMARY_READ = {
    "previous": "The head that looks most at the token before is {head}, with {share}.",
    "induction": "The head that continues repetitions most is {head}, with {share}.",
    "first": "The head that rests most on the first token is {head}, with {share}.",
}
SUMMARY_NO_REPEAT = (
    "No token of this text comes twice with something between, so induction has nothing to show. "
    "Repeat a word."
)
VIEW_TITLE = "Inside {head}"
VIEW_TEXT = (
    "Left asks, right is asked; a line is as strong as the weight. Point at a token on either side "
    "to see only its lines, with their numbers."
)
VIEW_ROUNDED = "Weights travel in steps of 1/255; lines below 2 % are left out until you point."
ASK_LOOK = "In {head}, which token does {who} look at most?"
ASK_LOOK_RIGHT = "It gives {whom} {share}, more than any other."
ASK_LOOK_WRONG = "{whom} gets {share}."
HEAD_NAME = "layer {layer}, head {head}"

CROSS_TITLE = "Across two languages"
CROSS_TEXT = (
    "In a translation, queries come from the [[decoder]], the sentence being written; keys and "
    "values come from the [[encoder]], the sentence that was read. This model turns English into "
    "Tavin, a language made by rule for this app, in which adjectives follow their noun and the "
    "verb comes last: so who belongs to whom is known exactly, and marked with dots."
)
CROSS_LABEL = "English sentence"
CROSS_REFUSED = "This grammar does not know the sentence: {rule}. Try: {example}"
CROSS_RIGHT = "The model writes `{said}`, which is right word for word."
CROSS_WRONG = "The model writes `{said}`; by the rules it would be `{known}`."
CROSS_LONG = "The sentence has {count} tokens; the model's context is {limit}."
CROSS_NOTE = "aligned {share}"
CROSS_READ = (
    "{head} puts {share} of its weight on the right word, on average over the {count} words; an "
    "even spread would put {even} there."
)
CROSS_MARK = "known partner"
END = "⟨end⟩"

# ---- why

WHY_TITLE = "A whole sentence in one vector?"
WHY_TEXT = (
    "Before attention, a model read a text token by token and kept **one** vector, its hidden "
    "state. Whatever is asked later must be answered from that vector alone: what was read first "
    "has been written over again and again. Attention keeps a vector for **every** token, and "
    "looks back at all of them."
)
WHY_NAME = "A name, letter by letter"
WHY_READ = (
    "Swap the first of {count} letters: the one vector that the recurrent network has kept at the "
    "end changes by {rnn_first:.0%} of its length, after the last letter by {rnn_last:.0%}. The "
    "transformer has kept a vector for each letter; wherever the swap was, one of them has changed "
    "by {gpt_least:.0%} or more."
)
WHY_AXIS = "change in what is kept"
WHY_RNN, WHY_GPT = "one hidden state (RNN)", "a vector for each letter (transformer)"
WHY_INFLUENCE = (
    "Each letter is swapped for the 25 others in turn. The bar is the mean change of the vector "
    "that changes most among those kept at the end, relative to its length: the last hidden state "
    "there, the vectors of all letters after the first layer here."
)
WHY_TABLE = "On the same names, with the same batches:"
WHY_COLUMNS = {"name": "model", "parameters": "parameters", "loss": "validation loss (nats)"}
WHY_GAP = "Models for this comparison are missing in this copy ({names})."
WHY_LOOKS = "And this is a trained model looking back, on your own text:"
WHY_LETTERS = "The letters a to z are needed; {found!r} is none."
WHY_LENGTH = "A name has 2 to 15 letters here; this one has {count}."
