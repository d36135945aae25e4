"""The lessons, one folder each: a file per chapter, and `words.py` with all that they say.

A chapter module has `PARAMS`, the controls that its link carries, and `draw(state)`, which reads
top to bottom as the learner does: words, controls, one call into the library, a picture, the code
behind it, a question. The page in `pages/` only lists the chapters.
"""
