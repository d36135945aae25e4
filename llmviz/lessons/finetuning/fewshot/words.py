"""All that the chapter "Zero, one, few examples" says. Names in braces: live numbers."""

TITLE = "A rule that only the examples show"
TEXT = (
    "A prompt can hold examples of a task: none (zero-shot), one (one-shot) or a few ([[few-shot "
    "prompt|few-shot]]). No weight changes; all that the model learns of the task stands in the "
    "prompt. Here the task is a rule: each group of words, such as fruits or tools, has a colour "
    "of its own. Which groups, and which colours, is drawn anew for each prompt, so nothing can be "
    "known by heart."
)
SHOTS = "Examples"
GROUPS = "Groups of the rule"
WRONG = "Of them wrong"
DRAW = "Another rule"
OWN_HELP = (
    "As in `coat red, apples blue, plums`: words with a colour each, then the word that is asked "
    "for. Empty: a rule is drawn."
)
OWN_LABEL = "Type your own prompt, or leave it empty for a rule that is drawn"
PROMPT = "The prompt"
RULE = "The rule: {parts}. The right answer to {word} is **{answer}**."
RULE_PART = "{group} are {answer}"
RULE_OWN = (
    "What your examples show most often (of equals, the last one): {parts}. So the answer to "
    "{word} should be **{answer}**."
)
WRONG_TOLD = "Examples here that show the answer of another group: {wrong} of {examples}."
HELD_OUT = (
    "At least two of these groups never stood together in training, so the model has never seen "
    "this rule."
)
NOT_SHOWN = "No example here is of the group {group}, so nothing says which colour is right."
MISLED = (
    "In this prompt {group} do not stand with {answer} more often than with any other colour. So "
    "the examples do not show that {answer} is right."
)

ASK_SHOTS = (
    "A reader who knows which words belong together, but not the rule, gets a prompt with no "
    "example. There are {answers} colours. How often is the reader right, on average?"
)
ASK_REASONS = {
    "never": "A guess among {answers} colours is right now and then.",
    "guess": "Nothing in the prompt says which colour it is, so one of {answers} is a guess.",
    "half": "That would need two colours to choose from. Nothing says which two.",
}
ASK_ANSWERS = {"never": "never", "guess": "{guess}", "half": "50.0\u00a0%"}

BARS_TITLE = "The next word after: {word}"
BARS_AXIS = "probability"
MODELS = {"few-shot": "taught to read rules", "base": "story model"}
READ = (
    "The model that was taught to read rules says {tuned} with {tuned_share}; the right colour, "
    "**{answer}**, gets {tuned_right}. The story model, without that training, says {base} with "
    "{base_share} and gives the right colour {base_right}."
)
UNSURE = (
    "Both were asked for the next token of the whole vocabulary. The bars show the colours that "
    "either of them finds most probable, and the right one."
)
LOOK_TITLE = "Where the last word looks"
LOOK_TEXT = (
    "A reader of the rule finds examples of the same group and takes the colour that stands after "
    "them. In each head, the last token spreads its [[attention]] over itself and all tokens "
    "before it. Below is each head of the model that was taught to read rules. Click one: the "
    "tokens below are coloured by what the last one gives them."
)
SHARE = "attention of the last token"
LOOK_NOTE = "{same} on colours of its own group, {other} on other colours"
LOOK_READ = (
    "In head {head} of layer {layer} the word {word} puts {same} of its attention on the colours "
    "after words of its own group, and {other} on other colours. If it looked at all {tokens} "
    "tokens alike, its own group's colours would get {even}. In the story model the same head puts "
    "{before} there."
)
LOOK_INDUCTION = (
    "An [[induction]] head looks at what followed the same token earlier. Some tokens of this "
    "prompt stood in it before. On these, head {best_head} of layer {best_layer} does that most, "
    "with {best} of its attention. The chosen head gives {own} there, and {before} in the story "
    "model."
)
LOOK_INDUCTION_BEST = (
    "An [[induction]] head looks at what followed the same token earlier. Some tokens of this "
    "prompt stood in it before. On these, no head does that more than the chosen one: with {own} "
    "of its attention, and {before} in the story model."
)
LOOK_NONE = "There are no examples in this prompt, so there is no colour to look at."
LOOK_LINK = "This prompt on the attention page"
LOOK_LIMIT = (
    "Attention shows where a head looks. It does not prove that the answer comes from there. The "
    "page about attention has the same prompt in the story model, without this training."
)

CURVES_TITLE = "Right, by the number of examples"
CURVES_TEXT = (
    "Each point is the share of prompts answered right, on rules of two groups that were not in "
    "training. The dotted line is the best that any reader can reach on average. That reader knows "
    "all groups. If an example showed the group, it takes its colour. If not, it guesses among the "
    "colours that are left. On a few hundred prompts, luck can bring a result that is a little "
    "higher."
)
CURVES_AXES = ("examples in the prompt", "share of prompts answered right")
WRONG_AXES = ("wrong ones of 8 examples", "share of prompts answered right")
BEST = "best possible"
NO_CARD = "The card of this model holds no such numbers."
FROM_CARD = "The points of the taught model come from its card: {prompts} prompts each."
FROM_NOW = "Both models were asked {prompts} prompts for each point, on this server."
MEASURE = "Ask both models now"
MEASURE_TEXT = (
    "Ask both models {prompts} new prompts for each number of examples, and the taught one with "
    "wrong examples among eight."
)
MEASURED = (
    "Of all {colours} colours the most probable one counts as the answer. The story model is right "
    "in {low} to {high} of the prompts{cannot}. The taught model is the same model with an adapter "
    "that got {steps:,} steps of training on lists of examples. With 8 examples it is right in "
    "{tuned} of the prompts."
)
CANNOT = (
    ": it **cannot** read the rule. A random choice between the two colours in the prompt would be "
    "right in half of the prompts"
)
WRONG_READ = (
    "With {wrong} of 8 examples wrong, the taught model is right in {share} of the prompts "
    "(with none wrong: {clean}). The right answer is that of the rule before examples were made "
    "wrong; with two groups, a wrong example shows the colour of the other group."
)
WRONG_NAME = "taught to read rules"
