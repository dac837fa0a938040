"""Op execution: dispatch to recorders, conversion to tensors, randomness and source locations. Imports only core."""
