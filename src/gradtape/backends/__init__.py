"""Array library differences, size thresholds (`tuning`) and what makes NumPy fast. Imports no other layer."""
