"""Tests of unit/domain."""
