"""What an op is: its record, the families that derive rules from partials, batching, cotangents.

Uses run, core and backends.
"""
