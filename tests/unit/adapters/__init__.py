"""Tests of unit/adapters."""
