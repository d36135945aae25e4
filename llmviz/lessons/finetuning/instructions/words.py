"""All that the chapter "Following instructions" says. In braces stand live numbers."""

TITLE = "From continuing to answering"
TEXT = (
    "A base model continues texts. Asked a question, it may go on with a story, because that is "
    "what it has read. To make it answer, it is trained on examples of questions with their "
    "answers, written out as texts of one fixed form. The grammar that writes the stories knows "
    "who has what and where people met. So it can make as many examples with exact answers as are "
    "needed."
)
STORY_LABEL = "The story"
STORY_HELP = "The examples of the training have whole stories, with their closing sentence."
ANOTHER = "Another story"
QUESTION_LABEL = "Your question"
ASKABLE = "Questions that the grammar can answer about this story"
REPLY_LABEL = "The right answer"
REPLY_HELP = "The grammar does not know the answer to this question. Leave it empty if you do not."
BY_TUNED = (
    "The right answer to this question is not known here. Type it, or go on: below, the answer of "
    "the fine-tuned model stands in its place."
)
EMPTY = "There is no question. Type one, or choose one of those above."

SIDE_TITLE = "The same question, before and after"
SIDE_TEXT = (
    "Both models get the same text: the story, a line with the question, and a line that ends "
    "after “Answer:”. Each then writes the most probable token again and again. The second one is "
    "the first one with a small change in its matrices, the bundled adapter."
)
BASE, TUNED = "base model", "after questions"
RIGHT, WRONG = "This is the right answer.", "The right answer is {answer}."
UNKNOWN = "What is right is not known here."
ENDS, STOPPED = "It ends its text here.", "Stopped after {count} tokens."
CHANCE = (
    "The probability of the answer {answer}, its full stop and the end of the text is {base} in "
    "the base model, and {tuned} after."
)
TINY = "less than 0.01\u00a0%"
NOTHING = "(nothing: it ends the text at once)"
CARD = (
    "On {asked} questions that it was not trained on, the fine-tuned model answered {right} right. "
    "By kind: {kinds}."
)
KINDS = {
    "who": "who has it",
    "colour": "colour",
    "size": "size",
    "place": "place",
    "hero": "hero",
    "people": "how many people",
}
CUT = (
    "The prompt leaves too little room to answer in the context. The models read its last {kept} "
    "tokens."
)

MASK_TITLE = "The template, and the mask over it"
MASK_TEXT = (
    "In training, the model reads the whole example. But its task is to answer, not to write "
    "stories or to ask. So the loss counts only the tokens of the answer and the sign that ends "
    "it. The target of every other place is replaced by a number that means “ignore”: here −1, in "
    "torch by default −100 (`ignore_index`). Filled chips are counted."
)
END = "⟨end⟩"
COUNTS = "1: the loss counts this token"
DETAIL = {
    "place": "place",
    "target": "as a target",
    "counted": "the token itself",
    "ignored": "ignored (−1)",
    "first": "never a target: it comes first",
    "base": "nats, base",
    "tuned": "nats, after",
}
TABLE = ("counted token", "base: nats", "after: nats")
MEAN = (
    "The loss of this example is the mean of the counted nats: ({base_sum}) ÷ {count} = **{base}** "
    "in the base model, and **{tuned}** after. Without the mask it would be the mean over all "
    "{places} places: {base_all} before, {tuned_all} after. There, the tokens before the answer "
    "would make up {share} of the terms."
)
MASK_QUESTION = (
    "This example has {tokens} tokens, the end-of-text token at both ends included. The answer "
    "with its full stop has {answer}. How many tokens does the loss count?"
)
MASK_RIGHT = (
    "The {answer} of the answer, and the end-of-text token behind it: the model must also learn to "
    "stop."
)
MASK_WRONG = {
    "answer": "That leaves out the token that ends the text. Without it, the model never stops.",
    "prompt": "These are the tokens that are read and not counted.",
    "all": "That is all tokens of the example. Only those of the answer and its end are counted.",
}

FORGOT_TITLE = "What is forgotten"
FORGOT_TEXT = (
    "The same model must now do something new. Does it still predict stories as well as before? "
    "Below is the loss on {count} plain stories that no model here was trained on, computed here."
)
FORGOT_BARS = "loss, nats per token"
BARS = {"base": "base model", "mixed": "some stories", "alone": "questions alone"}
FORGOT = (
    "The loss went from {base} to {tuned} nats per token: {change}. It rose on {worse} of the "
    "{count} stories."
)
CHANGES = {
    "more": "{share} more",
    "less": "{share} less",
    "same": "no change in the digits that are shown",
}
MIX = (
    "While this model was trained, a share of {share} of the steps read plain stories instead of "
    "questions. To mix in texts of the earlier kind is called replay. It is a simple way to reduce "
    "forgetting."
)
MIX_HELD = "Answer the question, and you see what happens without that."
MIX_ALONE = (
    "The last bar is the same training without that: all steps read questions. Its loss on plain "
    "stories is {alone}. On new questions it gets {alone_right} right; the one with stories "
    "mixed in gets {right}."
)
FORGOT_QUESTION = (
    "Fine-tuning on questions alone, with no plain stories mixed in: what does it do to the loss "
    "on plain stories?"
)
FORGOT_ANSWERS = ("It rises", "It stays", "It falls")
FORGOT_MEASURED = (
    "Measured on the {count} stories: {base} nats per token before, {alone} after questions alone."
)
SNIPPET = """
import torch
from llmviz.finetuning.adapters import load_adapter
from llmviz.finetuning.instructions import Instruction, tokens_of
from llmviz.finetuning.masked import masked_batch
from llmviz.nn.loss import next_token_loss
from llmviz.paths import TUNED
from llmviz.pretrained import load_bundled

model, tokenizer, card = load_bundled({name!r})
one = Instruction(
    {story!r},
    {question!r},
    {answer!r},
)
inputs, targets = masked_batch([tokens_of(tokenizer, one)], 0)
with torch.no_grad():
    before = next_token_loss(model(inputs)[0], targets)
    load_adapter(model, TUNED / {tuning!r})
    after = next_token_loss(model(inputs)[0], targets)
print((targets != -1).sum().item(), f"{{before.item():.2f}} {{after.item():.2f}}")
"""
