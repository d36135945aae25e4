"""The chapter "One test for all" of the lesson "From counts to GPT"."""
