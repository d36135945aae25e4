"""All that the chapter "Quantization" says. Names in braces: live numbers."""

TITLE = "Quantization"
TEXT = ""
