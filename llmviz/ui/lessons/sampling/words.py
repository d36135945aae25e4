"""The words of the lesson on sampling."""

TITLE = "From logits to text"
PROMISE = (
    "A language model does not choose words. It gives every token of its [[vocabulary]] a number, "
    "and a few lines of code around it, with a random number, make a text of that. Here you turn "
    "each of these knobs on a real model and see what it cuts, what it keeps and what is drawn."
)

PROMPT_LABEL = "Prompt"
MODEL = "Model"
USE_MY_TEXT = "Use my text"
USE_STORY = "Back to the story"
LOADING = "Loading the model …"
TOO_SLOW = "it takes too long; reload the page to try again"
ENGINE_FAILED = "The model cannot be loaded: {problem}"
NO_MODEL = (
    "No trained model is bundled with this copy, so there are no logits to sample from. This makes "
    "one, in about an hour on a laptop:"
)
NO_MODEL_COMMAND = "python -m llmviz checkpoints make tiny-world-gpt"
EMPTY = (
    "The prompt is empty, so the model starts from its start token <|endoftext|> alone: it begins "
    "a new story."
)
PROMPT_CUT = "The prompt has {all:,} characters; its last {limit:,} are read."
SLID = (
    "The prompt is {tokens} long and the context holds {context}: the window has slid, and the "
    "model sees the last {context} only."
)
UNKNOWN = "The tokenizer has never seen {unknown} of this prompt; the model reads <|unk|> there."
RESET = "Reset the steps"

# ---- pipeline

PIPELINE = "Logits to a token"
PIPELINE_TITLE = "From logits to a token"
PIPELINE_TEXT = (
    "The first column is the model's own answer: the [[softmax]] of its [[logits]] for the token "
    "after your prompt. Each further column is one step of code. Drag a slider and look at the "
    "same tokens down the line: an outline is what stood there before, hatching is what was cut, "
    "and the pale end of a bar is what renormalising gave to the ones that stay."
)
STEP_TITLES = {
    "banned": "forbidden",
    "repetition_penalty": "repetition",
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
}
MODEL_COLUMN = "the model"
MODEL_HINT = "softmax of the logits"
STEP_HINTS = {
    "banned": "Tokens that you clicked are cut.",
    "repetition_penalty": "Tokens that the prompt holds: positive logit ÷, negative × this.",
    "temperature": "Logits are divided by this; 0 keeps the largest alone.",
    "top_k": "Exactly the k most probable tokens stay.",
    "top_p": "The smallest set of most probable tokens that reaches p stays.",
    "min_p": "Tokens with less than this share of the largest probability are cut.",
}
PIPELINE_BAN = "Click a token to forbid it; the arrows ‹ › beside a step change the order."
DRAW_AGAIN = "Draw again"
SEED = "Seed"
STRIP = "Tokens on the strip"
STRIPS = {"probability": "most probable first", "id": "by token id"}
DRAW_NUMBER = "Draw {draw:,} of seed {seed}."
TOP_K_LARGE = (
    "k = {k:,} is more than the vocabulary of {vocabulary:,} tokens has: all of them are kept."
)
BAN_GONE = "Forbidden token {ids}: this model has only {vocabulary:,} tokens."
ORDER_SAME = (
    "**The order matters.** With these settings {now} can be drawn. If the temperature came last, "
    "after the cuts, {other} could, and {share} of the probability would lie on other tokens."
)
ORDER_NOTHING = (
    "**The order can matter.** With these settings, temperature last gives the same distribution. "
    "Choose a temperature above 1 together with a top-p below 1 and look again."
)
ORDER_CHANGED = (
    "**Your order** ({order}) lets {now} be drawn; the usual one (penalties, temperature, then the "
    "cuts) {other}. {share} of the probability lies on other tokens than there."
)
ORDER_CHANGED_SAME = (
    "**Your order** ({order}) gives the same distribution as the usual one with these settings."
)
TAIL_TEXT = (
    "The bars are {shown} of {vocabulary:,} tokens. The last line holds the other {rest:,}: one by "
    "one they are improbable, together they have {mass} in the model's own answer."
)
ASK_NUCLEUS = (
    "Look at the first column only. How many tokens does it take, from the most probable down, to "
    "gather {p:.0%} of the probability?"
)
ASK_NUCLEUS_REASON = "{n} reach {p:.0%}: that is the set that top-p = {p:g} would keep here."
ASK_NUCLEUS_WRONG = "The {n} most probable tokens have {mass} together."

