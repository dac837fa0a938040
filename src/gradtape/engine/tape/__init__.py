"""Records and differentiates ops: the log, the reverse sweep, forward mode, Jacobians. Uses `registry` and `run`."""
