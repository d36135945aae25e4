"""Layers that keep no list of tokens: all that they know of the past is one matrix of fixed size.

Each writes a token's value under its key and reads with a query. They differ in what a write does
to what was there before:

- `linear_attention` adds to it: nothing is ever taken away;
- `delta_rule` writes only what is missing: a key that comes again gets its new value;
- `state_space` lets it fade, each row of the matrix at its own rate.

Every module has `update` (one token), `recurrent` (token by token, with every state), `parallel`
(all tokens at once: what training uses) and `contributions` (the last state as a sum of tokens).

(…) any leading shape such as batch and heads, T time, K key size, V value size; a state is (K, V).
"""

from llmviz.nn.state_memory.state import StateSteps, read

__all__ = ["StateSteps", "read"]
