"""A node in a model: random changes, and what must hold all the while (hypothesis, and tests/soak)."""
