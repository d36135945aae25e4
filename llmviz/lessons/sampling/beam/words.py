"""The words of chapter "Beam search"."""

TITLE = "Looking further than one token"
TEXT = (
    "[[greedy|Greedy]] choice takes the best next token and may miss the best text: a modest first "
    "token can lead to a very probable rest. [[beam search|Beam search]] keeps the best "
    "few beginnings at each step and scores their continuations. Step through it; grey "
    "branches were scored and left."
)
WIDTH = "Beam width"
TOKENS = "Tokens"
PENALTY = "Length penalty"
PENALTY_HELP = (
    "Score = sum of log-probabilities ÷ length to this power. 0 is the plain sum, which favours "
    "short texts; 1 is the mean per token."
)
FOUND = (
    "Greedy found {greedy}, with a total of {greedy_total} nats. The beam found {best}, "
    "with {best_total}: **{times} times as probable**."
)
SAME = (
    "Here the beam found what greedy found too: {best}, with a total of {best_total} nats. A wider "
    "beam, another prompt, or more tokens may differ."
)
SHORTER = (
    "Greedy found {greedy} ({greedy_total} nats), the beam {best} ({best_total} nats). Their "
    "lengths differ, so their totals cannot be compared; per token they are {greedy_mean} and "
    "{best_mean}."
)
PICTURE = {
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
