"""All that the chapter "Guess and check" says. Names in braces: live numbers."""

from llmviz.lessons.efficiency import LESSON

TITLE = LESSON.title_of("guess")
TEXT = (
    "A model writes one token at a time. If it writes a single text, all of its weights are "
    "fetched from memory for each token. In a large model that takes most of the time, so to "
    "read a few tokens in one pass takes little longer than to read one. [[speculative "
    "decoding|Speculative decoding]] makes use of that: something small and fast, the **draft**, "
    "guesses the next tokens, and the model itself, the **target**, checks all of these guesses "
    "in a single pass. Each token that comes out has exactly the probability that the target "
    "gives to it, as in plain decoding."
)
STORY = "It was Sunday, and Lotta Tinderhurst the cook felt joyful. They met at the market. Soon"
PROMPT = "The beginning of a story"
DRAFT = "The draft"
DRAFTS = {
    "network": "a small network",
    "counts": "counts",
    "copy": "the text itself",
}
ABOUT = {
    "network": (
        "The draft is a network of {layers} with {parameters:,} parameters; the target has "
        "{target_layers} and {target:,} parameters. Both cut texts into the same tokens, otherwise "
        "one could not check what the other guesses."
    ),
    "counts": (
        "The draft is no network. It has counted in stories of this project which token followed "
        "which one, two or three others. A token that came more often gets a larger q, and the "
        "temperature changes q as it changes p. Where the last three tokens were never followed by "
        "anything, it looks at the last two, and so on."
    ),
    "copy": (
        "The draft is the text so far. Where its last tokens stood before, the token that came "
        "next is guessed again, with q = 100 % at any temperature. Where the last token is new, "
        "there is no guess. Names and things that come again can be guessed in this way."
    ),
}
NO_NETWORK = (
    "The small network cannot be used here: {reason}. Counts of the stories guess in its place."
)
GUESSES = "Guesses in a round, k"
HEAT = "Temperature"
LUCK = "Random numbers"
LUCK_HELP = (
    "Another number gives other random numbers, and so, as a rule, another text. At temperature 0 "
    "it changes nothing: the token with the highest p is written each time."
)
EMPTY = "There is no text yet. Type the beginning of a story above."

ROUNDS_TITLE = "Round by round"
ROUNDS_TEXT = (
    "Here {written} tokens are written, or fewer if the text ends before. Play the rounds, or go "
    "through them with the arrow keys. Point at a token to see how it was decided: q is the "
    "probability that the draft gave to it, p that of the target. A guess is accepted with the "
    "probability min(1, p ÷ q). At the first rejection the guesses behind it are dropped, and a "
    "token is drawn from what is left of p: max(p − q, 0), divided by its sum. If all guesses are "
    "accepted, the same pass of the target has given p for the next place, too, and one more token "
    "is drawn from it. The rule is that of Leviathan et al. 2023 and Chen et al. 2023."
)
PICTURE = {
    "prompt": "given",
    "round": "round {round}",
    "token": "token",
    "q": "q",
    "p": "p",
    "kept": "comes as an accepted guess: min(p, q)",
    "added": "comes from the draw after a rejection: max(p − q, 0)",
    "free": "is drawn from p",
    "mark": "q, what the draft gives",
    "others": "all others",
    "sum": "sum",
    "unchecked": "not looked at: a guess before it was rejected",
}
LINE_GUESS = "Round {round}. The draft makes {guesses}{fewer}. {read}"
LINE_READ_ONE = "Then the target reads it."
LINE_READ = "They are made one after the other. Then the target reads all of them in one pass."
LINE_FEW_LEFT = " and no more, because only {left} are still to be written"
LINE_NO_MORE = ", and then has no other"
LINE_YES = "“{token}”: q = {q}, p = {p}. {why}, so it is accepted."
LINE_NO = "“{token}”: q = {q}, p = {p}. {why}, so it is rejected{dropped}."
LINE_DROPPED = ", and {behind} behind it dropped"
WHY_SURE = "p is at least q"
WHY_BELOW = "p ÷ q = {chance}, and the random number {u} is below that"
WHY_ABOVE = "p ÷ q = {chance}, and the random number {u} is not below that"
LINE_RESIDUAL = (
    "“{token}” is drawn from max(p − q, 0), divided by its sum. There it has the probability "
    "{share}. The round adds {added}."
)
LINE_FREE = (
    "No guess was rejected. The pass of the target has given p for the next place, too, and "
    "“{token}” is drawn there with p = {share}. The round adds {added}."
)
LINE_ALONE = (
    "The draft has no guess here. The target draws “{token}” with p = {share}, as in plain "
    "decoding. The round adds {added}."
)
LINE_LAST = (
    "Only one token is still to be written, so that nothing is guessed. The target draws “{token}” "
    "with p = {share}, as in plain decoding. The round adds {added}."
)
LINE_END = (
    " One of its accepted guesses is the token for the end of a text: what stands behind that is "
    "dropped."
)
NEARLY_NO = "nearly 0 %"
TOLD = (
    "A guess drawn from q is accepted here with a probability of {kept}, the sum of min(p, "
    "q). It is rejected with {added}, which is also the sum of max(p − q, 0). So each token comes "
    "out with min(p, q) + max(p − q, 0) = p. Computed over all {vocab:,} tokens, the two ways "
    "together differ from p by at most {error}."
)
TOLD_FREE = "There was no guess at this place: everything is drawn from p."
TOTAL = (
    "{rounds} wrote {tokens}: {each:.2f} tokens for each pass of the target. Guesses looked at: "
    "{checked}; accepted: {accepted}{share}."
)
TOTAL_SHARE = " ({share})"

