"""The words of chapter "Side by side"."""

TITLE = "The same dice, other settings"
TEXT = (
    "Three settings write from the same prompt with the same random numbers. What differs is what "
    "the settings made of the model's probabilities. Low temperatures repeat what is safe, high "
    "ones stop making sense; cutting the tail lets the temperature rise further before that."
)
TOKENS = "Tokens"
COLUMNS = {
    "settings": "settings",
    "tokens": "tokens",
    "distinct": "different tokens",
    "repetition": "repeated threes",
    "mean": "mean log-probability",
}
ASK_COMPARE = "Which of the three texts does the model itself find most probable, per token?"
ASK_COMPARE_REASON = "{name}: {mean} nats per token."
NOTE = (
    "Greedy takes the most probable token at every step; look for what it repeats. Texts that "
    "people wrote are not made of each next likeliest word either."
)
SNIPPET = """
from llmviz.sampling import GeneratedToken, text_measures

ids = [5, 7, 5, 7, 5, 7]
tokens = [GeneratedToken(i, probability=0.5, chance=0.5, rank=1, entropy=0.7, u=0.1) for i in ids]
print({name: round(value, 3) for name, value in text_measures(tokens).items()})
"""
PRINTS = "{'distinct': 0.333, 'repetition': 0.5, 'mean_log_probability': -0.693}"
