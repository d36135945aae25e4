"""A number in several formats, bit by bit: every bit is a button."""
