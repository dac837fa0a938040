"""Ops on each number by itself: arithmetic, comparisons, bits, functions of mathematics, activations."""
