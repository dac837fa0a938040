"""Whether derivatives are right: against differences, between modes, in float64; results that must be finite."""
