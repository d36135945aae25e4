"""All that the chapter "Many machines" says. Names in braces: live numbers."""

TITLE = "Many machines"
TEXT = ""