ASK_COUNT = (
    "A round has {k}, and the text does not end in it. How many tokens can the round add to the "
    "text?"
)
COUNT_ANSWERS = {
    "least0": "0 to {k}",
    "least1": "1 to {more}",
    "all": "always {more}",
    "half": "1 to {k}",
}
COUNT_REASONS = {
    "least0": (
        "After a rejection the target draws a token by itself, so that a round never adds nothing."
    ),
    "least1": (
        "If the first guess is rejected, the drawn token alone is added. If no guess is rejected, "
        "one more token is drawn behind them: {more} in all."
    ),
    "all": (
        "A rejected guess and those behind it are dropped, and one token is drawn instead. So "
        "there can be fewer."
    ),
    "half": (
        "A round always adds one token more than the guesses that it accepts: the drawn one. If no "
        "guess is rejected, it adds {more}."
    ),
}
ASK_CHANCE = (
    "The draft guesses a token with q = {q}, and the target gives p = {p} to it. How probable is "
    "it that the guess is accepted?"
)
CHANCE_REASONS = {
    "right": "min(1, p ÷ q) = {right}: the target wants this token less often than the draft "
    "guesses it, so some of the guesses are turned down.",
    "sure": "That would be so if p were at least q. Here the token would then come too often.",
    "p": "That is how often the token should come in all. It was guessed with q only, so a guess "
    "must be accepted more often than that.",
    "never": "Then the token could only come after a rejection, and there its part of max(p − q, "
    "0) is 0.",
}

SPEED_TITLE = "How much faster?"
SPEED_TEXT = (
    "If each guess is accepted with the probability a, a round adds (1 − aᵏ⁺¹) ÷ (1 − a) tokens "
    "on average, or k + 1 if a is 1. One step is the time of one token in plain decoding. If a "
    "guess takes c steps, and the pass of the target 1, the round takes k · c + 1 steps. The "
    "tokens divided by the steps are the expected speed-up (Leviathan et al. 2023, theorem 3.8). "
    "More guesses are not always better: the later ones are checked only if all before them were "
    "accepted, and each costs time. The formula supposes that to read k + 1 tokens takes as long "
    "as to read one.\n\n"
    "That is so where the time goes into fetching the weights from memory: they are fetched once "
    "for all tokens of a pass. The weights of the bundled model, {small:.0f} MB, can be few "
    "enough for the cache of a processor. Then they are fetched quickly, and what is left is the "
    "arithmetic, which grows with each token, and the start of each operation. To see both cases, "
    "measure the model as it is and the same model made wider: its feed-forward layers get {wide} "
    "times as many units, and the new ones count with a weight of 0. It computes the same "
    "probabilities, but has {large:.0f} MB to read. The same stories are written by plain decoding "
    "and with 1 to {longest} guesses, in turns. The guesses are checked by a copy of the weights "
    "that is laid out for reading a few tokens at once. Plain decoding reads that copy or the "
    "model itself, and the faster one counts."
)
SIZE = "The target"
SIZES = {"wide": "made wider", "bundled": "as it is"}
MEASURE = "Measure on this machine"
MEASURING = "Writing stories …"
MEASURE_STOPPED = "The measurement was stopped. Below is how far it came."
MEASURE_AGAIN = "Measure again"
SPEED_AXES = ("guesses in a round, k", "speed-up, times plain decoding")
MEASURED, EXPECTED, EXPECTED_READ = (
    "measured",
    "formula: reading costs one step",
    "formula with the measured time of reading",
)
PLAIN_LEVEL = "plain decoding"
SPEED_COLUMNS = (
    "k",
    "tokens per second",
    "speed-up",
    "accepted of those looked at",
    "tokens per round",
    "a guess costs (plain steps)",
    "reading and checking costs (plain steps)",
)
SPEED_BEST = (
    "Measured on this machine, on one thread: plain decoding wrote {plain:,.0f} tokens per second. "
    "The best number of guesses was **k = {k}** with {best:,.0f} tokens per second, **{ratio:.2f} "
    "times** as many. {accepted} of the guesses looked at were accepted there."
)
SPEED_WORSE = " So with this draft guessing did not pay at any k."
SPEED_NOTE = (
    "The time is that of the processor for this work alone, the best of {tries}. The formula "
    "takes a and c from all rounds of the measurement; the dashed line takes the time of reading "
    "and checking from each k, too."
)
SPEED_NOT_YET = "Nothing has been measured yet."
