"""The bytes of one training step over its operations, stacked by what they are for."""
