"""Ops on the layout of arrays: shapes, slices, indices, segments, sorting, reductions; strings and loops."""
