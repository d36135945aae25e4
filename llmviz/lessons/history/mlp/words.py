"""All that the chapter "MLP" says. Names in braces are filled in with live numbers."""

TITLE = "A window and a small network"
TEXT = (
    "A table of counts that looks several letters back needs a row for each possible string of "
    "letters. Most of these strings were never seen. The MLP gives each letter a vector instead, "
    "its [[embedding]]. It puts the vectors of the last letters side by side, and a small network "
    "computes probabilities from them. Letters with similar vectors are treated alike, so the "
    "model has an answer for strings that nobody has counted."
)
LOOK = "Part of this chapter"
LOOKS = {
    "window": "The window slides",
    "map": "The map learns, with batch norm and without",
}
WINDOW = "The window slides"
WINDOW_TEXT = (
    "Each row is one prediction. The window holds the last {window} letters; a dot stands where "
    "there is none yet. The colour says how much a place adds: the length of its part of the sum "
    "in the hidden layer. Click a row to open it."
)
ROW = "{place}: next {token}, {p}"
SLOT = "{n} back"
SLOT_NOW = "last letter"
SLOT_NOTE = "adds a vector of length {length}"
GRID = "the window of each prediction of the name"
GRID_SCALE = ("adds nothing", "adds {limit:.1f}")
PAD, START, THE_START = "·", "⟨start⟩", "the start"
WINDOW_READ = (
    "In the opened window {most} adds most. The model gives {token}, which comes next in your "
    "name, a probability of {p}. Its first choice is {best}, with {best_p}."
)
PLACE_BACK = "{letter}, {n} back"
PLACE_NOW = "{letter}, the last letter"
TABLE = "table of embeddings"
OPENED = "From the window to probabilities"
OPENED_TEXT = (
    "{window} vectors of {width} numbers make one row of {row}. The layer multiplies it by a "
    "matrix. Batch norm then subtracts the mean of each unit, divides by its standard deviation, "
    "multiplies by a learned number and adds another one. The tanh brings each number between −1 "
    "and 1. The head makes one number for each of the {tokens} tokens, and a softmax makes "
    "probabilities."
)
ASK = (
    "The opened window stands after {place} and predicts what comes next. Which of its places adds "
    "the longest vector to the hidden layer's sum?"
)
ASK_RIGHT = "It adds a vector of length {length}."
ASK_WRONG = "It adds a vector of length {length}; the longest is {most}."

MAP = "The map of letters, while it learns"
MAP_TEXT = (
    "With only two numbers in a vector, the letters lie on a map. Here two models learn from the "
    "same {names} names: a window of {window} letters, {hidden} hidden units, {steps} steps. They "
    "start from the same weights. One has batch norm and the other has not."
)
MAPS = {"on": "Batch norm", "off": "No batch norm"}
MAP_LABEL = "Whose map"
BENDS = {"tanh": "tanh", "relu": "ReLU"}
BEND = "Activation"
SCALE = "First weights ×"
SEED = "Seed"
TRAIN, AGAIN, STOP = "Train", "Train again", "Stop"
STARTING = "Starting a process for the training …"
QUEUED = "Waiting for other work to end …"
PROGRESS = "step {step} of {steps}"
BUNDLED = (
    "You see the film that comes with the app: tanh, first weights × 1, seed 0. Press “Train” for "
    "a training of your own."
)
BUNDLED_SAME = "The film of a training with these settings, which comes with the app."
UNTIL = "Until your first frame is here, this is the film that comes with the app."
NO_FILM = "No film is in this copy. Press “Train”, or make it with this command:"
NO_FILM_COMMAND = "python -m llmviz.study.letter_film"
KINDS = ("vowels", "consonants")
FILM = {
    "near": "",
    "choose": "Play the training, or drag through it.",
    "drop": "remove",
    "false": "",
    "find": "Find a letter",
    "found": "{n} found",
    "lost": "not among the {n} letters",
    "map": "Map of the letters; arrow keys go from letter to letter, plus and minus zoom",
    "in": "closer (or Ctrl and wheel)",
    "out": "farther",
    "whole": "the whole map",
    "kinds": "Kinds of letters that are coloured",
    "all": "all",
    "none": "none",
}
FILM_AXES = ("first number", "second number")
LOSS = "training loss, nats a letter"
CAPTION = "step {step}"
CAPTION_LOSS = " · loss {loss:.3f} nats"
MAP_READ = (
    "At step {step} the mean distance between two vowels is {vowels:.2f}, between a vowel and a "
    "consonant {across:.2f}. At the start it was {vowels_first:.2f} and {across_first:.2f}."
)

NORM = "What batch norm changes"
NORM_TEXT = (
    "These are the inputs of the {bend} at step {step}, for {names} names that no model learned "
    "from. {flat}"
)
FLAT = {
    "tanh": (
        "Where a tanh is beyond ±{saturated}, its slope is almost 0, and almost no gradient comes "
        "through: it is saturated. A unit that is saturated at every letter of these names is "
        "called dead."
    ),
    "relu": (
        "Where a ReLU reads 0 or less, its slope is 0 and no gradient comes through. A unit for "
        "which this is so at every letter of these names is called dead."
    ),
}
HISTOGRAM = ("number before the {bend}", "share of all numbers, %")
HISTOGRAM_NOTE = "Numbers beyond ±{reach:g} are counted in the outermost points."
STATS = ("model", "mean", "deviation", "flat, %", "dead units", "loss, nats")
FLAT_CHART = ("step", "numbers where it is flat, %")
NORM_READ = (
    "With batch norm {on} of the numbers lie where the {bend} is flat, without it {off}. Of "
    "{units} units, {on_dead} are dead with batch norm and {off_dead} without."
)
NORM_LOSS = " The training loss is {on_loss} with batch norm and {off_loss} without."
NO_LOSS = "not measured yet"
NORM_ASK = (
    "The first weights are multiplied by {scale}. At the first step, what share of the numbers "
    "lies where the {bend} is flat, without batch norm?"
)
NORM_ANSWERS = ("less than 10 %", "10 % to 40 %", "40 % to 60 %", "more than 60 %")
NORM_REASON = "Without batch norm it is {off}, with it {on}."
