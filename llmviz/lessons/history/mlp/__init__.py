"""The chapter "MLP" of the lesson "From counts to GPT"."""
