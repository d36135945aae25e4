"""The words of chapter "Side by side"."""

TITLE = "The same random numbers, other settings"
TEXT = (
    "Three texts are written with the same model, the same prompt and the same random numbers. "
    "Only the settings differ. Text at a low temperature often repeats itself. Text at a high "
    "temperature often makes no sense. A top-p below 1 removes the improbable tokens. Does the "
    "text then still make sense at a higher temperature? Try it."
)
TOKENS = "Tokens"
GROWING = "The texts are being written …"
COLUMNS = {
    "settings": "settings",
    "tokens": "tokens",
    "distinct": "different tokens",
    "repetition": "repeated groups of 3",
    "mean": "mean log-probability",
}
ASK_COMPARE = "Which of the {n} texts does the model itself find most probable, per token?"
ASK_COMPARE_REASON = "{name}: {mean} nats per token."
NOTE = (
    "Temperature 0 is greedy choice: it takes the most probable token at every step. Such texts "
    "often repeat themselves. In texts that people write, the next word is often not the most "
    "probable one."
)
SNIPPET = """
from llmviz.sampling import GeneratedToken, text_measures

ids = [5, 7, 5, 7, 5, 7]
tokens = [GeneratedToken(i, probability=0.5, chance=0.5, rank=1, entropy=0.7, u=0.1) for i in ids]
print({name: round(value, 3) for name, value in text_measures(tokens).items()})
"""
PRINTS = "{'distinct': 0.333, 'repetition': 0.5, 'mean_log_probability': -0.693}"
