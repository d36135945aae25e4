"""All that the chapter "Many requests" says. Names in braces: live numbers."""

TITLE = "Many requests"
TEXT = ""
