"""What lessons compute with the engine, without Streamlit.

Each module is one question. Of a trained transformer: `block` every number inside a layer, `lens`
what each layer would say, `ledger` which part added how much to a logit, `patching` where an answer
lives, `units` what single numbers stand for, `depth` what many layers do to numbers and gradients,
`stream` what the residual stream is made of. The others are named after what they compute.
"""
