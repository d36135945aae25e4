"""What can be read out of a trained transformer: what lessons compute with the engine.

Each module is one question: `lens` what each layer would say, `ledger` which part added how much to
a logit, `patching` where an answer lives, `units` what single numbers stand for, `depth` what many
layers do to numbers and gradients, `stream` what the residual stream is made of.
"""
