"""The configuration file: JSON as the Go plugin reads it, with every problem placed by line and column."""
