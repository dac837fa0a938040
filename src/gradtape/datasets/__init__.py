"""Datasets: pipelines of tensors, made element by element when somebody iterates.

An element is a nest (tuples, named tuples, dicts) of tensors; a list is not a nest here but a tensor. Every dataset is
a recipe that can be followed any number of times; `Dataset._elements` follows it once, as an iterator over the
iterators of its inputs. Uses state and graph.trace.
"""
