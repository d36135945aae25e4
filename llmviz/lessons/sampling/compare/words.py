"""The words of chapter "Side by side"."""

TITLE = "The same random numbers, other settings"
TEXT = (
    "Three settings write from the same prompt with the same random numbers. The model is the "
    "same, too, so all differences come from the settings. Text at a low temperature often repeats "
    "itself. Text at a high one often stops making sense. A top-p below 1 removes the improbable "
    "tokens; try whether the text then still makes sense at a higher temperature."
)
TOKENS = "Tokens"
GROWING = "The texts are being written …"
COLUMNS = {
    "settings": "settings",
    "tokens": "tokens",
    "distinct": "different tokens",
    "repetition": "repeated threes",
    "mean": "mean log-probability",
}
ASK_COMPARE = "Which of the {n} texts does the model itself find most probable, per token?"
ASK_COMPARE_REASON = "{name}: {mean} nats per token."
NOTE = (
    "Greedy choice takes the most probable token at every step. Look for what it repeats. In texts "
    "that people write, the next word is often not the most probable one."
)
SNIPPET = """
from llmviz.sampling import GeneratedToken, text_measures

ids = [5, 7, 5, 7, 5, 7]
tokens = [GeneratedToken(i, probability=0.5, chance=0.5, rank=1, entropy=0.7, u=0.1) for i in ids]
print({name: round(value, 3) for name, value in text_measures(tokens).items()})
"""
PRINTS = "{'distinct': 0.333, 'repetition': 0.5, 'mean_log_probability': -0.693}"
