"""Simulated hosts: described in Python, laid out as the kernel shows them, changed while in use."""
