"""All that the chapter "Numbers as bits" says. Names in braces: live numbers."""

TITLE = "Numbers as bits"
TEXT = ""
