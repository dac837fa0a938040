"""Datasets: lazy pipelines of tensors, evaluated element by element during iteration.

An element is a nest (tuples, named tuples, dicts) of tensors; a list is not a nest here but is converted to a tensor. A
dataset is immutable and can be iterated any number of times; `Dataset._elements` starts one pass, an iterator over the
iterators of its inputs. Depends on `state` and `graph.trace`.
"""
