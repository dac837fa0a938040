"""The op registry: op records, the families that derive rules from partial derivatives, batching and cotangents.

Imports only run, core and backends.
"""
