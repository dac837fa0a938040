"""Random programs that check the invariant eager ≡ function ≡ XLA, in every call.

`catalogue.py` lists the possible statements, `generator.py` generates programs from them, `program.py` prints a program
as self-contained Python source, `comparison.py` runs it in every mode and reports where the results diverge,
`shrinking.py` removes everything that a failure does not need. `python -m random_programs` (`make fuzz`) runs any
number of programs.
"""
