"""The recorded answers of the Go plugin, put to the real daemon."""
