"""The base layer: errors, dtypes, shapes, nested structures, scopes and the tensor. Imports no other layer."""
