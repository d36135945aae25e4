"""The words of chapter "Beam search"."""

TITLE = "Looking further than one token"
TEXT = (
    "[[greedy|Greedy]] choice takes the most probable next token at each step. It can miss the "
    "most probable text, because a less probable first token can have a very probable "
    "continuation. [[beam search|Beam search]] keeps several beginnings at each step and scores "
    "their continuations. Go through the tree step by step. Grey branches were scored, but not "
    "kept."
)
WIDTH = "Beam width"
TOKENS = "Tokens"
PENALTY = "Length penalty"
PENALTY_HELP = (
    "Score = sum of log-probabilities ÷ length to this power. 0 is the plain sum, which favours "
    "short texts. 1 is the mean per token."
)
OTHER = (
    "Greedy choice gives {greedy}, with a total of {greedy_total} nats. The beam gives {best}, "
    "with {best_total} nats. This text is **{times} times as probable**."
)
SAME = (
    "Here the beam gives the same text as greedy choice: {best}, with a total of {best_total} "
    "nats. With a wider beam, another prompt or more tokens, the two texts may differ."
)
OTHER_LENGTH = (
    "Greedy choice gives {greedy} ({greedy_total} nats). The beam gives {best} ({best_total} "
    "nats), which is {times} times as probable. The lengths differ, and each further token lowers "
    "a total. So compare the means per token, too: {greedy_mean} and {best_mean} nats."
)
PICTURE = {
    "prompt": "prompt",
    "best": "best",
    "finished": "finished",
    "pruned": "scored, not kept",
    "abandoned": "kept, dropped later",
    "kept": "kept to the end",
    "start": (
        "This is the prompt. Each step scores all {n} tokens after every beginning that has not "
        "ended, and keeps at most {w}."
    ),
    "at": "Step {k}: {w} kept, out of all that were scored.",
    "at_ends": "Step {k}: {w} kept, out of all that were scored. Ended at this step: {ended}.",
    "end": "The search is over. Texts left: {f}. The best one has a score of {score}.",
}
ASK_BEAM = (
    "After the first step the beam holds {beams}. How many continuations does the second step "
    "score?"
)
ASK_BEAM_ENDS = (
    "After the first step the beam holds {beams}; {ended} of them has ended. How many "
    "continuations does the second step score?"
)
ASK_BEAM_REASON = (
    "{beams} can go on. That number times {v} is {n}. At most {w} of these continuations are kept."
)
ASK_BEAM_ENDED = "This counts the beginning that has ended, too. Nothing is scored after its end."
ASK_BEAM_ALL = (
    "This would score every token after every first token. The search only goes on from {kept}."
)
ASK_BEAM_FEW = (
    "Each beginning is continued with every token of the vocabulary. Only after that are the best "
    "ones kept."
)
