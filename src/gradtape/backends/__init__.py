"""What differs between array libraries, and what NumPy needs to be fast. Uses nothing of gradtape."""
