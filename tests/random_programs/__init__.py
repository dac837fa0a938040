"""Random programs, and the law that they are for: eager ≡ function ≡ XLA, in every call.

`catalogue.py` lists the statements there are, `generator.py` makes programs of them, `program.py` prints a program as
Python source that runs alone, `comparison.py` runs it in every way and says where the results part, `shrinking.py`
takes out whatever a failure does not need. `python -m random_programs` (`make fuzz`) does it for as long as one likes.
"""
