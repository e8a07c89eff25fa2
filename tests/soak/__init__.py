"""The model of tests/model on a daemon process, for minutes: python -m tests.soak."""
