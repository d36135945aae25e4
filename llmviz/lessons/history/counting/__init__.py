"""The chapter "Counting" of the lesson "From counts to GPT"."""
