"""The chapter "One block, opened" of the lesson "Inside the transformer"."""
