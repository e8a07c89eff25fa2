"""Stand-ins for what the plugin meets in the world."""
