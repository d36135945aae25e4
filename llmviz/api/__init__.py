"""The public face: `llmviz.load` and `llmviz.train`, on what the engine has."""
