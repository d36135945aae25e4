"""What goes on inside a trained model: read it, attribute it, patch it, steer it.

Of a transformer: `block` every number inside a layer, `lens` what each layer would say,
`attribution` which part added how much to a logit, `patching` where an answer lives, `circuit`
which heads bring it about, `units` what single numbers stand for, `sparse_autoencoder` directions
that stand for something, `steering` what pushing along them does.
"""
