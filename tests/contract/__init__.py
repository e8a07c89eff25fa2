"""Contracts that fakes and adapters have to keep."""
