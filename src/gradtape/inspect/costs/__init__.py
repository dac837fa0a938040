"""Measures the memory and time of a step, and the sizes of its gradients."""
