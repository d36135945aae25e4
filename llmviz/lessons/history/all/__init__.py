"""The chapter "All of them" of the lesson "From counts to GPT"."""
