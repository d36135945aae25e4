"""All that the chapter "The cache" says. Names in braces: live numbers."""

TITLE = "The cache"
TEXT = ""
