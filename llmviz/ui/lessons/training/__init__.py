"""The lesson on training: runs, curves, the loss, descent, backpropagation, the race, mistakes."""
