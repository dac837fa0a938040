"""Memory budgets: which values to evict when memory is short, and how to restore them."""
