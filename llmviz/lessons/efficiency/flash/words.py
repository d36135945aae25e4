"""All that the chapter "Flash attention" says. Names in braces: live numbers."""

TITLE = "Flash attention"
TEXT = ""
