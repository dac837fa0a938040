"""Causes of gradients that are None or zero, one module for each family; all modules here are loaded.

A module registers its detectors with `registry.detector`.
"""
