"""All that the chapter "Counting" says. Names in braces are filled in with live numbers."""

TITLE = "Counting pairs"
TEXT = (
    "The oldest language model is a table. Take {words:,} names and count how often each letter "
    "comes after each other letter. Divide each row by its sum, and the table gives probabilities: "
    "a [[bigram]] model. A dot stands for the start and the end of a name."
)
STEP, COUNT, ROW, CHANCE, SO_FAR, LOSS = (
    "pair",
    "seen",
    "pairs with this first letter",
    "probability",
    "product so far",
    "loss, nats",
)
RESULT = (
    "The probability of {name} is {product:.3g}. Its mean loss is {loss:.4f} nats per letter; the "
    "mean over all names of the table is {mean:.4f}."
)
NEVER = (
    "The pair {pair} was never seen in these names. Its probability is 0, so the probability of "
    "all of {name} is 0 and its loss is infinite."
)
