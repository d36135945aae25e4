"""The chapter "Where language models stand" of the lesson "From counts to GPT"."""
