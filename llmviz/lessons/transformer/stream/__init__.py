"""The chapter "Reading the stream" of the lesson "Inside the transformer"."""
