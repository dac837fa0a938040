"""How an op runs, what it is, and how it is remembered and differentiated:

`run`, `registry`, `tape`, each using those before it.
"""
