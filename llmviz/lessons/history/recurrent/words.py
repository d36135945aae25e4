"""All that the chapter "RNN, GRU, LSTM" says. Names in braces are filled in with live numbers."""

TITLE = "One vector, rewritten letter by letter"
TEXT = (
    "A window sees the last letters and nothing before them. A recurrent model has no window. It "
    "keeps one vector, its hidden state. Each letter changes the state, and the next letter is "
    "read with the changed state. So the state is all that the model knows of the past. (The LSTM "
    "has a second vector, its cell.) The RNN rewrites the whole state each time. The GRU and the "
    "LSTM have gates: numbers from 0 to 1 that decide, unit by unit, what stays and what is "
    "replaced."
)
CELL = "Model"
CELLS = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}
LOOK = "Part of this chapter"
LOOKS = {
    "state": "The state, opened",
    "past": "How far back the loss reaches",
    "units": "What single units do",
    "time": "Why letters must wait",
}
STRIPS = "The state over the name"
STRIPS_TEXT = (
    "Each row is a letter of the name, each column one of the {units} units of the state. Point at "
    "a number to see how it was made, and click it to keep it. The player shows the parts in the "
    "order in which the model computes them."
)
ROW, COLUMN = "letter that is read", "unit"
LABELS = {
    "before": "h before",
    "cell before": "cell before",
    "hidden": "h",
    "reset": "reset gate r",
    "update": "update gate u",
    "input": "input gate i",
    "forget": "forget gate f",
    "output": "output gate o",
    "candidate": "candidate c",
    "kept": "kept",
    "new": "new",
    "rest": "1 − u",
    "cell": "cell",
    "shown": "tanh(cell)",
    "from input": "from the letter",
    "from state": "from the state",
    "through": "state through r",
    "total": "sum",
}
FORMULAS = {
    "before": "h of the letter before",
    "cell before": "cell of the letter before",
    "reset": "how much of the state c may see",
    "update": "how much of the state stays",
    "input": "how much of c enters the cell",
    "forget": "how much of the cell stays",
    "output": "how much of the cell is shown",
    "candidate": "what would be written",
    "rest": "how much is replaced",
    "from input": "x · W + b",
    "from state": "h before · U + b′",
    "through": "r × from the state",
}
KEPT = {"gru": "u × h before", "lstm": "f × cell before"}
NEW = {"gru": "(1 − u) × c", "lstm": "i × c"}
WHOLE = {"gru": "kept + new", "lstm": "o × tanh(cell)"}
CELL_FORMULA = "kept + new"
STEPS = {
    "rnn": (
        "What the letter adds: its vector x times a matrix.",
        "What the state adds: the state before this letter times another matrix.",
        "Both are added, and a tanh brings each number between −1 and 1. That is the new state.",
    ),
    "gru": (
        "The state before each letter, and the three parts made from it and the letter.",
        "The update gate keeps a part of each unit.",
        "The rest is replaced by the candidate.",
        "Both together are the new state.",
    ),
    "lstm": (
        "The cell before each letter, and the four parts made from the state and the letter.",
        "The forget gate keeps a part of the cell.",
        "The input gate lets a part of the candidate in. Both together are the new cell.",
        "The output gate shows a part of the cell: that is the new hidden state.",
    ),
}
MOVED = (
    "The state changes most at {most}: by {far:.2f}, measured as the distance between the vectors. "
    "It changes least at {least}, by {near:.2f}."
)
MOVED_ONE = "Its one letter moves the state by {far:.2f}, measured as the distance of the vectors."
STAYS = {
    "gru": "Over all units, the mean share of the old state that stays is highest at {at}: {high}.",
    "lstm": "Over all units, the mean share of the old cell that stays is highest at {at}: {high}.",
}
ASK = "At which letter of {name} does the state of the {model} change most?"
ASK_RIGHT = "There the state moves by {far:.2f}, farther than at any other letter."
ASK_WRONG = "There it moves by {far:.2f}; the farthest move is {most:.2f}."
PLACE = "letter {n}, {letter}"

GATE_TITLE = "One gate, opened"
GATE_TEXT = (
    "Each gate has two matrices of its own: W for the letter's vector, U for the state before. The "
    "sum goes through a sigmoid, which brings it between 0 and 1. For the candidate it goes "
    "through a tanh. Click a number to see all its products."
)
GATE_READ = "The matrices W ({c} × {h}) and U ({h} × {h}) are the same at all letters."
GATE = "Gate"
FUNCTIONS = {"sigmoid": "σ", "tanh": "tanh"}

