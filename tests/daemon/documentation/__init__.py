"""The documentation is true: what it tells of the life of a node is played and compared."""
