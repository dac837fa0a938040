"""Logs that keep more than gradients need, and readers of recorded values, cotangents, names and lines."""
