"""The chapter "Side by side" of the lesson "Sampling"."""
