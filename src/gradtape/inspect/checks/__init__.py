"""Checks derivatives: against finite differences, between modes and in float64; checks results for finiteness."""
