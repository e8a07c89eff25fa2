"""Runs in the guest."""

import pytest

# Checks outside of test modules say no more than AssertionError else.
pytest.register_assert_rewrite(*(f"tests.e2e.guest.{name}" for name in ("cdi", "container", "devinfo", "opening")))
