"""Ops on the arrangement of numbers: shapes, slices, indices, segments, order, sums along axes; text and loops."""
