"""A model served over HTTP, in the form that clients of OpenAI's interface speak.

No page of the app imports it: `python -m llmviz serve` alone does.
"""
