"""What differs between array libraries, the sizes in `tuning`, and what NumPy needs to be fast. Uses nothing above."""
