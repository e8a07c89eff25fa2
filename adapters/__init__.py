"""How: one technology a folder; none imports another."""
