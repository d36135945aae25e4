"""`python -m llmviz …`: train, generate, tokenize, corpus, models, checkpoints."""

import sys

from llmviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
