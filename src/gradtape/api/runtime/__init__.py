"""What surrounds a computation: printing, scopes, Python functions as ops, devices, errors."""
