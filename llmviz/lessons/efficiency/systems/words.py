"""All that the chapter "Who does what" says. Names in braces: live numbers."""

TITLE = "Who does what"
TEXT = ""
