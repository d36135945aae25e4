"""The chapter "Hidden words" of the lesson "Inside the transformer"."""
