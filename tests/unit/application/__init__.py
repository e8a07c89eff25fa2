"""Tests of unit/application."""
