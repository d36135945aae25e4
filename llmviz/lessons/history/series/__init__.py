"""The chapter "A series first" of the lesson "From counts to GPT"."""