# ---- dice

DICE = "The dice"
DICE_TITLE = "Why was the most probable token not taken?"
DICE_TEXT = (
    "Lay all tokens side by side, each as wide as its probability: a strip from 0 to 1. A random "
    "number u is one point on it, and the token that lies there is taken. That is all that chance "
    "does, and the same seed throws the same points again."
)
DICE_WHY = (
    "Because the point fell elsewhere. {top} is the most probable with {p}: it is taken when u "
    "lies between {start:.4f} and {end:.4f}. This time u was **{u:.4f}**, which is where {drawn} "
    "lies. In {others} of 100 draws, on average, something other than {top} is taken."
)
DICE_TOP = (
    "This time it was: {top} lies from {start:.4f} to {end:.4f} and u was **{u:.4f}**. With a "
    "probability of {p}, though, something else is taken in {others} of 100 draws, on average."
)
DICE_SURE = "Nothing else can be drawn: with these settings {top} has the whole strip for itself."
DICE_ONE = "Draw once"
DICE_MORE = "{n:,} more"
DICE_REPLAY = "Replay from the start"
DICE_COUNTS = (
    "After **{n}** of seed {seed}: frequencies (bars) beside probabilities (marks). The whiskers "
    "are two standard deviations; about 19 of 20 bars end inside them."
)
DICE_CURVE = (
    "How far the frequencies still are from the probabilities, over the whole vocabulary. In "
    "the long run four times as many draws halve the distance."
)
ASK_DICE = (
    "After 100 draws the frequencies are off by {first} in total. After 10,000 draws, a hundred "
    "times as many, by about:"
)
ASK_DICE_ANSWERS = ("a hundredth of that", "a tenth of that", "half of that")
ASK_DICE_REASON = "{last} in this run: chance shrinks with the square root, and √100 = 10."
ASK_DICE_NO = "The error does not fall in step with the number of draws, but with its square root."
IN_FORCE = "Settings from the first chapter: {settings}."
PLAIN = "none, the model's own distribution"

# ---- writing

WRITING = "Writing"
WRITING_TITLE = "One token, and once more"
WRITING_TEXT = (
    "To write a text, the drawn token is put behind the prompt and the model is asked again. The "
    "darker a token, the more probable it was to the model. Point at one for its numbers; click it "
    "to see what else could have stood there, take that instead, and let the story go another way."
)
WRITER = {
    "one": "One token",
    "run": "Write",
    "stop": "Stop",
    "clear": "Start again",
    "nothing": "Nothing is written yet. Press “Write”, or go token by token.",
    "ended": "The model ended its text here: it drew <|endoftext|>.",
    "full": "{n} tokens are the limit here.",
    "slid": "Past this point the window slides: the model sees the last {context} tokens only.",
    "scale": "probability of each token",
    "alternatives": "What could have stood here",
    "tree": "Ways that you went",
    "trunk": "first way",
}
WRITING_NUMBERS = (
    "**{n}**: {distinct:.0%} of them are different ones, {repetition:.0%} of all threes of tokens "
    "had occurred before, and the model gives a token {mean} nats on average "
    "(probability {p})."
)
WRITING_FORK_LIMIT = "Sixteen ways are the limit; start again to go others."
FORK_LOST = (
    "The link's other ways to go on do not fit this prompt and model; the first one is shown."
)
ASK_ENTROPY = (
    "The model was least sure in front of one of these tokens: there the [[entropy]] was highest. "
    "Which?"
)
ASK_ENTROPY_REASON = (
    "Before {token} the entropy was {entropy:.2f} nats, as if choosing among {among} equal ones."
)
SETTINGS = "Settings"

