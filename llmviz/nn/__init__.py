"""The parts that models are made of: attention with all its steps, layers, positions, losses."""