PAST = "How far back the loss reaches"
PAST_TEXT = (
    "To learn that an early letter matters, training needs the gradient of the last loss with "
    "respect to the state at that letter. This gradient is computed step by step, from the end "
    "back. Here the name is repeated until there are {letters} letters. The loss is that of the "
    "letter after them. The lengths of all gradients come from automatic differentiation. The "
    "trained model learned on at most {context} tokens."
)
BACK = "Letters"
TIMES = "Untrained recurrent weights ×"
CLIP = "Longest gradient allowed"
TRAINED, FRESH = "trained", "untrained, weights × {times:g}"
TRAINED_CELL, FRESH_CELL = "trained, cell", "untrained, cell"
PAST_AXES = ("letters read", "length of the gradient")
PAST_READ = (
    "From the last letter back to the first, the gradient at the hidden state of the {kind} "
    "{model} {becomes}. Its length is multiplied by {factor}."
)
KINDS = ("trained", "untrained")
BECOMES = ("almost vanishes", "shrinks", "stays about as long", "grows", "explodes")
PAST_ASK = (
    "The matrix that carries the state of an untrained {model} is multiplied by {times:g}. How "
    "does the gradient change on its way back through {letters} letters?"
)
PAST_ANSWERS = (
    "It becomes less than half as long.",
    "It stays between half and twice as long.",
    "It becomes more than twice as long.",
)
PAST_REASON = "From the last letter to the first its length is multiplied by {factor}."
CLIP_READ = (
    "Over all parameters of the untrained model the gradient is {whole} long. The limit is "
    "{limit:g}, so each of its numbers is multiplied by {factor}. Its direction stays the same. "
    "This is called clipping."
)
CLIP_NOT = (
    "Over all parameters of the untrained model the gradient is {whole} long. That is within the "
    "limit of {limit:g}, so clipping changes nothing."
)
CLIP_AXIS = "length of the gradient of all parameters"
CLIP_BARS = ("computed", "clipped")

ROLES = "What single units do"
ROLES_TEXT = (
    "Nobody told any unit what to do. In one half of many names, the app looked for two units. The "
    "value of the first is most closely related to the number of letters read. The second says "
    "most about the first letter, {later} and more letters after it. The numbers below were "
    "measured on the {names} names of the other half."
)
COUNTS = "unit {unit}: counts"
REMEMBERS = "unit {unit}: first letter"
ROLE_NOTE = "value {value}"
ROLES_LABEL = "the counting and the remembering unit on the name"
ROLES_SCALE = ("below 0", "above 0")
ROLES_READ = (
    "**Unit {counts}** counts best: its correlation with the number of letters read is "
    "{correlation}. **Unit {remembers}** says most about the first letter, which explains "
    "{explained} of its variance. Guessing the first letter from this unit alone is right in "
    "{guessed} of the cases. Always saying the most frequent letter is right in {usual}. A linear "
    "model that reads all {units} units is right in {together}."
)
ROLES_SPREAD = " The first letter can be read better from all units together than from this one."
ROLES_LOST = (
    " All units together are hardly better than the most frequent letter: a linear model finds "
    "little of the first letter in this state."
)
ROLES_ASK = (
    "How often can the first letter be read from all {units} units of the {model} together, "
    "{later} and more letters after it?"
)
ROLES_ANSWERS = ("in less than 25 %", "in 25 % to 50 %", "in 50 % to 75 %", "in more than 75 %")
ROLES_REASON = "It is {together} of the cases."

WAITING = "Why none of them takes all letters at once"
WAITING_TEXT = (
    "The state at a letter needs the state at the letter before. So the letters of a text are "
    "computed one after the other. This is so in training, too, where all of them are known. "
    "Attention carries no state: all positions of a layer can be computed at once. Measure both "
    "here, on this machine: one training step, forward and backward, of {rows} texts, width "
    "{width}, one layer."
)
MEASURE, AGAIN, STOP = "Measure", "Measure again", "Stop"
MEASURING = "{done} of {all} measurements"
QUEUED = "Waiting for other work to end …"
WAIT_AXES = ("tokens in each text", "microseconds a token")
WAIT_COLUMNS = ("model", "steps that wait for each other", "ms a step", "µs a token")
WAIT_TABLE = "At {length} tokens in each text:"
WAIT_READ = (
    "From {first} to {last} tokens the time per token of the {model} is multiplied by {own:.2f}, "
    "that of attention by {attention:.2f}. At {last} tokens the {model} takes {times:.1f} times as "
    "long as attention."
)
WAIT_THREAD = (
    "The measurement uses one thread of one processor. So even work that could be done at once is "
    "done one piece after the other, and a simple cell may be the fastest. More processors, or the "
    "thousands of cores of a graphics unit, help only with work that need not wait. So compare the "
    "numbers of steps that wait for each other."
)
ATTENTION = "attention (GPT)"
