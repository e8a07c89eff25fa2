"""A real daemon before a real kubelet, and everything that can go wrong at once: python -m tests.chaos."""
