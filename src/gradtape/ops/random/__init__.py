"""Random draws: the Philox generator and the distributions derived from it."""