# ---- compare

COMPARE = "Side by side"
COMPARE_TITLE = "The same dice, other settings"
COMPARE_TEXT = (
    "Three settings write from the same prompt with the same random numbers. What differs is what "
    "the settings made of the model's probabilities. Low temperatures repeat what is safe, high "
    "ones stop making sense; cutting the tail lets the temperature rise further before that."
)
COMPARE_TOKENS = "Tokens"
COMPARE_COLUMNS = {
    "settings": "settings",
    "tokens": "tokens",
    "distinct": "different tokens",
    "repetition": "repeated threes",
    "mean": "mean log-probability",
}
ASK_COMPARE = "Which of the three texts does the model itself find most probable, per token?"
ASK_COMPARE_REASON = "{name}: {mean} nats per token."
COMPARE_NOTE = (
    "Greedy takes the most probable token at every step; look for what it repeats. Texts that "
    "people wrote are not made of each next likeliest word either."
)
COMPARE_SNIPPET = """
from llmviz.sampling import GeneratedToken, text_measures

ids = [5, 7, 5, 7, 5, 7]
tokens = [GeneratedToken(i, probability=0.5, chance=0.5, rank=1, entropy=0.7, u=0.1) for i in ids]
print({name: round(value, 3) for name, value in text_measures(tokens).items()})
"""
COMPARE_PRINTS = "{'distinct': 0.333, 'repetition': 0.5, 'mean_log_probability': -0.693}"

# ---- temperature

TEMPERATURE = "Temperature"
TEMPERATURE_TITLE = "What dividing by T does"
TEMPERATURE_TEXT = (
    "[[temperature|Temperature]] divides the [[logits]] before [[softmax]] and nothing else. Below "
    "1 the differences between them grow, above 1 they shrink, and e to the power of them makes "
    "small differences large. Drag T and follow one token from left to right."
)
SOFTMAX = {
    "logit": "logit",
    "scaled": "÷ T",
    "shifted": "− largest",
    "exp": "e to that",
    "probability": "÷ sum",
    "temperature": "T",
    "entropy": "entropy, nats",
    "zero": "greedy",
    "infinite": "uniform",
    "all": "all {n} tokens equal: ln {n} = {entropy} nats",
}
SOFTMAX_ZERO = (
    "T = 0 is no division: the largest logit takes everything. It is what the probabilities go to "
    "as T falls, and what “greedy” means."
)
SOFTMAX_INFINITE = (
    "T = ∞: every difference divided by infinity is 0, so all tokens are equally probable, however "
    "absurd."
)
SOFTMAX_LINE = (
    "e^({logit} ÷ {t} − {highest}) ÷ {total} = {exp} ÷ {total} = {probability}. The sum runs over "
    "all {n} tokens, also those without a line here."
)
ASK_HALF = (
    "At T = 1, {first} is {ratio:.2f} times as probable as {second}. How many times at T = 0.5?"
)
ASK_HALF_REASON = (
    "Halving T doubles the difference of the logits, and e to twice a difference is the square: "
    "{ratio:.2f}² = {square:.2f}."
)
ASK_HALF_NO = (
    "The ratio is e to the power of (difference ÷ T), so it does not grow in step with 1/T."
)

# ---- beam

