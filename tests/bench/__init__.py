"""Benchmarks: python -m tests.bench. What the product costs, beside the Go plugin and the targets."""
