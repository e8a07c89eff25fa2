"""CDI files for container runtimes."""
