"""Tests of unit/entrypoints."""
