"""Random draws: the generator, and the distributions made of it."""