BEAM = "Beam search"
BEAM_TITLE = "Looking further than one token"
BEAM_TEXT = (
    "[[greedy|Greedy]] choice takes the best next token and may miss the best text: a modest first "
    "token can lead to a very probable rest. [[beam search|Beam search]] keeps the best "
    "few beginnings at each step and scores their continuations. Step through it; grey "
    "branches were scored and left."
)
BEAM_WIDTH = "Beam width"
BEAM_TOKENS = "Tokens"
BEAM_PENALTY = "Length penalty"
BEAM_PENALTY_HELP = (
    "Score = sum of log-probabilities ÷ length to this power. 0 is the plain sum, which favours "
    "short texts; 1 is the mean per token."
)
BEAM_FOUND = (
    "Greedy found {greedy}, with a total of {greedy_total} nats. The beam found {best}, "
    "with {best_total}: **{times} times as probable**."
)
BEAM_SAME = (
    "Here the beam found what greedy found too: {best}, with a total of {best_total} nats. A wider "
    "beam, another prompt, or more tokens may differ."
)
BEAM_SHORTER = (
    "Greedy found {greedy} ({greedy_total} nats), the beam {best} ({best_total} nats). Their "
    "lengths differ, so their totals cannot be compared; per token they are {greedy_mean} and "
    "{best_mean}."
)
BEAM_PICTURE = {
    "prompt": "prompt",
    "best": "best",
    "finished": "finished",
    "pruned": "scored and left",
    "abandoned": "taken, left later",
    "kept": "kept to the end",
    "start": "The prompt. Each step scores all {n} tokens behind every beam; the best {w} stay.",
    "at": "Step {k}: of the continuations scored, the best {w} go on.",
    "end": "Finished: the best of {f} ends has a score of {score}.",
}
ASK_BEAM = "The beam keeps {w} beginnings. How many continuations does it score at the second step?"
ASK_BEAM_REASON = "{w} beams times {v:,} tokens each: {n:,}. Only {w} of them live on."
ASK_BEAM_ALL = "That would be all texts of two tokens; the beam looks only behind the ones it kept."
ASK_BEAM_FEW = "Every beam is continued by every token of the vocabulary, not by a few."

# ---- what it knows

KNOWS = "What it knows"
KNOWS_TITLE = "Facts under heat"
KNOWS_TEXT = (
    "The world of these stories has rules: who was given a ball has it, the day after Friday is "
    "Saturday. A story up to a place where such a rule decides is a probe. Watch what the model "
    "gives to the right words there, and how temperature takes it away."
)
KNOWS_KIND = "Rule"
KNOWS_EXAMPLE = "Example"
KINDS = {
    "possession": "who has it",
    "places": "where somebody is",
    "pronouns": "he or she",
    "names": "family names",
    "attributes": "what colour it has",
    "sounds": "sounds of animals",
    "capitals": "capitals",
    "pairs": "pairs of people",
    "opposites": "opposites",
    "sums": "sums",
    "days": "days of the week",
    "agreement": "was or were",
    "quotes": "quotation marks",
    "brackets": "brackets",
}
KNOWS_NUMBERS = (
    "At temperature {t:g} the model writes {right} with {p_right}, {wrong} with {p_wrong}, "
    "and something else with {rest}."
)
KNOWS_ASKING = "Asking about every rule …"
KNOWS_CURVE = (
    "The chance that the right words are written, over {n} probes of each rule. The thick line is "
    "“{kind}”; point at the others for their names. Rules that the model has learnt well stand "
    "heat for longer; where it is unsure, even T = 0 is sometimes wrong."
)
KNOWS_USE = "Open this story in “Logits to a token”"
KNOWS_OTHER_MODEL = (
    "This model was not trained on tiny-world, so it cannot know the rules of that world; the "
    "probes are asked all the same."
)
ASK_KNOWS = "For this rule, the right words have {cold} at T = 1. At T = 2 they will have:"
ASK_KNOWS_ANSWERS = ("more", "between half of that and all of it", "less than half of that")
ASK_KNOWS_REASON = "{hot} at T = 2: the {v:,} tokens of the tail each gain a little, and share it."
ASK_KNOWS_NO = "Heat moves probability from the likely tokens to the thousands of unlikely ones."
