"""Kernel uevents, by libudev."""
