"""All that the chapter "Patching" says. Names in braces are filled in with live numbers."""

OWN = "One day Anna found a key. Samir found a lamp. The key stayed with"
DONOR = "One day Anna found a key. Samir found a lamp. The lamp stayed with"
TITLE = "Put a vector of one prompt into another"
TEXT = (
    "Two prompts have two different answers. The model reads the first prompt, but one of its "
    "vectors is replaced: by the vector that the same part computed for the second prompt. If the "
    "answer changes to the second one, this vector was enough to change it. This is [[activation "
    "patching]]. The map does this at every place, one place at a time."
)
PROMPT = "The prompt that is read"
OTHER_PROMPT = "The prompt whose vectors are put in"
ANSWER = "Its answer"
OTHER_ANSWER = "The other answer"
ANSWER_HELP = "Empty: the most probable next token."
SITES_LABEL = "Replace"
SITES = {"all": "All", "stream": "Stream", "head": "Heads", "mlp": "Feed-forward"}
EMPTY = "One of the prompts is empty. Both need at least one character."
LONG = "This prompt has {count} tokens, the start token included; {name} reads {limit} at most."
SAME_PROMPTS = (
    "Both prompts have the same tokens, so nothing would change. Change a word in one of them."
)
SAME_ANSWERS = "Both answers are {token}. Type another answer below one of the prompts."
NO_DIFFERENCE = (
    "After both prompts the model prefers one answer to the other by the same amount. So there is "
    "no preference to move."
)
SAYS = (
    "After the first prompt the model gives {own} a probability of {own_share} and {other} one of "
    "{own_other}. After the second prompt it gives {own} {donor_own} and {other} {donor_share}."
)
UNEQUAL = (
    "The prompts have {own} and {donor} tokens. They are aligned at the end: the last token with "
    "the last one, and so on backwards. At the beginning of the longer prompt, {left} alone."
)
LAST_PLACES = "The map shows the last {shown} of {all} places."
WAIT = "Patching {count} places, one at a time …"
MEASURE = (
    "The preference is the logit of {other} minus the logit of {own}. The colour shows how far it "
    "moves. At 0 % it is still as after the first prompt, at 100 % it is as after the second "
    "prompt. Below 0 % it moves the other way; above 100 % it moves farther than that."
)
LEFT, LEFT_MORE = "1 token stands", "{left:,} tokens stand"
GRID = "how far each replaced vector moves the preference"
SCALE = ("the other way", "100 %: as after the second prompt")
ROWS = {
    "stream": "stream before layer {layer}",
    "last": "stream after layer {layer}",
    "head": "layer {layer} · head {head}",
    "mlp": "layer {layer} · feed-forward",
}
COLUMN = "{own} ← {donor}"
NOTE = "{share} of the way"
OPENED = "{site}, at {token}"
OPENED_TEXT = (
    "The {kind} of {own} was replaced by that of {donor}: {width} numbers. The cosine similarity "
    "of the two vectors is {cosine}. The preference went from {before} to {after}; after the "
    "second prompt it is {goal}. That is **{share} of the way**."
)
KINDS = {
    "stream": "stream vector",
    "head": "output of this head",
    "mlp": "output of this feed-forward layer",
}
ALIKE = " Both vectors are the same, so nothing changes."
SERIES = ("first prompt", "patched", "second prompt")
ASK = (
    "In the row “{row}”: at which token does a replaced vector move the preference farthest "
    "towards that of the second prompt?"
)
PLACE = "“{name}”"
PLACE_LAST = "“{name}”, the last token"  # where others are called so, too
PLACE_OF_SEVERAL = "“{name}”, {back} before the last token"
ASK_RIGHT = "Yes: there it moves {share} of the way."
ASK_WRONG = "There it moves {share} of the way."
READ = (
    "Of all heads, {head} at {head_token} moves the preference farthest towards the second prompt: "
    "{head_share} of the way. Of all feed-forward outputs, {mlp} at {mlp_token} does: {mlp_share}."
)
