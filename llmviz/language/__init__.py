"""Words and their roles: stems, lemmas, parts of speech, names, and plain counts.

Truth comes from tiny-world's grammar (`llmviz.corpus.roles`), which knows why each word is there.
"""
