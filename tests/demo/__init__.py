"""The demo: python -m tests.demo [--watch]. A simulated node, the real daemon, a fake kubelet."""
