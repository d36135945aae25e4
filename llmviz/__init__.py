"""A language model, every step of it open: text, tokens, vectors, attention, training, sampling."""
