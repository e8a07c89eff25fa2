"""Programs: the daemon, the command line, and the one composition root."""
