"""How ops are remembered and differentiated: the log, the sweep, forward mode, Jacobians. Uses registry and run."""
