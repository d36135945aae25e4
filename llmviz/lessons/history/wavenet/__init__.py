"""The chapter "WaveNet" of the lesson "From counts to GPT"."""
