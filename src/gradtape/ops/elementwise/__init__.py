"""Elementwise ops: arithmetic, comparisons, bitwise ops, mathematical functions, activations."""
