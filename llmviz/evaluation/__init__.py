"""How good a model is: its loss beside the loss that no model can beat, and its calibration."""
