"""All that the chapter "Guess and check" says. Names in braces: live numbers."""

TITLE = "Guess and check"
TEXT = ""
