"""What may be done to a node, one module a part of it."""
