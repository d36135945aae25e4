"""All that the chapter "Training memory" says. Names in braces: live numbers."""

TITLE = "Training memory"
TEXT = ""
