"""Numbers of fewer bits: the formats that models are stored and computed in, and quantization.

`formats` writes any number in each format and reads any pattern of bits.
"""
