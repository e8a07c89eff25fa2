"""Files that other programs read: whole or not at all, in directories that they can enter."""
