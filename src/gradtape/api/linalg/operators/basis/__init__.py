"""What every linear operator shares: its base class, spec, shapes, slices, and what it asserts."""
